// The state of the run, its facts, and the verdict in words.

import { el } from './dom.js';
import { duration, known, number, t } from './language.js';

const FACTS = ['sold', 'refused', 'stockAfter', 'oversold', 'lostUpdates', 'busy', 'lost', 'failed', 'throughput',
	'p50Ms', 'p99Ms', 'durationMs'];
const BAD = ['oversold', 'lostUpdates', 'failed'];

/** What is right by luck has a name and a text of its own. */
const verdictKey = ({ code, arguments: args }) => `verdict.${code}${args?.lucky ? '.lucky' : ''}`;

export const verdictName = (verdict) => t(verdictKey(verdict));

/** A verdict in the language that was chosen, or else as the lab says it. */
export function verdictText({ facts, verdict }) {
	const key = `${verdictKey(verdict)}.text`;
	return known(key) ? t(key, { ...facts, ...verdict.arguments }) : verdict.text;
}

/** Which colour a verdict has. */
export const verdictKind = ({ code, arguments: args }) => args?.lucky ? 'lucky' : ({ RIGHT: 'right', BLOCKED: 'stuck', STARVED: 'stuck', LEFT_OVER: 'stuck' }[code]
		?? 'wrong');

export const MARK = { right: '✓', lucky: '?', wrong: '✕', stuck: '‖', none: '–' };

export const factText = (name, value) => value === null || value === undefined ? '–'
		: name.endsWith('Ms') ? duration(value) : number(value);

export function resultView(section, strategies, { cancel, open }) {
	const title = el('h2', { id: 'result-title' });
	const state = el('span', { class: 'chip' });
	const csv = el('a', { class: 'button quiet', download: true, hidden: true });
	const stop = el('button', { type: 'button', class: 'quiet', onclick: () => cancel(), hidden: true });
	const earlier = el('select', { hidden: true, onchange: () => open(earlier.value) });
	const verdict = el('div', { class: 'verdict', role: 'status', 'aria-live': 'polite' });
	const none = el('p', { class: 'muted' });
	const facts = el('dl', { class: 'facts' });
	section.append(el('div', { class: 'head' }, title, state, el('span', { class: 'space' }), earlier, csv, stop), verdict,
			none, facts);
	let said = '';

	function render(run, runs, titleOf, answers) {
		title.textContent = run ? `${t('run.number', { id: run.id })} · ${titleOf(run.cardStrategy)}` : t('run.title');
		renderNote(run, titleOf);
		renderEarlier(run, runs);
		section.dataset.run = run?.id ?? '';
		section.dataset.strategy = run?.cardStrategy ?? '';
		state.hidden = !run;
		csv.hidden = !run?.over;
		stop.hidden = !answers || !run || run.over;
		renderVerdict(run);
		renderFacts(run?.knownFacts);
		if (!run) {
			return;
		}
		const known = answers || run.over ? run.state : 'UNKNOWN';
		state.textContent = t(`state.${known}`);
		state.dataset.state = known;
		stop.textContent = t('setup.cancel');
		csv.textContent = t('run.csv');
		csv.href = `runs/${run.id}.csv`;
	}

	/** What was asked for; of "all", how far it is. */
	function renderNote(run, titleOf) {
		none.textContent = !run ? t('run.none')
				: run.all && !run.over && run.live ? t('compare.progress', { done: run.results.length, count: strategies, strategy: titleOf(run.live.strategy) })
				: t('run.request', run.request);
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
		if (!run) {
			return { code: '', kind: '', heading: '', text: '' };
		}
		if (run.all && run.over && !run.shownStrategy) {
			const right = run.results.filter(({ verdict }) => verdictKind(verdict) === 'right').length;
			return { code: 'ALL', kind: 'none', heading: t('compare.title'),
					text: t('compare.summary', { right, count: run.results.length }) };
		}
		if (run.state === 'FAILED') {
			return { code: 'FAILED', kind: 'wrong', heading: t('state.FAILED'), text: run.message ?? '' };
		}
		if (run.judged && (run.over || run.all)) {
			const { verdict } = run.judged;
			return { code: verdict.code, kind: verdictKind(verdict), heading: verdictName(verdict), text: `${verdictText(run.judged)} ${savedText(run.refusals.length)}`.trim() };
		}
		return { code: '', kind: '', heading: '', text: '' };
	}

	function savedText(refused) {
		return refused === 0 ? '' : t(refused === 1 ? 'verdict.refused.one' : 'verdict.refused.many', { refused });
	}

	function renderFacts(known) {
		facts.replaceChildren(...FACTS.filter((name) => known?.[name] !== undefined && known[name] !== null)
			.map((name) => el('div', { class: BAD.includes(name) && known[name] > 0 ? 'bad' : '', 'data-fact': name },
					el('dt', { text: t(`fact.${name}`) }),
					el('dd', { text: factText(name, known[name]) }))));
	}

	function renderEarlier(run, runs) {
		earlier.hidden = runs.length === 0;
		earlier.setAttribute('aria-label', t('run.earlier'));
		earlier.replaceChildren(...runs.map(({ id, title: name }) =>
			new Option(`${t('run.number', { id })} · ${name}`, id, false, id === run?.id)));
	}

	return { render };
}
