// The lanes of a run.

import { draw } from './drawing.js';
import { el } from './dom.js';
import { number, t } from './language.js';
import { holdersOf } from './pairs.js';
import { lanesOf, windowOf } from './timeline.js';

const FEW = 24;
const LEGEND = ['lock', 'transaction', 'window', 'commit', 'wait', 'fault', 'together'];

export function lanesView(section) {
	const title = el('h2', { id: 'lanes-title' });
	const more = el('button', { type: 'button', class: 'link', onclick: () => { all = true; redraw(); } });
	const legend = el('ul', { class: 'legend' });
	const host = el('div', { class: 'lanes' });
	section.append(el('details', { ontoggle: () => redraw() }, el('summary', {}, title), legend, host, more));
	let run = null;
	let all = false;
	let state = '';

	function render(next) {
		run = next;
		section.hidden = !run?.over || run.orders.length === 0;
		section.dataset.run = run?.id ?? '';
		section.dataset.strategy = run?.cardStrategy ?? '';
		title.textContent = t('lanes.title');
		legend.replaceChildren(...LEGEND.map((kind) => el('li', { 'data-kind': kind, text: t(`lanes.${kind}`) })));
		const now = JSON.stringify([run?.id, run?.cardStrategy, run?.orders.length, document.documentElement.lang]);
		if (now !== state) {
			state = now;
			all = false;
			redraw();
		}
	}

	function redraw() {
		const orders = run?.orders ?? [];
		if (orders.length === 0 || host.clientWidth === 0) {
			host.replaceChildren();
			return;
		}
		const lanes = lanesOf(orders);
		more.hidden = all || lanes.length <= FEW;
		more.textContent = t('lanes.more', { count: lanes.length - FEW });
		const window = windowOf(orders);
		const { drawing, look } = draw({ holders: holdersOf(orders), skus: run.skus, lanes: all ? lanes : lanes.slice(0, FEW),
			faults: run.drawnFaults, width: host.clientWidth });
		look(window);
		drawing.setAttribute('aria-label', t('lanes.label', { lanes: lanes.length, orders: orders.length,
			from: number(window.from / 1000, 1), to: number(window.to / 1000, 1) }));
		host.replaceChildren(drawing);
	}

	let width = 0;
	new ResizeObserver(() => {
		if (host.clientWidth !== width) {
			width = host.clientWidth;
			redraw();
		}
	}).observe(host);
	return { render };
}
