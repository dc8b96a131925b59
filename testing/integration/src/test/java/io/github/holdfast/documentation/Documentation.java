package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The pages of the repository and the code in them. */
public final class Documentation {

	static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();

	private static final Pattern BLOCK = Pattern.compile("^ *```(\\w*)\\n(.*?)^ *```$",
			Pattern.MULTILINE | Pattern.DOTALL);

	private Documentation() {
	}

	public static List<Page> pages() throws IOException {
		List<Page> pages = new ArrayList<>();
		for (Path file : files(".md")) {
			pages.add(new Page(file, Files.readString(file)));
		}
		return pages;
	}

	/** The files of the repository with an ending, sorted, without what was built. */
	static List<Path> files(String ending) throws IOException {
		List<Path> files = new ArrayList<>();
		Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
				return directory.endsWith("target") || directory.getFileName().toString().startsWith(".git")
						? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
				if (file.toString().endsWith(ending)) {
					files.add(file);
				}
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFileFailed(Path file, IOException ex) {
				return FileVisitResult.CONTINUE;
			}

		});
		Collections.sort(files);
		return files;
	}

	public static List<Block> blocks(String language) throws IOException {
		return pages().stream()
			.flatMap((page) -> page.blocks().stream())
			.filter((block) -> block.language().equals(language))
			.toList();
	}

	public record Page(Path file, String text) {

		List<Block> blocks() {
			List<Block> blocks = new ArrayList<>();
			Matcher matcher = BLOCK.matcher(this.text);
			while (matcher.find()) {
				int line = (int) this.text.substring(0, matcher.start()).lines().count() + 1;
				blocks.add(new Block(toString(), line, matcher.group(1), matcher.group(2)));
			}
			return blocks;
		}

		/** The text without the code. */
		String prose() {
			return BLOCK.matcher(this.text).replaceAll("");
		}

		@Override
		public String toString() {
			return ROOT.relativize(this.file).toString();
		}

	}

	public record Block(String page, int line, String language, String text) {

		@Override
		public String toString() {
			return this.page + ":" + this.line;
		}

	}

}
