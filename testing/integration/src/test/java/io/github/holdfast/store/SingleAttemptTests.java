package io.github.holdfast.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.GuardedTransaction;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls that do not wait, one after the other for one key. After a checked commit the
 * release is still on its way when the next one begins.
 */
class SingleAttemptTests {

	private static final int CALLS = 200;

	private final String key = "single-" + UUID.randomUUID();

	@Test
	void noCallOnRedisIsRefusedForTheReleaseOfTheLastOne() {
		RedisConnectionFactory connections = RedisConnections.lettuce(RedisServer.shared().port());
		try {
			assertNoneIsRefused(new RedisLockBackend(() -> connections));
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@Test
	void noCallOnZooKeeperIsRefusedForTheReleaseOfTheLastOne() {
		try (ZooKeeperServer server = ZooKeeperServer.start(); CuratorFramework client = server.client()) {
			assertNoneIsRefused(new ZooKeeperLockBackend(() -> client));
		}
	}

	private void assertNoneIsRefused(LockBackend store) {
		HandoverLockBackend backend = new HandoverLockBackend(store);
		AtomicInteger calls = new AtomicInteger();
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			LockTemplate single = GuardedTransaction.bodies(locks.withWaitTime(Duration.ZERO));
			// The connection is made at the first use
			locks.run(this.key, () -> {
			});
			for (int i = 0; i < CALLS; i++) {
				single.run(this.key, () -> {
					GuardedTransaction.commit();
					calls.incrementAndGet();
				});
				single.execute(List.of(this.key, this.key + "-second"), () -> {
					GuardedTransaction.commit();
					return calls.incrementAndGet();
				});
			}
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(calls).hasValue(2 * CALLS);
	}

}
