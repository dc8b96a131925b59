// The stock over time: of the database, and of each node as it last wrote it.

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
		host.dataset.points = data[0].length;
		host.setAttribute('aria-label', t('chart.label', { points: data[0].length, stock: lastOf(data) }));
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
			series: [
				{ label: t('chart.time'), value: (_, value) => value === null || value === undefined ? '' : number(value, 3) },
				line(t('chart.stock'), '--ink', 1),
				...nodes.map((node, index) => line(t('node.name', { node }), `--node-${node}`, 2, DASHES[index % 4]))
			]
		};
	}

	new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: HEIGHT })).observe(host);
	onLanguage(again);
	onTheme(again);
	return { render };
}

/** Rows of x, the database and each node: uPlot wants one x for all. */
function dataOf(run, nodes) {
	const rows = run.drawnPoints.map(({ seconds, stock }) => [seconds, 0, stock]);
	for (const order of run.drawnOrders) {
		const series = nodes.indexOf(order.node) + 1;
		if (order.commit !== null && order.wrote !== null && series > 0) {
			rows.push([order.commit / 1_000_000, series, order.wrote]);
		}
	}
	rows.sort((a, b) => a[0] - b[0]);
	const data = Array.from({ length: nodes.length + 2 }, () => new Array(rows.length).fill(null));
	rows.forEach(([seconds, series, stock], index) => {
		data[0][index] = seconds;
		data[series + 1][index] = stock;
	});
	return data;
}

const lastOf = (data) => data[1].findLast((value) => value !== null) ?? null;
