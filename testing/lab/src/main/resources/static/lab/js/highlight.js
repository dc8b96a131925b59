// Colours Java.

const TOKEN = new RegExp([
	/(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)/,
	/(?<string>"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])')/,
	/(?<annotation>@\w+)/,
	/(?<keyword>\b(?:abstract|assert|boolean|break|case|catch|class|continue|default|do|double|else|enum|extends|final|finally|float|for|if|implements|import|instanceof|int|interface|long|new|null|package|private|protected|public|record|return|static|super|switch|synchronized|this|throw|throws|true|false|try|var|void|while)\b)/,
	/(?<number>\b\d[\d_]*[lL]?\b)/
].map((token) => token.source).join('|'), 'g');

/** The code as text and spans with a class for each kind of word. */
export function highlighted(code) {
	const fragment = document.createDocumentFragment();
	let end = 0;
	for (const match of code.matchAll(TOKEN)) {
		fragment.append(code.slice(end, match.index));
		const span = document.createElement('span');
		span.className = Object.keys(match.groups).find((kind) => match.groups[kind] !== undefined);
		span.textContent = match[0];
		fragment.append(span);
		end = match.index + match[0].length;
	}
	fragment.append(code.slice(end));
	return fragment;
}
