package io.github.holdfast.benchmarks.uncontended;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

import org.springframework.util.Assert;

/**
 * Counts what clients send to a Redis server. What scripts do there is not counted.
 */
final class SentCommands {

	/** Nothing is sent any more when nothing came for this time. */
	private static final int QUIET_MILLIS = 200;

	private SentCommands() {
	}

	static long during(int port, Runnable calls) throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
			socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
			String answer = lines.readLine();
			Assert.state(answer.equals("+OK"), answer);
			calls.run();
			socket.setSoTimeout(QUIET_MILLIS);
			return count(lines);
		}
	}

	private static long count(BufferedReader lines) throws IOException {
		long count = 0;
		try {
			while (true) {
				count += lines.readLine().contains(" lua] ") ? 0 : 1;
			}
		}
		catch (SocketTimeoutException ex) {
			return count;
		}
	}

}
