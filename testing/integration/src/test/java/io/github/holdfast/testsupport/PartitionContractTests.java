package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.FaultProxy.Fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} has to do when the network between a node and its store
 * fails, at each step of a lock. Another node sees what is left. To test a backend,
 * extend this class, or {@link LeasePartitionContractTests} if its leases run out by
 * time.
 */
@Timeout(120)
public abstract class PartitionContractTests extends StoreContract {

	private long session;

	@BeforeEach
	final void rememberSession() {
		// The first use makes connections and what is there for good
		connect(this.key);
		this.session = store().session();
	}

	@ParameterizedTest
	@EnumSource(names = { "HOLD_REPLIES", "BLACKHOLE", "HOLD_REQUESTS" })
	final void requestWithoutAnswerFailsAndIsGivenBack(Fault fault) throws Exception {
		proxy().inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> TestLease.acquire(store().near(), request(NO_WAIT)))
			.withMessageContaining(store().silence());
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * Nobody waits for ever, and nobody is told that the lock is busy, as nobody knows.
	 */
	@ParameterizedTest
	@EnumSource(names = { "REFUSE", "HOLD_REPLIES" })
	final void callsFailWhileTheStoreIsDownAndComeBackWithIt(Fault fault) throws Exception {
		TestLease held = acquired(store().near());
		proxy().inject(fault);
		proxy().reset();
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> TestLease.acquire(store().near(), request("other:" + this.key, NO_WAIT, PATIENCE)));
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> store().near().ping());
		}
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> store().near().holder(this.key));
		proxy().inject(Fault.NONE);
		connect();
		assertThat(store().near().ping()).isNotNull();
		assertThat(release(held).handle((released, failure) -> true).get()).as("it is given back, or has ended")
			.isTrue();
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	@ParameterizedTest
	@EnumSource(names = { "HOLD_REPLIES", "BLACKHOLE", "HOLD_REQUESTS" })
	final void waiterThatIsCutOffFailsAndLeavesNothing(Fault fault) throws Exception {
		TestLease lease = acquired(store().far());
		FutureTask<@Nullable TestLease> waiter = Threads
			.start(() -> TestLease.acquire(store().near(), request(Duration.ofSeconds(10))));
		await().until(() -> store().isWaitedFor(this.key));
		proxy().inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(release(lease).get()).isTrue();
		proxy().inject(Fault.NONE);
		// Its session may have ended in the meantime
		awaitFree();
	}

	@ParameterizedTest
	@EnumSource(names = { "HOLD_REPLIES", "BLACKHOLE", "HOLD_REQUESTS" })
	final void releaseThatIsCutOffFailsAndArrivesLater(Fault fault) throws Exception {
		TestLease lease = acquired(store().near());
		proxy().inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> release(lease).get())
			.withCauseInstanceOf(LockBackendException.class);
		if (fault == Fault.HOLD_REPLIES) {
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
		proxy().inject(Fault.NONE);
		releaseUntilAnswered(lease);
		awaitFreeForGood();
	}

	/** Releases a lock again and again, as the library does. */
	protected final void releaseUntilAnswered(TestLease lease) {
		await().atMost(PATIENCE).ignoreExceptions().until(() -> release(lease).get(), (released) -> true);
	}

	@Test
	final void interruptWhileTheRequestIsUnderWayLeavesNothing() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable TestLease> acquisition = new FutureTask<>(
				() -> TestLease.acquire(store().near(), request(PATIENCE)));
		Thread thread = new Thread(acquisition);
		thread.start();
		held.await();
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	/** Holds answers back as soon as the store has done something. */
	protected final CountDownLatch holdTheAnswerOnce(BooleanSupplier done) {
		CountDownLatch held = new CountDownLatch(1);
		proxy().beforeReply(() -> {
			if (held.getCount() > 0 && done.getAsBoolean()) {
				proxy().inject(Fault.HOLD_REPLIES);
				held.countDown();
			}
		});
		return held;
	}

	/** Waits until the first node gets answers again. */
	protected final void connect() {
		connect("connect:" + this.key);
	}

	private void connect(String key) {
		TestLease lease = await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> TestLease.acquire(store().near(), request(key, PATIENCE, Duration.ofSeconds(60))),
					(it) -> it != null);
		assertThat(release(lease)).succeedsWithin(PATIENCE);
	}

	/** Before a lease runs out, by no end of a session, and for good. */
	protected final void awaitFreeForGood() {
		awaitFree();
		assertSameSession();
	}

	private void awaitFree() {
		connect();
		await().atMost(PATIENCE).until(() -> !isHeld());
		await().during(Duration.ofMillis(300)).atMost(PATIENCE).until(() -> !isHeld());
	}

	/** Fails if the first node has another session than at the beginning. */
	protected final void assertSameSession() {
		connect();
		assertThat(store().session()).isEqualTo(this.session);
	}

}
