package io.github.holdfast.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * An application on a version of Spring Boot that is too old says so when it starts.
 */
class SpringBootVersionTests {

	/** The jars of Spring Boot 3 and what it needs, put there by the build. */
	private static final Path SPRING_BOOT_3 = Path.of("target", "spring-boot-3");

	@Test
	void startOnSpringBoot3NamesTheVersionThatIsNeeded() throws IOException, InterruptedException {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", classPath(), Application.class.getName())
			.redirectErrorStream(true)
			.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).isNotZero();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Holdfast needs Spring Boot 4, and this application runs on 3.")
			.doesNotContain("NoClassDefFoundError", "ClassNotFoundException", "started");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "4.0.0", "4.0.8", "4.1.1", "5.0.0-M1", "10.0.0" })
	void laterVersionsAreNotRefused(String version) {
		assertThatNoException().isThrownBy(() -> SpringBootVersionCheck.check(version));
	}

	private static String classPath() {
		try (Stream<Path> jars = Files.list(SPRING_BOOT_3)) {
			return Stream.concat(Stream.of(Path.of("target", "classes"), Path.of("target", "test-classes")), jars)
				.map(Path::toString)
				.collect(Collectors.joining(File.pathSeparator));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@EnableAutoConfiguration
	static class Application {

		public static void main(String[] args) {
			SpringApplication.run(Application.class, args);
			System.out.println("started");
		}

	}

}
