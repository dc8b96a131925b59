// The page: what is shown of what, and who tells whom.

import * as api from './api.js';
import { chartView } from './chart.js';
import { comparisonView } from './comparison.js';
import { byId } from './dom.js';
import { experimentsView } from './experiments.js';
import { runForm } from './form.js';
import { lanesView } from './lanes.js';
import { onLanguage, startLanguage, t } from './language.js';
import { locksView } from './locks.js';
import { nodesView } from './nodes.js';
import { meeting, refusals } from './pairs.js';
import { resultView } from './result.js';
import { Run } from './run.js';
import { stepperView } from './stepper.js';
import { nextView, strategyChooser, strategyText, strategyView } from './strategies.js';
import { onTheme, startTheme } from './theme.js';

const RENDER_PAUSE = 200;
const RESUME_PAUSE = 1000;

await startLanguage(byId('language'));
startTheme(byId('theme'));

try {
	const [info, strategies] = await Promise.all([api.info(), api.strategies()]);
	await page(info, strategies);
}
catch (problem) {
	console.error(problem);
	byId('setup').hidden = true;
	byId('run').hidden = true;
	say('app.unreachable');
	api.onAnswering((answers) => answers && location.reload());
	api.check();
}

function say(key, args) {
	const notice = byId('notice');
	notice.hidden = !key;
	notice.textContent = key ? t(key, args) : '';
}

async function page(info, strategies) {
	let run = null;
	let runs = [];
	let unfollow = () => {};
	let pending = null;

	const servers = byId('servers');
	servers.textContent = [info.database, info.redis && `Redis ${info.redis}`, info.zookeeper && `ZooKeeper ${info.zookeeper}`]
		.filter(Boolean).join(' · ');
	const chooser = strategyChooser(byId('strategies'), strategies, (id) => next.render(id));
	const next = nextView(byId('next'), strategies);
	const experiments = experimentsView(byId('experiments'), (request, faults) => attempt(() => begin(request, faults)));
	const form = runForm(byId('orders'), info);
	const about = strategyView(byId('strategy'), strategies);
	const result = resultView(byId('result'), strategies.length, { cancel, open });
	const chart = chartView(byId('chart'), titleOf);
	const nodes = nodesView(byId('nodes'), info, fault);
	const comparison = comparisonView(byId('comparison'), strategies, showStrategy);
	const lanes = lanesView(byId('lanes'), titleOf, showPair);
	const stepper = stepperView(byId('steps'));
	const locks = locksView(byId('locks'), api.locks, api.answers);

	function render() {
		clearTimeout(pending);
		pending = null;
		about.render(run?.cardStrategy);
		result.render(run, runs.map(({ id, strategy }) => ({ id, title: titleOf(strategy) })), titleOf, api.answers());
		chart.render(run);
		nodes.render(run, api.answers());
		comparison.render(run, runs);
		lanes.render(run);
		const free = api.answers() && (!run || run.over);
		byId('start').disabled = !free;
		experiments.render(free);
		document.body.dataset.run = run?.id ?? '';
		document.body.dataset.state = run?.state ?? '';
	}

	/** Many events come at once: they are drawn together. */
	function renderSoon() {
		pending ??= setTimeout(render, RENDER_PAUSE);
	}

	function titleOf(id) {
		const strategy = strategies.find((each) => each.id === id);
		return strategy ? strategyText(strategy, 'title') : t('setup.all');
	}

	/** Starts a run, to which these faults are done at their times. */
	async function begin(request, faults) {
		await watch(await api.start({ ...request, faults }));
		byId('result').scrollIntoView({ block: 'nearest' });
	}

	/** Shows a run, and follows it if it is going. */
	async function watch(answer) {
		unfollow();
		const watched = new Run(answer);
		run = watched;
		stepper.show(null);
		render();
		unfollow = api.follow(run.id, {
			progress: (event) => { watched.progress(event); renderSoon(); },
			order: (event) => { watched.order(event); renderSoon(); },
			fault: (event) => { watched.fault(event); renderSoon(); },
			result: (event) => { watched.result(event); renderSoon(); },
			finished: (event) => finish(watched, event)
		}, () => setTimeout(resume, RESUME_PAUSE));
		runs = await api.runs();
		render();
	}

	/** Shows what there is when the lab is back: it may have begun anew, and know nothing of the run. */
	async function resume() {
		try {
			runs = await api.runs();
			const known = runs.find(({ id, strategy }) => id === run?.id && strategy === run.strategy) ?? runs[0];
			if (known) {
				await watch(known);
				return;
			}
			unfollow();
			run = null;
			stepper.show(null);
			render();
		}
		catch (problem) {
			if (api.answers()) {
				say('error.failed', { detail: problem.message });
			}
		}
	}

	api.onAnswering((answers) => {
		document.body.dataset.answering = answers;
		say(answers ? null : 'app.lost');
		locks.render();
		render();
		if (answers) {
			resume();
		}
	});

	/** All orders are there now, and whether one of them was lost. */
	async function finish(finished, answer) {
		finished.take(answer);
		runs = runs.map((each) => each.id === answer.id ? answer : each);
		await attempt(() => complete(finished));
	}

	async function complete(finished) {
		const strategy = finished.drawnStrategy;
		if (strategy) {
			const [orders, lost] = await Promise.all([
				finished.fetchesOrders ? api.orders(finished.id, strategy) : [],
				api.lostUpdate(finished.id, strategy)
			]);
			orders.forEach((order) => finished.order(order));
			finished.refusals = refusals(finished.drawnOrders, finished.skus);
			const pairs = { lost, refused: finished.refusals[0], met: meeting(finished.drawnOrders, finished.skus) };
			const kind = Object.keys(pairs).find((each) => pairs[each]);
			finished.pair = kind ? { ...pairs[kind], kind } : null;
		}
		if (finished === run) {
			render();
		}
	}

	function showPair() {
		lanes.zoom(run.pair);
		stepper.show(run.pair);
		byId('steps').scrollIntoView({ block: 'nearest' });
		byId('step-next').focus({ preventScroll: true });
	}

	/** Shows a run; of "all", one of its strategies. */
	async function showStrategy(runId, id) {
		if (run?.id !== runId) {
			await open(runId);
		}
		if (run?.id !== runId || !run.all) {
			return;
		}
		run.shownStrategy = id;
		run.pair = null;
		run.refusals = [];
		stepper.show(null);
		render();
		await attempt(() => complete(run));
	}

	async function open(id) {
		await attempt(async () => watch(await api.run(id)));
	}

	async function cancel() {
		await attempt(() => api.cancel(run.id));
	}

	async function fault(what) {
		return attempt(async () => {
			await api.fault(run.id, what);
			return true;
		});
	}

	async function attempt(action) {
		try {
			const done = await action();
			say(api.answers() ? null : 'app.lost');
			return done;
		}
		catch (problem) {
			if (api.answers()) {
				say('error.failed', { detail: problem.message });
			}
			return null;
		}
	}

	byId('setup').addEventListener('submit', async (event) => {
		event.preventDefault();
		const error = byId('setup-error');
		const start = byId('start');
		form.clear();
		error.textContent = '';
		start.disabled = true;
		try {
			await begin({ strategy: chooser.selected, ...form.values() }, form.faults());
		}
		catch (problem) {
			start.disabled = false;
			await refused(problem, error);
		}
	});

	async function refused(problem, error) {
		if (problem.status === 409) {
			error.textContent = t('error.running');
			const going = (await api.runs()).find(({ state }) => ['STARTING', 'RUNNING'].includes(state));
			if (going) {
				await watch(going);
			}
		}
		else if (problem.errors?.length > 0) {
			error.textContent = t('error.request');
			form.refused(problem.errors);
		}
		else {
			error.textContent = t('error.failed', { detail: problem.message });
		}
	}

	onLanguage(() => {
		chooser.render();
		form.render();
		next.render(chooser.selected);
		stepper.render();
		locks.render();
		render();
	});
	onTheme(render);
	next.render(chooser.selected);
	render();
	runs = await api.runs() ?? [];
	if (runs.length > 0) {
		await watch(runs[0]);
	}
	document.body.dataset.ready = true;
}
