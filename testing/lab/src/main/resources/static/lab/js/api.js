// The REST API of the lab.

import * as recorded from './recorded.js';

/** What the lab refuses, as its problem detail says it. */
export class Problem extends Error {

	constructor(status, detail) {
		super(detail.detail ?? detail.title ?? `HTTP ${status}`);
		this.status = status;
		this.errors = detail.errors ?? [];
	}

}

/** What a proxy says while the lab is away. */
const AWAY = [502, 503, 504];
const CHECK_PAUSE = 1000;

let answering = true;
let tell = () => {};
let checks = null;
let playing = false;

/** From now on, all answers are recorded ones. */
export function play() {
	playing = true;
	answering = true;
	clearInterval(checks);
}

export const plays = () => playing;

/** Tells whether the lab answers, when that changes; while it does not, it is asked again and again. */
export function onAnswering(listener) {
	tell = listener;
}

export const answers = () => answering;

function heard(now) {
	if (now !== answering) {
		answering = now;
		tell(now);
		clearInterval(checks);
		checks = now ? null : setInterval(check, CHECK_PAUSE);
	}
}

/** Asks whether it is there: what comes of it is told to the listener. */
export const check = () => info().catch(() => {});

async function call(method, path, body) {
	return playing ? recorded.answer(method, path, body) : ask(method, path, body);
}

async function ask(method, path, body) {
	let response;
	try {
		response = await fetch(path, {
			method,
			headers: body ? { 'Content-Type': 'application/json' } : {},
			body: body && JSON.stringify(body)
		});
	}
	catch (problem) {
		heard(false);
		throw problem;
	}
	heard(!AWAY.includes(response.status));
	if (!response.ok) {
		throw new Problem(response.status, await response.json().catch(() => ({})));
	}
	const text = await response.text();
	return text ? JSON.parse(text) : null;
}

export const info = () => call('GET', 'info');
export const strategies = () => call('GET', 'strategies');
export const runs = () => call('GET', 'runs');
export const run = (id) => call('GET', `runs/${id}`);
export const start = (request) => call('POST', 'runs', request);
export const cancel = (id) => call('DELETE', `runs/${id}`);
export const orders = (id, strategy) => call('GET', `runs/${id}/orders?strategy=${strategy}`);
export const lostUpdate = (id, strategy) => call('GET', `runs/${id}/lost-update?strategy=${strategy}`);
