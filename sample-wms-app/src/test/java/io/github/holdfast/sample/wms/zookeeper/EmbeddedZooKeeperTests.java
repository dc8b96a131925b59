package io.github.holdfast.sample.wms.zookeeper;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The ZooKeeper that starts and ends with the application.
 */
class EmbeddedZooKeeperTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(EmbeddedZooKeeperConfiguration.class);

	@Test
	void startsAndEndsWithTheApplicationInItsProfile() {
		AtomicInteger port = new AtomicInteger();
		this.runner.withPropertyValues("spring.profiles.active=embedded-zookeeper").run((context) -> {
			port.set(context.getBean(EmbeddedZooKeeper.class).port());
			CuratorFramework client = context.getBean(CuratorFramework.class);
			client.create().forPath("/A");
			assertThat(client.checkExists().forPath("/A")).isNotNull();
		});
		assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> new Socket("127.0.0.1", port.get()).close());
	}

	/**
	 * A server that listens on all interfaces also has this address.
	 */
	@Test
	void listensOnTheLoopbackAddressOnly() throws IOException {
		try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
			new Socket("127.0.0.1", server.port()).close();
			assertThatExceptionOfType(ConnectException.class)
				.isThrownBy(() -> new Socket("127.0.0.2", server.port()).close());
		}
	}

	@Test
	void isNotThereWithoutItsProfile() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(EmbeddedZooKeeper.class));
	}

}
