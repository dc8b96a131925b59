package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.outage.OutageLockBackend;
import io.github.holdfast.testsupport.FaultProxy.Fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of calls while the store of a {@link LockBackend} is down. To test a
 * backend, extend this class.
 */
@Timeout(120)
public abstract class OutageContractTests extends StoreContract {

	private static final String DOWN = "has not answered for";

	private final AtomicInteger asked = new AtomicInteger();

	private OutageLockBackend node;

	@BeforeEach
	final void connect() throws Exception {
		this.node = new OutageLockBackend(new Counted());
		assertThat(release(acquired(this.node)).get()).isTrue();
	}

	/**
	 * The store is closed by its owner.
	 */
	@AfterEach
	final void endProbes() {
		this.node.close();
	}

	@Test
	@Tag("F82")
	final void callsFailAtOnceWhileTheStoreIsDownAndComeBack() throws Exception {
		LockLease held = acquired(this.node);
		proxy().inject(Fault.BLACKHOLE);
		awaitDown();
		int before = this.asked.get();
		for (int i = 0; i < 100; i++) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.node.acquire(request(PATIENCE)))
				.withMessageContaining(DOWN)
				.havingCause()
				.isInstanceOf(LockBackendException.class);
		}
		assertThat(this.asked.get()).as("the store is not asked").isEqualTo(before);
		proxy().inject(Fault.NONE);
		LockLease other = await().atMost(PATIENCE).until(this::attempt, (lease) -> lease != null);
		assertThat(release(other).get()).isTrue();
		assertThat(release(held).handle((released, failure) -> true).get()).as("it is given back, or has ended")
			.isTrue();
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	/**
	 * Calls that meet the store as it goes down end with its failure. None of them says
	 * that the lock is busy, as it is not.
	 */
	private void awaitDown() {
		await().atMost(PATIENCE).until(() -> {
			try {
				LockLease lease = this.node.acquire(otherRequest());
				assertThat(lease).as("a lock that nobody holds").isNotNull();
				return false;
			}
			catch (LockBackendException ex) {
				return ex.getMessage().contains(DOWN);
			}
		});
	}

	private @Nullable LockLease attempt() throws InterruptedException {
		try {
			LockLease lease = this.node.acquire(otherRequest());
			assertThat(lease).as("a lock that nobody holds").isNotNull();
			return lease;
		}
		catch (LockBackendException ex) {
			return null;
		}
	}

	private LockRequest otherRequest() {
		return request(this.key + ":other:" + this.asked.get(), NO_WAIT, Duration.ofSeconds(60));
	}

	/**
	 * The first node, whose calls are counted.
	 */
	private final class Counted implements LockBackend {

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			OutageContractTests.this.asked.incrementAndGet();
			return store().near().acquire(request);
		}

		@Override
		public @Nullable Status probe(String key) {
			return store().near().probe(key);
		}

	}

}
