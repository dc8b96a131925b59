package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.Arrays;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.TestStore;

/** A lock table as contracts see it, with one lock in it at most. */
final class JdbcStore implements TestStore {

	private final FaultProxy proxy;

	private final HikariDataSource near;

	private final HikariDataSource far;

	private final Duration leaseTime;

	private final ManageableLockBackend nearBackend;

	private final ManageableLockBackend farBackend;

	JdbcStore(TestDatabase database, String settings) {
		DatabaseAccess access = database.newRemoteDatabase();
		this.proxy = new FaultProxy(access.port());
		this.leaseTime = Duration.ofSeconds(settings.isEmpty() ? 60 : 10);
		DatabaseAccess proxied = access.onPort(this.proxy.port());
		this.near = new DatabaseAccess(proxied.url() + settings, proxied.user(), proxied.password()).dataSource(8);
		this.near.setConnectionTimeout(Duration.ofSeconds(6).toMillis());
		this.far = access.dataSource(8);
		database.createLockTable(this.far);
		this.nearBackend = new JdbcLockBackend(() -> this.near);
		this.farBackend = new JdbcLockBackend(() -> this.far);
	}

	@Override
	public ManageableLockBackend near() {
		return this.nearBackend;
	}

	@Override
	public ManageableLockBackend far() {
		return this.farBackend;
	}

	@Override
	public FaultProxy proxy() {
		return this.proxy;
	}

	@Override
	public boolean isHeld(String key) {
		return this.farBackend.holder(key) != null;
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
		new JdbcTemplate(this.far).update("DELETE FROM holdfast_lock");
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

	@Override
	public void close() {
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

}
