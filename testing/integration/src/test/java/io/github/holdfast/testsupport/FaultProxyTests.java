package io.github.holdfast.testsupport;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.holdfast.testsupport.FaultProxy.Fault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link FaultProxy}.
 */
class FaultProxyTests {

	private final EchoServer server = new EchoServer();

	private final FaultProxy proxy = new FaultProxy(this.server.port());

	@AfterEach
	void close() throws IOException {
		this.proxy.close();
		this.server.close();
		assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("fault-proxy"));
	}

	@Test
	void bytesPass() throws IOException {
		try (Socket client = connect()) {
			assertThat(echo(client, 1)).isEqualTo(1);
			assertThat(this.proxy.connections()).isEqualTo(1);
		}
		await().until(() -> this.proxy.connections() == 0);
	}

	@Test
	void blackholedBytesArriveAfterwards() throws IOException {
		assertHeldUntilItEnds(Fault.BLACKHOLE, 1);
	}

	@Test
	void newConnectionsFindTheBlackholeToo() throws IOException {
		this.proxy.inject(Fault.BLACKHOLE);
		try (Socket client = connect()) {
			client.getOutputStream().write(1);
			assertSilent(client);
		}
	}

	@Test
	void heldRequestsDoNotReachTheServer() throws IOException {
		assertHeldUntilItEnds(Fault.HOLD_REQUESTS, 1);
	}

	@Test
	void heldRepliesWereSentByTheServer() throws IOException {
		assertHeldUntilItEnds(Fault.HOLD_REPLIES, 2);
	}

	@Test
	void droppedRepliesNeverArrive() throws IOException {
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.inject(Fault.DROP_REPLIES);
			client.getOutputStream().write(2);
			await().until(() -> this.proxy.dropped() == 1);
			assertSilent(client);
			assertThat(this.server.received).hasValue(2);
			this.proxy.inject(Fault.NONE);
			assertThat(echo(client, 3)).isEqualTo(3);
		}
	}

	@Test
	void lateCommitArrivesWhenItsConnectionIsBroken() throws IOException {
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.inject(Fault.LATE_COMMITS);
			assertThat(echo(client, 2)).isEqualTo(2);
			client.getOutputStream().write("COMMIT".getBytes(StandardCharsets.US_ASCII));
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> client.getInputStream().read());
			assertThat(this.server.received).hasValue(2);
			await().until(() -> this.server.received.get() == 2 + "COMMIT".length());
		}
	}

	/**
	 * Drivers prepare COMMIT, and then do not say it again.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,LATE_COMMITS", "MARIADB,BREAK_COMMITS", "POSTGRESQL,LATE_COMMITS",
			"POSTGRESQL,BREAK_COMMITS" })
	void commitOfATransactionMeetsItsFaultHoweverOftenThereWasOneBefore(TestDatabase kind, Fault fault)
			throws SQLException {
		DatabaseAccess database = kind.newRemoteDatabase();
		execute(database, "CREATE TABLE sale (id integer PRIMARY KEY)");
		try (FaultProxy network = new FaultProxy(database.port());
				Connection connection = open(database.onPort(network.port()));
				Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			for (int i = 0; i < 10; i++) {
				statement.execute("INSERT INTO sale VALUES (" + i + ")");
				connection.commit();
			}
			network.inject(fault);
			statement.execute("INSERT INTO sale VALUES (10)");
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			await().until(() -> sales(database) == 11);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void choiceOfReadCommittedIsNoCommit(TestDatabase kind) throws SQLException {
		DatabaseAccess database = kind.newRemoteDatabase();
		execute(database, "CREATE TABLE sale (id integer PRIMARY KEY)");
		try (FaultProxy network = new FaultProxy(database.port());
				Connection connection = open(database.onPort(network.port()));
				Statement statement = connection.createStatement()) {
			network.inject(Fault.BREAK_COMMITS);
			connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			assertThat(network.brokenCommits()).isZero();
			connection.setAutoCommit(false);
			statement.execute("INSERT INTO sale VALUES (1)");
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
			assertThat(network.brokenCommits()).isOne();
		}
	}

	@Test
	void replyMeetsAFaultThatIsInjectedBeforeIt() throws Exception {
		try (Socket client = connect()) {
			echo(client, 1);
			CountDownLatch held = new CountDownLatch(1);
			this.proxy.beforeReply(() -> {
				this.proxy.inject(Fault.HOLD_REPLIES);
				held.countDown();
			});
			client.getOutputStream().write(2);
			held.await();
			assertSilent(client);
			this.proxy.inject(Fault.NONE);
			assertThat(client.getInputStream().read()).isEqualTo(2);
		}
	}

	@Test
	void refusedUntilItEnds() throws IOException {
		try (Socket open = connect()) {
			echo(open, 1);
			this.proxy.inject(Fault.REFUSE);
			assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
			assertThat(echo(open, 2)).isEqualTo(2);
			this.proxy.inject(Fault.NONE);
			try (Socket client = connect()) {
				assertThat(echo(client, 3)).isEqualTo(3);
			}
		}
	}

	@RepeatedTest(20)
	void resetBreaksOpenConnectionsOnly() throws IOException {
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.reset();
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> {
				echo(client, 2);
				echo(client, 3);
			});
		}
		try (Socket client = connect()) {
			assertThat(echo(client, 4)).isEqualTo(4);
		}
	}

	@Test
	void connectionsGoToTheOtherServerOnceItIsRedirected() throws IOException {
		EchoServer other = new EchoServer();
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.redirect(other.port());
			assertThatExceptionOfType(SocketException.class).isThrownBy(() -> {
				echo(client, 2);
				echo(client, 3);
			});
		}
		try (Socket client = connect()) {
			assertThat(echo(client, 4)).isEqualTo(4);
		}
		assertThat(this.server.received).hasValue(1);
		assertThat(other.received).hasValue(1);
		other.close();
	}

	@Test
	void delayedInEachDirection() throws IOException {
		try (Socket client = connect()) {
			this.proxy.delay(Duration.ofMillis(100));
			long start = System.nanoTime();
			echo(client, 1);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(200));
		}
	}

	@Test
	void closeEndsHeldConnections() throws IOException {
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.inject(Fault.BLACKHOLE);
			client.getOutputStream().write(2);
			// Time to be read and held: unread bytes end a connection with a reset
			assertSilent(client);
			this.proxy.close();
			assertThat(client.getInputStream().read()).isEqualTo(-1);
		}
	}

	private void assertHeldUntilItEnds(Fault fault, int received) throws IOException {
		try (Socket client = connect()) {
			echo(client, 1);
			this.proxy.inject(fault);
			client.getOutputStream().write(2);
			await().until(() -> this.server.received.get() == received);
			assertSilent(client);
			assertThat(this.server.received).hasValue(received);
			this.proxy.inject(Fault.NONE);
			assertThat(client.getInputStream().read()).isEqualTo(2);
		}
	}

	private static Connection open(DatabaseAccess database) throws SQLException {
		return DriverManager.getConnection(database.url(), database.user(), database.password());
	}

	private static void execute(DatabaseAccess database, String sql) throws SQLException {
		try (Connection connection = open(database); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static int sales(DatabaseAccess database) throws SQLException {
		try (Connection connection = open(database);
				Statement statement = connection.createStatement();
				ResultSet count = statement.executeQuery("SELECT count(*) FROM sale")) {
			count.next();
			return count.getInt(1);
		}
	}

	private static void assertSilent(Socket client) throws IOException {
		client.setSoTimeout(300);
		assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.getInputStream().read());
		client.setSoTimeout(10_000);
	}

	private Socket connect() throws IOException {
		Socket client = new Socket(InetAddress.getLoopbackAddress(), this.proxy.port());
		client.setSoTimeout(10_000);
		return client;
	}

	private static int echo(Socket client, int value) throws IOException {
		client.getOutputStream().write(value);
		return client.getInputStream().read();
	}

	/**
	 * Sends each byte back.
	 */
	private static final class EchoServer {

		private final AtomicInteger received = new AtomicInteger();

		private final ServerSocket listener;

		EchoServer() {
			try {
				this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			start(this::accept);
		}

		int port() {
			return this.listener.getLocalPort();
		}

		void close() throws IOException {
			this.listener.close();
		}

		private void accept() {
			try {
				while (true) {
					Socket socket = this.listener.accept();
					start(() -> echo(socket));
				}
			}
			catch (IOException ex) {
				// Closed
			}
		}

		private void echo(Socket socket) {
			try (socket) {
				for (int b = socket.getInputStream().read(); b >= 0; b = socket.getInputStream().read()) {
					this.received.incrementAndGet();
					socket.getOutputStream().write(b);
				}
			}
			catch (IOException ex) {
				// The client is gone
			}
		}

		private static void start(Runnable task) {
			Thread thread = new Thread(task, "echo-server");
			thread.setDaemon(true);
			thread.start();
		}

	}

}
