package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node whose threads merge entries into one document, as soon as there is a line on its
 * standard input. When a line names a point of a merge, the next thread that comes there
 * says so and stops until the next line.
 */
final class MergeWorker {

	private final String name;

	private final HikariDataSource dataSource;

	private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

	private final AtomicReference<String> wanted = new AtomicReference<>("");

	private final AtomicInteger attempts = new AtomicInteger();

	private MergeWorker(String name, HikariDataSource dataSource) {
		this.name = name;
		this.dataSource = dataSource;
	}

	public static void main(String[] args) throws Exception {
		try (HikariDataSource dataSource = new DatabaseAccess(args[3], args[4], args[5]).dataSource(20)) {
			MergeWorker worker = new MergeWorker(args[0], dataSource);
			worker.readWanted();
			worker.merge(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
		}
		System.exit(0);
	}

	private void readWanted() {
		try {
			this.wanted.set(String.valueOf(this.input.readLine()));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void merge(int threads, int merges) throws InterruptedException {
		JdbcTransactionManager manager = new JdbcTransactionManager(this.dataSource);
		JdbcLockBackend backend = new JdbcLockBackend(() -> this.dataSource);
		GuardedNode node = new GuardedNode(backend, RowClaims.of(backend, true), manager);
		manager.addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				pass("CHECKED");
			}

		});
		JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		try (node) {
			LockTemplate optimistic = node.locks().withMode(LockMode.OPTIMISTIC).withWaitTime(Duration.ofMinutes(3));
			List<Thread> running = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				String prefix = this.name + i + "-";
				Thread thread = new Thread(() -> {
					for (int j = 0; j < merges; j++) {
						String entry = prefix + j;
						optimistic.run(DocumentService.KEY,
								() -> transaction.executeWithoutResult((status) -> add(jdbc, entry)));
					}
				});
				thread.start();
				running.add(thread);
			}
			for (Thread thread : running) {
				thread.join();
			}
		}
		System.out.println("DONE " + this.attempts);
	}

	private void add(JdbcTemplate jdbc, String entry) {
		this.attempts.incrementAndGet();
		DocumentService.add(jdbc, entry, () -> pass("READ"));
	}

	private void pass(String point) {
		if (this.wanted.get().equals(point) && this.wanted.getAndSet("").equals(point)) {
			System.out.println("AT " + point);
			readWanted();
		}
	}

}
