package io.github.holdfast.observation;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What the log says about a lock that is held for too long. */
@ExtendWith(OutputCaptureExtension.class)
class LeakDetectionTests {

	@Test
	void lockThatIsHeldTooLongIsLoggedWithTheStackOfItsThread(CapturedOutput output) {
		LockedApplication.local().withPropertyValues("holdfast.leak-detection-threshold=50ms").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withName("stock");
			locks.run("A", () -> await().until(() -> output.getOut().contains("\tat ")));
			assertThat(output)
				.contains("WARN",
						"Lock 'stock' (key 'A') has been held for 50 ms. Stack of thread '"
								+ Thread.currentThread().getName() + "':\n\tat ")
				.contains("LeakDetectionTests.lambda$lockThatIsHeldTooLongIsLoggedWithTheStackOfItsThread$")
				.contains("Lock 'stock' that was reported after 50 ms was released after ");
		});
		await().until(() -> threads() == 0);
	}

	@Test
	void lockThatIsReleasedInTimeIsNotLogged(CapturedOutput output) {
		LockedApplication.local().withPropertyValues("holdfast.leak-detection-threshold=1h").run((context) -> {
			context.getBean(LockTemplate.class).run("A", () -> {
			});
			assertThat(threads()).isOne();
		});
		assertThat(output).doesNotContain("has been held");
	}

	@Test
	void nobodyLooksByDefault() {
		LockedApplication.local().run((context) -> assertThat(context).doesNotHaveBean(LeakDetection.class));
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("holdfast-leak-detection"))
			.count();
	}

}
