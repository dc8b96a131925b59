package io.github.holdfast.testsupport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Counts the round trips between clients and a server, on the wire: whatever a client
 * sends, by whichever thread and layer, passes a {@link FaultProxy} that cuts it into
 * requests. A request begins a round trip if the client has got an answer on the
 * connection since its last one; what it sends without having got one belongs to the same
 * round trip. Neither a proxy around a {@code DataSource}, which does not see what a
 * driver sends by itself, nor the statistics of a server, which do not know what was sent
 * together, tell as much.
 *
 * <p>
 * Pings of connection pools and clients are not counted: they depend on time, not on what
 * is done.
 */
public final class RoundTrips {

	private final List<Connection> connections = new CopyOnWriteArrayList<>();

	private final List<StringBuilder> trips = new ArrayList<>();

	private volatile Predicate<String> ignored = (request) -> false;

	private volatile Consumer<String> beforeRequest = (request) -> {
	};

	/**
	 * Count what passes a proxy on connections that are opened from now on.
	 * @param proxy the proxy
	 * @param protocol what the server speaks
	 */
	public RoundTrips(FaultProxy proxy, WireProtocol protocol) {
		proxy.watch(() -> {
			Connection connection = new Connection(protocol);
			this.connections.add(connection);
			return connection;
		});
	}

	/**
	 * Begins to count anew. Nothing may be under way.
	 */
	public synchronized void clear() {
		this.trips.clear();
		this.connections.forEach((connection) -> connection.answered = true);
	}

	/**
	 * How many there were.
	 * @return the number since the last {@link #clear()}
	 */
	public synchronized int count() {
		return this.trips.size();
	}

	/**
	 * What was sent.
	 * @return the requests of each round trip since the last {@link #clear()}
	 */
	public synchronized List<String> list() {
		return this.trips.stream().map(StringBuilder::toString).toList();
	}

	/**
	 * Whether each connection has got an answer since its last request.
	 * @return {@code true} if nothing is under way, unless it has not been sent yet
	 */
	public synchronized boolean isQuiet() {
		return this.connections.stream().allMatch((connection) -> connection.answered);
	}

	/**
	 * Does not count some of the requests from now on.
	 * @param ignored which ones
	 */
	public void ignore(Predicate<String> ignored) {
		this.ignored = ignored;
	}

	/**
	 * Does something before a request is passed on to the server.
	 * @param action is told the request
	 */
	public void beforeRequest(Consumer<String> action) {
		this.beforeRequest = action;
	}

	private synchronized void sent(Connection connection, String request) {
		if (this.ignored.test(request)) {
			return;
		}
		if (connection.answered) {
			connection.trip = new StringBuilder(request);
			connection.answered = false;
			this.trips.add(connection.trip);
		}
		else {
			connection.trip.append(" | ").append(request);
		}
	}

	private synchronized void answered(Connection connection) {
		connection.answered = true;
	}

	private final class Connection implements FaultProxy.Traffic {

		private final WireProtocol.Reader requests;

		private final WireProtocol.Reader answers;

		private StringBuilder trip = new StringBuilder();

		private boolean answered = true;

		private Connection(WireProtocol protocol) {
			this.requests = protocol.requests((request) -> {
				RoundTrips.this.beforeRequest.accept(request);
				RoundTrips.this.sent(this, request);
			});
			this.answers = protocol.answers(() -> RoundTrips.this.answered(this));
		}

		@Override
		public void sent(byte[] bytes, int length) {
			this.requests.read(bytes, length);
		}

		@Override
		public void answered(byte[] bytes, int length) {
			this.answers.read(bytes, length);
		}

	}

}
