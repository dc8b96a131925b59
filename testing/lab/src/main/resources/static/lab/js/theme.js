// Dark or light: what the system prefers, until the button was pressed.

import { onLanguage, t } from './language.js';

const REMEMBERED = 'holdfast.lab.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];

export const dark = () => (localStorage.getItem(REMEMBERED) ?? (system.matches ? 'dark' : 'light')) === 'dark';

export function startTheme(button) {
	const apply = () => {
		document.documentElement.style.colorScheme = dark() ? 'dark' : 'light';
		button.textContent = dark() ? '☀' : '☾';
		const text = t(dark() ? 'app.theme.light' : 'app.theme.dark');
		button.setAttribute('aria-label', text);
		button.title = text;
		listeners.forEach((listener) => listener());
	};
	button.addEventListener('click', () => {
		localStorage.setItem(REMEMBERED, dark() ? 'light' : 'dark');
		apply();
	});
	system.addEventListener('change', apply);
	onLanguage(apply);
	apply();
}

/** What cannot be coloured by CSS is coloured again. */
export function onTheme(listener) {
	listeners.push(listener);
}

/** The colour that a custom property has in this theme. */
export function colour(name) {
	const probe = document.createElement('i');
	probe.style.color = `var(${name})`;
	document.body.append(probe);
	const value = getComputedStyle(probe).color;
	probe.remove();
	return value;
}

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
