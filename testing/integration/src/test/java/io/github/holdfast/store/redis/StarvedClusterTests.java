package io.github.holdfast.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * One master of a Cluster stands still, and locks are held on all of them.
 */
@Timeout(180)
@Tag("F93")
class StarvedClusterTests {

	private static final Duration LEASE = Duration.ofSeconds(6);

	@Test
	void locksOfTheOtherMastersAreKept() throws Exception {
		try (RedisCluster cluster = RedisCluster.start("--cluster-node-timeout", "60000")) {
			LettuceConnectionFactory connections = RedisConnections.lettuce(cluster);
			LockBackend backend = new HandoverLockBackend(new RedisLockBackend(() -> connections));
			long master = cluster.masters().get(0).pid();
			LockTemplate locks = new LockTemplate(() -> backend, List::of).withLeaseTime(LEASE);
			try {
				LockTemplate.Scope lost = locks.acquire(keys(0, 12));
				List<Boolean> valid = new ArrayList<>();
				locks.run(keys(2, 1).get(0), () -> {
					LockContext fine = LockContext.current().orElseThrow();
					signal(master, "-STOP");
					await().pollDelay(LEASE.multipliedBy(2)).atMost(LEASE.multipliedBy(4)).until(() -> true);
					valid.add(fine.isValid());
				});
				assertThat(valid).containsExactly(true);
				signal(master, "-CONT");
				close(lost);
			}
			finally {
				TemplateAccess.close(locks);
				signal(master, "-CONT");
				RedisConnections.close(connections);
			}
		}
	}

	private static void close(LockTemplate.Scope lost) {
		try {
			lost.close();
		}
		catch (LockLostAfterWorkException ex) {
			// As it was to be
		}
	}

	/**
	 * Keys whose slots are those of one of the three masters.
	 */
	private static List<String> keys(int master, int number) {
		return IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "key:" + i)
			.filter((key) -> ClusterSlotHashUtil.calculateSlot("{lock:" + key + "}") * 3 / 16384 == master)
			.limit(number)
			.toList();
	}

	private static void signal(long process, String signal) {
		try {
			assertThat(new ProcessBuilder("kill", signal, Long.toString(process)).start().waitFor()).isZero();
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
