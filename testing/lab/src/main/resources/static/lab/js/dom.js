// Makes elements.

export const byId = (id) => document.getElementById(id);

/** An element: what begins with "on" is a listener, "text" is its text. */
export function el(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name === 'text') {
			element.textContent = value;
		}
		else if (name.startsWith('on')) {
			element.addEventListener(name.slice(2), value);
		}
		else if (value === true) {
			element.setAttribute(name, '');
		}
		else if (value !== false && value !== null && value !== undefined) {
			element.setAttribute(name, value);
		}
	}
	element.append(...children);
	return element;
}
