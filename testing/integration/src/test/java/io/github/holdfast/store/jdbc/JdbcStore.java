package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.Arrays;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.store.Polling;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/** A lock table as contracts see it, with one lock in it at most. */
final class JdbcStore extends TestStore<HikariDataSource> {

	private final Duration leaseTime;

	JdbcStore(TestDatabase database, String settings) {
		this(database, database.newRemoteDatabase(), settings);
	}

	private JdbcStore(TestDatabase database, DatabaseAccess access, String settings) {
		super(access.port(), (port) -> (port == access.port()) ? access.dataSource(8) : proxied(access, port, settings),
				(pool) -> new JdbcLockBackend(() -> pool));
		this.leaseTime = Duration.ofSeconds(settings.isEmpty() ? 60 : 10);
		database.createLockTable(farClient());
	}

	private static HikariDataSource proxied(DatabaseAccess access, int port, String settings) {
		HikariDataSource pool = access.onPort(port).with(settings).dataSource(8);
		pool.setConnectionTimeout(Duration.ofSeconds(6).toMillis());
		return pool;
	}

	@Override
	public boolean isHeld(String key) {
		return far().holder(key) != null;
	}

	/** The table knows nothing of those who wait: they are in this JVM. */
	@Override
	public boolean isWaitedFor(String key) {
		return Thread.getAllStackTraces()
			.values()
			.stream()
			.flatMap(Arrays::stream)
			.anyMatch((frame) -> frame.getClassName().equals(Polling.class.getName())
					|| frame.getClassName().equals(LockRows.class.getName())
							&& frame.getMethodName().startsWith("take"));
	}

	@Override
	public void remove(String key) {
		new JdbcTemplate(farClient()).update("DELETE FROM holdfast_lock");
	}

	@Override
	public String silence() {
		return "the database failed";
	}

	@Override
	public Duration leaseTime() {
		return this.leaseTime;
	}

	@Override
	public Set<Told> told() {
		return Set.of(Told.EXPIRES);
	}

}
