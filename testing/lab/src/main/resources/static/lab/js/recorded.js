// Answers as the lab does, with runs that were recorded, one of each rung.

const runs = [];

const recorded = async (name) => (await fetch(`recorded/${name}.json`)).json();

/** The orders are recorded as rows: each as long as the columns. */
const ordersOf = ({ run: { strategy }, columns, orders }) =>
	orders.map((row) => ({ strategy, ...Object.fromEntries(columns.map((name, index) => [name, row[index]])) }));

export async function answer(method, path, body) {
	const [what, id, part] = path.split(/[/?]/);
	if (what !== 'runs') {
		return (await recorded('lab'))[what];
	}
	if (method === 'POST') {
		const recording = await recorded(body.strategy);
		const run = { ...recording.run, id: `${runs.length + 1}`, request: body };
		runs.unshift({ ...recording, run });
		return { ...run, state: 'RUNNING', verdict: null };
	}
	if (!id) {
		return runs.map(({ run }) => run);
	}
	const found = runs.find(({ run }) => run.id === id);
	return { orders: () => ordersOf(found), 'lost-update': () => found.lost }[part]?.() ?? (part ? null : found.run);
}
