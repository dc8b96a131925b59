package io.github.holdfast.testsupport;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ChildJvm}.
 */
class ChildJvmTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	@Test
	void childAnswers() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			assertThat(child.await("ready ", TIMEOUT)).isEqualTo("hello");
			child.send("één €");
			assertThat(child.await("echo ", TIMEOUT)).isEqualTo("één €");
		}
	}

	@Test
	void childHasTheClassPath() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			child.send("load org.h2.Driver");
			assertThat(child.await("loaded ", TIMEOUT)).isEqualTo("org.h2.Driver");
		}
	}

	@Test
	void linesWithOtherPrefixesAreKept() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			child.send("1");
			assertThat(child.await("echo ", TIMEOUT)).isEqualTo("1");
			assertThat(child.poll("ready ")).hasValue("hello");
			assertThat(child.poll("ready ")).isEmpty();
		}
	}

	@Test
	void awaitFailsAtOnceWhenTheChildHasEnded() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			child.send("exit");
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> child.await("echo ", Duration.ofHours(1)))
				.withMessageContaining("bye from the child");
		}
	}

	@Test
	void pausedChildIsSilentUntilItIsResumed() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			child.await("ready ", TIMEOUT);
			child.pause();
			child.send("1");
			await().during(Duration.ofMillis(300)).until(() -> child.poll("echo ").isEmpty());
			assertThat(child.state()).isEqualTo('T');
			child.resume();
			assertThat(child.await("echo ", TIMEOUT)).isEqualTo("1");
		}
	}

	@Test
	void killedChildIsGone() throws Exception {
		try (ChildJvm child = ChildJvm.start(Echo.class, "hello")) {
			child.await("ready ", TIMEOUT);
			child.kill();
			assertThat(ProcessHandle.of(child.pid()).filter(ProcessHandle::isAlive)).isEmpty();
		}
	}

	@Test
	void closedChildIsGoneEvenWhenPaused() throws Exception {
		ChildJvm child = ChildJvm.start(Echo.class, "hello");
		try (child) {
			child.await("ready ", TIMEOUT);
			child.pause();
		}
		assertThat(child.isAlive()).isFalse();
		assertThat(ProcessHandle.of(child.pid()).filter(ProcessHandle::isAlive)).isEmpty();
	}

	/**
	 * Repeats each line.
	 */
	static final class Echo {

		private Echo() {
		}

		public static void main(String[] args) throws IOException, ClassNotFoundException {
			System.out.println("ready " + args[0]);
			BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				if (line.equals("exit")) {
					System.err.println("bye from the child");
					System.exit(3);
				}
				if (line.startsWith("load ")) {
					System.out.println("loaded " + Class.forName(line.substring(5)).getName());
				}
				System.out.println("echo " + line);
			}
		}

	}

}
