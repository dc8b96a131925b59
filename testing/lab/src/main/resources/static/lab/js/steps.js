// The events of two orders, in the order in which they happened, with what the database
// said after each of them: the changes of others in between are a step, too.

const KINDS = ['start', 'acquired', 'begin', 'readAt', 'writeAt', 'commit', 'refused', 'released', 'end'];

/**
 * Each step is {at, who, kind, value, stock, state}: who is 0 or 1, stock is what the
 * database says afterwards, and state what each of the two has then. A step of others has
 * a count, and nobody as who.
 */
export function stepsOf({ first, second }, stockAt) {
	const orders = [first, second].map((order) => order.outcome === 'LOST' ? { ...order, refused: order.released ?? order.end } : order);
	const events = orders.flatMap((order, who) => KINDS.filter((kind) => order[kind] !== null && order[kind] !== undefined)
		.map((kind, rank) => ({ at: happened(order, orders[1 - who], kind), who, kind, rank })));
	events.sort((a, b) => a.at - b.at || a.rank - b.rank);
	const known = orders.flatMap(({ readChanges, wroteChanges }) => [readChanges, wroteChanges === null ? null : wroteChanges - 1])
		.filter((change) => change !== null);
	let change = known.length > 0 ? Math.min(...known) : null;
	let stock = change === null ? null : stockAt(first, change);
	let state = [{}, {}];
	const steps = [];
	for (const step of events) {
		const order = orders[step.who];
		const before = changeBefore(order, step.kind);
		if (before !== null && before > change) {
			stock = stockAt(order, before);
			steps.push({ at: step.at, who: null, kind: 'others', count: before - change, stock, state });
			change = before;
		}
		step.value = { readAt: order.read, writeAt: order.wrote }[step.kind];
		if (step.kind === 'commit' && order.wroteChanges !== null) {
			change = order.wroteChanges;
			stock = order.wrote;
		}
		step.stock = stock;
		state = state.map((was, who) => who === step.who ? after(was, step.kind, order) : was);
		step.state = state;
		steps.push(step);
	}
	return steps;
}

/** What an order has read before the other one's commit it cannot have done later, even if a frozen process has noted so. */
function happened(order, other, kind) {
	const early = KINDS.indexOf(kind) <= KINDS.indexOf('readAt') && order.readChanges !== null && other.commit !== null
			&& other.wroteChanges !== null && order.readChanges < other.wroteChanges;
	return early ? Math.min(order[kind], other.commit - 1) : order[kind];
}

/** The last change that the database had made before this step, as far as the step tells. */
function changeBefore(order, kind) {
	switch (kind) {
		case 'readAt': return order.readChanges;
		case 'commit': return order.wroteChanges === null ? null : order.wroteChanges - 1;
		case 'refused': return order.overtakenBy === null ? null : order.readChanges + order.overtakenBy;
		default: return null;
	}
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
