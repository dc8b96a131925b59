package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

import io.github.holdfast.store.Deadline;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What waits while two batches are under way, and what happens to it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
class RedissonBatchesTests {

	private static final int MANY = 20;

	private final RedisServer server = RedisServer.start();

	private final RedissonClient client = RedissonClients.single(this.server.port());

	@BeforeEach
	void forgetAll() {
		this.server.command("FLUSHALL");
		this.server.command("SCRIPT", "FLUSH");
	}

	@AfterAll
	void close() {
		RedissonClients.close(this.client);
		this.server.close();
	}

	@Test
	void scriptsThatRedisDoesNotKnowAreLoaded() {
		RedissonDriver driver = new RedissonDriver(this.client);
		assertThat(acquireMany(driver)).allSatisfy((answer) -> assertThat(isGranted(answer.join())).isTrue());
	}

	@Test
	void oneThatFailsDoesNotFailTheOthers() {
		RedissonDriver driver = new RedissonDriver(this.client);
		acquireMany(driver).forEach(CompletableFuture::join);
		this.server.command("FLUSHALL");
		this.server.command("SET", LockKey.of("key-9").lock(), "no hash");
		this.server.command("CLIENT", "PAUSE", "200");
		List<CompletableFuture<List<Object>>> answers = acquireMany(driver);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(answers.get(9)::join)
			.withMessageContaining("WRONGTYPE");
		assertThat(IntStream.range(0, MANY).filter((i) -> i != 9))
			.allSatisfy((i) -> assertThat(isGranted(answers.get(i).join())).isTrue());
	}

	@Test
	void whatWasGivenUpMeanwhileIsNotSent() {
		RedissonBatches batches = batches(Duration.ofMinutes(1));
		this.server.command("SCRIPT", "LOAD", LockScript.ACQUIRE.text(2).lua());
		this.server.command("CLIENT", "PAUSE", "500");
		CompletableFuture<List<Object>> first = batches.send(acquire("first"));
		CompletableFuture<List<Object>> second = batches.send(acquire("second"));
		CompletableFuture<List<Object>> givenUp = batches.send(acquire("given-up"));
		CompletableFuture<List<Object>> last = batches.send(acquire("last"));
		givenUp.cancel(true);
		assertThat(List.of(first, second, last)).allSatisfy((answer) -> assertThat(isGranted(answer.join())).isTrue());
		assertThat(this.server.command("EXISTS", LockKey.of("given-up").lock())).isEqualTo(0L);
	}

	@Test
	void batchesWithoutAnswerKeepNothingElseFromBeingSent() {
		RedissonBatches batches = batches(Duration.ZERO);
		this.server.command("SCRIPT", "LOAD", LockScript.ACQUIRE.text(2).lua());
		this.server.command("CLIENT", "PAUSE", "500");
		List<RedissonCommand> commands = IntStream.range(0, MANY).mapToObj((i) -> acquire("key-" + i)).toList();
		commands.forEach(batches::send);
		assertThat(commands).allSatisfy((command) -> assertThat(isGranted(command.getPromise().join())).isTrue());
	}

	@Test
	void whatIsSentAfterAShutdownFails() {
		RedissonClient closed = RedissonClients.single(this.server.port());
		RedissonDriver driver = new RedissonDriver(closed);
		assertThat(acquireMany(driver)).allSatisfy((answer) -> assertThat(isGranted(answer.join())).isTrue());
		RedissonClients.close(closed);
		assertThat(acquireMany(driver))
			.allSatisfy((answer) -> assertThatExceptionOfType(CompletionException.class).isThrownBy(answer::join));
	}

	private RedissonBatches batches(Duration patience) {
		return new RedissonBatches(((Redisson) this.client).getCommandExecutor(), patience);
	}

	private static List<CompletableFuture<List<Object>>> acquireMany(RedissonDriver driver) {
		return IntStream.range(0, MANY)
			.mapToObj((i) -> driver.run(LockScript.ACQUIRE, LockKey.of("key-" + i).keys(), args(), Deadline.PASSED))
			.toList();
	}

	private static RedissonCommand acquire(String key) {
		LockKey names = LockKey.of(key);
		return new RedissonCommand(LockScript.ACQUIRE, List.of(names.lock(), names.counter()), args());
	}

	private static byte[][] args() {
		return IntStream.range(0, 5)
			.mapToObj((i) -> LockKey.bytes(List.of("60000", "120000", "owner", "holder", "0").get(i)))
			.toArray(byte[][]::new);
	}

	private static boolean isGranted(List<Object> answer) {
		return RedisLocks.number(answer, 0) > 0;
	}

}
