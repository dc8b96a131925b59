package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
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
public abstract class PartitionContractTests {

	/** One attempt. */
	protected static final Duration NO_WAIT = Duration.ZERO;

	/** Long enough never to end in a test that passes. */
	protected static final Duration PATIENCE = Duration.ofSeconds(30);

	/** The lock that a test is about. */
	protected final String key = "partition:" + UUID.randomUUID();

	private TestStore store;

	private long session;

	/**
	 * Supplies the store, with new clients.
	 * @return the store, closed after the test
	 * @throws Exception if it is not there
	 */
	protected abstract TestStore open() throws Exception;

	@BeforeEach
	final void openStore() throws Exception {
		this.store = open();
		// The first use makes connections and what is there for good
		connect(this.key);
		this.session = this.store.session();
	}

	@AfterEach
	final void closeStore() {
		if (this.store != null) {
			this.store.proxy().inject(Fault.NONE);
			this.store.close();
		}
	}

	@ParameterizedTest
	@EnumSource(names = "HOLD_REPLIES")
	@Tag("F20")
	@Tag("F23")
	final void requestWithoutAnswerFailsAndIsGivenBack(Fault fault) throws Exception {
		proxy().inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.store.near().acquire(request(NO_WAIT)))
			.withMessageContaining("did not answer in time");
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS" })
	@Tag("long")
	@Tag("F20")
	@Tag("F23")
	final void requestThatIsHeldBackFailsAndIsGivenBack(Fault fault) throws Exception {
		requestWithoutAnswerFailsAndIsGivenBack(fault);
	}

	@ParameterizedTest
	@EnumSource(names = "HOLD_REPLIES")
	@Tag("F20")
	final void waiterThatIsCutOffFailsAndLeavesNothing(Fault fault) throws Exception {
		LockLease lease = acquired(this.store.far());
		FutureTask<@Nullable LockLease> waiter = start(() -> this.store.near().acquire(request(Duration.ofSeconds(4))));
		await().until(() -> this.store.isWaitedFor(this.key));
		proxy().inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(release(lease).get()).isTrue();
		proxy().inject(Fault.NONE);
		// Its session may have ended in the meantime
		awaitFree();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS" })
	@Tag("long")
	@Tag("F20")
	final void waiterWhoseRequestsAreHeldBackFailsAndLeavesNothing(Fault fault) throws Exception {
		waiterThatIsCutOffFailsAndLeavesNothing(fault);
	}

	@ParameterizedTest
	@EnumSource(names = "HOLD_REPLIES")
	@Tag("F20")
	final void releaseThatIsCutOffFailsAndArrivesLater(Fault fault) throws Exception {
		LockLease lease = acquired(this.store.near());
		proxy().inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> release(lease).get())
			.withCauseInstanceOf(LockBackendException.class);
		if (fault == Fault.HOLD_REPLIES) {
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS" })
	@Tag("long")
	@Tag("F20")
	final void releaseThatIsHeldBackFailsAndArrivesLater(Fault fault) throws Exception {
		releaseThatIsCutOffFailsAndArrivesLater(fault);
	}

	@Test
	@Tag("F16")
	final void interruptWhileTheRequestIsUnderWayLeavesNothing() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
				() -> this.store.near().acquire(request(PATIENCE)));
		Thread thread = new Thread(acquisition);
		thread.start();
		held.await();
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * The store of this test.
	 * @return what {@link #open()} has returned
	 */
	protected final TestStore store() {
		return this.store;
	}

	/**
	 * The network between the first node and the store.
	 * @return the proxy
	 */
	protected final FaultProxy proxy() {
		return this.store.proxy();
	}

	/**
	 * Whether somebody has the lock or waits for it.
	 * @return what the store says
	 */
	protected final boolean isHeld() {
		return this.store.isHeld(this.key);
	}

	/**
	 * A request for the lock, for an owner of its own.
	 * @param waitTime how long to wait
	 * @return the request, with a long lease
	 */
	protected final LockRequest request(Duration waitTime) {
		return request(waitTime, Duration.ofSeconds(60));
	}

	/**
	 * A request for the lock, for an owner of its own.
	 * @param waitTime how long to wait
	 * @param leaseTime how long to hold the lock
	 * @return the request
	 */
	protected final LockRequest request(Duration waitTime, Duration leaseTime) {
		return request(this.key, waitTime, leaseTime);
	}

	private static LockRequest request(String key, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "contract", LockRequest.Mode.EXCLUSIVE, false, waitTime, leaseTime,
				UUID.randomUUID().toString(), "partition test", 0);
	}

	/**
	 * Acquires the lock.
	 * @param node who gets it
	 * @return the lease
	 * @throws InterruptedException if this thread is interrupted
	 */
	protected final LockLease acquired(LockBackend node) throws InterruptedException {
		LockLease lease = node.acquire(request(PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	/**
	 * Releases a lock.
	 * @param lease the lease
	 * @return the answer
	 */
	protected static CompletableFuture<Boolean> release(LockLease lease) {
		return lease.release().toCompletableFuture();
	}

	/**
	 * Starts something on a thread of its own.
	 * @param <T> the type of its result
	 * @param call what to do
	 * @return its result
	 */
	protected static <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		Thread thread = new Thread(task, "partition-test");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	/**
	 * Lets requests pass until the store has done something, and its answers not be seen
	 * from then on.
	 * @param done whether the store has done it
	 * @return reaches zero when the answer is held
	 */
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

	/**
	 * Waits until the first node gets answers again. A request on a connection that has
	 * just been broken may fail.
	 */
	protected final void connect() {
		connect("connect:" + this.key);
	}

	private void connect(String key) {
		LockLease lease = await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> this.store.near().acquire(request(key, PATIENCE, Duration.ofSeconds(60))), (it) -> it != null);
		assertThat(release(lease)).succeedsWithin(PATIENCE);
	}

	/**
	 * Long before a lease would run out, and not as the end of the session has cleaned
	 * up; then nothing that is still on its way takes the lock.
	 */
	protected final void awaitFreeForGood() {
		awaitFree();
		assertSameSession();
	}

	private void awaitFree() {
		connect();
		await().atMost(PATIENCE).until(() -> !isHeld());
		await().during(Duration.ofMillis(300)).atMost(PATIENCE).until(() -> !isHeld());
	}

	/**
	 * Fails if the first node has another session than at the beginning.
	 */
	protected final void assertSameSession() {
		connect();
		assertThat(this.store.session()).isEqualTo(this.session);
	}

}
