package io.github.holdfast.format;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;

/**
 * A node of an application whose Holdfast may be of another version than the tests. Its
 * arguments are the access to the database and properties. Each line that it reads is a
 * number of calls, with {@code retried} behind it if those that are superseded are to be
 * repeated, or {@code pause} for one that stays in its transaction until the next line.
 * An input that has ended ends the node.
 */
final class UpgradedNode {

	/**
	 * A store that does not answer in time fails the start, which a busy machine may
	 * cause.
	 */
	private static final int STARTS = 3;

	private UpgradedNode() {
	}

	public static void main(String[] args) {
		String[] properties = new String[args.length - 3];
		System.arraycopy(args, 3, properties, 0, properties.length);
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		ApplicationContextRunner node = LockedApplication.jdbc(new DatabaseAccess(args[0], args[1], args[2]))
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues(properties)
			.withBean(BufferedReader.class, () -> input, (bean) -> bean.setDestroyMethodName(""))
			.withBean(Counter.class);
		AtomicBoolean started = new AtomicBoolean();
		for (int starts = 1; !started.get() && starts <= STARTS; starts++) {
			node.run((context) -> {
				if (context.getStartupFailure() == null) {
					started.set(true);
					work(context.getBean(Counter.class), input);
				}
				else {
					context.getStartupFailure().printStackTrace();
				}
			});
		}
		System.exit(0);
	}

	private static void work(Counter counter, BufferedReader input) throws IOException {
		System.out.println("VERSION " + DistributedLock.class.getProtectionDomain().getCodeSource().getLocation());
		String line = input.readLine();
		while (line != null) {
			System.out.println("DONE " + work(counter, line));
			line = input.readLine();
		}
	}

	private static String work(Counter counter, String line) {
		try {
			if (line.equals("pause")) {
				counter.addWithPause();
			}
			else if (line.endsWith(" retried")) {
				return "committed after " + addRetried(counter, Integer.parseInt(line.split(" ")[0])) + " refusals";
			}
			else {
				for (int i = 0; i < Integer.parseInt(line); i++) {
					counter.add();
				}
			}
			return "committed";
		}
		catch (RuntimeException ex) {
			return ex.getClass().getSimpleName();
		}
	}

	private static int addRetried(Counter counter, int calls) {
		int committed = 0;
		int refused = 0;
		while (committed < calls) {
			try {
				counter.add();
				committed++;
			}
			catch (LockLostException ex) {
				refused++;
			}
		}
		return refused;
	}

	/**
	 * One row that is read, and written after a while.
	 */
	static class Counter {

		private final BufferedReader input;

		private final JdbcTemplate jdbc;

		Counter(BufferedReader input, DataSource dataSource) {
			this.input = input;
			this.jdbc = new JdbcTemplate(dataSource);
		}

		@DistributedLock(key = "'counter'")
		@Transactional
		public void add() {
			write(read());
		}

		@DistributedLock(key = "'counter'")
		@Transactional
		public void addWithPause() {
			int counted = read();
			System.out.println("PAUSED ");
			try {
				this.input.readLine();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			write(counted);
		}

		private int read() {
			Integer count = this.jdbc.queryForObject("SELECT count FROM counter", Integer.class);
			LockSupport.parkNanos(1_000_000);
			return count;
		}

		private void write(int count) {
			long token = LockContext.current().orElseThrow().token();
			this.jdbc.update("UPDATE counter SET count = ?", count + 1);
			this.jdbc.update("INSERT INTO committed (count, token) VALUES (?, ?)", count + 1, token);
		}

	}

}
