package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What operators, a full disk and other waiters do to locks in etcd.
 */
@RequiresEtcd
class EtcdLockFaultTests extends LockFaultContractTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static EtcdServer server;

	private EtcdNode first;

	private EtcdNode second;

	@BeforeAll
	static void start() {
		server = EtcdServer.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		EtcdStore store = new EtcdStore(server);
		this.first = store.nearNode();
		this.second = store.farNode();
		return store;
	}

	@Test
	@Tag("F17")
	void lockIsKeptOverARestart() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		FutureTask<@Nullable LockLease> waiter = this.second.start(EtcdRequests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 2);
		server.restart();
		assertThat(await().ignoreException(LockBackendException.class).until(() -> lease.renew(LONG), (it) -> true))
			.isTrue();
		assertThat(this.first.backend().acquire(EtcdRequests.request(this.key, NO_WAIT))).isNull();
		assertThat(waiter).isNotDone();
		assertThat(EtcdNode.release(lease)).isTrue();
		LockLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(EtcdNode.release(next)).isTrue();
	}

	@Test
	@Tag("F19")
	void holderIsToldThatItsLeaseWasRevoked() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		this.second.client().getLeaseClient().revoke(this.first.entries(this.key).get(0).getLease()).join();
		LockLease successor = this.second.acquired(EtcdRequests.request(this.key, NO_WAIT));
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(successor.renew(LONG)).isTrue();
	}

	/**
	 * A stalled member may carry out a request whose caller has long since asked another
	 * one.
	 */
	@Test
	@Tag("F19")
	void changeOfTheLeaseThatComesLateDoesNotUndoALaterOne() throws Exception {
		EtcdLocks locks = new EtcdLocks(this.first::client, EtcdClients.NAMESPACE);
		LockRequest request = EtcdRequests.request(this.key, NO_WAIT);
		LockLease lease = this.first.acquired(request);
		KeyValue granted = this.first.entries(this.key).get(0);
		long late = locks.grant(Duration.ofSeconds(20)).join();
		assertThat(lease.renew(LONG.plusSeconds(10))).isTrue();
		locks.changeLease(locks.entry(request), granted.getModRevision(), late).join();
		assertThat(this.first.entries(this.key).get(0).getLease()).isNotIn(late, granted.getLease());
		assertThat(lease.renew(LONG.plusSeconds(20))).isTrue();
		assertThat(EtcdNode.release(lease)).isTrue();
	}

	@Test
	@Tag("F19")
	void changeOfTheLeaseIsMadeAgainWhenAnEarlierOneHasComeFirst() throws Exception {
		EtcdLocks locks = new EtcdLocks(this.first::client, EtcdClients.NAMESPACE);
		LockRequest request = EtcdRequests.request(this.key, NO_WAIT);
		LockLease lease = this.first.acquired(request);
		KeyValue granted = this.first.entries(this.key).get(0);
		long earlier = locks.grant(Duration.ofSeconds(20)).join();
		locks.changeLease(locks.entry(request), granted.getModRevision(), earlier).join();
		assertThat(this.first.entries(this.key).get(0).getLease()).isEqualTo(earlier);
		assertThat(lease.renew(LONG.plusSeconds(10))).isTrue();
		assertThat(this.first.entries(this.key).get(0).getLease()).isNotIn(earlier, granted.getLease());
		assertThat(EtcdNode.release(lease)).isTrue();
	}

	@Test
	@Tag("F19")
	void renewalNoticesThatTheKeyHasAnotherLease() throws Exception {
		EtcdLocks locks = new EtcdLocks(this.first::client, EtcdClients.NAMESPACE);
		LockRequest request = EtcdRequests.request(this.key, NO_WAIT, LONG);
		LockLease lease = this.first.acquired(request);
		KeyValue granted = this.first.entries(this.key).get(0);
		long foreign = locks.grant(Duration.ofSeconds(20)).join();
		locks.changeLease(locks.entry(request), granted.getModRevision(), foreign).join();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(this.first.entries(this.key).get(0).getLease()).isNotEqualTo(foreign);
		this.first.client().getLeaseClient().revoke(foreign).join();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(EtcdNode.release(lease)).isTrue();
	}

	@Test
	@Tag("F19")
	void waiterWhoseLeaseWasRevokedQueuesAgain() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		FutureTask<@Nullable LockLease> waiter = this.second.start(EtcdRequests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 2);
		KeyValue entry = this.first.entries(this.key).get(1);
		this.first.client().getLeaseClient().revoke(entry.getLease()).join();
		await().until(() -> this.first.entries(this.key).size() == 2);
		assertThat(this.first.entries(this.key).get(1).getLease()).isNotEqualTo(entry.getLease());
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
	}

	@Test
	@Tag("F31")
	void fullEtcdGrantsNothingAndReleasesWhatIsHeld() throws Exception {
		try (EtcdServer full = EtcdServer.start("--quota-backend-bytes", "100000");
				EtcdNode node = new EtcdNode(List.of(full.endpoint()))) {
			LockLease lease = node.acquired(EtcdRequests.request(this.key, NO_WAIT));
			ByteSequence large = Entry.bytes("x".repeat(100_000));
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> {
				for (int i = 0; i < 100; i++) {
					node.client().getKVClient().put(Entry.bytes("/large" + i), large).join();
				}
			}).withMessageContaining("database space exceeded");
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> node.backend().acquire(EtcdRequests.request("other:" + this.key, LONG)))
				.withMessageContaining("etcd failed");
			assertThat(node.keys("other")).isEmpty();
			assertThat(lease.renew(LONG)).isTrue();
			assertThat(EtcdNode.release(lease)).isTrue();
		}
	}

	/**
	 * What makes it safe to revoke the lease of a request that may still be on its way.
	 */
	@Test
	@Tag("F23")
	void entryIsNotPutWithALeaseThatIsGone() {
		long lease = this.first.client().getLeaseClient().grant(60).join().getID();
		this.first.client().getLeaseClient().revoke(lease).join();
		ByteSequence entry = Entry.bytes("/late" + this.key);
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> this.first.client()
				.getKVClient()
				.txn()
				.Then(Op.put(entry, entry, PutOption.builder().withLeaseId(lease).build()))
				.commit()
				.join())
			.withMessageContaining("requested lease not found");
		assertThat(this.first.keys("/late" + this.key)).isEmpty();
	}

	/**
	 * As after a lost answer: otherwise it would take itself for the one ahead.
	 */
	@Test
	@Tag("F20")
	void entryThatWasPutBeforeIsRecognized() throws Exception {
		EtcdLocks locks = new EtcdLocks(this.first::client, EtcdClients.NAMESPACE);
		LockRequest request = EtcdRequests.request(this.key, LONG);
		Standing before = locks.stand(locks.entry(request), locks.grant(LONG).join(), 0).join();
		try (EtcdAcquisition acquisition = new EtcdAcquisition(locks, request)) {
			LockLease lease = acquisition.attempt(Deadline.after(LONG));
			assertThat(lease).isNotNull();
			assertThat(lease.epoch()).isEqualTo(before.epoch());
			assertThat(EtcdNode.release(lease)).isTrue();
		}
	}

	@Test
	@Tag("F22")
	void waitersWhoGiveUpLeaveTheQueue() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		FutureTask<@Nullable LockLease> head = this.second.start(EtcdRequests.request(this.key, Duration.ofSeconds(5)));
		await().until(() -> this.first.entries(this.key).size() == 2);
		FutureTask<@Nullable LockLease> last = this.second.start(EtcdRequests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 3);
		for (int i = 0; i < 20; i++) {
			assertThat(this.first.backend().acquire(EtcdRequests.request(this.key, Duration.ofMillis(i)))).isNull();
		}
		assertThat(head.get()).isNull();
		assertThat(this.first.entries(this.key)).hasSize(2);
		assertThat(last).isNotDone();
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(last.get()).isNotNull();
	}

	@Test
	@Tag("F22")
	void waiterWhoseJvmHasGoneLosesItsPlaceWithItsLease() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		this.second.start(EtcdRequests.request(this.key, LONG, Duration.ofSeconds(2)));
		await().until(() -> this.first.entries(this.key).size() == 2);
		FutureTask<@Nullable LockLease> next = this.first.start(EtcdRequests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 3);
		// Without a way to leave the queue, as if it had been killed
		this.second.close();
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(next.get(60, TimeUnit.SECONDS)).isNotNull();
	}

	@Test
	@Tag("F42")
	void readersShareTheLockAndDoNotPassAWaitingWriter() throws Exception {
		LockLease reader = this.first.acquired(EtcdRequests.shared(this.key, NO_WAIT));
		LockLease other = this.second.acquired(EtcdRequests.shared(this.key, LONG));
		assertThat(this.second.backend().holder(this.key)).as("the first of them")
			.matches((holder) -> holder.isOf(reader.owner(), reader.epoch()));
		assertThat(this.second.backend().acquire(EtcdRequests.request(this.key, NO_WAIT))).isNull();
		FutureTask<@Nullable LockLease> writer = this.second.start(EtcdRequests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 3);
		FutureTask<@Nullable LockLease> late = this.first.start(EtcdRequests.shared(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 4);
		assertThat(this.first.backend().acquire(EtcdRequests.shared(this.key, NO_WAIT))).isNull();
		assertThat(EtcdNode.release(other)).isTrue();
		await().during(Duration.ofMillis(300)).until(() -> !writer.isDone() && !late.isDone());
		assertThat(EtcdNode.release(reader)).isTrue();
		LockLease written = writer.get();
		assertThat(written).isNotNull();
		assertThat(late).isNotDone();
		assertThat(EtcdNode.release(written)).isTrue();
		assertThat(late.get()).isNotNull();
	}

	@Test
	@Tag("F46")
	void keysThatBeginWithAnotherKeyAreDifferentLocks() throws Exception {
		List<LockLease> leases = new ArrayList<>();
		for (String name : List.of("", "/", "/0", "/exclusive", "/exclusive/", "/shared/x", "%2f0", "/0/1")) {
			leases.add(this.first.acquired(EtcdRequests.request(this.key + name, NO_WAIT)));
			leases.add(this.second.acquired(EtcdRequests.request("/" + this.key + name, NO_WAIT)));
		}
		leases.forEach((lease) -> assertThat(EtcdNode.release(lease)).isTrue());
	}

	@Test
	void busyLockIsLookedAtWithoutWriting() throws Exception {
		LockRequest request = EtcdRequests.request(this.key, NO_WAIT);
		this.first.acquired(request);
		// What is left of other tests may be written once in between
		await().until(() -> {
			long before = revision();
			assertThat(this.second.backend().acquire(EtcdRequests.request(this.key, NO_WAIT))).isNull();
			return revision() == before;
		});
		assertThat(this.second.backend().holder(this.key)).extracting(LockHolder::owner, LockHolder::text)
			.containsExactly(request.owner(), "held by test");
	}

	@Test
	void nothingIsLeftOfManyLocks() throws Exception {
		try (EtcdServer clean = EtcdServer.start(); EtcdNode node = new EtcdNode(List.of(clean.endpoint()))) {
			for (int i = 0; i < 1000; i++) {
				LockLease lease = node.acquired(EtcdRequests.request(this.key + i, NO_WAIT));
				if (i % 100 == 0) {
					node.backend().acquire(EtcdRequests.request(this.key + i, NO_WAIT));
					node.backend().acquire(EtcdRequests.request(this.key + i, Duration.ofMillis(10)));
					assertThat(lease.renew(LONG.plusSeconds(i + 1))).isTrue();
				}
				assertThat(EtcdNode.release(lease)).isTrue();
			}
			assertThat(node.keys("")).isEmpty();
			await().until(() -> clean.leases() == 0);
		}
	}

	/**
	 * The watch cannot go on where it was interrupted.
	 */
	@Test
	void waiterGetsTheLockAlthoughWhatItWatchedWasCompacted() throws Exception {
		LockLease lease = this.first.acquired(EtcdRequests.request(this.key, NO_WAIT));
		try (FaultProxy proxy = new FaultProxy(server.port());
				EtcdNode far = new EtcdNode(List.of(server.endpoint(proxy.port())))) {
			FutureTask<@Nullable LockLease> waiter = far.start(EtcdRequests.request(this.key, LONG));
			await().until(() -> this.first.entries(this.key).size() == 2);
			proxy.inject(Fault.BLACKHOLE);
			assertThat(EtcdNode.release(lease)).isTrue();
			this.first.client().getKVClient().compact(revision()).join();
			proxy.inject(Fault.REFUSE);
			proxy.reset();
			proxy.inject(Fault.NONE);
			LockLease next = waiter.get();
			assertThat(next).isNotNull();
			assertThat(EtcdNode.release(next)).isTrue();
		}
	}

	private long revision() {
		return this.first.client().getKVClient().get(Entry.bytes("/")).join().getHeader().getRevision();
	}

}
