// The events of two orders, in the order in which they happened.

const KINDS = ['start', 'acquired', 'begin', 'readAt', 'writeAt', 'commit', 'refused', 'released', 'end'];

/**
 * Each step is {at, who, kind, value, stock, state}: who is 0 or 1, stock is what the
 * database says afterwards, and state what each of the two has then.
 */
export function stepsOf({ first, second }) {
	const orders = [first, second].map((order) => order.outcome === 'LOST' ? { ...order, refused: order.released ?? order.end } : order);
	const steps = orders.flatMap((order, who) => KINDS.filter((kind) => order[kind] !== null && order[kind] !== undefined)
		.map((kind, rank) => ({ at: order[kind], who, kind, rank })));
	steps.sort((a, b) => a.at - b.at || a.rank - b.rank);
	let stock = orders.map((order) => order.read).find((read) => read !== null) ?? null;
	let state = [{}, {}];
	for (const step of steps) {
		const order = orders[step.who];
		step.value = { readAt: order.read, writeAt: order.wrote }[step.kind];
		if (step.kind === 'commit' && order.wrote !== null) {
			stock = order.wrote;
		}
		step.stock = stock;
		state = state.map((before, who) => who === step.who ? after(before, step.kind, order) : before);
		step.state = state;
	}
	return steps;
}

function after(state, kind, order) {
	switch (kind) {
		case 'start': return { ...state, lock: order.acquired === null ? '' : 'waits', transaction: '' };
		case 'acquired': return { ...state, lock: 'has' };
		case 'begin': return { ...state, transaction: 'has' };
		case 'readAt': return { ...state, window: order.writeAt !== null };
		case 'writeAt': return { ...state, window: false };
		case 'commit':
		case 'refused': return { ...state, transaction: '', window: false };
		case 'released': return { ...state, lock: '' };
		default: return {};
	}
}
