package io.github.holdfast;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Ten thousand virtual threads wait for one lock, with a single thread to carry them. One
 * that pins its carrier while it waits would stop all of them.
 */
@Tag("long")
class VirtualThreadTests {

	private static final int WAITERS = 10_000;

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	@BeforeEach
	void checkVersion() {
		assumeTrue(Runtime.version().feature() >= 21, "Virtual threads need a JDK 21 or later to run the tests");
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	void allWaitersFinishOnOneCarrier(TestBackend backend) throws Exception {
		try (ChildJvm child = ChildJvm.start(
				List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"),
				VirtualThreadWorker.class, backend.hasLockTable() ? "jdbc" : "local", Integer.toString(WAITERS))) {
			assertThat(Integer.parseInt(child.await("THREADS ", PATIENCE))).as("threads of the platform")
				.isLessThan(50);
			assertThat(child.await("FINISHED ", PATIENCE)).isEqualTo(Integer.toString(WAITERS));
		}
	}

}
