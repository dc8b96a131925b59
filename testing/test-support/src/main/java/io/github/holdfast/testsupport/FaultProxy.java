package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy on a local port that plays a failing network between a client and a server.
 *
 * <p>
 * Bytes that a {@link Fault} holds back are delivered when it ends, as TCP would deliver
 * them after a partition; bytes that {@link Fault#DROP_REPLIES} swallows are gone, so
 * that connections should be {@link #reset()} after it.
 */
public final class FaultProxy implements AutoCloseable {

	private static final Duration LATENESS = Duration.ofMillis(200);

	private static final int ATTEMPTS = 5;

	private static final Duration MAX_WAIT = Duration.ofMinutes(1);

	private volatile InetSocketAddress target;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "fault-proxy");
		thread.setDaemon(true);
		return thread;
	});

	private final int port;

	private ServerSocket listener;

	private CountDownLatch refused = new CountDownLatch(0);

	private Fault fault = Fault.NONE;

	private volatile Duration delay = Duration.ZERO;

	private volatile Runnable beforeReply = () -> {
	};

	private final AtomicInteger brokenCommits = new AtomicInteger();

	private boolean closed;

	public FaultProxy(int targetPort) {
		this.target = address(targetPort);
		this.listener = listen();
		this.port = this.listener.getLocalPort();
	}

	public int port() {
		return this.port;
	}

	/** Switches a fault on, or off with {@link Fault#NONE}. */
	public synchronized void inject(Fault fault) {
		boolean wasRefusing = this.fault == Fault.REFUSE;
		this.fault = fault;
		if (fault == Fault.REFUSE) {
			close(this.listener);
			ServerProcess.awaitState(() -> this.refused.getCount() == 0, MAX_WAIT);
		}
		else if (wasRefusing) {
			this.listener = listen(this.port);
		}
		notifyAll();
	}

	/** Moves the address to another server, and breaks all open connections. */
	public void redirect(int targetPort) {
		this.target = address(targetPort);
		reset();
	}

	public void delay(Duration delay) {
		this.delay = delay;
	}

	/** Does something before each chunk of bytes from the server. */
	public void beforeReply(Runnable beforeReply) {
		this.beforeReply = beforeReply;
	}

	/** The COMMITs that have met a fault since they were asked for the last time. */
	public int brokenCommits() {
		return this.brokenCommits.getAndSet(0);
	}

	public void reset() {
		List<Socket> open = List.copyOf(this.sockets);
		// All before the first is closed: its peer is closed as soon as that is seen
		open.forEach((socket) -> {
			try {
				socket.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// Closed by its owner in the meantime
			}
		});
		open.forEach(FaultProxy::close);
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
			close(this.listener);
			notifyAll();
		}
		// A connection may be accepted while the others are closed, so until all is quiet
		ServerProcess.awaitState(() -> {
			this.threads.shutdownNow();
			this.sockets.forEach(FaultProxy::close);
			return this.threads.isTerminated();
		}, MAX_WAIT);
	}

	/**
	 * Another thread that looks for a free port may just have the same one in its hands.
	 */
	private ServerSocket listen() {
		for (int attempt = 1;; attempt++) {
			try {
				return listen(LocalPorts.free());
			}
			catch (UncheckedIOException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private ServerSocket listen(int port) {
		try {
			ServerSocket socket = new ServerSocket();
			socket.setReuseAddress(true);
			socket.bind(address(port));
			CountDownLatch ended = new CountDownLatch(1);
			start(() -> accept(socket, ended));
			this.refused = ended;
			return socket;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A closed socket goes on to listen until nobody accepts from it any more. */
	private void accept(ServerSocket listener, CountDownLatch ended) throws IOException {
		try {
			while (true) {
				Socket client = listener.accept();
				Socket server = new Socket();
				this.sockets.add(client);
				this.sockets.add(server);
				start(() -> connect(client, server));
			}
		}
		finally {
			ended.countDown();
		}
	}

	private void connect(Socket client, Socket server) throws IOException {
		try {
			// What arrives in pieces is passed on in pieces, none of which waits for
			// others
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			server.connect(this.target);
			CommitWatch commits = new CommitWatch();
			start(() -> passReplies(server, client, commits));
			passRequests(client, server, commits);
		}
		finally {
			close(client);
			close(server);
			this.sockets.remove(client);
			this.sockets.remove(server);
		}
	}

	private void passRequests(Socket client, Socket server, CommitWatch commits) throws IOException {
		pass(client, server, (buffer, length) -> {
			sleep(this.delay);
			boolean commit = commits.sent(buffer, length);
			if (commit && current() == Fault.LATE_COMMITS) {
				this.brokenCommits.incrementAndGet();
				sendLate(buffer, length, client, server);
			}
			return passes(Fault.HOLD_REQUESTS);
		});
	}

	private void passReplies(Socket server, Socket client, CommitWatch commits) throws IOException {
		pass(server, client, (buffer, length) -> {
			sleep(this.delay);
			this.beforeReply.run();
			if (commits.isAwaited() && current() == Fault.BREAK_COMMITS) {
				this.brokenCommits.incrementAndGet();
				throw new IOException("The reply to COMMIT is lost");
			}
			return passes(Fault.HOLD_REPLIES);
		});
	}

	private void pass(Socket from, Socket to, Gate gate) throws IOException {
		try (from; to) {
			byte[] buffer = new byte[8192];
			for (int length = from.getInputStream().read(buffer); length >= 0; length = from.getInputStream()
				.read(buffer)) {
				if (gate.opens(buffer, length)) {
					to.getOutputStream().write(buffer, 0, length);
				}
			}
		}
	}

	/** The server must have read it before its side is closed. */
	private static void sendLate(byte[] buffer, int length, Socket client, Socket server) throws IOException {
		client.setSoLinger(true, 0);
		client.close();
		sleep(LATENESS);
		server.getOutputStream().write(buffer, 0, length);
		sleep(LATENESS);
		throw new IOException("The client is gone");
	}

	private synchronized Fault current() {
		return this.fault;
	}

	private synchronized boolean passes(Fault hold) {
		while (!this.closed && (this.fault == hold || this.fault == Fault.BLACKHOLE)) {
			try {
				wait();
			}
			catch (InterruptedException ex) {
				return false;
			}
		}
		return !this.closed && !(hold == Fault.HOLD_REPLIES && this.fault == Fault.DROP_REPLIES);
	}

	/** Until one side is gone, which is what this proxy is for. */
	private void start(IoTask task) {
		this.threads.submit(() -> {
			task.run();
			return null;
		});
	}

	private static InetSocketAddress address(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	private static void sleep(Duration delay) throws IOException {
		try {
			Thread.sleep(delay.toMillis());
		}
		catch (InterruptedException ex) {
			throw new IOException(ex);
		}
	}

	private static void close(AutoCloseable socket) {
		try {
			socket.close();
		}
		catch (Exception ex) {
			// It is closed already
		}
	}

	public enum Fault {

		NONE,

		/** No bytes pass; new connections are accepted and get no answer. */
		BLACKHOLE,

		/** Bytes from the client to the server do not pass. */
		HOLD_REQUESTS,

		/** Bytes from the server to the client do not pass. */
		HOLD_REPLIES,

		/** The server works on each request, and its replies are swallowed. */
		DROP_REPLIES,

		/** The server commits, and the connection breaks before it says so. */
		BREAK_COMMITS,

		/** The connection breaks, and only then the server is told to commit. */
		LATE_COMMITS,

		/** New connections are refused; open ones go on. */
		REFUSE

	}

	@FunctionalInterface
	private interface Gate {

		boolean opens(byte[] buffer, int length) throws IOException;

	}

	@FunctionalInterface
	private interface IoTask {

		void run() throws IOException;

	}

}
