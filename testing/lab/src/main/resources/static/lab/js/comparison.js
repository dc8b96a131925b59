// What came of each strategy in all runs that the lab remembers, by what was done to them:
// a row for each strategy, a column for each trouble, and in each cell how often.

import { el } from './dom.js';
import { known, t } from './language.js';
import { MARK, verdictKind, verdictName } from './result.js';
import { strategyText } from './strategies.js';

const CONDITIONS = ['calm.one', 'calm', 'FREEZE.WORK', 'FREEZE.COMMIT', 'FREEZE.RELEASE', 'KILL', 'RESTART_REDIS', 'PROMOTE_REPLICA'];

/** With more columns than these, a verdict is its mark only. */
const MOST_NAMED = 4;

/** The worst first. */
const KINDS = ['wrong', 'stuck', 'lucky', 'right', 'none'];

/** Which column the orders of a strategy belong to; none if it is not known to whom something was done. */
function conditionOf(run, strategy) {
	const faults = run.faults.filter((fault) => !fault.strategy || fault.strategy === strategy);
	if (run.strategy === 'all' && faults.some((fault) => !fault.strategy)) {
		return null;
	}
	const kinds = new Set(faults.map(({ kind, moment }) => kind === 'FREEZE' ? `${kind}.${moment ?? 'WORK'}` : kind));
	return kinds.size > 1 ? 'several' : [...kinds][0] ?? (run.request.nodes === 1 ? 'calm.one' : 'calm');
}

/** {strategy, condition, run, verdict} of all that was run to its end. */
function outcomes(runs) {
	return runs.flatMap((run) => (run.strategy === 'all' ? run.results : [run])
		.filter(({ verdict }) => verdict)
		.map(({ strategy, verdict, facts }) => ({ strategy, verdict, rate: facts.throughput, run: run.id, condition: conditionOf(run, strategy) })))
		.filter(({ condition }) => condition);
}

export function comparisonView(section, strategies, show) {
	const title = el('h2', { id: 'comparison-title' });
	const note = el('p', { class: 'muted small' });
	const head = el('tr');
	const body = el('tbody');
	const scroller = el('div', { class: 'scroll', tabindex: 0, role: 'region' },
			el('table', { class: 'comparison' }, el('thead', {}, head), body));
	section.append(title, note, scroller);
	let rendered = null;

	function render(run, runs) {
		const all = outcomes([...run ? [run] : [], ...runs.filter(({ id }) => id !== run?.id)]);
		const state = JSON.stringify([all, run?.id, run?.cardStrategy, document.documentElement.lang]);
		section.hidden = all.length === 0;
		if (section.hidden || state === rendered) {
			return;
		}
		rendered = state;
		title.textContent = t('compare.title');
		note.textContent = t('compare.note');
		scroller.setAttribute('aria-label', t('compare.label'));
		const conditions = [...new Set([...CONDITIONS, ...all.map(({ condition }) => condition)])]
			.filter((condition) => all.some((each) => each.condition === condition));
		head.closest('table').classList.toggle('many', conditions.length > MOST_NAMED);
		head.replaceChildren(el('th', { scope: 'col', text: t('compare.strategy') }),
				...conditions.map((condition) => el('th', { scope: 'col', text: conditionText(condition) })));
		const ran = [...new Set(all.map(({ strategy }) => strategy))];
		const rank = (strategy) => strategies.findIndex(({ id }) => id === strategy);
		body.replaceChildren(...ran.sort((a, b) => rank(a) - rank(b)).map((strategy) =>
			row(strategy, conditions, all.filter((each) => each.strategy === strategy), run)));
	}

	const conditionText = (condition) => known(`condition.${condition}`) ? t(`condition.${condition}`) : condition;

	function row(id, conditions, all, run) {
		const strategy = strategies.find((each) => each.id === id) ?? { id };
		return el('tr', { 'data-strategy': id },
				el('th', { scope: 'row' }, el('span', { class: 'dot', 'data-group': strategy.group }), strategyText(strategy, 'title')),
				...conditions.map((condition) => cell(strategy, condition, all.filter((each) => each.condition === condition), run)));
	}

	/** The worst of all repeats, and how many of them were that bad; it leads to the last one of these. */
	function cell(strategy, condition, all, run) {
		if (all.length === 0) {
			return el('td', { class: 'muted', text: '–' });
		}
		const kind = KINDS.find((each) => all.some(({ verdict }) => verdictKind(verdict) === each));
		const such = all.filter(({ verdict }) => verdictKind(verdict) === kind);
		const name = verdictName(such[0].verdict);
		const shown = such.find((each) => each.run === run?.id) ?? such[0];
		return el('td', { 'data-condition': condition, 'data-kind': kind },
				el('button', { type: 'button', class: 'link outcome', 'aria-pressed': String(shown.run === run?.id && run.cardStrategy === strategy.id),
						'aria-label': t('compare.cell', { strategy: strategyText(strategy, 'title'), condition: conditionText(condition), verdict: name,
							count: such.length, repeats: all.length }),
						onclick: () => show(shown.run, strategy.id) },
						el('span', { 'aria-hidden': 'true', text: MARK[kind] }), ' ',
						el('span', { class: 'name', text: name }), ' ', t('compare.count', { count: such.length, repeats: all.length }),
						el('span', { class: 'name', text: ` · ${t('compare.rate', { rate: shown.rate })}` })));
	}

	return { render };
}
