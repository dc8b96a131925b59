// What is known of one run.

/** More orders than these are not drawn. */
const FETCHED_ORDERS = 20_000;

export class Run {

	/** The orders of the strategy that is shown, when the run is over. */
	orders = [];

	/** Two orders that are worth a look: {first, second, kind}; of a lost update, a refused commit, or neither. */
	pair = null;

	/** Of "all": whose verdict is shown. */
	shownStrategy = null;

	constructor(answer) {
		this.take(answer);
	}

	/** Takes what the lab says of the run. */
	take(answer) {
		Object.assign(this, answer);
	}

	get over() {
		return ['FINISHED', 'FAILED', 'CANCELLED'].includes(this.state);
	}

	get all() {
		return this.strategy === 'all';
	}

	/** How many share the stock. */
	get skus() {
		return this.request.skus ?? 1;
	}

	/** How many pieces an order took. */
	quantityOf({ n }) {
		const { quantity, quantities: all } = this.request;
		return all ? all[(n - 1) % all.length] : quantity;
	}

	get fetchesOrders() {
		return this.request.orders <= FETCHED_ORDERS;
	}

	/** The strategy of the verdict; of "all", the one that was chosen. */
	get cardStrategy() {
		return this.all ? this.shownStrategy ?? 'all' : this.strategy;
	}

	/** Facts and verdict of that strategy, as soon as there are any. */
	get judged() {
		const of = this.all ? this.results.find(({ strategy }) => strategy === this.shownStrategy) : this;
		return of?.verdict && of.facts ? of : null;
	}

	get knownFacts() {
		return this.judged ? this.judged.facts : this.all ? null : this.facts;
	}

	/** What the database said after a change of the stock of an order; null if nobody knows. */
	stockAt(order, change) {
		const same = this.orders.filter(({ n }) => n % this.skus === order.n % this.skus);
		return same.find(({ wroteChanges }) => wroteChanges === change)?.wrote
				?? same.find(({ readChanges }) => readChanges === change)?.read
				?? (change + 1 === this.pair?.second.wroteChanges ? this.pair.stockBefore : null) ?? null;
	}

}
