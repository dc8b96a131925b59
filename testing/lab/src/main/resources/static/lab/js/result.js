// The state of the run, its facts, and the verdict in words.

import { el } from './dom.js';
import { duration, number, t } from './language.js';

const FACTS = ['sold', 'refused', 'stockAfter', 'oversold', 'lostUpdates', 'busy', 'lost', 'failed', 'throughput',
	'p50Ms', 'p99Ms', 'durationMs'];
const BAD = ['oversold', 'lostUpdates', 'failed'];

/** What is right by luck has a name and a text of its own. */
const verdictKey = ({ code, arguments: args }) => `verdict.${code}${args?.lucky ? '.lucky' : ''}`;

export const verdictName = (verdict) => t(verdictKey(verdict));

/** A verdict in the language that was chosen, with the figures of the database. */
export function verdictText({ facts, verdict }) {
	const args = { ...facts, ...verdict.arguments, break: t(`break.${verdict.arguments?.breaks}`) };
	const refused = args.refused > 0 && verdict.code === 'RIGHT' && args.saved > 0
			? t(args.refused === 1 ? 'verdict.refused.one' : 'verdict.refused.many', args) : '';
	return [t(`${verdictKey(verdict)}.text`, args), args.hidden ? t('verdict.hidden') : '', refused].filter(Boolean).join(' ');
}

/** Which colour a verdict has. */
export const verdictKind = ({ code, arguments: args }) => args?.lucky ? 'lucky' : ({ RIGHT: 'right', BLOCKED: 'stuck', STARVED: 'stuck', LEFT_OVER: 'stuck' }[code]
		?? 'wrong');

export const MARK = { right: '✓', lucky: '?', wrong: '✕', stuck: '‖', none: '–' };

const factText = (name, value) => name.endsWith('Ms') ? duration(value) : number(value);

export function resultView(section, strategies, { cancel, open, step }) {
	const title = el('h2', { id: 'result-title' });
	const state = el('span', { class: 'chip' });
	const stop = el('button', { type: 'button', class: 'quiet', id: 'cancel', onclick: () => cancel(), hidden: true });
	const earlier = el('select', { hidden: true, onchange: () => open(earlier.value) });
	const verdict = el('div', { class: 'verdict', role: 'status', 'aria-live': 'polite' });
	const pair = el('button', { type: 'button', class: 'primary', id: 'show-pair', onclick: () => step() });
	const note = el('p', { class: 'muted' });
	const nodes = el('p', { class: 'nodes' });
	const facts = el('dl', { class: 'facts' });
	section.tabIndex = -1;
	section.append(el('div', { class: 'head' }, title, state, el('span', { class: 'space' }), earlier, stop), verdict, pair, note, nodes, facts);
	let said = '';

	function render(run, runs, titleOf, answers, tries) {
		title.textContent = run ? `${t('run.number', { id: run.id })} · ${titleOf(run.cardStrategy)}` : t('run.title');
		note.textContent = [noteOf(run, titleOf), tries].filter(Boolean).join(' · ');
		earlier.hidden = runs.length === 0;
		earlier.setAttribute('aria-label', t('run.earlier'));
		earlier.replaceChildren(...runs.map(({ id, strategy }) =>
			new Option(`${t('run.number', { id })} · ${titleOf(strategy)}`, id, false, id === run?.id)));
		section.dataset.run = run?.id ?? '';
		section.dataset.strategy = run?.cardStrategy ?? '';
		state.hidden = !run;
		stop.hidden = !answers || !run || run.over;
		stop.textContent = t('setup.cancel');
		renderVerdict(run);
		renderFacts(run?.knownFacts);
		renderNodes(run, answers);
		pair.hidden = !run?.pair;
		pair.textContent = t(`pair.${run?.pair?.kind ?? 'met'}`);
		const known = answers || run?.over ? run?.state : 'UNKNOWN';
		state.textContent = known ? t(`state.${known}`) : '';
		state.dataset.state = known ?? '';
	}

	/** What was asked for; of "all", how far it is. */
	const noteOf = (run, titleOf) => !run ? t('run.none')
			: run.all && !run.over ? t('compare.progress', { done: run.results.length, count: strategies, strategy: titleOf(run.results.at(-1)?.strategy ?? 'all') })
			: t('run.request', run.request);

	/** The nodes while the run is going: one that is frozen or dead says so. */
	function renderNodes(run, answers) {
		nodes.replaceChildren(...run && !run.over ? run.nodes.map(({ id, state: of }) => {
			const shown = answers ? of : 'UNKNOWN';
			return el('span', { class: 'chip', 'data-state': shown, text: `${t('node.name', { node: id })}: ${t(`node.${shown}`)}` });
		}) : []);
	}

	/** Is only written if it is new, as screen readers read it out. */
	function renderVerdict(run) {
		const { code, kind, heading, text } = saying(run);
		const now = `${run?.id} ${heading} ${text}`;
		if (said !== now) {
			said = now;
			verdict.dataset.kind = kind;
			verdict.dataset.code = code;
			verdict.replaceChildren(...heading ? [
				el('span', { class: 'mark', 'aria-hidden': 'true', text: MARK[kind] }),
				el('div', {}, el('strong', { text: heading }), el('p', { text }))
			] : []);
		}
	}

	function saying(run) {
		if (run?.all && run.over && !run.shownStrategy) {
			const right = run.results.filter(({ verdict: of }) => verdictKind(of) === 'right').length;
			return { code: 'ALL', kind: 'none', heading: t('compare.title'),
					text: t('compare.summary', { right, count: run.results.length }) };
		}
		if (run?.state === 'FAILED') {
			return { code: 'FAILED', kind: 'wrong', heading: t('state.FAILED'), text: run.message ?? '' };
		}
		if (run?.judged && (run.over || run.all)) {
			const { verdict: of } = run.judged;
			return { code: of.code, kind: verdictKind(of), heading: verdictName(of), text: verdictText(run.judged) };
		}
		return { code: '', kind: '', heading: '', text: '' };
	}

	function renderFacts(known) {
		facts.replaceChildren(...FACTS.filter((name) => known?.[name] !== undefined && known[name] !== null)
			.map((name) => el('div', { class: BAD.includes(name) && known[name] > 0 ? 'bad' : '', 'data-fact': name },
					el('dt', { text: t(`fact.${name}`) }),
					el('dd', { text: factText(name, known[name]) }))));
	}

	return { render };
}
