// Two orders whose transactions are worth a look.

/** Whether the second one overwrote what the first one had committed since it read. */
export const loses = (first, second) => first.read !== null && second.read === first.read
		&& second.wrote !== null && second.readAt < first.commit;

/** The first two that were sold one after the other while both were there. */
export function meeting(orders) {
	const committed = orders.filter(({ outcome, readAt, commit }) => outcome === 'SOLD' && readAt !== null && commit !== null)
		.sort((a, b) => a.commit - b.commit);
	const second = committed.findIndex((order, index) => index > 0 && order.start < committed[index - 1].commit);
	return second > 0 ? { first: committed[second - 1], second: committed[second] } : null;
}
