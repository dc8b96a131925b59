// Two orders whose transactions are worth a look.

/** How many sales an order has overwritten: the database has numbered all changes. */
export const overwritten = ({ read, wrote, readChanges, wroteChanges }, quantity) =>
	read !== null && wroteChanges !== null && wrote === read - quantity ? wroteChanges - readChanges - 1 : 0;

/** Orders take the SKUs in turn. */
const sameStock = (one, other, skus) => one.n % skus === other.n % skus;

/** The first two that were sold one after the other while both were there. */
export function meeting(orders, skus) {
	const committed = orders.filter(({ outcome, readAt, commit }) => outcome === 'SOLD' && readAt !== null && commit !== null)
		.sort((a, b) => a.commit - b.commit);
	const second = committed.findIndex((order, index) => index > 0 && order.start < committed[index - 1].commit
		&& sameStock(order, committed[index - 1], skus));
	return second > 0 ? { first: committed[second - 1], second: committed[second] } : null;
}

/** The first commit that was refused to an order that had been overtaken, with the first sale that it would have erased. */
export function refusal(orders, skus) {
	const second = orders.find(({ outcome, overtakenBy }) => outcome === 'LOST' && overtakenBy > 0);
	const first = second && orders.find((order) => sameStock(order, second, skus) && order.wroteChanges === second.readChanges + 1);
	return first ? { first, second } : null;
}
