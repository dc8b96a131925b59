package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.LockException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;

/**
 * A node that sells one piece for each line of its standard input. When it has read the
 * stock, it tells so and waits for another line.
 */
final class ZooKeeperHolder {

	private ZooKeeperHolder() {
	}

	static ApplicationContextRunner application(CommitGuardLevel level, DatabaseAccess access, int port) {
		return LockedApplication.zooKeeper(access, "127.0.0.1:" + port)
			.withBean(StockService.class)
			.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.jdbc.initialize-schema=always",
					"holdfast.zookeeper.session-timeout=6s", "holdfast.wait-time=60s");
	}

	public static void main(String[] args) {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		DatabaseAccess access = new DatabaseAccess(args[1], args[2], args[3]);
		application(CommitGuardLevel.valueOf(args[0]), access, Integer.parseInt(args[4])).run((context) -> {
			StockService stock = context.getBean(StockService.class);
			System.out.println("READY");
			while (input.readLine() != null) {
				try {
					stock.take("A", () -> {
						System.out.println("READ");
						readLine(input);
					});
					System.out.println("COMMITTED");
				}
				catch (RuntimeException ex) {
					System.out.println(
							((ex instanceof LockException) ? "REJECTED " : "FAILED ") + ex.getClass().getSimpleName());
				}
			}
		});
	}

	private static void readLine(BufferedReader input) {
		try {
			input.readLine();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
