// Times and lanes.

/** A lane for each node and thread, in the order of their numbers. */
export function lanesOf(orders) {
	const lanes = new Map();
	for (const order of orders) {
		const key = `${order.node} ${order.thread}`;
		if (!lanes.has(key)) {
			lanes.set(key, { node: order.node, thread: order.thread, number: threadNumber(order.thread), orders: [] });
		}
		lanes.get(key).orders.push(order);
	}
	return [...lanes.values()].sort((a, b) => a.node - b.node || a.number.localeCompare(b.number, 'en', { numeric: true }));
}

/** Orders that were never answered have no thread. */
export const threadNumber = (thread) => /(\d+)\D*$/.exec(thread ?? '')?.[1] ?? thread ?? '–';

/** From the first to the last time of these orders, with a little room on both sides. */
export function windowOf(orders) {
	const from = Math.min(...orders.map(({ start }) => start));
	const to = Math.max(...orders.map(({ end, start }) => end ?? start));
	const room = Math.max(20, (to - from) * 0.02);
	return { from: from - room, to: to + room };
}

/** Round times to write below the lanes. */
export function ticks({ from, to }, count) {
	const rough = (to - from) / count;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
	const times = [];
	for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
		times.push(time);
	}
	return times;
}
