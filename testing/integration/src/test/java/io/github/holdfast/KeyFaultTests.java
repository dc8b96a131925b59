package io.github.holdfast;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;

import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys that are too long, too short or missing, and keys that consist of parts.
 */
@Tag("long")
class KeyFaultTests {

	private static final List<Integer> LENGTHS = List.of(1, 2, 64, 65, 189, 190, 191, 254, 255, 256, 4096, 1_000_000);

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	@Tag("F44")
	void keysOfAnyLengthAreLocksOfTheirOwn(TestBackend backend) {
		backend.application().withPropertyValues("holdfast.wait-time=0s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			for (int length : LENGTHS) {
				for (String filler : List.of("x", "é")) {
					String key = filler.repeat(length);
					String other = filler.repeat(length - 1) + "y";
					try (LockTemplate.Scope held = locks.acquire(key)) {
						assertThat(held).isNotNull();
						assertThat(outcomeOnOtherThread(() -> locks.acquire(key).close())).as("length %d", length)
							.isInstanceOf(LockNotAcquiredException.class);
						assertThat(outcomeOnOtherThread(() -> locks.acquire(other).close())).as("length %d", length)
							.isNull();
					}
					assertThat(outcomeOnOtherThread(() -> locks.acquire(key).close())).as("length %d", length).isNull();
				}
			}
			assertThatIllegalArgumentException().isThrownBy(() -> locks.acquire(""));
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	@Tag("F44")
	void expressionThatGivesAnEmptyOrAHugeKeyIsRefused(TestBackend backend) {
		run(backend, (service, context) -> {
			assertThat(service.of("x".repeat(4096), () -> {
			})).isTrue();
			assertRefused(context, () -> service.of("x".repeat(1_000_000), KeyFaultTests::neverCalled));
			assertRefused(context, () -> service.of("", KeyFaultTests::neverCalled));
		});
	}

	/**
	 * The elements of a list are locks of their own, so nothing is joined that could be
	 * read in two ways.
	 */
	@ParameterizedTest
	@EnumSource(TestBackend.class)
	@Tag("F49")
	void partsOfAListAreNeverJoined(TestBackend backend) {
		run(backend, (service, context) -> {
			List<String> left = List.of("a.b", "c");
			List<String> right = List.of("a", "b.c");
			assertThat(service.ofAll(left, () -> {
				assertThat(LockContext.current().orElseThrow().keys()).containsExactlyInAnyOrderElementsOf(left);
				assertThat(outcomeOnOtherThread(() -> service.ofAll(right, () -> {
				}))).isNull();
				assertThat(outcomeOnOtherThread(() -> service.ofAll(List.of("x", "c"), KeyFaultTests::neverCalled)))
					.isInstanceOf(LockNotAcquiredException.class);
			})).isTrue();
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	@Tag("F50")
	void nullPartIsRefused(TestBackend backend) {
		run(backend, (service, context) -> {
			assertRefused(context, () -> service.of(null, KeyFaultTests::neverCalled));
			assertRefused(context, () -> service.ofPart(null, KeyFaultTests::neverCalled));
			assertRefused(context, () -> service.ofProjection(List.of("a", ""), KeyFaultTests::neverCalled));
			assertThat(service.ofPart("null",
					() -> assertThat(LockContext.current().orElseThrow().keys()).containsExactly("inventory:null")))
				.isTrue();
		});
	}

	private static void run(TestBackend backend, Scenario scenario) {
		backend.application()
			.withBean(LeaseCalls.class)
			.withBean(Service.class)
			.withPropertyValues("holdfast.wait-time=0s")
			.run((context) -> scenario.run(context.getBean(Service.class), context));
	}

	private static void assertRefused(ApplicationContext context, Runnable call) {
		LeaseCalls calls = context.getBean(LeaseCalls.class);
		calls.clear();
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(call::run);
		assertThat(calls.owners()).as("leases").isEmpty();
	}

	private static void neverCalled() {
		throw new AssertionError("The method was called");
	}

	private static @Nullable Throwable outcomeOnOtherThread(Runnable call) {
		return CompletableFuture.runAsync(call)
			.orTimeout(60, TimeUnit.SECONDS)
			.handle((result, failure) -> (failure != null) ? failure.getCause() : null)
			.join();
	}

	@FunctionalInterface
	private interface Scenario {

		void run(Service service, ApplicationContext context);

	}

	static class Service {

		@DistributedLock(key = "#key")
		public boolean of(@Nullable String key, Runnable work) {
			work.run();
			return true;
		}

		@DistributedLock(key = "#keys")
		public boolean ofAll(List<String> keys, Runnable work) {
			work.run();
			return true;
		}

		@DistributedLock(key = "'inventory:' + #sku")
		public boolean ofPart(@Nullable String sku, Runnable work) {
			work.run();
			return true;
		}

		@DistributedLock(key = "#keys.!['inventory:' + (#this.isEmpty() ? null : #this)]")
		public boolean ofProjection(List<String> keys, Runnable work) {
			work.run();
			return true;
		}

	}

}
