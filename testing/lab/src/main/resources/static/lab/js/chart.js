// The stock over time: of the database, as it should be by what was sold, and of each node
// as it last wrote it. What lies between the first two was sold and is not known of.

import uPlot from '../../webjars/uplot/dist/uPlot.esm.js';

import { el } from './dom.js';
import { number, onLanguage, t } from './language.js';
import { colour, onTheme } from './theme.js';

const HEIGHT = 260;
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export function chartView(section, titleOf) {
	const title = el('h2', { id: 'chart-title' });
	const host = el('div', { class: 'chart', role: 'img' });
	section.append(title, host);
	let plot = null;
	let drawn = null;

	function render(run) {
		title.textContent = run?.all && run.drawnStrategy ? `${t('chart.title')} · ${titleOf(run.drawnStrategy)}` : t('chart.title');
		if (!run) {
			plot?.destroy();
			plot = null;
			return;
		}
		const nodes = run.nodes.map(({ id }) => id);
		const data = dataOf(run, nodes);
		const shape = `${run.id} ${run.drawnStrategy} ${nodes}`;
		if (plot && drawn === shape) {
			plot.setData(data);
		}
		else {
			plot?.destroy();
			plot = new uPlot(options(nodes), data, host);
			drawn = shape;
		}
		const [, stock, should] = data.map((series) => series.at(-1) ?? null);
		host.dataset.points = data[0].length;
		host.dataset.stock = stock ?? '';
		host.dataset.should = should ?? '';
		host.setAttribute('aria-label', t('chart.label', { points: data[0].length, stock, should }));
	}

	/** What is written into the chart is drawn when it is made. */
	function again() {
		drawn = null;
	}

	function options(nodes) {
		const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 },
				ticks: { stroke: colour('--line'), width: 1 }, font: '12px system-ui, sans-serif' };
		const line = (label, name, width, dash = []) => ({
			label, width, dash, stroke: colour(name), spanGaps: true, points: { show: false },
			paths: uPlot.paths.stepped({ align: 1 }),
			value: (_, value) => value === null || value === undefined ? '' : number(value)
		});
		return {
			width: host.clientWidth, height: HEIGHT, cursor: { y: false },
			scales: { x: { time: false }, y: { range: (_, min, max) => [Math.min(0, min), Math.max(1, max * 1.05)] } },
			axes: [
				{ ...axis, values: (_, ticks) => ticks.map((tick) => number(tick, 3)) },
				{ ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => number(tick)) }
			],
			bands: [{ series: [1, 2], fill: colour('--gap-of-stock') }],
			series: [
				{ label: t('chart.time'), value: (_, value) => value === null || value === undefined ? '' : number(value, 3) },
				line(t('chart.stock'), '--ink', 2),
				line(t('chart.should'), '--transaction', 2, [4, 4]),
				...nodes.map((node, index) => line(t('node.name', { node }), `--node-${node}`, 1, DASHES[index % 4]))
			]
		};
	}

	new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: HEIGHT })).observe(host);
	onLanguage(again);
	onTheme(again);
	return { render };
}

/** Rows of x, the database, what it should be, and each node: uPlot wants one x for all. */
function dataOf(run, nodes) {
	const rows = [...stockOf(run), ...run.drawnOrders.filter(({ commit, wrote }) => run.skus === 1 && commit !== null && wrote !== null)
		.map(({ commit, wrote, node }) => ({ seconds: commit / 1_000_000, node, wrote }))];
	rows.sort((a, b) => a.seconds - b.seconds);
	let stock = run.request.stock;
	let should = run.request.stock;
	const data = Array.from({ length: nodes.length + 3 }, () => []);
	for (const row of rows) {
		stock = row.stock ?? stock;
		should = row.should ?? should;
		[row.seconds, stock, should, ...nodes.map((node) => node === row.node ? row.wrote : null)]
			.forEach((value, series) => data[series].push(value));
	}
	return data;
}

/**
 * What the database says, and what it should say by what was sold, at the same times: those
 * of the commits, as soon as all of them are known and there is one SKU, or else those of the progress.
 */
function stockOf(run) {
	const { stock, quantity } = run.request;
	const should = (sold) => stock - sold * quantity;
	const sold = run.drawnOrders.filter(({ outcome }) => outcome === 'SOLD');
	const facts = run.drawnFacts;
	if (run.skus > 1 || !facts || sold.length === 0 || sold.length < facts.sold || sold.some(({ commit, wrote }) => commit === null || wrote === null)) {
		return run.drawnPoints.map((point) => ({ seconds: point.seconds, stock: point.stock, should: should(point.sold) }));
	}
	sold.sort((a, b) => a.commit - b.commit);
	return [
		{ seconds: 0, stock, should: stock },
		...sold.map(({ commit, wrote }, index) => ({ seconds: commit / 1_000_000, stock: wrote, should: should(index + 1) })),
		{ seconds: Math.max(facts.durationMs / 1000, sold.at(-1).commit / 1_000_000), stock: facts.stockAfter, should: should(facts.sold) }
	];
}
