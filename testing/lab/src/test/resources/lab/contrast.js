// The texts that are seen but have less contrast than WCAG 2.2 asks for (AA): 4.5, or 3 where they are large.
const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });

function over(colour, below) {
	canvas.fillStyle = `rgb(${below.join(' ')})`;
	canvas.fillRect(0, 0, 1, 1);
	canvas.fillStyle = colour;
	canvas.fillRect(0, 0, 1, 1);
	return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

function behind(element) {
	if (!element) {
		return [255, 255, 255];
	}
	return over(getComputedStyle(element).backgroundColor, behind(element.parentElement));
}

function luminance(colour) {
	const [r, g, b] = colour.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element) {
	const ground = behind(element);
	const [light, dark] = [luminance(ground), luminance(over(getComputedStyle(element).color, ground))].sort((a, b) => b - a);
	return (light + 0.05) / (dark + 0.05);
}

const large = (style) => parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);

return [...document.querySelectorAll('body *')]
	.filter((element) => !element.closest('svg, :disabled, [aria-disabled="true"], script, noscript') && element.checkVisibility({ visibilityProperty: true }))
	.filter((element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()))
	.filter((element) => contrast(element) < (large(getComputedStyle(element)) ? 3 : 4.5))
	.map((element) => `${contrast(element).toFixed(2)} ${element.outerHTML.slice(0, 200)}`);
