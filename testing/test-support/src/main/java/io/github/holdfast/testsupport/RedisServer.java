package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.core.ExecutableProvider;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server in a process of its own, on a free local port. It has gone, with all its
 * files, when it is closed or this JVM exits.
 */
public final class RedisServer implements AutoCloseable {

	private static final Duration START_TIME = Duration.ofMinutes(3);

	/** Patient, and sends nothing of its own, which tests would count. */
	private static final JedisClientConfig CLIENT = DefaultJedisClientConfig.builder()
		.timeoutMillis((int) START_TIME.toMillis())
		.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
		.build();

	private static final int MIN_PORT = 12_000;

	/** The cluster bus has 10000 more, and the system gives higher ports to clients. */
	private static final int MAX_PORT = 17_000;

	private static final int ATTEMPTS = 10;

	private final ServerProcess process = new ServerProcess("redis", null);

	private final List<String> settings;

	private final Map<String, String> environment = new HashMap<>();

	private int port;

	private RedisServer(List<String> settings, @Nullable Path fakeTime) {
		this.settings = settings;
		if (fakeTime != null) {
			moveClock(Duration.ZERO);
			this.environment.putAll(Map.of("LD_PRELOAD", fakeTime.toString(), "FAKETIME_TIMESTAMP_FILE",
					clock().toString(), "FAKETIME_NO_CACHE", "1", "FAKETIME_DONT_FAKE_MONOTONIC", "1"));
		}
		try {
			startOnFreePort();
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	/** The one server of this JVM for tests that do no harm to it. */
	public static RedisServer shared() {
		return Shared.INSTANCE;
	}

	/** Starts a server that keeps nothing on disk, unless a setting says otherwise. */
	public static RedisServer start(String... settings) {
		return new RedisServer(List.of(settings), null);
	}

	public static Optional<RedisServer> startWithMovableClock() {
		try (Stream<Path> libraries = Files.find(Path.of("/usr/lib"), 3,
				(path, attributes) -> path.endsWith("faketime/libfaketime.so.1"))) {
			return libraries.findFirst().map((library) -> new RedisServer(List.of(), library));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int port() {
		return this.port;
	}

	/** Runs a command as the user who may do everything, on a connection of its own. */
	public Object command(String... command) {
		try (Jedis jedis = new Jedis(new HostAndPort("127.0.0.1", this.port), CLIENT)) {
			return text(jedis.sendCommand(() -> command[0].getBytes(StandardCharsets.UTF_8),
					Arrays.copyOfRange(command, 1, command.length)));
		}
	}

	private static Object text(Object answer) {
		if (answer instanceof byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
		if (answer instanceof List<?> list) {
			List<Object> texts = new ArrayList<>();
			list.forEach((element) -> texts.add((element != null) ? text(element) : "(nil)"));
			return texts;
		}
		return (answer != null) ? answer : "(nil)";
	}

	public String info(String name) {
		return command("INFO", "ALL").toString()
			.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.findFirst()
			.orElseThrow()
			.substring(name.length() + 1)
			.strip();
	}

	/** The commands that the server gets while something is done, up to 128. */
	public String commandsDuring(Callable<?> action) throws Exception {
		Object threshold = ((List<?>) command("CONFIG", "GET", "slowlog-log-slower-than")).get(1);
		command("SLOWLOG", "RESET");
		command("CONFIG", "SET", "slowlog-log-slower-than", "0");
		try {
			action.call();
			return command("SLOWLOG", "GET", "128").toString();
		}
		finally {
			command("CONFIG", "SET", "slowlog-log-slower-than", threshold.toString());
		}
	}

	public void moveClock(Duration offset) {
		try {
			// Of two signs it would make nothing
			Files.writeString(clock(), "%+d".formatted(offset.toSeconds()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Path clock() {
		return this.process.file("clock");
	}

	public void kill() {
		this.process.kill();
		if (Files.exists(clock())) {
			// What libfaketime leaves behind in a process that cannot clean up
			ServerProcess.delete(Path.of("/dev/shm/faketime_shm_" + this.process.pid()));
			ServerProcess.delete(Path.of("/dev/shm/sem.faketime_sem_" + this.process.pid()));
		}
	}

	public void pause() {
		this.process.signal("STOP");
	}

	public void resume() {
		this.process.signal("CONT");
	}

	public void restart() {
		kill();
		startProcess();
	}

	@Override
	public void close() {
		if (Files.exists(clock())) {
			kill();
		}
		this.process.close();
	}

	private void startOnFreePort() {
		for (int attempt = 1;; attempt++) {
			this.port = freePort();
			try {
				startProcess();
				return;
			}
			catch (IllegalStateException ex) {
				// Somebody else may have taken the port in the meantime
				if (attempt == ATTEMPTS || !ex.getMessage().contains("Address already in use")) {
					throw ex;
				}
			}
		}
	}

	private static int freePort() {
		int port;
		do {
			port = ThreadLocalRandom.current().nextInt(MIN_PORT, MAX_PORT);
		}
		while (!LocalPorts.isFree(port) || !LocalPorts.isFree(port + 10_000));
		return port;
	}

	private void startProcess() {
		ServerProcess.delete(this.process.file("log"));
		launch();
		await().atMost(START_TIME).until(() -> !this.process.isAlive() || answers());
		if (!this.process.isAlive()) {
			throw new IllegalStateException("Redis did not start: " + this.process.log());
		}
	}

	private void launch() {
		List<String> command = new ArrayList<>(List.of(Embedded.BINARY.toString()));
		if (this.settings.contains("--sentinel")) {
			Path configuration = this.process.file("sentinel.conf");
			try {
				Files.write(configuration, List.of());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			command.add(configuration.toString());
		}
		else {
			command.addAll(List.of("--save", ""));
		}
		command.addAll(List.of("--port", String.valueOf(this.port), "--bind", "127.0.0.1", "--dir",
				this.process.file("").toString()));
		command.addAll(this.settings);
		this.process.start(command, this.environment);
	}

	/** A server that is still loading its data answers with an error. */
	private boolean answers() {
		try (Jedis jedis = new Jedis("127.0.0.1", this.port)) {
			jedis.sendCommand(Protocol.Command.PING);
			return true;
		}
		catch (JedisException ex) {
			return false;
		}
	}

	/** The binary that comes with embedded-redis, unpacked once. */
	private static final class Embedded {

		static final Path BINARY = TestServers.start("Redis binary",
				(directory) -> ExecutableProvider.newJarResourceProvider(directory.toFile()).get().toPath(),
				(binary) -> {
				});

	}

	private static final class Shared {

		static final RedisServer INSTANCE = start();

	}

}
