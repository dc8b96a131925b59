// The lanes of a run, and the buttons that lead through them.

import { draw } from './drawing.js';
import { el } from './dom.js';
import { number, t } from './language.js';
import { holdersOf } from './pairs.js';
import { glide, lanesOf, windowOf } from './timeline.js';

const FEW = 24;
const LEGEND = ['lock', 'transaction', 'window', 'commit', 'wait', 'fault', 'together'];

export function lanesView(section, titleOf, showPair) {
	const title = el('h2', { id: 'lanes-title' });
	const button = (key, action) => ({ key, element: el('button', { type: 'button', class: 'quiet', onclick: action }) });
	const lost = el('button', { type: 'button', class: 'primary', id: 'show-lost', onclick: () => showPair() });
	const buttons = [
		button('whole', () => { release(); look(whole()); }),
		button('in', () => look(scaled(0.5, 0))), button('out', () => look(scaled(2, 0))),
		button('left', () => look(scaled(1, -0.4))), button('right', () => look(scaled(1, 0.4)))
	];
	const more = el('button', { type: 'button', class: 'link', onclick: () => { all = true; redraw(); } });
	const legend = el('ul', { class: 'legend' });
	const empty = el('p', { class: 'muted' });
	const host = el('div', { class: 'lanes' });
	section.append(el('div', { class: 'head' }, title, el('span', { class: 'space' }), lost), legend,
			el('div', { class: 'toolbar' }, ...buttons.map(({ element }) => element)), empty, host, more);
	buttons[0].element.id = 'whole-run';

	let run = null;
	let drawn = null;
	let window = null;
	let pair = null;
	let all = false;
	let state = '';

	const orders = () => pair ? [pair.first, pair.second] : run?.drawnOrders ?? [];

	const whole = () => windowOf(run.drawnOrders);

	function scaled(factor, shift) {
		const width = window.to - window.from;
		const middle = (window.from + window.to) / 2 + width * shift;
		return { from: middle - width * factor / 2, to: middle + width * factor / 2 };
	}

	function render(next) {
		if (next?.id !== run?.id || next?.drawnStrategy !== run?.drawnStrategy) {
			pair = null;
			all = false;
		}
		run = next;
		section.dataset.run = run?.id ?? '';
		section.dataset.strategy = run?.drawnStrategy ?? '';
		title.textContent = run?.all && run.drawnStrategy ? `${t('lanes.title')} · ${titleOf(run.drawnStrategy)}` : t('lanes.title');
		empty.textContent = t('lanes.empty');
		buttons.forEach(({ key, element }) => element.textContent = t(`lanes.${key}`));
		lost.hidden = !run?.pair;
		lost.textContent = t(`lanes.${run?.pair?.kind ?? 'met'}`);
		legend.replaceChildren(...LEGEND.map((kind) => el('li', { 'data-kind': kind, text: t(`lanes.${kind}`) })));
		const now = JSON.stringify([run?.id, run?.drawnStrategy, run?.orders.size, run?.faults.length, run?.over,
			document.documentElement.lang]);
		if (now !== state) {
			state = now;
			redraw();
		}
	}

	function redraw() {
		const shown = orders();
		const found = lanesOf(shown);
		section.classList.toggle('empty', shown.length === 0);
		more.hidden = all || found.length <= FEW;
		more.textContent = t('lanes.more', { count: found.length - FEW });
		if (shown.length === 0) {
			host.replaceChildren();
			return;
		}
		if (host.clientWidth === 0) {
			return;
		}
		const holders = holdersOf(shown);
		host.dataset.holders = holders.length;
		drawn = draw({ holders, skus: run.skus, lanes: all ? found : found.slice(0, FEW), faults: run.drawnFaults, width: host.clientWidth, tall: Boolean(pair) });
		host.replaceChildren(drawn.drawing);
		host.dataset.lanes = found.length;
		window = pair ? windowOf(shown) : whole();
		apply(window);
	}

	function apply(next) {
		window = next;
		drawn.look(window);
		drawn.drawing.setAttribute('aria-label', t('lanes.label', { lanes: Number(host.dataset.lanes), orders: orders().length,
				from: number(window.from / 1000, 1), to: number(window.to / 1000, 1) }));
	}

	const look = (next) => drawn && glide(window, next, apply);

	function release() {
		pair = null;
		redraw();
	}

	/** Shows these two only, and from the first to the last that they did. */
	function zoom(two) {
		const before = window;
		pair = two;
		redraw();
		glide(before, window, apply);
	}

	/** The lanes are dragged, and zoomed by the wheel with the control key, around what is pointed at. */
	host.addEventListener('pointermove', (event) => {
		if (drawn && event.buttons === 1) {
			const moved = event.movementX / drawn.inner * (window.to - window.from);
			apply({ from: window.from - moved, to: window.to - moved });
		}
	});
	host.addEventListener('wheel', (event) => {
		if (!drawn || !event.ctrlKey) {
			return;
		}
		event.preventDefault();
		const factor = 2 ** (Math.sign(event.deltaY) / 2);
		const x = (event.clientX - host.getBoundingClientRect().left - drawn.gutter) / drawn.inner;
		const fixed = window.from + x * (window.to - window.from);
		apply({ from: fixed - (fixed - window.from) * factor, to: fixed + (window.to - fixed) * factor });
	}, { passive: false });

	let width = 0;
	new ResizeObserver(() => {
		if (host.clientWidth !== width) {
			width = host.clientWidth;
			redraw();
		}
	}).observe(host);
	return { render, zoom };
}
