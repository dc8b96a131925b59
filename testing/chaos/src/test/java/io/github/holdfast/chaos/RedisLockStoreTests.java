package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Each fault of Redis is seen by its clients.
 */
@Tag("chaos")
class RedisLockStoreTests {

	private static final int MILLIS = 500;

	private final RedisLockStore store = new RedisLockStore();

	@AfterEach
	void close() {
		this.store.close();
	}

	@Test
	void locksAreForgotten() {
		set("lock", "mine");
		begin(Fault.Kind.FORGET);
		assertThat(get("lock")).isNull();
	}

	@Test
	void scriptsAreForgotten() {
		try (Jedis redis = connect()) {
			String script = redis.scriptLoad("return 1");
			begin(Fault.Kind.SCRIPT_FLUSH);
			assertThat(redis.scriptExists(script)).isFalse();
		}
	}

	@Test
	void clientsGetNoAnswerWhileTheyArePaused() {
		try (Jedis redis = connect()) {
			this.store.begin(fault(Fault.Kind.CLIENT_PAUSE, 60_000));
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> redis.set("lock", "mine"))
				.withMessageContaining("timed out");
		}
	}

	@Test
	void nothingIsWrittenWhileThereIsNoSpace() {
		begin(Fault.Kind.STORE_FULL);
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> set("lock", "mine"))
			.withMessageStartingWith("OOM");
		end(Fault.Kind.STORE_FULL);
		set("lock", "mine");
	}

	@Test
	void subscriptionsAreBroken() {
		assertThat(begin(Fault.Kind.SUBSCRIPTIONS_KILLED)).isFalse();
		Thread subscriber = new Thread(() -> {
			try (Jedis redis = connect()) {
				redis.subscribe(new JedisPubSub() {
				}, "released");
			}
			catch (JedisConnectionException ex) {
				// That is what is awaited
			}
		});
		subscriber.start();
		await().untilAsserted(() -> assertThat(this.store.leftovers()).contains("released"));
		assertThat(begin(Fault.Kind.SUBSCRIPTIONS_KILLED)).isTrue();
		await().until(() -> !subscriber.isAlive());
		await().until(() -> this.store.leftovers().isEmpty());
	}

	@Test
	void dataAreKeptOrLostByARestart() {
		set("lock", "mine");
		begin(Fault.Kind.RESTART);
		assertThat(get("lock")).isEqualTo("mine");
		begin(Fault.Kind.RESTART_EMPTY);
		assertThat(get("lock")).isNull();
	}

	/**
	 * Twice, as the one that was replaced must have become a replica.
	 */
	@Test
	void replicaThatIsPromotedDoesNotKnowTheLastLocks() {
		for (String lock : List.of("first", "second")) {
			set(lock + "-before", "mine");
			await().ignoreExceptions().until(this.store::isReplicated);
			begin(Fault.Kind.PROMOTION);
			set(lock, "mine");
			end(Fault.Kind.PROMOTION);
			await().ignoreExceptions().until(() -> "mine".equals(get(lock + "-before")));
			assertThat(get(lock)).isNull();
		}
	}

	@Test
	void clockGoesForwardAndBack() {
		long before = time();
		assumeTrue(this.store.begin(new Fault(2, Fault.Kind.CLOCK_JUMP, 0, 60_000)), "No libfaketime");
		assertThat(time()).isGreaterThan(before + 60);
		this.store.begin(new Fault(1, Fault.Kind.CLOCK_JUMP, 0, 60_000));
		assertThat(time()).isLessThan(before - 60);
		end(Fault.Kind.CLOCK_JUMP);
		assertThat(time()).isBetween(before, before + 60);
	}

	private boolean begin(Fault.Kind kind) {
		return this.store.begin(fault(kind, MILLIS));
	}

	private void end(Fault.Kind kind) {
		this.store.end(fault(kind, MILLIS));
	}

	private static Fault fault(Fault.Kind kind, int millis) {
		return new Fault(0, kind, 0, millis);
	}

	private void set(String key, String value) {
		try (Jedis redis = connect()) {
			redis.set(key, value);
		}
	}

	private String get(String key) {
		try (Jedis redis = connect()) {
			return redis.get(key);
		}
	}

	private long time() {
		try (Jedis redis = connect()) {
			return Long.parseLong(redis.time().get(0));
		}
	}

	private Jedis connect() {
		return new Jedis(new HostAndPort("127.0.0.1", this.store.ports().get(0)),
				DefaultJedisClientConfig.builder().timeoutMillis((int) Duration.ofSeconds(1).toMillis()).build());
	}

}
