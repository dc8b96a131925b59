package io.github.holdfast.transaction;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;

/** One document that everybody adds entries to, by read, merge and write. */
class DocumentService {

	static final String KEY = "document";

	private final JdbcTemplate jdbc;

	private final AtomicInteger attempts = new AtomicInteger();

	DocumentService(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
		create(jdbc);
	}

	static void create(JdbcTemplate jdbc) {
		jdbc.execute("CREATE TABLE IF NOT EXISTS document (body varchar(12000) NOT NULL)");
		jdbc.update("DELETE FROM document");
		jdbc.update("INSERT INTO document VALUES ('')");
	}

	List<String> entries() {
		return entries(this.jdbc);
	}

	static List<String> entries(JdbcTemplate jdbc) {
		return List.of(body(jdbc).split(","));
	}

	private static String body(JdbcTemplate jdbc) {
		String body = jdbc.queryForObject("SELECT body FROM document", String.class);
		return (body != null) ? body : "";
	}

	/** How often an optimistic method has run. */
	int attempts() {
		return this.attempts.get();
	}

	void add(String entry, Runnable whenRead) {
		add(this.jdbc, entry, whenRead);
	}

	static void add(JdbcTemplate jdbc, String entry, Runnable whenRead) {
		String body = body(jdbc);
		whenRead.run();
		jdbc.update("UPDATE document SET body = ?", body.isEmpty() ? entry : body + "," + entry);
	}

	@DistributedLock(key = "'document'", mode = LockMode.OPTIMISTIC, waitTime = "60s")
	@Transactional
	public int merge(String entry, Runnable whenRead) {
		this.attempts.incrementAndGet();
		add(entry, whenRead);
		return this.attempts.get();
	}

	@DistributedLock(key = "'document'", mode = LockMode.OPTIMISTIC, waitTime = "0s",
			onBusy = DistributedLock.OnBusy.SKIP)
	@Transactional
	public @Nullable String mergeOrSkip(String entry, Runnable whenRead) {
		merge(entry, whenRead);
		return "merged";
	}

	@DistributedLock(key = "'document'", mode = LockMode.OPTIMISTIC, waitTime = "0s", fallbackMethod = "later")
	@Transactional
	public String mergeOrLater(String entry, Runnable whenRead) {
		merge(entry, whenRead);
		return "merged";
	}

	public String later(String entry, Runnable whenRead, LockNotAcquiredException ex) {
		return "later " + entry + " after " + ex.attempts();
	}

	@DistributedLock(key = "'document'", mode = LockMode.OPTIMISTIC, waitTime = "60s")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public void mergeInNewTransaction(String entry, Runnable whenRead) {
		merge(entry, whenRead);
	}

	@DistributedLock(key = "'document'", mode = LockMode.OPTIMISTIC, waitTime = "60s")
	public void optimisticallyWithoutTransaction(Runnable body) {
		this.attempts.incrementAndGet();
		body.run();
	}

	@DistributedLock(key = "'document'", waitTime = "60s")
	@Transactional
	public void mergeExclusively(String entry, Runnable whenRead) {
		add(entry, whenRead);
	}

	@DistributedLock(key = "'document'", waitTime = "60s")
	public void exclusivelyWithoutTransaction(Runnable body) {
		body.run();
	}

	@Transactional
	public void mergeUnlocked(String entry, Runnable whenRead) {
		add(entry, whenRead);
	}

}
