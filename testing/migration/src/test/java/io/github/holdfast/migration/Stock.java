package io.github.holdfast.migration;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Twenty pieces of A: what is left is read, and written after a while.
 */
class Stock {

	private final JdbcClient jdbc;

	private final AtomicInteger reads = new AtomicInteger();

	private final AtomicReference<@Nullable Pause> nextPause = new AtomicReference<>();

	private final AtomicReference<@Nullable Pause> nextCommitPause = new AtomicReference<>();

	Stock(DataSource dataSource) {
		this.jdbc = JdbcClient.create(dataSource);
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS stock (sku VARCHAR(20) PRIMARY KEY, available INT NOT NULL)")
			.update();
		this.jdbc.sql("INSERT INTO stock VALUES ('A', 20) ON CONFLICT DO NOTHING").update();
	}

	/**
	 * Lets the next call pause after it has read.
	 */
	Pause pauseNext() {
		Pause pause = new Pause();
		this.nextPause.set(pause);
		return pause;
	}

	/**
	 * Lets the transaction of the next call pause before it commits.
	 */
	Pause pauseNextCommit() {
		Pause pause = new Pause();
		this.nextCommitPause.set(pause);
		return pause;
	}

	int deduct(String sku, int quantity) {
		int left = this.jdbc.sql("SELECT available FROM stock WHERE sku = ?").param(sku).query(Integer.class).single()
				- quantity;
		this.reads.incrementAndGet();
		Pause pause = this.nextPause.getAndSet(null);
		if (pause != null) {
			pause.hold();
		}
		this.jdbc.sql("UPDATE stock SET available = ? WHERE sku = ?").params(left, sku).update();
		Pause commitPause = this.nextCommitPause.getAndSet(null);
		if (commitPause != null) {
			TransactionSynchronizationManager.registerSynchronization(commitPause);
		}
		return left;
	}

	/**
	 * How many calls have read.
	 */
	int reads() {
		return this.reads.get();
	}

	int available() {
		return this.jdbc.sql("SELECT available FROM stock").query(Integer.class).single();
	}

	/**
	 * Holds one call back until it is ended.
	 */
	static final class Pause implements TransactionSynchronization {

		private final CountDownLatch begun = new CountDownLatch(1);

		private final CountDownLatch ended = new CountDownLatch(1);

		private void hold() {
			this.begun.countDown();
			await(this.ended);
		}

		void awaitBegin() {
			await(this.begun);
		}

		void end() {
			this.ended.countDown();
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			hold();
		}

		private static void await(CountDownLatch latch) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
