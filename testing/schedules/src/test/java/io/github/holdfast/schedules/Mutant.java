package io.github.holdfast.schedules;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A mistake in a class of Holdfast.
 *
 * @param mistake what it is
 * @param className the class
 * @param right a part of its source that is there once, without its indentation
 * @param wrong what is there instead
 */
record Mutant(String mistake, String className, String right, String wrong) {

	private static final Path SOURCES = Path.of("../../autoconfigure/src/main/java");

	/**
	 * The class with the mistake, and those inside of it.
	 */
	Map<String, byte[]> compile() throws IOException {
		String source = Files.readString(SOURCES.resolve(this.className.replace('.', '/') + ".java"));
		Pattern right = this.right.lines()
			.map(String::strip)
			.map(Pattern::quote)
			.collect(Collectors.collectingAndThen(Collectors.joining("\\s+"), Pattern::compile));
		if (right.matcher(source).results().count() != 1) {
			throw new IllegalStateException(this.className + " does not have once: " + this.right);
		}
		return compile(right.matcher(source).replaceFirst(Matcher.quoteReplacement(this.wrong)));
	}

	private Map<String, byte[]> compile(String source) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter messages = new StringWriter();
		try (Classes classes = new Classes(compiler.getStandardFileManager(null, null, null))) {
			boolean compiled = compiler
				.getTask(messages, classes, null,
						List.of("-proc:none", "-nowarn", "-parameters", "-g", "-cp",
								System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))),
						null, List.of(new Source(this.className, source)))
				.call();
			if (!compiled) {
				throw new IllegalStateException(messages.toString());
			}
			return classes.bytes();
		}
	}

	@Override
	public String toString() {
		return this.mistake;
	}

	private static final class Source extends SimpleJavaFileObject {

		private final String source;

		private Source(String className, String source) {
			super(URI.create("string:///" + className.replace('.', '/') + Kind.SOURCE.extension), Kind.SOURCE);
			this.source = source;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.source;
		}

	}

	private static final class Classes extends ForwardingJavaFileManager<StandardJavaFileManager> {

		private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

		private Classes(StandardJavaFileManager next) {
			super(next);
		}

		@Override
		public JavaFileObject getJavaFileForOutput(JavaFileManager.Location location, String className,
				JavaFileObject.Kind kind, FileObject sibling) {
			return new SimpleJavaFileObject(URI.create("mem:///" + className.replace('.', '/')), kind) {

				@Override
				public OutputStream openOutputStream() {
					return Classes.this.written.computeIfAbsent(className, (name) -> new ByteArrayOutputStream());
				}

			};
		}

		private Map<String, byte[]> bytes() {
			Map<String, byte[]> bytes = new HashMap<>();
			this.written.forEach((name, out) -> bytes.put(name, out.toByteArray()));
			return bytes;
		}

	}

}
