package io.github.holdfast.interceptor;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Compiles a class while a test runs, in memory. */
public final class TestCompiler {

	private final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

	private final DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();

	/** Compiles and loads a class that has no errors. */
	public static Class<?> compiled(String name, String source, String... options)
			throws IOException, ClassNotFoundException {
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile(name, source, options)).as(compiler::messages).isTrue();
		return compiler.load(name);
	}

	boolean compile(String name, String source, String... options) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager standard = compiler.getStandardFileManager(this.diagnostics, null, null);
				InMemoryFileManager files = new InMemoryFileManager(standard)) {
			List<String> all = new ArrayList<>(
					List.of("-proc:none", "-classpath", System.getProperty("java.class.path")));
			all.addAll(List.of(options));
			return compiler.getTask(null, files, this.diagnostics, all, null, List.of(new Source(name, source))).call();
		}
	}

	String messages() {
		return this.diagnostics.getDiagnostics().toString();
	}

	private Class<?> load(String name) throws ClassNotFoundException {
		Map<String, ByteArrayOutputStream> compiled = this.classes;
		return new ClassLoader(TestCompiler.class.getClassLoader()) {

			@Override
			protected Class<?> findClass(String className) throws ClassNotFoundException {
				ByteArrayOutputStream bytes = compiled.get(className);
				if (bytes == null) {
					throw new ClassNotFoundException(className);
				}
				return defineClass(className, bytes.toByteArray(), 0, bytes.size());
			}

			@Override
			public @Nullable InputStream getResourceAsStream(String name) {
				ByteArrayOutputStream bytes = compiled.get(name.replace(".class", ""));
				return (bytes != null) ? new ByteArrayInputStream(bytes.toByteArray())
						: super.getResourceAsStream(name);
			}

		}.loadClass(name);
	}

	private static final class Source extends SimpleJavaFileObject {

		private final String text;

		private Source(String name, String text) {
			super(URI.create("memory:///" + name + ".java"), Kind.SOURCE);
			this.text = text;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.text;
		}

	}

	private final class InMemoryFileManager extends ForwardingJavaFileManager<JavaFileManager> {

		private InMemoryFileManager(JavaFileManager fileManager) {
			super(fileManager);
		}

		@Override
		public JavaFileObject getJavaFileForOutput(Location location, String className, JavaFileObject.Kind kind,
				FileObject sibling) {
			return new SimpleJavaFileObject(URI.create("memory:///" + className + ".class"), kind) {

				@Override
				public OutputStream openOutputStream() {
					ByteArrayOutputStream bytes = new ByteArrayOutputStream();
					TestCompiler.this.classes.put(className, bytes);
					return bytes;
				}

			};
		}

	}

}
