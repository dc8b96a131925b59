// Goes through the events of two orders, step by step, with what each of them has and
// what the database says.

import { el } from './dom.js';
import { duration, t } from './language.js';
import { overwritten } from './pairs.js';
import { stepsOf } from './steps.js';

const PLAY_PAUSE = 900;

const threadNumber = (thread) => /(\d+)\D*$/.exec(thread)?.[1] ?? thread;

export function stepperView(section) {
	const title = el('h2', { id: 'steps-title' });
	const button = (key, mark, move) => ({ key, element: el('button', { type: 'button', class: 'quiet', id: `step-${key}`, onclick: () => go(move()) },
			el('span', { 'aria-hidden': 'true', text: mark }), el('span', { class: 'label' })) });
	const buttons = [
		button('first', '⇤', () => 0), button('previous', '←', () => step - 1),
		button('next', '→', () => step + 1), button('last', '⇥', () => steps.length - 1)
	];
	const play = el('button', { type: 'button', class: 'quiet', id: 'step-play', onclick: () => player ? stop() : start() },
			el('span', { 'aria-hidden': 'true' }), el('span', { class: 'label' }));
	const scrub = el('input', { type: 'range', id: 'step-scrub', min: 0, value: 0, oninput: () => { stop(); go(Number(scrub.value)); } });
	const position = el('span', { class: 'muted' });
	const said = el('p', { class: 'said', role: 'status', 'aria-live': 'polite' });
	const list = el('div', { class: 'sequence', role: 'table' });
	const conclusion = el('p', { class: 'conclusion' });
	const keys = el('small', { class: 'muted' });
	section.tabIndex = -1;
	section.append(el('div', { class: 'head' }, title, el('span', { class: 'space' }), position),
			el('div', { class: 'toolbar' }, ...buttons.map(({ element }) => element), play, keys), scrub, said, list, conclusion);
	section.addEventListener('keydown', (event) => {
		const move = { ArrowLeft: step - 1, ArrowUp: step - 1, ArrowRight: step + 1, ArrowDown: step + 1, Home: 0,
			End: steps.length - 1 }[event.key];
		if (move !== undefined) {
			event.preventDefault();
			stop();
			go(move);
		}
	});

	let player = null;
	let pair = null;
	let quantity = 1;
	let steps = [];
	let step = 0;

	/** Begins with two orders of a run, at the first event. */
	function show(run) {
		stop();
		pair = run?.pair ?? null;
		quantity = run?.pair ? run.quantityOf(run.pair.second) : 1;
		steps = pair ? stepsOf(pair, (order, change) => run.stockAt(order, change)) : [];
		step = 0;
		section.hidden = !pair;
		render();
	}

	/** Goes on by itself to the last step; from there, it begins again. */
	function start() {
		if (step === steps.length - 1) {
			go(0);
		}
		player = setInterval(() => {
			go(step + 1);
			if (step === steps.length - 1) {
				stop();
			}
		}, PLAY_PAUSE);
		renderPlay();
	}

	function stop() {
		clearInterval(player);
		player = null;
		renderPlay();
	}

	function renderPlay() {
		const text = t(player ? 'steps.pause' : 'steps.play');
		play.setAttribute('aria-label', text);
		play.firstChild.textContent = player ? '‖' : '▶';
		play.lastChild.textContent = text;
	}

	function go(next) {
		if (!pair) {
			return;
		}
		step = Math.max(0, Math.min(steps.length - 1, next));
		renderStep();
		(step === steps.length - 1 ? conclusion : list.children[step + 1]).scrollIntoView({ block: 'nearest' });
	}

	function render() {
		title.textContent = t('steps.title');
		keys.textContent = t('steps.keys');
		scrub.setAttribute('aria-label', t('steps.scrub'));
		renderPlay();
		for (const { key, element } of buttons) {
			element.setAttribute('aria-label', t(`steps.${key}`));
			element.lastChild.textContent = t(`steps.${key}`);
		}
		if (!pair) {
			return;
		}
		const orders = [pair.first, pair.second];
		const head = (order) => el('div', { role: 'columnheader', class: 'who', style: `--node: var(--node-${order.node})` },
				el('b', { text: t('steps.order', { n: order.n }) }),
				el('small', { text: t('steps.thread', { node: order.node, thread: threadNumber(order.thread) }) }));
		list.replaceChildren(
				el('div', { role: 'row', class: 'row top' }, head(orders[0]),
						el('div', { role: 'columnheader', class: 'stock', text: t('steps.database') }), head(orders[1])),
				...steps.map(row));
		conclusion.textContent = concluded(pair.first, pair.second);
		renderStep();
	}

	/** What was lost is what the database says, not what the times say. */
	function concluded(first, second) {
		const count = overwritten(second, quantity);
		if (pair.kind === 'refused') {
			return t('steps.saved', { refused: second.n, read: second.read, count: second.overtakenBy });
		}
		if (count > 1) {
			return t('steps.lost.many', { winner: second.n, read: second.read, count, before: steps.findLast(({ kind }) => kind === 'others')?.stock ?? first.wrote,
				wrote: second.wrote });
		}
		return count === 1 ? t('steps.lost', { winner: second.n, loser: first.n, read: second.read, lost: first.wrote, wrote: second.wrote })
				: second.wrote < 0 ? t('steps.oversold', { second: second.n, wrote: second.wrote })
				: t('steps.right', { first: first.n, second: second.n });
	}

	function row(each, index) {
		const cell = (who) => el('div', { role: 'cell', class: `cell side-${who}` },
				...['lock', 'transaction'].map((what) => el('i', { class: `${what} ${each.state[who][what] ?? ''}`
						+ (what === 'transaction' && each.state[who].window ? ' window' : '') })),
				el('span', { class: `text ${each.kind}`, text: each.who === who ? stepText(each) : '' }));
		const written = each.kind === 'others' || (each.kind === 'commit' && [pair.first, pair.second][each.who].wrote !== null);
		return el('div', { role: 'row', class: 'row', onclick: () => go(index) }, cell(0),
				el('div', { role: 'cell', class: `stock ${written ? 'changed' : ''}` },
						each.kind === 'others' ? el('span', { class: 'others', text: stepText(each) }) : '',
						el('b', { text: each.stock ?? '–' }),
						el('small', { text: `+${duration((each.at - steps[0].at) / 1000)}` })),
				cell(1));
	}

	function stepText(each) {
		if (each.kind === 'others') {
			return t('steps.others', { count: each.count });
		}
		const order = [pair.first, pair.second][each.who];
		if (each.kind === 'refused') {
			return t(order.strategy.endsWith('-lease') ? 'steps.refused.lease' : 'steps.refused');
		}
		const blind = ['readAt', 'writeAt'].includes(each.kind) && (each.value === null || each.value === undefined);
		return t(`steps.${each.kind}${blind ? '.blind' : ''}`, { value: each.value, outcome: t(`outcome.${order.outcome}`) });
	}

	function renderStep() {
		const current = steps[step];
		scrub.max = steps.length - 1;
		scrub.value = step;
		scrub.setAttribute('aria-valuetext', stepText(current));
		position.textContent = t('steps.position', { step: step + 1, steps: steps.length });
		said.textContent = current.who === null ? `${stepText(current)}.`
				: t('steps.says', { n: [pair.first, pair.second][current.who].n, step: stepText(current) });
		[...list.children].slice(1).forEach((element, index) => {
			element.classList.toggle('future', index > step);
			index === step ? element.setAttribute('aria-current', 'step') : element.removeAttribute('aria-current');
		});
		conclusion.classList.toggle('future', step < steps.length - 1);
		buttons.forEach(({ element }, index) =>
			element.setAttribute('aria-disabled', step === (index < 2 ? 0 : steps.length - 1)));
	}

	return { render, show };
}
