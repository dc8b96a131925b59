package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and Redis fails at each step of a lock. Another client
 * sees what is left.
 */
@Tag("long")
class RedissonPartitionTests extends LeasePartitionContractTests {

	private static final RedisServer server = RedisServer.start();

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		return RedisTestStore.redisson(server);
	}

	@Test
	@Tag("F20")
	@Tag("F23")
	void grantWhoseAnswerWasLostWithTheConnectionIsGivenBack() throws Exception {
		proxy().inject(Fault.DROP_REPLIES);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> store().near().acquire(request(NO_WAIT)));
		proxy().inject(Fault.NONE);
		proxy().reset();
		awaitFreeForGood();
	}

	/**
	 * With a client that gives up sooner than its defaults do.
	 */
	@Test
	@Tag("F79")
	void releaseThatFailedIsSentAgain() throws Exception {
		RedissonClient impatient = RedissonClients.create((config) -> config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + proxy().port())
			.setConnectionMinimumIdleSize(1)
			.setRetryAttempts(0)
			.setTimeout(500));
		try (RedisLockBackend backend = RedisLockBackend.redisson(() -> impatient)) {
			LockLease lease = backend.acquire(request(PATIENCE, Duration.ofMinutes(10)));
			assertThat(lease).isNotNull();
			proxy().inject(Fault.REFUSE);
			proxy().reset();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(release(lease)::get)
				.withCauseInstanceOf(LockBackendException.class);
			proxy().inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
		finally {
			RedissonClients.close(impatient);
		}
	}

	@Test
	@Tag("F20")
	void renewalThatShortensTheLeaseCountsAlthoughItsAnswerIsLost() throws Exception {
		LockLease lease = acquired(store().near());
		// So that Redis knows the script
		assertThat(lease.renew(PATIENCE)).isTrue();
		proxy().inject(Fault.HOLD_REPLIES);
		FutureTask<Boolean> renewal = start(() -> lease.renew(Duration.ofMillis(500)));
		LockLease successor = store().far().acquire(request(PATIENCE));
		assertThat(successor).isNotNull();
		assertThat(lease.isValid()).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get);
	}

}
