// The page: what is shown of what, and who tells whom.

import * as api from './api.js';
import { comparisonView } from './comparison.js';
import { byId } from './dom.js';
import { runForm } from './form.js';
import { ALL, isOf, ladderView, rungAt, shows } from './ladder.js';
import { onLanguage, startLanguage, t } from './language.js';
import { meeting, refusal } from './pairs.js';
import { resultView } from './result.js';
import { Run } from './run.js';
import { stepperView } from './stepper.js';
import { nextView, strategyChooser, strategyText, strategyView } from './strategies.js';

const POLL_PAUSE = 300;

/** A run that was lucky is repeated until it fails, but not for ever. */
const MOST_TRIES = 5;

await startLanguage(byId('language'));

try {
	await api.info();
}
catch {
	api.play();
}
await page(...await Promise.all([api.info(), api.strategies()]));

function say(key, args) {
	const notice = byId('notice');
	notice.hidden = !key;
	notice.textContent = key ? t(key, args) : '';
}

async function page(info, strategies) {
	let run = null;
	let runs = [];
	let tries = '';
	let climbing = false;

	byId('servers').textContent = `${info.database} · Redis ${info.redis}`;
	const ladder = ladderView(byId('ladder'), byId('rung'), strategies, climb);
	const chooser = strategyChooser(byId('strategies'), strategies, (id) => {
		history.replaceState(null, '', `#${ALL}/${id}`);
		choose(id);
	});
	const next = nextView(byId('next'), strategies);
	const form = runForm(byId('orders'), info);
	const about = strategyView(byId('strategy'), strategies);
	const result = resultView(byId('result'), strategies.length, { cancel, open, step });
	const comparison = comparisonView(byId('comparison'), strategies, showCell);
	const stepper = stepperView(byId('steps'));

	/** All approaches are not recorded. */
	const rung = () => rungAt(location.hash) ?? (api.plays() ? rungAt('') : null);

	function render() {
		const free = api.answers() && (!run || run.over);
		document.body.dataset.view = rung()?.id ?? ALL;
		document.body.dataset.run = run?.id ?? '';
		document.body.dataset.state = run?.state ?? '';
		document.body.dataset.recorded = api.plays();
		byId('setup').hidden = Boolean(rung());
		byId('start').disabled = !free;
		ladder.render(rung(), run && rung() && isOf(run, rung()) ? run : null, free && !climbing);
		about.render(rung() ? null : run?.cardStrategy);
		result.render(run, runs, titleOf, api.answers(), tries);
		comparison.render(rung() ? null : run, rung() ? [] : runs);
	}

	function titleOf(id) {
		const strategy = strategies.find((each) => each.id === id);
		return strategy ? strategyText(strategy, 'title') : t('setup.all');
	}

	function choose(id, others) {
		next.render(id);
		form.fill(strategies.find((each) => each.id === id)?.preset, others);
	}

	/** The address of all approaches may name one of them, and other numbers than those that show its weakness. */
	function follow() {
		const [, id, others] = /^#all\/([\w-]+)(?:\?(.*))?$/.exec(location.hash) ?? [];
		if (id && id !== chooser.selected || others) {
			chooser.select(id);
			choose(id, Object.fromEntries(new URLSearchParams(others)));
		}
	}

	/** Shows a run, and follows it to its end. */
	async function watch(answer) {
		const watched = new Run(answer);
		run = watched;
		stepper.show(null);
		render();
		while (run === watched && !watched.over) {
			await new Promise((resolve) => setTimeout(resolve, POLL_PAUSE));
			if (api.answers()) {
				await poll(watched);
			}
		}
		if (run === watched) {
			runs = await api.runs();
			await complete(watched);
		}
		return watched;
	}

	async function poll(watched) {
		try {
			const answer = await api.run(watched.id);
			if (answer.strategy === watched.strategy) {
				watched.take(answer);
			}
		}
		catch (problem) {
			if (problem.status === 404 && run === watched) {
				run = null;
			}
		}
		render();
	}

	/** All orders are there now, and whether a sale of one of them was lost. */
	async function complete(finished) {
		const strategy = finished.all ? finished.shownStrategy : finished.strategy;
		if (strategy) {
			const [orders, lost] = await Promise.all([finished.fetchesOrders ? api.orders(finished.id, strategy) : [],
				api.lostUpdate(finished.id, strategy)]);
			finished.orders = orders;
			const pairs = { lost: lost?.overwritten && lost, oversold: lost, refused: refusal(orders, finished.skus), met: meeting(orders, finished.skus) };
			const kind = Object.keys(pairs).find((each) => pairs[each]);
			finished.pair = kind ? { ...pairs[kind], kind } : null;
		}
		if (finished === run) {
			stepper.show(run);
			render();
		}
	}

	/** Runs a rung, again and again until it shows what it is about. */
	async function climb(which) {
		await attempt(async () => {
			climbing = true;
			try {
				for (let count = 1; count <= MOST_TRIES && rung() === which; count++) {
					tries = count === 1 ? '' : t('rung.try', { count, most: MOST_TRIES });
					const done = await begin({ strategy: which.strategy, ...which.preset });
					byId('result').scrollIntoView({ block: 'nearest' });
					if (done.state !== 'FINISHED' || shows(done, which)) {
						return;
					}
				}
			}
			finally {
				climbing = false;
				tries = '';
				render();
			}
		});
	}

	async function begin(request) {
		try {
			const done = watch(await api.start(request));
			byId('result').scrollIntoView({ block: 'nearest' });
			return await done;
		}
		catch (problem) {
			if (problem.status === 409) {
				await watchGoing();
			}
			throw problem;
		}
	}

	/** Shows the run that is going, if there is one. */
	async function watchGoing() {
		runs = await api.runs();
		const going = runs.find(({ state }) => ['STARTING', 'RUNNING'].includes(state));
		if (going) {
			attempt(() => watch(going));
		}
		return going;
	}

	/** Shows what there is: the run that is going, or the last one of this address. */
	async function look() {
		if (run && !run.over) {
			render();
			return;
		}
		if (!await watchGoing()) {
			const last = rung() ? runs.find((each) => isOf(each, rung())) : runs.find(({ id }) => id === run?.id) ?? runs[0];
			if (last) {
				await watch(last);
			}
			else {
				run = null;
				stepper.show(null);
				render();
			}
		}
	}

	/** What a cell says is shown, and the result is where one looks then. */
	async function showCell(id, strategy) {
		await attempt(async () => {
			if (run?.id !== id) {
				await watch(await api.run(id));
			}
			if (run.all) {
				run.shownStrategy = strategy;
				await complete(run);
			}
			byId('result').scrollIntoView({ block: 'start' });
			byId('result').focus({ preventScroll: true });
		});
	}

	function step() {
		byId('steps').scrollIntoView({ block: 'nearest' });
		byId('step-next').focus({ preventScroll: true });
	}

	async function open(id) {
		await attempt(async () => watch(await api.run(id)));
	}

	async function cancel() {
		await attempt(() => api.cancel(run.id));
	}

	async function attempt(action) {
		try {
			await action();
			say(api.plays() ? 'app.recorded' : api.answers() ? null : 'app.lost');
		}
		catch (problem) {
			if (problem.status === 409) {
				say('error.running');
			}
			else if (api.answers()) {
				say('error.failed', { detail: problem.message });
			}
		}
	}

	/** After a while without answers the lab may have begun anew, and know nothing of the run. */
	api.onAnswering((answers) => {
		document.body.dataset.answering = answers;
		say(answers ? null : 'app.lost');
		render();
		if (answers) {
			attempt(async () => {
				const known = (await api.runs()).find(({ id, strategy }) => id === run?.id && strategy === run.strategy);
				run = known ? run : null;
				await look();
			});
		}
	});

	byId('setup').addEventListener('submit', async (event) => {
		event.preventDefault();
		const error = byId('setup-error');
		form.clear();
		error.textContent = '';
		try {
			await begin({ strategy: chooser.selected, ...form.values(), faults: form.faults() });
		}
		catch (problem) {
			refused(problem, error);
		}
	});

	function refused(problem, error) {
		if (problem.errors?.length > 0) {
			error.textContent = t('error.request');
			form.refused(problem.errors);
		}
		else {
			error.textContent = problem.status === 409 ? t('error.running') : t('error.failed', { detail: problem.message });
		}
	}

	onLanguage(() => {
		chooser.render();
		form.render();
		next.render(chooser.selected);
		stepper.render();
		render();
	});
	addEventListener('hashchange', () => {
		follow();
		byId('rung').scrollIntoView({ block: 'nearest' });
		attempt(look);
	});
	choose(chooser.selected);
	follow();
	await attempt(look);
	document.body.dataset.ready = true;
}
