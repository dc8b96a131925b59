package io.github.holdfast.migration;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks around methods that are written in Kotlin: those of the documentation, compiled
 * as Spring Boot's build plugins do it, and those that cannot be locked.
 */
@Timeout(240)
@Tag("long")
class KotlinTests {

	private static final Path START = Path.of("..", "..", "docs", "start.md");

	private static final String IMPORTS = """
			import io.github.holdfast.DistributedLock
			import org.springframework.jdbc.core.simple.JdbcClient
			import org.springframework.stereotype.Service
			import org.springframework.transaction.annotation.Transactional

			""";

	@TempDir
	private Path folder;

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
		.withPropertyValues("holdfast.wait-time=60s")
		.withConfiguration(AutoConfigurations.of(JdbcClientAutoConfiguration.class))
		.withBean(Stock.class);

	@Test
	void methodOfTheDocumentationIsLocked() throws Exception {
		Class<?> service = compile(documented(), true);
		start(service).run((context) -> {
			assertThat(context).hasNotFailed();
			Object stock = context.getBean(service);
			CompletableFuture
				.allOf(IntStream.range(0, 12)
					.mapToObj((order) -> CompletableFuture.runAsync(() -> deduct(stock)))
					.toArray(CompletableFuture[]::new))
				.join();
			assertThat(context.getBean(Stock.class).available()).isEqualTo(20 - 12);
		});
	}

	@Test
	void methodOfTheDocumentationLosesUpdatesWithoutItsLock() throws Exception {
		Class<?> service = compile(documented().replaceAll("@DistributedLock.*", ""), true);
		start(service).run((context) -> {
			Object stock = context.getBean(service);
			int sold = 0;
			while (20 - sold == context.getBean(Stock.class).available()) {
				context.getBean(JdbcClient.class).sql("UPDATE stock SET available = 20").update();
				CompletableFuture
					.allOf(IntStream.range(0, 12)
						.mapToObj((order) -> CompletableFuture.runAsync(() -> deduct(stock)))
						.toArray(CompletableFuture[]::new))
					.join();
				sold = 12;
			}
			assertThat(context.getBean(Stock.class).available()).as("lost updates leave too much").isGreaterThan(8);
		});
	}

	@Test
	void classThatIsNotOpenedIsRefused() throws Exception {
		start(compile(documented(), false)).run((context) -> assertThat(context.getStartupFailure()).rootCause()
			.hasMessageContaining("StockService")
			.hasMessageContaining("final"));
	}

	@Test
	void suspendingMethodIsRefused() throws Exception {
		Class<?> service = compile(documented().replace("fun deduct", "suspend fun deduct"), true);
		start(service).run((context) -> assertThat(context.getStartupFailure()).rootCause()
			.hasMessageContaining("deduct")
			.hasMessageContaining("Continuation"));
	}

	private ApplicationContextRunner start(Class<?> service) {
		return this.application.withClassLoader(service.getClassLoader()).withBean(service);
	}

	private static void deduct(Object stock) {
		try {
			stock.getClass().getMethod("deduct", String.class, int.class).invoke(stock, "A", 1);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * The service that is shown.
	 */
	private static String documented() throws IOException {
		Matcher block = Pattern.compile("```kotlin\\n(@Service.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(START));
		assertThat(block.find()).as("service in Kotlin of " + START).isTrue();
		return block.group(1);
	}

	private Class<?> compile(String code, boolean opened) throws IOException, ClassNotFoundException {
		Path source = Files.writeString(this.folder.resolve("StockService.kt"), IMPORTS + code);
		Path classes = Files.createDirectory(this.folder.resolve("classes"));
		List<String> arguments = new ArrayList<>(List.of("-no-stdlib", "-no-reflect", "-java-parameters", "-jvm-target",
				"17", "-cp", System.getProperty("java.class.path"), "-d", classes.toString()));
		if (opened) {
			arguments.addAll(List.of("-Xplugin=" + jar("kotlin-allopen-compiler-plugin-embeddable"), "-P",
					"plugin:org.jetbrains.kotlin.allopen:preset=spring"));
		}
		arguments.add(source.toString());
		assertThat(new K2JVMCompiler().exec(System.err, arguments.toArray(String[]::new))).isEqualTo(ExitCode.OK);
		return loader(classes).loadClass("StockService");
	}

	private static ClassLoader loader(Path classes) throws MalformedURLException {
		return new URLClassLoader(new URL[] { classes.toUri().toURL() }, DistributedLock.class.getClassLoader());
	}

	private static String jar(String name) {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> entry.contains(name))
			.findFirst()
			.orElseThrow();
	}

}
