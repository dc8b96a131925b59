package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LeasePartitionContractTests;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The network between a client and Redis fails at each step of a lock. */
@Tag("long")
@ParameterizedClass
@EnumSource(RedisClientType.class)
class RedisPartitionTests extends LeasePartitionContractTests {

	@AutoClose
	private static final RedisServer server = RedisServer.start();

	@Parameter
	private RedisClientType client;

	@Override
	protected TestStore<?> open() {
		return new RedisTestStore(server, this.client);
	}

	@Test
	void requestThatIsSentAgainGetsTheSameLock() throws Exception {
		proxy().inject(Fault.DROP_REPLIES);
		FutureTask<@Nullable TestLease> acquisition = Threads
			.start(() -> TestLease.acquire(store().near(), request(PATIENCE)));
		await().until(this::isHeld);
		String epoch = server.command("HGET", this.key, "epoch").toString();
		proxy().inject(Fault.NONE);
		closeConnections();
		TestLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(lease.epoch()).hasToString(epoch);
		assertThat(release(lease).get()).isTrue();
	}

	@Test
	void releaseThatIsSentAgainIsNoLoss() throws Exception {
		TestLease lease = acquired(store().near());
		proxy().inject(Fault.DROP_REPLIES);
		CompletableFuture<Boolean> release = release(lease);
		await().until(() -> !isHeld());
		proxy().inject(Fault.NONE);
		closeConnections();
		assertThat(release.get()).isTrue();
	}

	@Test
	void releaseThatIsSentAgainAfterTheNextGrantIsTakenForALoss() throws Exception {
		TestLease lease = acquired(store().near());
		proxy().inject(Fault.DROP_REPLIES);
		CompletableFuture<Boolean> release = release(lease);
		await().until(() -> !isHeld());
		TestLease next = acquired(store().far());
		proxy().inject(Fault.NONE);
		closeConnections();
		assertThat(release.get()).isFalse();
		assertThat(next.renew(PATIENCE)).isTrue();
	}

	@Test
	void releaseThatIsCutOffArrivesLaterAlthoughItsScriptIsForgotten() throws Exception {
		TestLease lease = acquired(store().near());
		proxy().inject(Fault.HOLD_REQUESTS);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> release(lease).get())
			.withCauseInstanceOf(LockBackendException.class);
		server.command("SCRIPT", "FLUSH");
		proxy().inject(Fault.NONE);
		releaseUntilAnswered(lease);
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	@Test
	void releaseThatTheClientDropsMayBeRepeated() throws Exception {
		try (RedisNode impatient = impatient()) {
			TestLease lease = TestLease.acquire(impatient.backend(), request(PATIENCE, Duration.ofMinutes(10)));
			assertThat(lease).isNotNull();
			proxy().inject(Fault.REFUSE);
			proxy().reset();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(release(lease)::get)
				.withCauseInstanceOf(LockBackendException.class);
			proxy().inject(Fault.NONE);
			releaseUntilAnswered(lease);
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
	}

	@Test
	void grantWithoutAnswerIsGivenBackAlthoughTheClientDropsTheRelease() throws Exception {
		try (RedisNode impatient = impatient()) {
			assertThat(release(acquired(impatient.backend())).get()).isTrue();
			proxy().beforeReply(() -> {
				if (isHeld()) {
					proxy().inject(Fault.REFUSE);
					proxy().reset();
				}
			});
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> impatient.backend().acquire(request(NO_WAIT, Duration.ofMinutes(10))));
			assertThatExceptionOfType(LockBackendException.class).as("what came after the release has been dropped")
				.isThrownBy(impatient.backend()::ping);
			assertThat(isHeld()).isTrue();
			proxy().beforeReply(() -> {
			});
			proxy().inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
	}

	@Test
	void renewalThatShortensTheLeaseCountsAlthoughItsAnswerIsLost() throws Exception {
		TestLease lease = acquired(store().near());
		// So that Redis knows the script
		assertThat(lease.renew(PATIENCE)).isTrue();
		proxy().inject(Fault.HOLD_REPLIES);
		FutureTask<Boolean> renewal = Threads.start(() -> lease.renew(Duration.ofMillis(500)));
		TestLease successor = acquired(store().far());
		assertThat(lease.isValid()).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get);
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	void leaseThatTookLongerThanItsTimeIsNotValid() throws Exception {
		proxy().delay(Duration.ofMillis(300));
		TestLease lease = TestLease.acquire(store().near(), request(PATIENCE, Duration.ofMillis(500)));
		assertThat(lease).isNotNull();
		assertThat(lease.isValid()).isFalse();
	}

	/** On a reset, Lettuce would not send again what was under way. */
	private static void closeConnections() {
		server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
	}

	/** A client that does not keep for long what it cannot send. */
	private RedisNode impatient() {
		if (this.client == RedisClientType.REDISSON) {
			return RedisNode.redisson(RedissonClients.create((config) -> config.useSingleServer()
				.setAddress("redis://127.0.0.1:" + proxy().port())
				.setConnectionMinimumIdleSize(1)
				.setRetryAttempts(0)
				.setTimeout(500)));
		}
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", proxy().port()),
				LettuceClientConfiguration.builder()
					.commandTimeout(Duration.ofMillis(500))
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		return RedisNode.lettuce(factory);
	}

}
