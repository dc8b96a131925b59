package io.github.holdfast.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.etcd.EtcdLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * A store with what was recorded of a format in it, as nodes of another version would
 * have left it.
 */
interface RecordedStore extends AutoCloseable {

	/**
	 * This version's view of the store.
	 */
	LockBackend backend();

	/**
	 * Does what was recorded.
	 * @param step {@code held} or {@code released}
	 */
	void replay(String step);

	/**
	 * What the store has of the lock {@code lock:written}, one line each, without
	 * numbers.
	 */
	List<String> written();

	/**
	 * The file with what {@link #written()} was when it was recorded.
	 */
	String name();

	ApplicationContextRunner application();

	@Override
	void close();

	/**
	 * A recorded file.
	 */
	static String read(String file) {
		try {
			return new ClassPathResource("format/1/" + file).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * On tables that were created by the recorded scripts.
	 */
	final class Jdbc implements RecordedStore {

		private final TestDatabase database;

		private final DatabaseAccess access;

		private final HikariDataSource dataSource;

		Jdbc(TestDatabase database) {
			this.database = database;
			this.access = database.newDatabase();
			this.dataSource = this.access.dataSource(5);
			DatabaseAccess.runScript(this.dataSource, "format/1/schema-" + database.platform() + ".sql");
			DatabaseAccess.runScript(this.dataSource, "format/1/fence-schema-" + database.platform() + ".sql");
		}

		HikariDataSource dataSource() {
			return this.dataSource;
		}

		@Override
		public LockBackend backend() {
			return new JdbcLockBackend(() -> this.dataSource);
		}

		@Override
		public void replay(String step) {
			// The columns for keys of H2 are binary
			String key = (this.database == TestDatabase.H2) ? "STRINGTOUTF8('lock:recorded')" : "'lock:recorded'";
			for (String statement : read("jdbc-" + step + ".sql").replace("${key}", key).split(";\\s*")) {
				new JdbcTemplate(this.dataSource).execute(statement);
			}
		}

		@Override
		public List<String> written() {
			List<String> rows = new ArrayList<>(rows("holdfast_lock"));
			rows.addAll(rows("holdfast_renewal"));
			return rows;
		}

		List<String> rows(String table) {
			return new JdbcTemplate(this.dataSource).query("SELECT * FROM " + table, (rs, number) -> row(table, rs));
		}

		private static String row(String table, ResultSet rs) throws SQLException {
			StringBuilder row = new StringBuilder(table);
			ResultSetMetaData columns = rs.getMetaData();
			for (int i = 1; i <= columns.getColumnCount(); i++) {
				Object value = rs.getObject(i);
				String text = (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8)
						: String.valueOf(value);
				row.append(' ').append(columns.getColumnName(i).toLowerCase()).append('=').append(withoutNumbers(text));
			}
			return row.toString();
		}

		@Override
		public String name() {
			return "jdbc";
		}

		@Override
		public ApplicationContextRunner application() {
			return LockedApplication.jdbc(this.access).withPropertyValues("holdfast.jdbc.initialize-schema=never");
		}

		@Override
		public void close() {
			this.dataSource.close();
		}

	}

	/**
	 * On a server of its own.
	 */
	final class Redis implements RecordedStore {

		private final RedisServer server = RedisServer.start();

		private final LettuceConnectionFactory connections = RedisConnections.lettuce(this.server.port());

		@Override
		public LockBackend backend() {
			return new RedisLockBackend(() -> this.connections);
		}

		@Override
		public void replay(String step) {
			read("redis-" + step + ".txt").lines().forEach((line) -> this.server.command(line.split(" ")));
		}

		@Override
		public List<String> written() {
			List<String> keys = new ArrayList<>();
			for (Object key : new TreeSet<>((List<?>) this.server.command("KEYS", "*written*"))) {
				List<String> hash = ((List<?>) this.server.command("HGETALL", key.toString())).stream()
					.map((text) -> withoutNumbers(text.toString()))
					.sorted((left, right) -> compare(left, right))
					.toList();
				keys.add(key + " " + hash);
			}
			return keys;
		}

		/** Names of fields, in lower case letters, come first in what was recorded. */
		private static int compare(String left, String right) {
			List<String> fields = List.of("epoch", "holder", "owner");
			int byKind = Boolean.compare(fields.contains(right), fields.contains(left));
			return (byKind != 0) ? byKind : left.compareTo(right);
		}

		@Override
		public String name() {
			return "redis";
		}

		@Override
		public ApplicationContextRunner application() {
			return LockedApplication.redis(this.server.port());
		}

		@Override
		public void close() {
			RedisConnections.close(this.connections);
			this.server.close();
		}

	}

	/**
	 * On a server of its own.
	 */
	final class ZooKeeper implements RecordedStore {

		private final ZooKeeperServer server = ZooKeeperServer.start();

		private final CuratorFramework client = this.server.client();

		@Override
		public LockBackend backend() {
			return new ZooKeeperLockBackend(() -> this.client);
		}

		@Override
		public void replay(String step) {
			read("zookeeper-" + step + ".txt").lines().forEach(this::run);
		}

		private void run(String line) {
			String[] words = line.split(" ", 3);
			try {
				if (words[0].equals("DELETE")) {
					this.client.delete().forPath(words[1]);
				}
				else {
					this.client.create()
						.creatingParentsIfNeeded()
						.withMode(CreateMode.valueOf(words[0]))
						.forPath(words[1], ((words.length > 2) ? words[2] : "").getBytes(StandardCharsets.UTF_8));
				}
			}
			catch (Exception ex) {
				throw new IllegalStateException(line, ex);
			}
		}

		@Override
		public List<String> written() {
			String lock = "/holdfast/locks/lock:written";
			try {
				List<String> places = new ArrayList<>();
				for (String place : this.client.getChildren().forPath(lock)) {
					String path = lock + '/' + place;
					places.add(path.replaceAll("-[0-9a-f]+-\\d+_", "-#-#_") + " "
							+ new String(this.client.getData().forPath(path), StandardCharsets.UTF_8));
				}
				return places;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public String name() {
			return "zookeeper";
		}

		@Override
		public ApplicationContextRunner application() {
			return LockedApplication.zooKeeper(TestDatabase.H2.newDatabase(), "127.0.0.1:" + this.server.port())
				.withPropertyValues("holdfast.fence.initialize-schema=always");
		}

		@Override
		public void close() {
			this.client.close();
			this.server.close();
		}

	}

	/**
	 * On a server of its own.
	 */
	final class Etcd implements RecordedStore {

		private final EtcdServer server = EtcdServer.start();

		private final Client client = EtcdLockBackend.clientBuilder().endpoints(this.server.endpoint()).build();

		@Override
		public LockBackend backend() {
			return new EtcdLockBackend(() -> this.client, "/holdfast/");
		}

		@Override
		public void replay(String step) {
			read("etcd-" + step + ".txt").lines().forEach((line) -> {
				String[] words = line.split(" ", 3);
				if (words[0].equals("DELETE")) {
					this.client.getKVClient().delete(bytes(words[1])).join();
				}
				else {
					this.client.getKVClient().put(bytes(words[1]), bytes(words[2])).join();
				}
			});
		}

		@Override
		public List<String> written() {
			return this.client.getKVClient()
				.get(bytes("/"), GetOption.builder().isPrefix(true).build())
				.join()
				.getKvs()
				.stream()
				.map((entry) -> entry.getKey().toString(StandardCharsets.UTF_8) + " "
						+ entry.getValue().toString(StandardCharsets.UTF_8))
				.toList();
		}

		private static ByteSequence bytes(String text) {
			return ByteSequence.from(text, StandardCharsets.UTF_8);
		}

		@Override
		public String name() {
			return "etcd";
		}

		@Override
		public ApplicationContextRunner application() {
			return LockedApplication.etcd(this.server.endpoint());
		}

		@Override
		public void close() {
			this.client.close();
			this.server.close();
		}

	}

	private static String withoutNumbers(String text) {
		return text.replaceAll("\\d{7,}", "#");
	}

}
