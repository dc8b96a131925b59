// The chooser of strategies, and what is said of the chosen one.

import { el } from './dom.js';
import { highlighted } from './highlight.js';
import { t } from './language.js';

const GROUPS = ['wrong', 'one-node', 'database', 'until-pause', 'holdfast'];

/** What the language says of a strategy. */
export const strategyText = ({ id }, what) => t(`strategy.${id}.${what}`);

/** Radio buttons in groups; one group is open at a time. */
export function strategyChooser(fieldset, strategies, chosen) {
	let selected = strategies.find(({ id }) => id === 'memory-overwrite')?.id ?? strategies[0].id;
	const list = el('div', { class: 'strategies' });
	fieldset.append(list);

	function radio(id, text) {
		return el('label', { class: 'choice' },
				el('input', { type: 'radio', name: 'strategy', value: id, checked: id === selected, onchange: () => {
					selected = id;
					chosen(id);
				} }),
				el('span', { text }));
	}

	function render() {
		const open = strategies.find(({ id }) => id === selected)?.group;
		list.replaceChildren(radio('all', t('setup.all')), ...GROUPS
			.map((group) => ({ group, members: strategies.filter((strategy) => strategy.group === group) }))
			.filter(({ members }) => members.length > 0)
			.map(({ group, members }) => el('details', { name: 'group', open: group === open, 'data-group': group },
					el('summary', {},
							el('span', { class: 'dot' }),
							el('span', { text: t(`group.${group}`) }),
							el('span', { class: 'count', text: members.length })),
					...members.map((strategy) => radio(strategy.id, strategyText(strategy, 'title'))))));
	}

	function select(id) {
		selected = id;
		render();
	}

	render();
	return { render, select, get selected() { return selected; } };
}

/** Says which strategy the next run will have: what is shown beside it is of another one. */
export function nextView(paragraph, strategies) {
	function render(id) {
		const strategy = strategies.find((each) => each.id === id);
		paragraph.dataset.strategy = id;
		paragraph.replaceChildren(
				el('b', { text: t('setup.next', { strategy: strategy ? strategyText(strategy, 'title') : t('setup.all') }) }),
				el('small', { text: strategy ? strategyText(strategy, 'explanation') : t('setup.all.explanation') }));
	}

	return { render };
}

/** Title, explanation, weakness and code of the strategy of a run. */
export function strategyView(article, strategies) {
	let rendered = null;

	function render(id) {
		const state = `${id} ${document.documentElement.lang}`;
		article.hidden = !id;
		if (!id || state === rendered) {
			return;
		}
		rendered = state;
		article.dataset.strategy = id;
		const strategy = strategies.find((each) => each.id === id);
		if (!strategy) {
			article.replaceChildren(el('h2', { text: t('setup.all') }), el('p', { text: t('setup.all.explanation') }));
			return;
		}
		article.replaceChildren(
				el('p', { class: 'group', 'data-group': strategy.group },
						el('span', { class: 'dot' }), t(`group.${strategy.group}`)),
				el('h2', { text: strategyText(strategy, 'title') }),
				el('p', { text: strategyText(strategy, 'explanation') }),
				el('p', { class: 'weakness' },
						el('b', { text: t('strategy.weakness') }), ' ', strategyText(strategy, 'weakness')),
				el('details', { class: 'source' },
						el('summary', { text: t('strategy.source') }),
						el('pre', { tabindex: 0, 'aria-label': t('strategy.source'), lang: 'en' },
								el('code', {}, highlighted(strategy.source)))));
	}

	return { render };
}
