package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Any number of locks at once, all or none, in one round trip.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class SeveralLocksTests {

	private final RedisServer server = RedisServer.start();

	private final RedisConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final RedisLockBackend backend = new RedisLockBackend(() -> this.connections);

	@AfterAll
	void stop() {
		RedisConnections.close(this.connections);
		this.server.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 7, 8, 9, 16, 17, 33, 1000 })
	void allAreTakenAtOnceOrNone(int number) throws Exception {
		List<LockRequest> requests = requests(number);
		assertThat(this.backend.acquireAll(requests(number))).as("Redis knows the script").hasSize(number);
		String commands = this.server
			.commandsDuring(() -> assertThat(this.backend.acquireAll(requests)).hasSize(number));
		assertThat(commands.split("\\[EVALSHA, ", -1)).hasSize(2);
		assertThat(commands).doesNotContain("[EVAL, ");
		LockRequest last = requests.get(number - 1);
		assertThat(this.backend.holder(last.key()).owner()).isEqualTo(last.owner());
		List<LockLease> again = this.backend.acquireAll(requests);
		assertThat(again).as("what is sent again").hasSize(number);
		assertThat(again.get(number - 1).epoch()).isEqualTo(this.backend.holder(last.key()).epoch());
		List<LockRequest> others = IntStream.range(0, number)
			.mapToObj((i) -> RedisRequests.request((i < number - 1) ? UUID.randomUUID().toString() : last.key(),
					Duration.ZERO))
			.toList();
		assertThat(this.backend.acquireAll(others)).isNull();
		assertThat(this.backend.holder(others.get(0).key()) == null).isEqualTo(number > 1);
	}

	private static List<LockRequest> requests(int number) {
		return IntStream.range(0, number)
			.mapToObj((i) -> RedisRequests.request("several:" + UUID.randomUUID(), Duration.ZERO))
			.toList();
	}

}
