// Draws lanes as SVG: first who has the lock, then for each thread a bar for the lock
// above a bar for the transaction. What is waited for is a thin line, what is had is a
// thick one.

import { svg } from './dom.js';
import { duration, t } from './language.js';
import { together } from './pairs.js';
import { ticks } from './timeline.js';

const AXIS = 26;
const NODE = 24;
const HOLDERS = 34;
const LANE = 24;
const THICK = 8;

/** The lanes, drawn for the whole time: a window of it is seen through "look". */
export function draw({ lanes, holders, skus, faults, width }) {
	const gutter = width < 480 ? 40 : 56;
	const lane = LANE;
	const place = placed(lanes, lane, holders.length > 0 ? HOLDERS : 0);
	const inner = width - gutter;
	const content = svg('g');
	const labels = svg('g', { class: 'labels' });
	const axis = svg('g', { class: 'axis' });
	const height = place.height + AXIS;

	if (holders.length > 0) {
		labels.append(svg('text', { x: 4, y: 20, class: 'node', text: t('lanes.holders') }));
		content.append(drawHolders(holders, skus));
	}
	for (const { node, top, bottom } of place.nodes) {
		labels.append(svg('text', { x: 4, y: top + 16, class: 'node', text: t('node.name', { node }) }),
				svg('rect', { x: 0, y: top + NODE, width: 4, height: bottom - top - NODE - 3, rx: 2, fill: `var(--node-${node})` }));
		content.append(...faults.filter((fault) => fault.node === node && fault.untilMs)
			.map((fault) => svg('rect', { class: 'fault', x: fault.atMs * 1000, y: top + NODE,
					width: (fault.untilMs - fault.atMs) * 1000, height: bottom - top - NODE })));
	}
	for (const { lane: { number, thread, orders }, top } of place.lanes) {
		labels.append(svg('text', { x: gutter - 8, y: top + lane / 2 + 4, class: 'thread', text: number },
				svg('title', { text: thread })));
		content.append(...orders.map((order) => drawOrder(order, top)));
	}

	/** Shows a part of the time. */
	function look(window) {
		const scale = inner / (window.to - window.from);
		const x = (time) => (time - window.from) * scale;
		content.setAttribute('transform', `scale(${scale},1) translate(${-window.from},0)`);
		axis.replaceChildren(...ticks(window, Math.max(2, Math.floor(inner / 110)))
			.filter((time) => x(time) > 20 && x(time) < inner - 24)
			.flatMap((time) => [
				svg('line', { x1: x(time), x2: x(time), y1: 0, y2: place.height }),
				svg('text', { x: x(time), y: height - 7, text: duration(time / 1000) })]));
	}

	const drawing = svg('svg', { width, height, class: 'drawing', role: 'img' },
			labels, svg('svg', { x: gutter, width: inner, height }, axis, content));
	return { drawing, look };
}

function placed(lanes, lane, top) {
	const result = { lanes: [], nodes: [] };
	let y = top;
	for (const each of lanes) {
		if (result.nodes.at(-1)?.node !== each.node) {
			result.nodes.push({ node: each.node, top: y });
			y += NODE;
		}
		result.lanes.push({ lane: each, top: y });
		y += lane;
		result.nodes.at(-1).bottom = y;
	}
	result.height = y;
	return result;
}

/** The lock over time, in the colours of the nodes that have it, and where two have it before the first one's transaction is over. */
function drawHolders(holders, skus) {
	const group = svg('g', { class: 'holders' });
	const title = ({ n, node, acquired, released, end }) =>
		svg('title', { text: t('lanes.holder', { n, node, ms: ((released ?? end) - acquired) / 1000 }) });
	for (const order of holders) {
		group.append(svg('rect', { class: 'holder', x: order.acquired, y: 8, width: Math.max(0, (order.released ?? order.end) - order.acquired), height: 16,
				fill: `var(--node-${order.node})`, 'data-n': order.n }, title(order)));
	}
	for (const { from, to } of together(holders, skus)) {
		group.append(svg('rect', { class: 'together', x: from, y: 4, width: to - from, height: 24 }, svg('title', { text: t('lanes.together') })));
	}
	return group;
}

function drawOrder(order, top) {
	const thick = THICK;
	const lock = top + 3;
	const transaction = lock + thick + 2;
	const end = order.end ?? order.start;
	const group = svg('g', { class: `order ${order.outcome?.toLowerCase() ?? ''}`, 'data-n': order.n },
			svg('title', { text: t('lanes.order', { n: order.n, outcome: t(`outcome.${order.outcome}`), ms: (end - order.start) / 1000 }) }));
	const bar = (name, from, to, y, height) => {
		if (from !== null && to !== null && to >= from) {
			group.append(svg('rect', { class: name, x: from, y, width: to - from, height }));
		}
	};
	const { acquired, begin } = order;
	const lockFirst = acquired !== null && (begin === null || acquired <= begin);
	// waits for the lock with a connection in its hands, or before it asks for one
	bar('wait lock', lockFirst || begin === null ? order.start : begin,
			acquired ?? (order.outcome === 'BUSY' ? end : null), lock + thick / 2 - 1, 2);
	bar('lock', acquired, acquired === null ? null : order.released ?? end, lock, thick);
	// waits for a connection, and what never got one is the starved pool
	bar('wait transaction', lockFirst ? acquired : order.start, begin ?? (lockFirst ? end : null),
			transaction + thick / 2 - 1, 2);
	bar('transaction', begin, begin === null ? null : order.commit ?? end, transaction, thick);
	bar('window', order.readAt, order.writeAt, transaction, thick);
	if (order.commit !== null) {
		group.append(svg('line', { class: 'commit', x1: order.commit, x2: order.commit, y1: transaction - 1, y2: transaction + thick + 1 }));
	}
	return group;
}
