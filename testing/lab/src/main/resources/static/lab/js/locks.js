// The locks that are held right now, as the nodes tell them.

import { el } from './dom.js';
import { duration, t } from './language.js';

const PAUSE = 1000;

export function locksView(section, ask, answers) {
	const title = el('h2', { id: 'locks-title' });
	const none = el('p', { class: 'muted' });
	const head = el('tr');
	const body = el('tbody');
	const table = el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-labelledby': 'locks-title' },
			el('table', {}, el('thead', {}, head), body));
	section.append(title, none, table);
	let locks = [];
	let failed = false;

	const known = () => answers() && !failed;
	const shown = () => known() ? locks : [];

	function render() {
		title.textContent = t('locks.title');
		none.textContent = t(known() ? 'locks.none' : 'locks.unknown');
		none.hidden = shown().length > 0;
		table.hidden = shown().length === 0;
		head.replaceChildren(...['key', 'state', 'where', 'since'].map((column) =>
			el('th', { scope: 'col', text: t(`locks.${column}`) })));
		body.replaceChildren(...shown().map((lock) => el('tr', { 'data-state': lock.state },
				el('th', { scope: 'row', class: 'code', text: lock.key, title: lock.name }),
				el('td', {}, el('span', { class: 'chip', 'data-state': lock.state, text: t(`locks.${lock.state}`) })),
				el('td', { text: [t('node.name', { node: lock.node }), lock.thread].filter(Boolean).join(', '),
						title: lock.holder ?? '' }),
				el('td', { class: 'figure', text: duration(lock.sinceMs) }))));
	}

	async function poll() {
		if (document.visibilityState === 'visible') {
			try {
				locks = await ask() ?? [];
				failed = false;
			}
			catch (problem) {
				failed = true;
			}
			render();
		}
		setTimeout(poll, PAUSE);
	}

	poll();
	return { render };
}
