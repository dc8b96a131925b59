package io.github.holdfast.store.local;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock that does not run out by itself, after a body that was shorter than its minimum
 * hold time.
 */
class LocalMinHoldTimeTests {

	private static final Duration MIN_HOLD_TIME = Duration.ofSeconds(1);

	@Test
	void lockIsFreeAfterTheTimeAndNotBefore() {
		LockTemplate locks = new LockTemplate(LocalLockBackend::new, List::of);
		try {
			assertHeldForTheTime(locks, locks);
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	/**
	 * Another application in this JVM must neither be let in early nor be locked out for
	 * ever.
	 */
	@Test
	void lockOutlivesItsTemplate() {
		LockTemplate closed = new LockTemplate(LocalLockBackend::new, List::of);
		LockTemplate locks = new LockTemplate(LocalLockBackend::new, List::of);
		try {
			assertHeldForTheTime(closed, locks);
		}
		finally {
			TemplateAccess.close(locks);
			TemplateAccess.close(closed);
		}
	}

	private static void assertHeldForTheTime(LockTemplate first, LockTemplate second) {
		String key = "local-min-hold-" + (first == second);
		long start = System.nanoTime();
		first.withMinHoldTime(MIN_HOLD_TIME).run(key, () -> {
		});
		if (first != second) {
			TemplateAccess.close(first);
		}
		second.withWaitTime(Duration.ofSeconds(60))
			.run(key, () -> assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(MIN_HOLD_TIME.toNanos()));
	}

}
