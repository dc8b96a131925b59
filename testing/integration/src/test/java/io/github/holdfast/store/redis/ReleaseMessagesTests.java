package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ReleaseMessages}.
 */
@Timeout(120)
class ReleaseMessagesTests {

	private final RedisServer server = RedisServer.shared();

	private final LettuceConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final ReleaseMessages messages = new ReleaseMessages(this.connections::getRequiredNativeClient);

	private final String key = "messages:" + UUID.randomUUID();

	private final String channel = LockKey.of(this.key).channel();

	@AfterEach
	void close() {
		RedisConnections.close(this.connections);
	}

	@Test
	void releaseEndsThePause() throws Exception {
		RedisLockBackend backend = new RedisLockBackend(() -> this.connections);
		LockLease lease = backend.acquire(RedisRequests.request(this.key, Duration.ofSeconds(30)));
		assertThat(lease).isNotNull();
		try (Signal signal = this.messages.listen(this.channel)) {
			assertEnds(pause(signal));
			CompletableFuture<Void> pause = pause(signal);
			await().during(Duration.ofMillis(200)).until(() -> !pause.isDone());
			assertThat(lease.release().toCompletableFuture().get()).isTrue();
			assertEnds(pause);
		}
	}

	@Test
	void subscriptionEndsThePauseAsMessagesMayHaveBeenMissed() {
		try (Signal signal = this.messages.listen(this.channel); Signal second = this.messages.listen(this.channel)) {
			assertEnds(pause(signal));
			assertEnds(pause(second));
			awaitSubscribers(1);
			CompletableFuture<Void> pause = pause(signal);
			this.server.command("CLIENT", "KILL", "TYPE", "pubsub");
			assertEnds(pause);
		}
	}

	@Test
	void allListenersOfAChannelHearAMessage() {
		try (Signal signal = this.messages.listen(this.channel); Signal second = this.messages.listen(this.channel)) {
			assertEnds(pause(signal));
			assertEnds(pause(second));
			awaitSubscribers(1);
			CompletableFuture<Void> pause = pause(signal);
			CompletableFuture<Void> secondPause = pause(second);
			this.server.command("PUBLISH", this.channel, "1");
			assertEnds(pause);
			assertEnds(secondPause);
		}
	}

	@Test
	void lastListenerEndsTheSubscription() {
		Signal signal = this.messages.listen(this.channel);
		Signal second = this.messages.listen(this.channel);
		awaitSubscribers(1);
		signal.close();
		assertThat(this.messages.size()).isOne();
		second.close();
		assertThat(this.messages.size()).isZero();
		awaitSubscribers(0);
	}

	@Test
	void listenersShareOneConnection() {
		try (Signal signal = this.messages.listen(this.channel);
				Signal other = this.messages.listen(this.channel + "2")) {
			assertEnds(pause(signal));
			assertEnds(pause(other));
			assertThat(this.server.command("CLIENT", "LIST", "TYPE", "pubsub").toString().lines()).hasSize(1);
		}
	}

	@Test
	void clientThatWasStartedAgainGetsANewConnection() {
		this.messages.listen(this.channel).close();
		this.connections.stop();
		this.connections.start();
		try (Signal signal = this.messages.listen(this.channel)) {
			assertEnds(pause(signal));
			awaitSubscribers(1);
		}
	}

	/**
	 * Another one shows that all that Lettuce has had before is back.
	 */
	@ParameterizedTest
	@EnumSource(value = Fault.class, names = { "DROP_REPLIES", "BLACKHOLE", "REFUSE" })
	@Tag("F74")
	void subscriptionThatWasGivenUpWhileTheConnectionWasLostIsNotRestored(Fault fault) {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			LettuceConnectionFactory way = RedisConnections.lettuce(proxy.port());
			ReleaseMessages lost = new ReleaseMessages(way::getRequiredNativeClient);
			try (Signal kept = lost.listen(this.channel)) {
				Signal givenUp = lost.listen(this.channel + "2");
				awaitSubscribers(this.channel, 1);
				awaitSubscribers(this.channel + "2", 1);
				assertEnds(pause(kept));
				proxy.inject(fault);
				if (fault == Fault.REFUSE) {
					proxy.reset();
					awaitSubscribers(this.channel, 0);
				}
				givenUp.close();
				proxy.inject(Fault.NONE);
				proxy.reset();
				assertEnds(pause(kept));
				awaitSubscribers(this.channel, 1);
				awaitSubscribers(this.channel + "2", 0);
			}
			finally {
				RedisConnections.close(way);
			}
		}
	}

	@Test
	@Tag("F75")
	void connectionThatIsNotPossibleIsNotTriedForEachListener() {
		AtomicInteger attempts = new AtomicInteger();
		ClientResources resources = ClientResources.create();
		AbstractRedisClient nowhere = new RedisClient(resources, new RedisURI()) {

			@Override
			public <K, V> StatefulRedisPubSubConnection<K, V> connectPubSub(RedisCodec<K, V> codec) {
				attempts.incrementAndGet();
				return super.connectPubSub(codec);
			}

		};
		try {
			ReleaseMessages none = new ReleaseMessages(() -> nowhere);
			none.listen(this.channel).close();
			await().until(none::haveFailed);
			for (int i = 0; i < 20; i++) {
				none.listen(this.channel).close();
			}
			await().during(Duration.ofMillis(500)).until(() -> attempts.get() == 1);
			assertThat(none.arrive()).isFalse();
		}
		finally {
			nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(2));
			resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

	private static CompletableFuture<Void> pause(Signal signal) {
		return CompletableFuture.runAsync(() -> {
			try {
				signal.await(TimeUnit.MINUTES.toNanos(5));
			}
			catch (InterruptedException ex) {
				throw new CompletionException(ex);
			}
		}, (task) -> new Thread(task).start());
	}

	private static void assertEnds(CompletableFuture<Void> pause) {
		assertThatCode(() -> pause.get(30, TimeUnit.SECONDS)).doesNotThrowAnyException();
	}

	private void awaitSubscribers(long count) {
		awaitSubscribers(this.channel, count);
	}

	private void awaitSubscribers(String channel, long count) {
		await().until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

}
