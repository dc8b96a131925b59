package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when something is wrong with Redis, or with its data.
 */
class RedissonLockFaultTests extends RedisLockFaultTests {

	@Override
	RedisTestStore open(RedisServer server) {
		return RedisTestStore.redisson(server);
	}

	@Override
	RedisNode node(int port, String user, String password) {
		return RedisNode.redisson(RedissonClients.single(port, user, password));
	}

	// Owners

	/**
	 * With the id of the thread as holder, Redisson would take this for a re-entry.
	 */
	@Test
	@Tag("F05")
	void lockOfAFailedReleaseIsNotEnteredAgainByItsThread() throws Exception {
		this.server.command("ACL", "SETUSER", "forbidden", "on", ">pw", "~*", "&*", "+@all");
		RedissonClient forbidden = RedissonClients.single(this.server.port(), "forbidden", "pw");
		try {
			RedisLockBackend backend = RedisLockBackend.redisson(() -> forbidden);
			LockLease lease = acquired(backend);
			this.server.command("ACL", "SETUSER", "forbidden", "-del");
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(lease.release()))
				.withCauseInstanceOf(LockBackendException.class);
			Object lock = lock();
			assertThat(backend.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template(backend).withWaitTime(NO_WAIT).run(this.key, () -> {
				}));
			assertThat(lock()).isEqualTo(lock);
		}
		finally {
			RedissonClients.close(forbidden);
		}
	}

	// Data

	@Test
	@Tag("F20")
	void releaseThatRedissonSendsAgainIsNoLoss() {
		RedissonClient client = RedissonClients.single(this.server.port());
		try (RedisLocks locks = new RedisLocks(() -> new RedissonDriver(client), LONG)) {
			LockRequest request = request(NO_WAIT);
			locks.acquire(List.of(request)).join();
			assertThat(RedisLocks.isYes(locks.release(request, Deadline.after(LONG)).join())).isTrue();
			assertThat(RedisLocks.isYes(locks.release(request, Deadline.after(LONG)).join())).isTrue();
		}
		finally {
			RedissonClients.close(client);
		}
	}

	@Test
	void clientThatWasShutDownIsAFailureOfTheStore() throws Exception {
		RedissonClient closed = RedissonClients.single(this.server.port());
		LockLease lease = acquired(RedisLockBackend.redisson(() -> closed));
		RedissonClients.close(closed);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(
				() -> RedisLockBackend.redisson(() -> closed).acquire(RedisRequests.request(this.key, NO_WAIT)));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(LONG));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(lease.release()))
			.withCauseInstanceOf(LockBackendException.class);
	}

	// What is left

	@Test
	void manyKeysLeaveNothingInRedis() throws Exception {
		RedissonClient client = RedissonClients.single(this.server.port());
		try (RedisLockBackend backend = RedisLockBackend.redisson(() -> client, Duration.ofMillis(1))) {
			leaveNothing(backend);
		}
		finally {
			RedissonClients.close(client);
		}
	}

	private void leaveNothing(RedisLockBackend backend) throws Exception {
		// Longer than a release may take
		Duration leaseTime = Duration.ofSeconds(6);
		int threads = 0;
		for (int i = 0; i < 2000; i++) {
			LockLease lease = backend.acquire(RedisRequests.request("many:" + i, LONG, leaseTime));
			assertThat(lease).isNotNull();
			if (i % 100 == 0) {
				assertThat(backend.acquire(RedisRequests.fair("many:" + i, Duration.ofMillis(1)))).isNull();
			}
			assertThat(join(lease.release())).isTrue();
			threads = (i == 200) ? Thread.activeCount() : threads;
		}
		assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 5);
		await().until(() -> this.server.command("PUBSUB", "CHANNELS", "{many:*").equals(List.of()));
		await().atMost(LONG).until(() -> this.server.command("DBSIZE").equals(0L));
	}

	// Replicas

	/**
	 * What Redisson does if it knows of replicas. One of several that answers is enough
	 * for it, and another one may become the master.
	 */
	@Test
	void lockIsRefusedWhenNoReplicaOfTheClientAnswers() throws Exception {
		try (RedisServer replica = newReplica()) {
			RedissonClient client = RedissonClients.create((config) -> config.setSlavesSyncTimeout(300)
				.useMasterSlaveServers()
				.setMasterAddress("redis://127.0.0.1:" + this.server.port())
				.addSlaveAddress("redis://127.0.0.1:" + replica.port())
				.setRetryAttempts(0));
			try {
				RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
				await().atMost(LONG).ignoreExceptions().until(() -> join(acquired(backend).release()));
				suspend(replica);
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(RedisRequests.request(this.key, LONG)))
					.havingCause()
					.withMessageContaining("None of slaves were synced");
				await().atMost(PATIENCE).until(() -> !isHeld());
				// A client of the master alone does not ask
				assertThat(acquired(backend()).isValid()).isTrue();
			}
			finally {
				resume(replica);
				RedissonClients.close(client);
			}
		}
	}

	private RedisServer newReplica() {
		RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(this.server.port()));
		await().atMost(LONG).until(() -> replica.info("master_link_status").equals("up"));
		return replica;
	}

	private static void suspend(RedisServer server) {
		signal(server, "STOP");
	}

	private static void resume(RedisServer server) {
		signal(server, "CONT");
	}

	private static void signal(RedisServer server, String signal) {
		try {
			int exit = new ProcessBuilder("kill", "-" + signal, String.valueOf(server.pid())).start().waitFor();
			assertThat(exit).isZero();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static LockTemplate template(LockBackend backend) {
		return new LockTemplate(() -> new HandoverLockBackend(backend), List::of).withKeyPrefix("");
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

	private Object lock() {
		return this.server.command("HGETALL", LockKey.of(this.key).lock());
	}

}
