// The nodes of a run, and the faults that can be done to them while it is going.

import { el } from './dom.js';
import { number, t } from './language.js';

export function nodesView(section, info, fault) {
	const title = el('h2', { id: 'nodes-title' });
	const list = el('ul', { class: 'nodes' });
	const secondsLabel = el('span');
	const seconds = el('input', { type: 'number', min: 0.1, max: 60, step: 0.1, id: 'freeze-seconds',
			value: Math.round(info.leaseMs * 2 / 1000 + 1) });
	const momentLabel = el('span');
	const moment = el('select', { id: 'fault-moment' }, ...['WORK', 'COMMIT', 'RELEASE'].map((value) => new Option('', value)));
	const redis = el('button', { type: 'button', class: 'quiet', id: 'restart-redis', onclick: () => cause('RESTART_REDIS', null) });
	const lease = el('p', { class: 'muted small' });
	const said = el('p', { class: 'muted small', role: 'status' });
	section.append(title, list, el('div', { class: 'faults' }, el('label', {}, secondsLabel, seconds),
			el('label', {}, momentLabel, moment), redis), lease, said);
	let cards = new Map();
	let shown = null;

	async function cause(kind, node) {
		const done = await fault({ kind, node, millis: Math.round(Number(seconds.value) * 1000), moment: moment.value });
		said.textContent = done ? t(`fault.done.${kind}`, { node }) : '';
	}

	/** Buttons stay the same while a run is going, so that they keep the focus. */
	function card(id) {
		const name = el('b');
		const state = el('span', { class: 'chip' });
		const detail = el('span', { class: 'muted small' });
		const freeze = el('button', { type: 'button', class: 'quiet', onclick: () => cause('FREEZE', id) });
		const kill = el('button', { type: 'button', class: 'quiet danger', onclick: () => cause('KILL', id) });
		const item = el('li', { style: `--node: var(--node-${id})` },
				el('div', {}, name, ' ', state, detail), el('div', { class: 'buttons' }, freeze, kill));
		return { item, name, state, detail, freeze, kill };
	}

	function render(run, answers) {
		title.textContent = t('fault.title');
		secondsLabel.textContent = t('fault.seconds');
		momentLabel.textContent = t('fault.moment');
		[...moment.options].forEach((option) => option.text = t(`fault.moment.${option.value}`));
		redis.textContent = t('fault.redis');
		lease.textContent = t('fault.lease', { seconds: number(info.leaseMs / 1000, 1) });
		redis.disabled = !answers || !run || run.over;
		if (run?.id !== shown) {
			shown = run?.id;
			said.textContent = '';
			cards = new Map();
			list.replaceChildren();
		}
		for (const node of run?.nodes ?? []) {
			if (!cards.has(node.id)) {
				cards.set(node.id, card(node.id));
				list.append(cards.get(node.id).item);
			}
			renderCard(cards.get(node.id), { ...node, state: answers ? node.state : 'UNKNOWN' }, run);
		}
	}

	function renderCard({ name, state, detail, freeze, kill }, node, run) {
		name.textContent = t('node.name', { node: node.id });
		state.textContent = t(`node.${node.state}`);
		state.dataset.state = node.state;
		detail.textContent = [node.pid && `pid ${node.pid}`,
				node.sold !== undefined && t('node.sold', { sold: node.sold })].filter(Boolean).join(' · ');
		freeze.textContent = t('fault.freeze');
		freeze.setAttribute('aria-label', t('fault.freeze.label', { node: node.id, seconds: number(Number(seconds.value), 1) }));
		kill.textContent = t('fault.kill');
		kill.setAttribute('aria-label', t('fault.kill.label', { node: node.id }));
		freeze.disabled = run.over || node.state !== 'UP';
		kill.disabled = run.over || ['DEAD', 'UNKNOWN'].includes(node.state);
	}

	return { render };
}
