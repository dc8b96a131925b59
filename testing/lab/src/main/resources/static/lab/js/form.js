// What is sent: the numbers of a run, and what the lab says against them.

import { el } from './dom.js';
import { number, t } from './language.js';

/** When the first orders are at work. */
const FAULT_AT = 100;

/** The fields; those of the second half are shown on demand. */
function fields(limits) {
	return [
		{ name: 'stock', value: 100, min: 0, max: limits.stock },
		{ name: 'orders', value: 200, min: 1, max: limits.orders },
		{ name: 'concurrency', value: 20, min: 1, max: limits.concurrency },
		{ name: 'nodes', value: 2, min: 1, max: limits.nodes },
		{ name: 'quantity', value: 1, min: 1, max: 1000, more: true },
		{ name: 'ratePerSecond', value: '', min: 1, max: 1000, more: true, hint: 'field.ratePerSecond.hint' },
		{ name: 'skus', value: 1, min: 1, max: 100, more: true, hint: 'field.skus.hint' },
		{ name: 'workMs', value: 2, min: 0, max: 5000, more: true }
	];
}

/** What can be done to a run, as the lab calls it. */
const FAULTS = {
	'FREEZE.WORK': { kind: 'FREEZE', moment: 'WORK' },
	'FREEZE.COMMIT': { kind: 'FREEZE', moment: 'COMMIT' },
	'FREEZE.RELEASE': { kind: 'FREEZE', moment: 'RELEASE' },
	'KILL': { kind: 'KILL' },
	'RESTART_REDIS': { kind: 'RESTART_REDIS' },
	'PROMOTE_REPLICA': { kind: 'PROMOTE_REPLICA' }
};

export function runForm(fieldset, info) {
	let preset = null;
	let quantities;
	const faultLabel = el('span');
	const fault = el('select', { id: 'field-fault' }, ...['none', ...Object.keys(FAULTS)].map((value) => new Option('', value)));
	const all = fields(info.limits).map((field) => ({ ...field, ...elements(field) }));
	const more = el('summary');
	fieldset.append(
			el('div', { class: 'fields' }, ...all.filter((field) => !field.more).map((field) => field.box),
					el('label', { for: 'field-fault', class: 'wide' }, faultLabel, fault)),
			el('details', {}, more,
					el('div', { class: 'fields' }, ...all.filter((field) => field.more).map((field) => field.box))));

	function elements({ name, value, min, max, hint }) {
		const label = el('span');
		const note = el('small', { id: `${name}-hint`, hidden: !hint });
		const error = el('small', { id: `${name}-error`, class: 'error' });
		const input = el('input', { type: 'number', name, id: `field-${name}`, value, min, max, inputmode: 'numeric',
				autocomplete: 'off', 'aria-describedby': `${name}-hint ${name}-error` });
		return { input, label, note, error, box: el('label', { for: input.id }, label, input, note, error) };
	}

	function render() {
		more.textContent = t('field.more');
		for (const field of all) {
			field.label.textContent = t(`field.${field.name}`);
			field.note.textContent = field.hint ? t(field.hint) : '';
		}
		faultLabel.textContent = t('field.fault');
		[...fault.options].forEach((option) => option.text = t(option.value === 'none' ? 'fault.none' : `condition.${option.value}`));
		clear();
	}

	function clear() {
		all.forEach((field) => mark(field, ''));
	}

	function mark(field, message) {
		field.error.textContent = message;
		field.input.setAttribute('aria-invalid', message !== '');
	}

	const valueOf = ({ input }) => input.value === '' ? null : Number(input.value);

	/** The numbers as they were typed. The lab decides whether they will do. */
	const values = () => Object.fromEntries(all.map((field) => [field.name, valueOf(field)])
		.filter(([name, value]) => value !== null || name !== 'ratePerSecond')
		.concat(quantities ? [['quantities', quantities]] : []));

	const keyOf = (preset) => Object.keys(FAULTS).find((key) => FAULTS[key].kind === preset?.faults[0]?.kind
		&& (FAULTS[key].moment ?? preset.faults[0].moment) === preset.faults[0].moment) ?? 'none';

	/** What is to be done to the first node, or to Redis: as in the preset, or for twice the lease. */
	const faults = () => fault.value === 'none' ? [] : fault.value === keyOf(preset) ? preset.faults
			: [{ atMs: FAULT_AT, node: 1, millis: info.leaseMs * 2, ...FAULTS[fault.value] }];

	/** Fills in the numbers and the fault that show the weakness of a strategy, or others that an address asks for. */
	function fill(wanted, others = {}) {
		preset = wanted;
		quantities = others.quantities?.split(',').map(Number);
		for (const field of all) {
			field.input.value = others[field.name] ?? (preset ? preset[field.name] : field.value) ?? '';
		}
		fault.value = others.fault ?? keyOf(preset);
		more.parentElement.open ||= all.some((field) => field.more && String(field.input.value) !== String(field.value));
		clear();
	}

	/** Marks what the lab has refused, and goes to the first of these fields. */
	function refused(errors) {
		const marked = all.filter((field) => {
			const error = errors.find((each) => each.field === field.name);
			mark(field, error ? reason(field, error.message) : '');
			return error;
		});
		const first = marked[0];
		if (first) {
			first.box.closest('details')?.setAttribute('open', '');
			first.input.focus();
		}
	}

	function reason(field, message) {
		const value = valueOf(field);
		if (field.input.validity.badInput || (value !== null && !Number.isInteger(value))) {
			return t('error.number');
		}
		return value === null || value < field.min || value > field.max
				? t('error.range', { min: number(field.min), max: number(field.max) }) : message;
	}

	render();
	return { render, clear, fill, refused, values, faults };
}
