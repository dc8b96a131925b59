// Runs that show what it is about, with one click each.

import { el } from './dom.js';
import { t } from './language.js';

const ORDERS = { stock: 200, orders: 120, concurrency: 12, nodes: 2, quantity: 1, ratePerSecond: null, workMs: 1 };

/** Twice the lease, and the very first order: others get the lock meanwhile. */
const FREEZE = [{ atMs: 0, kind: 'FREEZE', node: 1, millis: 3000, moment: 'WORK' }];

const EXPERIMENTS = [
	{ id: 'oversell', request: { ...ORDERS, strategy: 'memory-overwrite', stock: 100, orders: 200, concurrency: 20, workMs: 2 }, faults: [] },
	{ id: 'freeze-redisson', request: { ...ORDERS, strategy: 'redisson-watchdog' }, faults: FREEZE },
	{ id: 'freeze-holdfast', request: { ...ORDERS, strategy: 'holdfast-redisson-fence' }, faults: FREEZE }
];

export function experimentsView(section, begin) {
	const title = el('h2', { id: 'experiments-title' });
	const buttons = EXPERIMENTS.map(({ id, request, faults }) => ({ id, element: el('button',
			{ type: 'button', id: `experiment-${id}`, onclick: () => begin(request, faults) }, el('b'), el('small')) }));
	section.append(title, el('div', { class: 'choices' }, ...buttons.map(({ element }) => element)));

	function render(free) {
		title.textContent = t('experiments.title');
		for (const { id, element } of buttons) {
			element.disabled = !free;
			element.firstChild.textContent = t(`experiment.${id}`);
			element.lastChild.textContent = t(`experiment.${id}.text`);
		}
	}

	return { render };
}
