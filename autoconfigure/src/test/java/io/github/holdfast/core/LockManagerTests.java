package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.aop.framework.ProxyFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** What calls of one JVM that want the same key learn of each other. */
@Timeout(120)
class LockManagerTests {

	private final LocalLockBackend store = new LocalLockBackend();

	private final AtomicInteger questions = new AtomicInteger();

	private final CountDownLatch failure = new CountDownLatch(1);

	@AutoClose
	private final LockManager manager = new LockManager(failingOnce());

	private final LockTemplate locks = new LockTemplate(this.manager).withWaitTime(Duration.ofSeconds(60));

	private final String key = UUID.randomUUID().toString();

	/** The first question fails when it is told to. */
	private LockBackend failingOnce() {
		ProxyFactory proxy = new ProxyFactory(this.store);
		proxy.addAdvice((MethodInterceptor) (invocation) -> {
			if (invocation.getMethod().getName().equals("acquire") && this.questions.incrementAndGet() == 1) {
				this.failure.await();
				throw new LockBackendException("k", "could not be acquired", null);
			}
			return invocation.proceed();
		});
		return (LockBackend) proxy.getProxy(getClass().getClassLoader());
	}

	@Test
	void failureOfTheStoreDoesNotReachCallersThatComeLater() throws Exception {
		LockManager otherManager = new LockManager(this.store);
		CompletableFuture<Void> second;
		try (LockTemplate.Scope other = new LockTemplate(otherManager).acquire(this.key)) {
			assertThat(other).isNotNull();
			CompletableFuture<Void> first = acquire();
			await().until(() -> this.questions.get() == 1);
			second = acquire();
			await().until(() -> this.manager.snapshots().size() == 2);
			this.failure.countDown();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
				.withCauseInstanceOf(LockBackendException.class);
			await().until(() -> this.questions.get() == 2);
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.locks.withWaitTime(Duration.ZERO).acquire(this.key));
		}
		second.get();
		otherManager.close();
	}

	private CompletableFuture<Void> acquire() {
		return CompletableFuture.runAsync(() -> this.locks.acquire(this.key).close(),
				(task) -> new Thread(task).start());
	}

	/** A listener waits for the end of each call that was acquired. */
	@Test
	void callThatTheGuardRefusesWasNotAcquired() {
		List<String> told = new ArrayList<>();
		LockGuard guard = new LockGuard() {

			@Override
			public void acquired(LockCall call) {
				throw new IllegalStateException("refused");
			}

		};
		LockListener listener = new LockListener() {

			@Override
			public void onAcquired(Call call, Duration waitTime) {
				told.add("acquired");
			}

			@Override
			public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
				told.add("not acquired");
			}

		};
		LockManager guarded = new LockManager(() -> this.store, () -> guard, () -> List.of(listener), (name) -> null,
				LockSettings.DEFAULT, Duration.ZERO);
		assertThatIllegalStateException().isThrownBy(() -> new LockTemplate(guarded).acquire(this.key));
		assertThat(told).containsExactly("not acquired");
		guarded.close();
	}

	/** The store of this JVM outlives the manager. */
	@Test
	void lockThatIsKeptWithoutALeaseEndsWithItsManager() {
		LockManager first = new LockManager(this.store);
		new LockTemplate(first).withMinHoldTime(Duration.ofHours(1)).run(this.key, () -> {
		});
		LockManager second = new LockManager(this.store);
		LockTemplate locks = new LockTemplate(second).withWaitTime(Duration.ZERO);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> locks.acquire(this.key));
		first.close();
		locks.acquire(this.key).close();
		second.close();
	}

	/** It would be that of the next holder. */
	@Test
	void callThatIsOverHasNoToken() {
		this.failure.countDown();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.locks.acquire(this.key));
		AtomicReference<@Nullable LockContext> context = new AtomicReference<>();
		this.locks.run(this.key, () -> {
			context.set(LockContext.current().orElseThrow());
			assertThat(context.get().fencingToken()).isPositive();
		});
		assertThatIllegalStateException().isThrownBy(() -> context.get().fencingToken())
			.withMessageContaining("read its fencing token while it is held");
	}

}
