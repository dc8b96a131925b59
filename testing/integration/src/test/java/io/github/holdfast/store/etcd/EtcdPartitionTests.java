package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The network between a client and etcd fails at each step of a lock. */
@Tag("long")
@RequiresEtcd
class EtcdPartitionTests extends LeasePartitionContractTests {

	@AutoClose
	private static final EtcdServer server = EtcdServer.start();

	private EtcdStore etcd;

	@Override
	protected TestStore<?> open() {
		this.etcd = new EtcdStore(server);
		return this.etcd;
	}

	/** The entry is put, but nobody is told. */
	@Test
	void grantWhoseAnswerIsLateIsGivenBack() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable TestLease> acquisition = this.etcd.nearClient().start(request(Duration.ofSeconds(2)));
		held.await();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(LockBackendException.class);
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	/** By another entry, in whose way the first one must not be. */
	@Test
	void requestWhoseAnswerWasLostGetsItsLockWithTheConnection() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable TestLease> acquisition = this.etcd.nearClient().start(request(PATIENCE));
		held.await();
		proxy().inject(Fault.DROP_REPLIES);
		proxy().reset();
		proxy().inject(Fault.NONE);
		TestLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(this.etcd.farClient().entries(this.key)).singleElement()
			.satisfies((entry) -> assertThat(entry.getCreateRevision()).isEqualTo(lease.epoch()));
		assertThat(release(lease).get()).isTrue();
		awaitFreeForGood();
	}

	@Test
	void releaseThatFailedMayBeRepeated() throws Exception {
		TestLease lease = this.etcd.nearClient().acquired(request(NO_WAIT, Duration.ofMinutes(10)));
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(release(lease)::get)
			.withCauseInstanceOf(LockBackendException.class);
		proxy().inject(Fault.NONE);
		releaseUntilAnswered(lease);
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	@Test
	void waiterGoesOnAfterAShortFailure() throws Exception {
		TestLease lease = this.etcd.farClient().acquired(request(NO_WAIT));
		FutureTask<@Nullable TestLease> waiter = this.etcd.nearClient().start(request(PATIENCE));
		await().until(() -> this.etcd.farClient().entries(this.key).size() == 2);
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		await().during(Duration.ofSeconds(2)).until(() -> !waiter.isDone());
		proxy().inject(Fault.NONE);
		assertThat(release(lease).get()).isTrue();
		TestLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(release(next).get()).isTrue();
	}

	/**
	 * Which of two leases the key has is not known, so a renewal gives it a third one.
	 */
	@Test
	void changeOfTheLeaseTimeWhoseAnswerIsLostIsMadeGoodByTheNextRenewal() throws Exception {
		TestLease lease = this.etcd.nearClient().acquired(request(NO_WAIT));
		long before = this.etcd.farClient().entries(this.key).get(0).getLease();
		CountDownLatch held = holdTheAnswerOnce(
				() -> this.etcd.farClient().entries(this.key).get(0).getLease() != before);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(Duration.ofSeconds(2)));
		held.await();
		assertThat(lease.isValid()).as("after the shorter time").isFalse();
		proxy().inject(Fault.NONE);
		connect();
		await().atMost(PATIENCE).until(() -> !isHeld());
		assertThat(lease.renew(PATIENCE)).isFalse();
	}

}
