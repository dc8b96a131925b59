// All strategies in one table, with a bar for what each got through.

import { el } from './dom.js';
import { t } from './language.js';
import { factText, verdictKind, verdictName, verdictText } from './result.js';
import { strategyText } from './strategies.js';

const COLUMNS = ['sold', 'oversold', 'lostUpdates', 'stockAfter', 'failed', 'p50Ms', 'p99Ms'];

export function comparisonView(section, strategies, show) {
	const title = el('h2', { id: 'comparison-title' });
	const head = el('tr');
	const body = el('tbody');
	const scroller = el('div', { class: 'scroll', tabindex: 0, role: 'region' },
			el('table', { class: 'comparison' }, el('thead', {}, head), body));
	section.append(title, scroller);
	let rendered = null;

	function render(run) {
		section.hidden = !run?.all;
		const state = JSON.stringify([run?.id, run?.results?.length, run?.drawnStrategy, document.documentElement.lang]);
		if (section.hidden || state === rendered) {
			return;
		}
		rendered = state;
		title.textContent = t('compare.title');
		scroller.setAttribute('aria-label', t('compare.label'));
		head.replaceChildren(
				el('th', { scope: 'col', text: t('compare.strategy') }),
				el('th', { scope: 'col', text: t('compare.verdict') }),
				el('th', { scope: 'col', class: 'throughput', text: t('fact.throughput') }),
				...COLUMNS.map((name) => el('th', { scope: 'col', class: 'figure', text: t(`fact.${name}`) })));
		const fastest = Math.max(1, ...run.results.map(({ facts }) => facts.throughput ?? 0));
		const rank = ({ strategy }) => strategies.findIndex(({ id }) => id === strategy);
		body.replaceChildren(...run.results.toSorted((a, b) => rank(a) - rank(b))
			.map((result) => row(result, fastest, run.drawnStrategy)));
	}

	function row(result, fastest, drawn) {
		const strategy = strategies.find(({ id }) => id === result.strategy) ?? { id: result.strategy, title: result.strategy };
		const name = strategyText(strategy, 'title');
		const kind = verdictKind(result.verdict);
		return el('tr', { 'data-strategy': result.strategy, 'data-kind': kind },
				el('th', { scope: 'row' }, el('span', { class: 'dot', 'data-group': strategy.group }), el('button', { type: 'button', class: 'link', text: name,
						'aria-pressed': result.strategy === drawn, title: t('compare.lanes', { strategy: name }),
						onclick: () => select(result.strategy) })),
				el('td', {}, el('span', { class: 'chip verdict-chip', 'data-kind': kind, title: verdictText(result),
						text: verdictName(result.verdict) })),
				el('td', { class: 'throughput' },
						el('span', { class: 'bar', 'aria-hidden': 'true',
								style: `--share: ${(result.facts.throughput ?? 0) / fastest}` }),
						factText('throughput', result.facts.throughput)),
				...COLUMNS.map((column) => el('td', { class: 'figure', text: factText(column, result.facts[column]) })));
	}

	/** The rows are made again, and the focus stays where it was. */
	function select(id) {
		show(id);
		requestAnimationFrame(() => body.querySelector(`[data-strategy="${id}"] button`)?.focus({ preventScroll: true }));
	}

	return { render };
}
