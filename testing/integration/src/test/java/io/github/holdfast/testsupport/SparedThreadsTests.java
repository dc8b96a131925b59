package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockMode;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The kits find out on which threads something may block.
 */
class SparedThreadsTests {

	@ParameterizedTest
	@ValueSource(strings = { "lettuce-nioEventLoop-4-1", "redisson-netty-1-2", "vert.x-eventloop-thread-0",
			"main-EventThread", "holdfast-timer-1", "holdfast-schedule-1", "holdfast-renewal-redis-1" })
	void listenerThatIsToldOnAThreadOfTheLibraryIsFound(String thread) throws Exception {
		run(thread,
				() -> new ThreadListener().lost(
						new Call(1, "stock", List.of("A"), LockMode.EXCLUSIVE, "redis", "lock:", List.of()), "A",
						Duration.ZERO));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(SparedThreads::assertSpared)
			.withMessageContaining(thread);
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce-nioEventLoop-4-1", "holdfast-timer-1" })
	void connectionThatIsAskedForOnSuchAThreadIsFound(String thread) throws Exception {
		try (HikariDataSource pool = TestDatabase.H2.newDatabase().dataSource(1)) {
			run(thread, () -> pool.getConnection().close());
		}
		assertThatExceptionOfType(AssertionError.class).isThrownBy(SparedThreads::assertSpared);
	}

	@ParameterizedTest
	@ValueSource(strings = { "main", "holdfast-listener-1" })
	void othersMayBlock(String thread) throws Exception {
		run(thread, () -> SparedThreads.check("A listener is told", "holdfast-renewal-"));
		assertThatNoException().isThrownBy(SparedThreads::assertSpared);
	}

	private static void run(String name, Body body) throws Exception {
		Thread thread = new Thread(new FutureTask<>(() -> {
			body.run();
			return null;
		}), name);
		thread.start();
		thread.join();
	}

	@FunctionalInterface
	private interface Body {

		void run() throws Exception;

	}

}
