// What is known of one run: it grows by the events that the lab sends.

/** More orders than these are not drawn. */
const FETCHED_ORDERS = 20_000;

const isSame = (one, other) => ['kind', 'node', 'atMs', 'untilMs'].every((name) => one[name] === other[name])
		&& (!one.strategy || !other.strategy || one.strategy === other.strategy);

export class Run {

	/** The stock and the sales that the progress told: {strategy, seconds, stock, sold}. */
	points = [];

	orders = new Map();

	/** Two orders that are worth a look: {first, second, kind}; of a lost update, a refused commit, or neither. */
	pair = null;

	/** All pairs of a refused commit and the newer holder. */
	refusals = [];

	/** Of "all": whose lanes are shown. */
	shownStrategy = null;

	constructor(answer) {
		this.take(answer);
	}

	/** Takes what the lab says of the run as a whole. */
	take(answer) {
		const told = this.faults ?? [];
		Object.assign(this, answer);
		this.faults = (this.faults ?? []).map((fault) => told.find((each) => isSame(each, fault)) ?? fault);
		this.results ??= [];
		this.nodes ??= [];
	}

	progress(progress) {
		this.state = this.over ? this.state : 'RUNNING';
		this.points.push({ strategy: progress.strategy, seconds: progress.atMs / 1000, stock: progress.stock, sold: progress.sold });
		this.live = progress;
		for (const told of progress.nodes ?? []) {
			const node = this.nodes.find(({ id }) => id === told.id);
			node ? Object.assign(node, told) : this.nodes.push(told);
		}
	}

	order(order) {
		this.orders.set(`${order.strategy} ${order.n}`, order);
	}

	/** It is done to the strategy that is going. */
	fault(fault) {
		this.faults = [...this.faults.filter((each) => !isSame(each, fault)), { strategy: this.live?.strategy ?? this.strategy, ...fault }];
	}

	result(result) {
		this.results = [...this.results.filter(({ strategy }) => strategy !== result.strategy), result];
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

	get fetchesOrders() {
		return this.request.orders <= FETCHED_ORDERS;
	}

	/** The strategy whose orders are drawn. */
	get drawnStrategy() {
		return this.all ? this.shownStrategy ?? this.live?.strategy ?? this.results.at(-1)?.strategy : this.strategy;
	}

	/** The strategy that is explained: that of the verdict. */
	get cardStrategy() {
		return this.all ? this.shownStrategy ?? 'all' : this.strategy;
	}

	/** Facts and verdict of the strategy that is explained, as soon as there are any. */
	get judged() {
		const of = this.all ? this.results.find(({ strategy }) => strategy === this.shownStrategy) : this;
		return of?.verdict && of.facts ? of : null;
	}

	/** The facts of the strategy whose orders are drawn, when it is through. */
	get drawnFacts() {
		return this.all ? this.results.find(({ strategy }) => strategy === this.drawnStrategy)?.facts : this.over ? this.facts : null;
	}

	get drawnOrders() {
		return this.drawn([...this.orders.values()]);
	}

	get drawnFaults() {
		return this.faults.filter(({ strategy }) => !strategy || !this.all || strategy === this.drawnStrategy);
	}

	get drawnPoints() {
		return this.drawn(this.points);
	}

	drawn(all) {
		const drawn = this.drawnStrategy;
		return all.filter(({ strategy }) => strategy === drawn);
	}

	/** The facts, or as much as is known of them while the run is going. */
	get knownFacts() {
		const live = this.live ?? {};
		return this.judged ? this.judged.facts : this.all && (this.over || this.shownStrategy) ? null : this.over && this.facts ? this.facts
				: { sold: live.sold, refused: live.refused, stockAfter: live.stock, failed: live.failed };
	}

}
