package io.github.holdfast.lab.server;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The ZooKeeper that the lab brings along.
 */
class EmbeddedZooKeeperTests {

	/**
	 * A server that listens on all interfaces also has this address.
	 */
	@Test
	void listensOnTheLoopbackAddressOnly(@TempDir Path folder) throws IOException {
		try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start(folder, Duration.ofMillis(500))) {
			new Socket("127.0.0.1", server.port()).close();
			assertThatExceptionOfType(ConnectException.class)
				.isThrownBy(() -> new Socket("127.0.0.2", server.port()).close());
		}
	}

}
