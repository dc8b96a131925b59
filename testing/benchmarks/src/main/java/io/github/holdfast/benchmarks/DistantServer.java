package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A port through which a server on this machine looks like one at the other end of a
 * network: what is sent arrives late, in both directions, and in any number of messages
 * at a time.
 */
record DistantServer(ServerSocket listener, int target, Duration messageTime) implements AutoCloseable {

	private static final int BUFFER_SIZE = 16 * 1024;

	static DistantServer open(int target, Duration messageTime) throws IOException {
		DistantServer server = new DistantServer(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()), target,
				messageTime);
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
				forward(client, server);
				forward(server, client);
			}
			catch (IOException ex) {
				// Closed
				return;
			}
		}
	}

	private void forward(Socket from, Socket to) {
		BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
		start(() -> read(from, messages));
		start(() -> write(messages, to));
	}

	private void read(Socket from, BlockingQueue<Message> messages) {
		byte[] buffer = new byte[BUFFER_SIZE];
		try (from) {
			InputStream in = from.getInputStream();
			int length;
			while ((length = in.read(buffer)) > 0) {
				messages.add(new Message(Arrays.copyOf(buffer, length), System.nanoTime()));
			}
		}
		catch (IOException ex) {
			// One side was closed, so the other one is now
		}
		messages.add(new Message(new byte[0], System.nanoTime()));
	}

	private void write(BlockingQueue<Message> messages, Socket to) {
		try (to) {
			to.setTcpNoDelay(true);
			OutputStream out = to.getOutputStream();
			Message message;
			while ((message = messages.take()).bytes.length > 0) {
				long left;
				while ((left = message.sentAt + this.messageTime.toNanos() - System.nanoTime()) > 0) {
					LockSupport.parkNanos(left);
				}
				out.write(message.bytes);
			}
		}
		catch (IOException | InterruptedException ex) {
			// As above
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

	/** What is on its way: no bytes at the end. */
	private record Message(byte[] bytes, long sentAt) {

	}

}
