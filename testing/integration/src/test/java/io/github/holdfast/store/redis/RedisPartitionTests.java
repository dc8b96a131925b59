package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and Redis fails at each step of a lock. Another client
 * sees what is left.
 */
class RedisPartitionTests extends LeasePartitionContractTests {

	private static final RedisServer server = RedisServer.start();

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		return RedisTestStore.lettuce(server);
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

	@Test
	@Tag("F20")
	void requestThatIsSentAgainGetsTheSameLock() throws Exception {
		proxy().inject(Fault.DROP_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = start(() -> store().near().acquire(request(PATIENCE)));
		await().until(this::isHeld);
		String epoch = epoch();
		proxy().inject(Fault.NONE);
		closeConnections();
		LockLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(lease.epoch()).hasToString(epoch);
		assertThat(release(lease).get()).isTrue();
	}

	@Test
	@Tag("F20")
	void releaseThatIsSentAgainIsNoLoss() throws Exception {
		LockLease lease = acquired(store().near());
		proxy().inject(Fault.DROP_REPLIES);
		CompletableFuture<Boolean> release = release(lease);
		await().until(() -> !isHeld());
		proxy().inject(Fault.NONE);
		closeConnections();
		assertThat(release.get()).isTrue();
	}

	/**
	 * Of a client that drops what it could not send.
	 */
	@Test
	@Tag("F79")
	void releaseThatFailedIsSentAgain() throws Exception {
		RedisConnectionFactory impatient = impatient();
		try (RedisLockBackend backend = new RedisLockBackend(() -> impatient)) {
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
			RedisConnections.close(impatient);
		}
	}

	@Test
	@Tag("F79")
	void grantWithoutAnswerIsGivenBackAlthoughTheClientDropsTheRelease() throws Exception {
		RedisConnectionFactory impatient = impatient();
		try (RedisLockBackend backend = new RedisLockBackend(() -> impatient);
				RedisConnection connection = impatient.getConnection()) {
			assertThat(release(acquired(backend)).get()).isTrue();
			proxy().beforeReply(() -> {
				if (isHeld()) {
					proxy().inject(Fault.REFUSE);
					proxy().reset();
				}
			});
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquire(request(NO_WAIT, Duration.ofMinutes(10))));
			assertThatExceptionOfType(DataAccessException.class).as("what came after the release has been dropped")
				.isThrownBy(connection::ping);
			assertThat(isHeld()).isTrue();
			proxy().beforeReply(() -> {
			});
			proxy().inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
		finally {
			RedisConnections.close(impatient);
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

	@Test
	@Tag("F20")
	void releaseThatIsCutOffArrivesLaterAlthoughItsScriptIsForgotten() throws Exception {
		LockLease lease = acquired(store().near());
		proxy().inject(Fault.HOLD_REQUESTS);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> release(lease).get())
			.withCauseInstanceOf(LockBackendException.class);
		server.command("SCRIPT", "FLUSH");
		proxy().inject(Fault.NONE);
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	@Test
	@Tag("F20")
	void releaseThatIsSentAgainAfterTheNextGrantIsTakenForALoss() throws Exception {
		LockLease lease = acquired(store().near());
		proxy().inject(Fault.DROP_REPLIES);
		CompletableFuture<Boolean> release = release(lease);
		await().until(() -> !isHeld());
		LockLease next = acquired(store().far());
		proxy().inject(Fault.NONE);
		closeConnections();
		assertThat(release.get()).isFalse();
		assertThat(next.renew(PATIENCE)).isTrue();
	}

	@Test
	@Tag("F24")
	void leaseThatTookLongerThanItsTimeIsNotValid() throws Exception {
		proxy().delay(Duration.ofMillis(300));
		LockLease lease = store().near().acquire(request(PATIENCE, Duration.ofMillis(500)));
		assertThat(lease).isNotNull();
		assertThat(lease.isValid()).isFalse();
	}

	/**
	 * As Redis does it: on a reset instead, Lettuce would not send again what was under
	 * way.
	 */
	private static void closeConnections() {
		server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
	}

	private String epoch() {
		return server.command("HGET", LockKey.of(this.key).lock(), "epoch").toString();
	}

	@Test
	@Tag("F20")
	void severalKeysOnARedisThatIsGoneAreAFailureOfTheStore() {
		RedisConnectionFactory impatient = impatient();
		try (RedisLockBackend backend = new RedisLockBackend(() -> impatient)) {
			LockTemplate template = new LockTemplate(() -> backend, List::of);
			try {
				List<String> keys = List.of("a" + this.key, "b" + this.key);
				assertThat(template.execute(keys, () -> "done")).isEqualTo("done");
				proxy().inject(Fault.REFUSE);
				proxy().reset();
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> template.execute(keys, () -> "done"))
					.withMessageContaining("a" + this.key);
				proxy().inject(Fault.NONE);
				await().atMost(PATIENCE)
					.ignoreException(LockBackendException.class)
					.until(() -> template.execute(keys, () -> "done").equals("done"));
			}
			finally {
				TemplateAccess.close(template);
			}
		}
		finally {
			RedisConnections.close(impatient);
		}
	}

	/**
	 * A client that does not keep for long what it cannot send.
	 */
	private RedisConnectionFactory impatient() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", proxy().port()),
				LettuceClientConfiguration.builder()
					.commandTimeout(Duration.ofMillis(500))
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		return factory;
	}

}
