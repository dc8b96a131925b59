// Makes elements.

const SVG = 'http://www.w3.org/2000/svg';

export const byId = (id) => document.getElementById(id);

/** An element of HTML: what begins with "on" is a listener, "text" is its text. */
export function el(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg(tag, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
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
