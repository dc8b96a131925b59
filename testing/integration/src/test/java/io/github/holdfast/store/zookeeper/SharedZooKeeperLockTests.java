package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Locks that several holders share, on two nodes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@Tag("F42")
class SharedZooKeeperLockTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperServer server = ZooKeeperServer.start();

	private final CuratorFramework firstClient = this.server.client();

	private final CuratorFramework secondClient = this.server.client();

	private final ZooKeeperLockBackend first = new ZooKeeperLockBackend(() -> this.firstClient);

	private final ZooKeeperLockBackend second = new ZooKeeperLockBackend(() -> this.secondClient);

	private final LockNodes nodes = new LockNodes(this.firstClient);

	@AfterAll
	void close() {
		this.firstClient.close();
		this.secondClient.close();
		this.server.close();
	}

	@Test
	void readersShareAndWritersDoNot() throws Exception {
		String key = newKey();
		LockLease reader = this.first.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		LockLease otherReader = this.second.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		assertThat(this.first.acquire(ZooKeeperRequests.request(key, NO_WAIT))).isNull();
		assertThat(released(reader)).isTrue();
		assertThat(this.first.acquire(ZooKeeperRequests.request(key, NO_WAIT))).isNull();
		assertThat(released(otherReader)).isTrue();
		LockLease writer = this.first.acquire(ZooKeeperRequests.request(key, PATIENCE));
		assertThat(this.second.acquire(ZooKeeperRequests.shared(key, NO_WAIT))).isNull();
		assertThat(released(writer)).isTrue();
		assertThat(otherReader.epoch()).isGreaterThan(reader.epoch());
		assertThat(writer.epoch()).isGreaterThan(otherReader.epoch());
	}

	@Test
	void ofSeveralReadersTheFirstIsTold() throws Exception {
		String key = newKey();
		LockLease reader = this.first.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		LockLease otherReader = this.second.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		assertThat(this.second.holder(key)).matches((holder) -> holder.isOf(reader.owner(), reader.epoch()));
		assertThat(released(reader)).isTrue();
		assertThat(this.first.holder(key)).matches((holder) -> holder.isOf(otherReader.owner(), otherReader.epoch()));
		assertThat(released(otherReader)).isTrue();
		assertThat(this.first.holder(key)).isNull();
	}

	@Test
	void writerWaitsForAllReadersAndLaterReadersWaitForIt() throws Exception {
		String key = newKey();
		LockLease early = this.first.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		LockLease alsoEarly = this.second.acquire(ZooKeeperRequests.shared(key, PATIENCE));
		FutureTask<@Nullable LockLease> writer = waiter(this.first, ZooKeeperRequests.request(key, PATIENCE));
		FutureTask<@Nullable LockLease> late = waiter(this.second, ZooKeeperRequests.shared(key, PATIENCE));
		FutureTask<@Nullable LockLease> alsoLate = waiter(this.first, ZooKeeperRequests.shared(key, PATIENCE));
		// Not in the order of their arrival
		assertThat(released(alsoEarly)).isTrue();
		await().during(Duration.ofMillis(200)).until(() -> !writer.isDone() && !late.isDone());
		assertThat(released(early)).isTrue();
		LockLease written = writer.get();
		assertThat(late.isDone() || alsoLate.isDone()).isFalse();
		assertThat(released(written)).isTrue();
		assertThat(late.get()).isNotNull();
		assertThat(alsoLate.get()).isNotNull();
	}

	@Test
	void readerEntersAgainAndAWriterMayReadButAReaderMayNotWrite() {
		LockTemplate exclusive = new LockTemplate(() -> new HandoverLockBackend(this.first), List::of)
			.withWaitTime(PATIENCE);
		try {
			LockTemplate shared = exclusive.withMode(LockMode.SHARED).withName("reader");
			shared.run("A", () -> {
				shared.run("A", () -> assertThat(this.nodes.queue("lock:A")).hasSize(1));
				assertThatIllegalStateException().isThrownBy(() -> exclusive.run("A", () -> {
				}))
					.withMessageStartingWith("Lock 'A' is held shared by lock 'reader'")
					.withMessageContaining("cannot become exclusive");
				exclusive.run("B", () -> assertThat(this.nodes.queue("lock:B")).hasSize(1));
			});
			exclusive.run("A", () -> shared.run("A", () -> assertThat(this.nodes.queue("lock:A")).hasSize(1)
				.allSatisfy((node) -> assertThat(node).startsWith("exclusive-"))));
		}
		finally {
			TemplateAccess.close(exclusive);
		}
		assertThat(this.nodes.queue("lock:A")).isEmpty();
	}

	private static String newKey() {
		return "shared:" + UUID.randomUUID();
	}

	private static boolean released(@Nullable LockLease lease) {
		assertThat(lease).isNotNull();
		return lease.release().toCompletableFuture().join();
	}

	/**
	 * Starts to wait, and returns when the wait has begun.
	 */
	private FutureTask<@Nullable LockLease> waiter(ZooKeeperLockBackend backend, LockRequest request) {
		int before = this.nodes.queue(request.key()).size();
		FutureTask<@Nullable LockLease> waiter = new FutureTask<>(() -> backend.acquire(request));
		new Thread(waiter).start();
		await().until(() -> this.nodes.queue(request.key()).size() == before + 1);
		return waiter;
	}

}
