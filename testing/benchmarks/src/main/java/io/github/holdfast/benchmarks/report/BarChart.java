package io.github.holdfast.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Horizontal bars, as an SVG image. The length of a bar is the median, the line on it
 * goes from the smallest to the largest value. Bars that are much longer than those of
 * the other contenders are cut.
 *
 * @param title what is compared
 * @param subtitle how, and where
 * @param bars the bars, from the top
 */
public record BarChart(String title, String subtitle, List<Bar> bars) {

	private static final int ROW = 26;

	private static final int TOP = 64;

	private static final int LEFT = 270;

	private static final int LENGTH = 400;

	private static final int WIDTH = 820;

	/** How much longer than that of a contender a bar is at most. */
	private static final double LONGEST = 1.5;

	/**
	 * Write the image.
	 * @param file where to
	 * @throws IOException if it cannot be written
	 */
	public void write(Path file) throws IOException {
		Files.createDirectories(file.toAbsolutePath().getParent());
		Files.writeString(file, svg());
	}

	private String svg() {
		int height = TOP + ROW * this.bars.size() + 12;
		StringBuilder svg = new StringBuilder();
		svg.append(format("""
				<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
				<title>%s</title>
				<rect width="100%%" height="100%%" fill="#ffffff"/>
				<text x="16" y="28" font-size="17" font-weight="bold" fill="#222222">%s</text>
				<text x="16" y="48" font-size="11" fill="#666666">%s</text>
				""", WIDTH, height, escape(this.title), escape(this.title), escape(this.subtitle)));
		double scale = LENGTH / limit();
		for (int i = 0; i < this.bars.size(); i++) {
			svg.append(this.bars.get(i).svg(TOP + i * ROW, scale));
		}
		return svg.append("</svg>\n").toString();
	}

	private double limit() {
		double longest = longest(this.bars.stream());
		double contender = longest(this.bars.stream().filter((bar) -> bar.kind() != Kind.LIMIT));
		return (contender > 0) ? Math.min(longest, LONGEST * contender) : longest;
	}

	private static double longest(Stream<Bar> bars) {
		return bars.mapToDouble((bar) -> bar.value().median()).max().orElse(0);
	}

	private static String format(String text, Object... args) {
		return String.format(Locale.ROOT, text, args);
	}

	private static String escape(String text) {
		return text.replace("`", "").replace("&", "&amp;").replace("<", "&lt;");
	}

	/**
	 * One bar.
	 *
	 * @param label what it stands for
	 * @param value its length
	 * @param note what is written behind the value
	 * @param kind its color
	 */
	public record Bar(String label, Spread value, String note, Kind kind) {

		private String svg(int top, double scale) {
			double length = Math.min(this.value.median() * scale, LENGTH + 10);
			boolean cut = this.value.median() * scale > LENGTH + 10;
			StringBuilder svg = new StringBuilder();
			svg.append(format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222222\">%s</text>\n", LEFT - 8,
					top + 15, escape(this.label)));
			svg.append(format("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\" fill=\"%s\"/>\n", LEFT, top, length,
					this.kind.color));
			double end = length;
			if (cut) {
				svg.append(format("<path d=\"M%d %d l6 -24 M%d %d l6 -24\" stroke=\"#ffffff\" stroke-width=\"3\"/>\n",
						LEFT + LENGTH - 24, top + 21, LEFT + LENGTH - 16, top + 21));
			}
			else {
				end = Math.max(length, Math.min(this.value.largest() * scale, LENGTH + 10));
				svg.append(format("<path d=\"M%.1f %d H%.1f\" stroke=\"#222222\" stroke-opacity=\"0.5\"/>\n",
						LEFT + this.value.smallest() * scale, top + 9, LEFT + end));
			}
			svg.append(format("<text x=\"%.1f\" y=\"%d\" fill=\"#222222\">%s</text>\n", LEFT + end + 6, top + 14,
					escape(format("%,.0f", this.value.median()) + this.note)));
			return svg.toString();
		}

	}

	/**
	 * What a bar stands for.
	 */
	public enum Kind {

		/** Holdfast. */
		OURS("#1f6fb2"),

		/** What it is compared with. */
		OTHER("#b8bec6"),

		/** What can do less, and is the limit for the others. */
		LIMIT("#e3c9a0");

		private final String color;

		Kind(String color) {
			this.color = color;
		}

	}

}
