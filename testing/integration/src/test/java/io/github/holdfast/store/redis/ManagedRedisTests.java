package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.LockCallback;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whole applications as a user like those of managed services, who has only what the
 * documentation lists, and so neither {@code INFO} nor {@code PUBSUB}, {@code CLUSTER},
 * {@code WAIT} or {@code CONFIG}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class ManagedRedisTests {

	private static final List<String> KEYS = List.of("A", "B");

	private static final int THREADS = 4;

	private static final int CALLS = 10;

	private final RedisServer server = RedisServer.start();

	private int counter;

	@AfterAll
	void stop() {
		this.server.close();
	}

	@ParameterizedTest
	@EnumSource
	void twoNodesExcludeEachOther(RedisUser user) {
		user.create(this.server, "lock:");
		this.server.command("ACL", "LOG", "RESET");
		this.counter = 0;
		ApplicationContextRunner application = application(user).withPropertyValues(
				"spring.data.redis.username=" + RedisUser.NAME, "spring.data.redis.password=" + RedisUser.PASSWORD,
				"holdfast.wait-time=60s");
		application.run((first) -> {
			assertThat(first).hasNotFailed();
			application.run((second) -> {
				assertThat(second).hasNotFailed();
				count(List.of(first.getBean(LockTemplate.class), second.getBean(LockTemplate.class)));
			});
		});
		assertThat(this.counter).isEqualTo(2 * THREADS * CALLS);
		// Redisson asks for the eviction policy by a script
		assertThat(refused()).isSubsetOf("info", "pubsub", (user == RedisUser.REDISSON) ? "eval" : "client");
	}

	@ParameterizedTest
	@EnumSource
	void userMayDoNothingElse(RedisUser user) {
		user.create(this.server, "lock:");
		List<?> description = (List<?>) this.server.command("ACL", "GETUSER", RedisUser.NAME);
		assertThat(description.get(description.indexOf("commands") + 1).toString().split(" ")).contains("-@all")
			.doesNotContain("+@all", "+wait", "+info", "+cluster", "+config", "+pubsub", "+keys", "+scan", "+flushall");
	}

	private ApplicationContextRunner application(RedisUser user) {
		return (user == RedisUser.REDISSON)
				? LockedApplication.redisson(this.server.port()).withPropertyValues("holdfast.backend=redisson")
				: LockedApplication.redis(this.server.port());
	}

	/**
	 * Threads of both nodes raise one number, which is not safe to do at the same time.
	 */
	private void count(List<LockTemplate> nodes) throws InterruptedException, ExecutionException {
		ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);
		try {
			CountDownLatch start = new CountDownLatch(1);
			List<? extends Future<?>> calls = IntStream.range(0, 2 * THREADS).mapToObj((i) -> threads.submit(() -> {
				start.await();
				LockTemplate locks = nodes.get(i % 2).withLeaseTime(Duration.ofSeconds(10));
				for (int call = 0; call < CALLS; call++) {
					LockCallback<Integer, RuntimeException> raise = () -> this.counter++;
					if (i < THREADS) {
						locks.execute(KEYS, raise);
					}
					else {
						locks.withFair(true).execute(KEYS.get(0), raise);
					}
				}
				return null;
			})).toList();
			start.countDown();
			for (Future<?> call : calls) {
				call.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * The commands that were tried in vain.
	 */
	private List<String> refused() {
		return ((List<?>) this.server.command("ACL", "LOG", "128")).stream()
			.map((entry) -> (List<?>) entry)
			.map((entry) -> entry.get(entry.indexOf("object") + 1).toString())
			.distinct()
			.toList();
	}

}
