// The ladder: each rung breaks the remedy of the one before, with a run that fails each time.

import { el } from './dom.js';
import { highlighted } from './highlight.js';
import { t } from './language.js';
import { verdictKind } from './result.js';

/**
 * What is expected of each rung: "wrong", "stuck" or "right", and about how many seconds
 * it takes. The line with "!" is the guilty one, the line with "+" is the remedy.
 */
const RUNGS = [
	{ id: 'no-lock', strategy: 'memory-overwrite', expect: 'wrong', seconds: 6, code: `
@Transactional
boolean sell(String sku) {
!	int available = read(sku);
	if (available < 1) {
		return false;
	}
	write(sku, available - 1);
	return true;
}` },
	{ id: 'inside', strategy: 'redis-inside-transaction', expect: 'wrong', seconds: 6, code: `
@Transactional
boolean sell(String sku) {
	lock.lock();
	try {
		return deduct(sku); // read, check, write
	} finally {
!		lock.unlock();
	}
}` },
	{ id: 'no-expiry', strategy: 'setnx-no-expiry', expect: 'stuck', seconds: 15, code: `
boolean sell(String sku) {
!	while (!redis.setIfAbsent(sku, "locked")) {
		pause();
	}
	try {
		return transaction.deduct(sku);
	} finally {
		redis.delete(sku);
	}
}` },
	{ id: 'no-owner', strategy: 'delete-without-owner', expect: 'wrong', seconds: 8, code: `
boolean sell(String sku) {
	while (!redis.setIfAbsent(sku, "locked", TWENTY_MS)) {
		pause();
	}
	try {
		return transaction.deduct(sku);
	} finally {
!		redis.delete(sku);
	}
}` },
	{ id: 'freeze', strategy: 'redisson-watchdog', expect: 'wrong', seconds: 8, code: `
boolean sell(String sku) {
	RLock lock = redisson.getLock(sku);
	lock.lock();
	try {
!		return transaction.deduct(sku);
	} finally {
		lock.unlock();
	}
}` },
	{ id: 'lease', strategy: 'holdfast-redis-lease', expect: 'wrong', seconds: 12, code: `
// holdfast.backend=redis
!// holdfast.commit-guard=lease
@DistributedLock(name = "stock", key = "#sku")
@Transactional
boolean sell(String sku) {
	return deduct(sku); // read, check, write
}` },
	{ id: 'fence', strategy: 'holdfast-redis-fence', expect: 'right', seconds: 12, code: `
// holdfast.backend=redis
+// holdfast.commit-guard=fence
@DistributedLock(name = "stock", key = "#sku")
@Transactional
boolean sell(String sku) {
	return deduct(sku); // read, check, write
}` },
	{ id: 'update', strategy: 'conditional-update', expect: 'right', seconds: 6, needless: true, code: `
@Transactional
boolean sell(String sku) {
	return jdbc.sql("""
+			UPDATE stock SET available = available - 1
+			WHERE sku = ? AND available >= 1""")
		.param(sku).update() == 1;
}` },
	{ id: 'for-update', strategy: 'for-update', expect: 'right', seconds: 6, needless: true, code: `
@Transactional
boolean sell(String sku) {
+	int available = read("SELECT … FOR UPDATE", sku);
	if (available < 1) {
		return false;
	}
	write(sku, available - 1);
	return true;
}` },
	{ id: 'version', strategy: 'optimistic-retry', expect: 'right', seconds: 6, needless: true, code: `
@Transactional // repeated while it returns CONFLICT
Result sell(String sku) {
	Stock stock = read(sku);
	if (stock.available() < 1) {
		return SOLD_OUT;
	}
+	return update("… SET version = version + 1 WHERE version = ?",
		stock.version()) == 1 ? SOLD : CONFLICT;
}` }
];

const GUESSES = ['right', 'wrong', 'stuck'];

export const ALL = 'all';

/** The rung in the address of the page; none for all approaches. */
export const rungAt = (hash) => RUNGS.find(({ id }) => hash === `#${id}`) ?? (/^#all\b/.test(hash) ? null : RUNGS[0]);

/** Whether a run is one of this rung. */
export const isOf = (run, rung) => run.strategy === rung.strategy && (run.request.faults ?? []).length === (rung.preset.faults ?? []).length;

/** Whether it shows what its rung is about. What is wrong is always shown, whatever was expected. */
export const shows = (run, rung) => run.judged && [rung.expect, 'wrong'].includes(verdictKind(run.judged.verdict));

export function ladderView(nav, section, strategies, begin) {
	for (const rung of RUNGS) {
		rung.preset = strategies.find(({ id }) => id === rung.strategy)?.preset ?? {};
	}
	const guesses = new Map();

	function render(rung, run, free) {
		renderNav(rung);
		section.hidden = !rung;
		if (rung) {
			renderRung(rung, run, free);
		}
	}

	/** Is only written if it is new, and the focus stays where it was. */
	function renderNav(rung) {
		const state = `${rung?.id ?? ALL} ${document.documentElement.lang}`;
		if (nav.dataset.drawn === state) {
			return;
		}
		nav.dataset.drawn = state;
		const focused = nav.contains(document.activeElement) ? document.activeElement.hash : null;
		const link = (id, name, number) => el('li', {}, el('a', { href: `#${id}`, 'aria-current': (rung?.id ?? ALL) === id ? 'page' : null },
				el('span', { class: 'number', 'aria-hidden': 'true', text: number }), el('span', { text: name })));
		const list = (needless) => RUNGS.filter((each) => Boolean(each.needless) === needless)
			.map(({ id }, index) => link(id, t(`rung.${id}.name`), needless ? '✓' : index + 1));
		nav.setAttribute('aria-label', t('ladder.title'));
		nav.replaceChildren(el('h2', { text: t('ladder.title') }), el('ol', {}, ...list(false)),
				el('h2', { text: t('ladder.needless') }), el('ul', {}, ...list(true), link(ALL, t('ladder.all'), '…')));
		if (focused) {
			nav.querySelector(`a[href="${focused}"]`).focus();
		}
	}

	function renderRung(rung, run, free) {
		const over = Boolean(run?.over && run.judged);
		const guess = guesses.get(rung.id);
		const state = JSON.stringify([rung.id, over && run.id, run?.over, guess, free, document.documentElement.lang]);
		if (section.dataset.drawn === state) {
			return;
		}
		const focused = section.contains(document.activeElement) ? document.activeElement.id : '';
		section.dataset.drawn = state;
		section.dataset.rung = rung.id;
		const next = RUNGS[RUNGS.indexOf(rung) + 1];
		section.replaceChildren(
				el('h2', { id: 'rung-title', text: t(`rung.${rung.id}.title`) }),
				el('p', { text: t(`rung.${rung.id}.text`) }),
				code(rung, over || Boolean(guess)),
				el('fieldset', { class: 'guess' }, el('legend', { text: t('guess.title') }),
						...GUESSES.map((kind) => el('button', { type: 'button', class: 'quiet', id: `guess-${kind}`, 'aria-pressed': String(guess === kind),
								text: t(`guess.${kind}`), onclick: () => { guesses.set(rung.id, kind); render(rung, run, free); } }))),
				el('div', { class: 'toolbar' },
						el('button', { type: 'button', class: 'primary', id: 'climb', disabled: !free, text: t(over ? 'rung.again' : 'rung.run'), onclick: () => begin(rung) }),
						el('span', { class: 'muted estimate', text: t('rung.estimate', { seconds: rung.seconds }) })),
				el('div', { class: 'why', hidden: !over },
						el('p', {}, over && guess ? `${t(guess === rung.expect ? 'guess.hit' : 'guess.missed')} ` : '', t(`rung.${rung.id}.why`)),
						next ? el('a', { class: 'button quiet', href: `#${next.id}`, text: t('rung.next', { name: t(`rung.${next.id}.name`) }) }) : ''));
		if (focused) {
			document.getElementById(focused)?.focus({ preventScroll: true });
		}
	}

	/** The guilty line is marked when somebody has guessed, or has seen the run. */
	function code(rung, marked) {
		const lines = rung.code.trim().split('\n').map((line) => ({ mark: /^[!+]/.exec(line)?.[0], text: line.replace(/^[!+]/, '') }));
		return el('pre', { class: 'code-lines', tabindex: 0, 'aria-label': t('strategy.source'), lang: 'en' }, ...lines.map(({ mark, text }) =>
			el('code', { class: marked && mark ? mark === '!' ? 'guilty' : 'remedy' : '' }, highlighted(text), '\n')));
	}

	return { render };
}
