package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Timeout(120)
class LettuceMessagesTests {

	private final RedisServer server = RedisServer.start();

	private final LettuceConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final LettuceMessages messages = new LettuceMessages(this.connections::getRequiredNativeClient);

	private final String channel = "messages:" + UUID.randomUUID();

	private final Semaphore first = new Semaphore(0);

	private final Semaphore second = new Semaphore(0);

	@AfterEach
	void close() {
		RedisConnections.close(this.connections);
		this.server.close();
	}

	@Test
	void allListenersOfAChannelGetAMessage() throws Exception {
		this.messages.listen(this.channel, this.first::release);
		this.messages.listen(this.channel, this.second::release);
		awaitSubscribers(this.channel, 1);
		assertSignal(this.first);
		assertSignal(this.second);
		drain();
		this.server.command("PUBLISH", this.channel, "0");
		assertSignal(this.first);
		assertSignal(this.second);
	}

	@Test
	void subscriptionThatIsRestoredIsASignal() throws Exception {
		this.messages.listen(this.channel, this.first::release);
		assertSignal(this.first);
		this.server.command("CLIENT", "KILL", "TYPE", "pubsub");
		assertSignal(this.first);
	}

	@Test
	void lastListenerEndsTheSubscription() throws Exception {
		Runnable one = this.messages.listen(this.channel, this.first::release);
		Runnable other = this.messages.listen(this.channel, this.second::release);
		awaitSubscribers(this.channel, 1);
		assertSignal(this.second);
		one.run();
		drain();
		this.server.command("PUBLISH", this.channel, "0");
		assertSignal(this.second);
		assertThat(this.first.availablePermits()).isZero();
		other.run();
		awaitSubscribers(this.channel, 0);
	}

	@Test
	void listenersShareOneConnection() throws Exception {
		this.messages.listen(this.channel, this.first::release);
		this.messages.listen(this.channel + "2", this.second::release);
		assertSignal(this.first);
		assertSignal(this.second);
		assertThat(this.server.command("CLIENT", "LIST", "TYPE", "pubsub").toString().lines()).hasSize(1);
	}

	@Test
	void clientThatWasStartedAgainGetsANewConnection() throws Exception {
		this.messages.listen(this.channel, this.second::release).run();
		this.connections.stop();
		this.connections.start();
		this.messages.listen(this.channel, this.first::release);
		assertSignal(this.first);
		awaitSubscribers(this.channel, 1);
	}

	@ParameterizedTest
	@EnumSource(value = Fault.class, names = { "DROP_REPLIES", "BLACKHOLE", "REFUSE" })
	void subscriptionThatEndedWhileTheConnectionWasLostIsNotRestored(Fault fault) throws Exception {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			LettuceConnectionFactory way = RedisConnections.lettuce(proxy.port());
			LettuceMessages lost = new LettuceMessages(way::getRequiredNativeClient);
			try {
				lost.listen(this.channel, this.first::release);
				Runnable end = lost.listen(this.channel + "2", this.second::release);
				assertSignal(this.first);
				assertSignal(this.second);
				drain();
				proxy.inject(fault);
				if (fault == Fault.REFUSE) {
					proxy.reset();
					awaitSubscribers(this.channel, 0);
				}
				end.run();
				proxy.inject(Fault.NONE);
				proxy.reset();
				assertSignal(this.first);
				awaitSubscribers(this.channel, 1);
				awaitSubscribers(this.channel + "2", 0);
			}
			finally {
				RedisConnections.close(way);
			}
		}
	}

	@Test
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
			LettuceMessages none = new LettuceMessages(() -> nowhere);
			await().during(Duration.ofMillis(500)).until(() -> {
				none.listen(this.channel, this.first::release).run();
				return attempts.get() == 1;
			});
		}
		finally {
			nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(2));
			resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
		}
	}

	private void drain() {
		this.first.drainPermits();
		this.second.drainPermits();
	}

	private static void assertSignal(Semaphore signal) throws InterruptedException {
		assertThat(signal.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
	}

	private void awaitSubscribers(String channel, long count) {
		await().atMost(Duration.ofSeconds(30))
			.until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

}
