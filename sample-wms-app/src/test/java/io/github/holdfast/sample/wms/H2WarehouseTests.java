package io.github.holdfast.sample.wms;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The warehouse service on H2, the default. */
class H2WarehouseTests extends WarehouseTests {

	@SuppressWarnings("NullAway.Init")
	private static ServerSocketChannel redis;

	@BeforeAll
	static void listen() throws IOException {
		redis = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
		redis.configureBlocking(false);
	}

	@AfterAll
	static void close() throws IOException {
		redis.close();
	}

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.port", () -> redis.socket().getLocalPort());
	}

	@Test
	void connectsToNoRedis() throws IOException {
		receiptsAddToStock();
		assertThat(redis.accept()).isNull();
	}

}
