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
import javax.tools.JavaFileObject.Kind;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Compiles a class while a test runs, in memory. */
public final class TestCompiler {

	private TestCompiler() {
	}

	/** Compiles and loads a class, which must have no errors. */
	public static Class<?> compiled(String name, String source, String... options)
			throws IOException, ClassNotFoundException {
		Map<String, ByteArrayOutputStream> classes = new HashMap<>();
		DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
		List<String> all = new ArrayList<>(List.of("-proc:none", "-classpath", System.getProperty("java.class.path")));
		all.addAll(List.of(options));
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (JavaFileManager standard = compiler.getStandardFileManager(messages, null, null);
				JavaFileManager files = new InMemoryFileManager(standard, classes)) {
			JavaFileObject file = new SimpleJavaFileObject(URI.create("memory:///" + name + ".java"), Kind.SOURCE) {

				@Override
				public CharSequence getCharContent(boolean ignoreEncodingErrors) {
					return source;
				}

			};
			assertThat(compiler.getTask(null, files, messages, all, null, List.of(file)).call())
				.as(() -> messages.getDiagnostics().toString())
				.isTrue();
		}
		return new InMemoryClassLoader(classes).loadClass(name);
	}

	private static final class InMemoryFileManager extends ForwardingJavaFileManager<JavaFileManager> {

		private final Map<String, ByteArrayOutputStream> classes;

		private InMemoryFileManager(JavaFileManager fileManager, Map<String, ByteArrayOutputStream> classes) {
			super(fileManager);
			this.classes = classes;
		}

		@Override
		public JavaFileObject getJavaFileForOutput(Location location, String className, Kind kind, FileObject sibling) {
			return new SimpleJavaFileObject(URI.create("memory:///" + className + ".class"), kind) {

				@Override
				public OutputStream openOutputStream() {
					return InMemoryFileManager.this.classes.computeIfAbsent(className,
							(name) -> new ByteArrayOutputStream());
				}

			};
		}

	}

	private static final class InMemoryClassLoader extends ClassLoader {

		private final Map<String, ByteArrayOutputStream> classes;

		private InMemoryClassLoader(Map<String, ByteArrayOutputStream> classes) {
			super(TestCompiler.class.getClassLoader());
			this.classes = classes;
		}

		@Override
		protected Class<?> findClass(String className) throws ClassNotFoundException {
			ByteArrayOutputStream bytes = this.classes.get(className);
			if (bytes == null) {
				throw new ClassNotFoundException(className);
			}
			return defineClass(className, bytes.toByteArray(), 0, bytes.size());
		}

		@Override
		public @Nullable InputStream getResourceAsStream(String name) {
			ByteArrayOutputStream bytes = this.classes.get(name.replace(".class", ""));
			return (bytes != null) ? new ByteArrayInputStream(bytes.toByteArray()) : super.getResourceAsStream(name);
		}

	}

}
