// The texts of the page in the language that was chosen, and numbers as it writes them.

const NAMES = { en: 'English', zh: '中文' };
const TAGS = { en: 'en', zh: 'zh-CN' };
const REMEMBERED = 'holdfast.lab.language';

let current = 'en';
let texts = {};
const listeners = [];

/** Loads the language that was used last, or else one that the browser prefers. */
export async function startLanguage(select) {
	for (const [code, name] of Object.entries(NAMES)) {
		const option = new Option(name, code);
		option.lang = TAGS[code];
		select.append(option);
	}
	const preferred = [localStorage.getItem(REMEMBERED), ...navigator.languages.map((tag) => tag.slice(0, 2))];
	await use(preferred.find((code) => code in NAMES) ?? 'en');
	select.value = current;
	select.addEventListener('change', async () => {
		localStorage.setItem(REMEMBERED, select.value);
		await use(select.value);
	});
}

async function use(code) {
	const response = await fetch(`languages/${code}.json`);
	texts = await response.json();
	current = code;
	document.documentElement.lang = TAGS[code];
	document.title = t('app.title');
	for (const element of document.querySelectorAll('[data-t]')) {
		element.textContent = t(element.dataset.t);
	}
	listeners.forEach((listener) => listener());
}

/** What is written must be written again when the language changes. */
export function onLanguage(listener) {
	listeners.push(listener);
}

export const known = (key) => key in texts;

/** The text with this key; {name} is replaced by the argument of that name, {name:one|many} by one of the two words. */
export function t(key, args = {}) {
	return (texts[key] ?? key).replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (placeholder, name, one, many) =>
		!(name in args) ? placeholder : one === undefined ? shown(args[name]) : args[name] === 1 ? one : many);
}

const shown = (value) => typeof value === 'number' ? number(value) : (value ?? '–');

export function number(value, digits = 0) {
	return new Intl.NumberFormat(TAGS[current], { maximumFractionDigits: digits }).format(value);
}

/** A duration in ms, in the unit that reads best. */
export function duration(ms) {
	return ms >= 1000 ? t('unit.s', { value: number(ms / 1000, 2) })
			: t('unit.ms', { value: number(ms, ms < 10 ? 2 : 0) });
}
