package io.github.holdfast.interceptor;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** Compiles a class while a test runs, into a folder below {@code target}. */
public final class TestCompiler {

	private static final Path DIRECTORY = Path.of("target", "compiled");

	private TestCompiler() {
	}

	/** Compiles and loads a class, which must have no errors. */
	public static Class<?> compiled(String name, String source, String... options)
			throws IOException, ClassNotFoundException {
		Path folder = Files.createTempDirectory(Files.createDirectories(DIRECTORY), name);
		Path file = Files.writeString(folder.resolve(name + ".java"), source);
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-encoding", "UTF-8", "-classpath",
				System.getProperty("java.class.path"), file.toString()));
		arguments.addAll(List.of(options));
		ByteArrayOutputStream messages = new ByteArrayOutputStream();
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, messages, arguments.toArray(String[]::new)))
			.as(messages::toString)
			.isZero();
		return new URLClassLoader(new URL[] { folder.toUri().toURL() }, TestCompiler.class.getClassLoader())
			.loadClass(name);
	}

}
