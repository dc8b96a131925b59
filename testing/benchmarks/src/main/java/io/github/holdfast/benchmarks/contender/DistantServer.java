package io.github.holdfast.benchmarks.contender;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A port through which a server on this machine looks like one at the other end of a
 * network: what is sent arrives late, in both directions.
 */
final class DistantServer implements AutoCloseable {

	/** How long a message takes at least within the data center of a cloud. */
	private static final Duration MESSAGE_TIME = Duration.ofNanos(100_000);

	private static final int BUFFER_SIZE = 16 * 1024;

	private final ServerSocket listener;

	private final int target;

	private DistantServer(ServerSocket listener, int target) {
		this.listener = listener;
		this.target = target;
	}

	/**
	 * Open a port.
	 * @param target the port of the server
	 */
	static DistantServer open(int target) throws IOException {
		DistantServer server = new DistantServer(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()), target);
		start(server::accept);
		return server;
	}

	int port() {
		return this.listener.getLocalPort();
	}

	private void accept() {
		while (true) {
			try {
				Socket client = this.listener.accept();
				Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target);
				start(() -> forward(client, server));
				start(() -> forward(server, client));
			}
			catch (IOException ex) {
				// Closed
				return;
			}
		}
	}

	/**
	 * Those who talk in turns never have more than one message on its way.
	 */
	private void forward(Socket from, Socket to) {
		byte[] buffer = new byte[BUFFER_SIZE];
		try (from; to) {
			to.setTcpNoDelay(true);
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			int length;
			while ((length = in.read(buffer)) > 0) {
				LockSupport.parkNanos(MESSAGE_TIME.toNanos());
				out.write(buffer, 0, length);
			}
		}
		catch (IOException ex) {
			// One side was closed, so the other one is now
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
	}

}
