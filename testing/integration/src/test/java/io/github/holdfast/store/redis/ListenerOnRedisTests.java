package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.GuardedTransaction;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Listeners use the connection that the locks are taken through, and block.
 */
@Tag("F92")
class ListenerOnRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final RedisServer server = RedisServer.start();

	private final FaultProxy proxy = new FaultProxy(this.server.port());

	private final LettuceConnectionFactory connections = RedisConnections.lettuce(this.proxy.port());

	private final List<String> told = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		RedisConnections.close(this.connections);
		this.proxy.close();
		this.server.close();
	}

	/**
	 * The answers to the releases come after the calls have returned.
	 */
	@Test
	void releasesAreCountedThroughTheConnectionOfTheLocks() {
		StringRedisTemplate redis = new StringRedisTemplate(this.connections);
		LockTemplate locks = locks((event) -> redis.opsForValue().increment("count"));
		try {
			locks.run("A", GuardedTransaction::commit);
			this.proxy.delay(Duration.ofMillis(20));
			for (int i = 0; i < 3; i++) {
				locks.run("key" + i, GuardedTransaction::commit);
			}
			await().atMost(PATIENCE).until(() -> this.told.size() == 4);
			assertThat(this.server.command("GET", "count")).isEqualTo("4");
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(this.told)
			.allMatch((event) -> event.equals("RELEASED on main") || event.equals("RELEASED on holdfast-listener-1"));
	}

	@Test
	void releaseWithoutAnAnswerIsNotToldByTheThreadOfTheTimeOuts() {
		LockTemplate locks = locks((event) -> {
		});
		try {
			locks.run("A", () -> {
				GuardedTransaction.commit();
				this.proxy.inject(FaultProxy.Fault.BLACKHOLE);
			});
			await().atMost(PATIENCE).until(() -> this.told.size() == 2);
			this.proxy.inject(FaultProxy.Fault.NONE);
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(this.told).containsExactly("RELEASE on holdfast-listener-1", "FAILED on holdfast-listener-1");
	}

	private LockTemplate locks(Consumer<String> listener) {
		LockBackend backend = new HandoverLockBackend(new RedisLockBackend(() -> this.connections));
		return GuardedTransaction.bodies(new LockTemplate(() -> backend, () -> List.of(new LockListener() {

			private void tell(Object event) {
				listener.accept(event.toString());
				ListenerOnRedisTests.this.told.add(event + " on " + Thread.currentThread().getName());
			}

			@Override
			public void onBackendFailure(Call call, Operation operation, Throwable failure) {
				tell(operation);
			}

			@Override
			public void onReleased(Call call, Outcome outcome, Duration holdTime) {
				tell(outcome);
			}

		})));
	}

}
