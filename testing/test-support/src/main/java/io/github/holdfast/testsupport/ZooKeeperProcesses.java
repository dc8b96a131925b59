package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * ZooKeeper servers that are one ensemble, each in a JVM of its own, so that they can be
 * paused and killed and take nobody with them. They keep their data when they are killed,
 * and have gone with it when they are closed.
 */
public final class ZooKeeperProcesses implements AutoCloseable {

	private static final Duration START_TIME = Duration.ofMinutes(2);

	private final Path directory;

	private final List<Member> members = new ArrayList<>();

	private ZooKeeperProcesses(int count) {
		try {
			this.directory = Files.createTempDirectory("holdfast-zookeeper-");
			for (int i = 1; i <= count; i++) {
				this.members.add(new Member(i, LocalPorts.free(), LocalPorts.free(), LocalPorts.free()));
			}
			for (Member member : this.members) {
				member.configure();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Starts servers, and waits until they have a leader.
	 * @param count how many
	 * @return the servers
	 */
	public static ZooKeeperProcesses start(int count) {
		ZooKeeperProcesses processes = new ZooKeeperProcesses(count);
		try {
			processes.members.forEach(Member::start);
			processes.members.forEach(Member::awaitServing);
			return processes;
		}
		catch (RuntimeException ex) {
			processes.close();
			throw ex;
		}
	}

	/**
	 * The local ports for clients, the same after each restart.
	 * @return the ports
	 */
	public List<Integer> ports() {
		return this.members.stream().map((member) -> member.port).toList();
	}

	/**
	 * The number of the server that leads, which is also that of its port.
	 * @return the number, or nothing while there is none
	 */
	public Optional<Integer> leader() {
		for (int i = 0; i < this.members.size(); i++) {
			String mode = this.members.get(i).mode();
			if (mode.equals("leader") || mode.equals("standalone")) {
				return Optional.of(i);
			}
		}
		return Optional.empty();
	}

	/**
	 * Ends a server as a power loss would.
	 * @param number its number
	 */
	public void kill(int number) {
		this.members.get(number).close();
	}

	/**
	 * Starts a server again that was killed, and waits until it is back.
	 * @param number its number
	 */
	public void startAgain(int number) {
		this.members.get(number).start();
		this.members.get(number).awaitServing();
	}

	/**
	 * Stops all threads of a server where they are.
	 * @param number its number
	 */
	public void pause(int number) {
		this.members.get(number).process().pause();
	}

	/**
	 * Lets a server go on after {@link #pause}.
	 * @param number its number
	 */
	public void resume(int number) {
		this.members.get(number).process().resume();
	}

	/**
	 * Ends all servers as a power loss would, and starts them again with their data.
	 */
	public void restart() {
		this.members.forEach(Member::close);
		this.members.forEach(Member::start);
		this.members.forEach(Member::awaitServing);
	}

	@Override
	public void close() {
		this.members.forEach(Member::close);
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The program of each process: a server, until its standard input ends.
	 */
	static final class Server {

		private Server() {
		}

		public static void main(String[] args) throws IOException {
			Thread server = new Thread(() -> QuorumPeerMain.main(args), "zookeeper");
			server.setDaemon(true);
			server.start();
			while (System.in.read() >= 0) {
				// Nobody gives orders
			}
			Runtime.getRuntime().halt(0);
		}

	}

	private final class Member {

		private final int id;

		private final int port;

		private final int quorumPort;

		private final int electionPort;

		private @Nullable ChildJvm process;

		private Member(int id, int port, int quorumPort, int electionPort) {
			this.id = id;
			this.port = port;
			this.quorumPort = quorumPort;
			this.electionPort = electionPort;
		}

		private Path folder() {
			return ZooKeeperProcesses.this.directory.resolve("server-" + this.id);
		}

		private void configure() throws IOException {
			Files.createDirectories(folder());
			Files.writeString(folder().resolve("myid"), String.valueOf(this.id));
			List<String> lines = new ArrayList<>(List.of("dataDir=" + folder(), "clientPort=" + this.port,
					"clientPortAddress=127.0.0.1", "tickTime=" + ZooKeeperServer.TICK.toMillis(), "initLimit=20",
					"syncLimit=20", "maxClientCnxns=0", "admin.enableServer=false", "4lw.commands.whitelist=srvr"));
			if (ZooKeeperProcesses.this.members.size() > 1) {
				lines.add("standaloneEnabled=false");
				ZooKeeperProcesses.this.members.forEach((member) -> lines
					.add("server.%d=127.0.0.1:%d:%d".formatted(member.id, member.quorumPort, member.electionPort)));
			}
			Files.write(ZooKeeperProcesses.this.directory.resolve("server-" + this.id + ".cfg"), lines);
		}

		private void start() {
			this.process = ChildJvm.start(List.of("-Dzookeeper.forceSync=no"), Server.class,
					ZooKeeperProcesses.this.directory.resolve("server-" + this.id + ".cfg").toString());
		}

		private void awaitServing() {
			await().atMost(START_TIME).until(() -> !mode().isEmpty());
		}

		private ChildJvm process() {
			if (this.process == null) {
				throw new IllegalStateException("ZooKeeper " + this.id + " does not run");
			}
			return this.process;
		}

		private String mode() {
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
				socket.setSoTimeout(1000);
				socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
				return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).lines()
					.filter((line) -> line.startsWith("Mode: "))
					.map((line) -> line.substring("Mode: ".length()))
					.findFirst()
					.orElse("");
			}
			catch (IOException ex) {
				return "";
			}
		}

		private void close() {
			if (this.process != null) {
				this.process.close();
				this.process = null;
			}
		}

	}

}
