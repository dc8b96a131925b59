package io.github.holdfast.interceptor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Lazy;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a call gets whose lock is busy. */
class BusyLockTests {

	private final List<LockListener.Reason> reasons = new ArrayList<>();

	@Test
	void busyLockIsThrownByDefault() {
		whileBusy((service) -> assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> service.throwing("A"))
			.satisfies((ex) -> {
				assertThat(ex.key()).isEqualTo("busy:A");
				assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY);
			}));
	}

	@Test
	void skippedCallReturnsNothing() {
		whileBusy((service) -> {
			assertThat(service.skipText("A")).isNull();
			assertThat(service.skipOptional("A")).isEmpty();
			service.skipVoid("A");
			assertThat(service.ran()).isEmpty();
			assertThat(service.skipText("B")).isEqualTo("done B");
		});
	}

	@Test
	void fallbackIsCalledThroughTheProxyInsteadOfTheMethod() {
		whileBusy((service) -> {
			assertThat(service.withFallback("A", 7)).isEqualTo("fallback A 7");
			assertThat(service.withFallback("B", 7)).isEqualTo("done B");
			assertThat(service.withExceptionFallback("A")).isEqualTo("BUSY busy:A");
			assertThat(service.withLockedFallback("A")).isEqualTo("[fallback:A]");
			assertThat(service.withPackagePrivateFallback("A")).isEqualTo("[package:A]");
		});
	}

	@Test
	void listenersAreToldWhetherABusyCallIsSkippedOnPurpose() {
		whileBusy((service) -> {
			service.skipVoid("A");
			service.withFallback("A", 7);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> service.throwing("A"));
		});
		assertThat(this.reasons).containsExactly(LockListener.Reason.SKIPPED, LockListener.Reason.BUSY,
				LockListener.Reason.BUSY);
	}

	@Test
	void exceptionOfTheFallbackReachesTheCallerUnchanged() {
		whileBusy((service) -> assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> service.withFailingFallback("A"))
			.withMessage("fallback")
			.withNoCause());
	}

	@Test
	void busyLockInsideOfTheBodyNeitherSkipsNorReplacesTheOuterCall() {
		whileBusy((service) -> {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> service.skipWithNested("B"))
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo("busy:A"));
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> service.withFallbackAndNested("C"))
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo("busy:A"));
			assertThat(service.ran()).containsExactly("outer B", "outer C");
		});
	}

	@Test
	void interruptIsNotTakenForBusy() {
		whileBusy((service) -> {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> service.skipText("A"))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED));
			assertThat(Thread.interrupted()).isTrue();
		});
	}

	private void whileBusy(ServiceCall call) {
		LockedApplication.local()
			.withPropertyValues("holdfast.wait-time=0s")
			.withBean(Service.class)
			.withBean(LockListener.class, () -> new LockListener() {

				@Override
				public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
					BusyLockTests.this.reasons.add(reason);
				}

			})
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class);
				try (LockTemplate.Scope holder = CompletableFuture.supplyAsync(() -> locks.acquire("busy:A")).get()) {
					assertThat(holder).isNotNull();
					call.on(context.getBean(Service.class));
				}
			});
	}

	interface ServiceCall {

		void on(Service service) throws Exception;

	}

	static class Service {

		private final List<String> ran = new ArrayList<>();

		@Lazy
		@Autowired
		private Service self;

		public List<String> ran() {
			return this.ran;
		}

		@DistributedLock(key = "'busy:' + #sku")
		public void throwing(String sku) {
			throw new IllegalStateException("must not run");
		}

		@DistributedLock(key = "'busy:' + #sku", onBusy = DistributedLock.OnBusy.SKIP)
		public @Nullable String skipText(String sku) {
			this.ran.add(sku);
			return "done " + sku;
		}

		@DistributedLock(key = "'busy:' + #sku", onBusy = DistributedLock.OnBusy.SKIP)
		public Optional<String> skipOptional(String sku) {
			return Optional.of(sku);
		}

		@DistributedLock(key = "'busy:' + #sku", onBusy = DistributedLock.OnBusy.SKIP)
		public void skipVoid(String sku) {
			this.ran.add(sku);
		}

		@DistributedLock(key = "'busy:' + #sku", onBusy = DistributedLock.OnBusy.SKIP)
		public @Nullable String skipWithNested(String sku) {
			this.ran.add("outer " + sku);
			this.self.throwing("A");
			return sku;
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "later")
		public String withFallback(String sku, int quantity) {
			return "done " + sku;
		}

		public String later(String sku, int quantity) {
			return "fallback " + sku + " " + quantity;
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "explain")
		public Object withExceptionFallback(String sku) {
			return "done " + sku;
		}

		public String explain(String sku, LockNotAcquiredException ex) {
			return ex.reason() + " " + ex.key();
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "locked")
		public String withLockedFallback(String sku) {
			return "done " + sku;
		}

		@DistributedLock(key = "'fallback:' + #sku")
		public String locked(String sku) {
			return LockedApplication.heldKeys().toString();
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "failing")
		public String withFailingFallback(String sku) throws IOException {
			return "done " + sku;
		}

		public String failing(String sku) throws IOException {
			throw new IOException("fallback");
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "hidden")
		public String withPackagePrivateFallback(String sku) {
			return "done " + sku;
		}

		@DistributedLock(key = "'package:' + #sku")
		String hidden(String sku) {
			return LockedApplication.heldKeys().toString();
		}

		@DistributedLock(key = "'busy:' + #sku", fallbackMethod = "skipVoid")
		public void withFallbackAndNested(String sku) {
			this.ran.add("outer " + sku);
			this.self.throwing("A");
		}

	}

}
