package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionException;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.etcd.EtcdLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

import static org.awaitility.Awaitility.await;

/**
 * As {@link HolderWorker}, with its locks in etcd.
 */
final class EtcdHolderWorker {

	private EtcdHolderWorker() {
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource business = new DatabaseAccess(args[1], args[2], args[3]).dataSource(4);
				Client client = connect(args[0])) {
			for (String pause = input.readLine(); pause != null; pause = input.readLine()) {
				String at = pause;
				System.out.println(take(business, client, (point) -> {
					if (point.equals(at)) {
						System.out.println(point);
						input.readLine();
					}
				}));
			}
		}
	}

	/**
	 * The connection is there then: the first one of a JVM takes its time.
	 */
	static Client connect(String endpoint) {
		Client client = EtcdLockBackend.clientBuilder().endpoints(endpoint).build();
		await().atMost(Duration.ofMinutes(3)).ignoreException(CompletionException.class).until(() -> {
			client.getKVClient().get(ByteSequence.from("/holders/", StandardCharsets.UTF_8)).join();
			return true;
		});
		return client;
	}

	static String take(HikariDataSource business, Client client, HolderWorker.Pause pause) {
		LockBackend locks = new EtcdLockBackend(() -> client, "/holders/");
		return HolderWorker.take(LockPlace.OTHER_DATABASE, business, locks, pause);
	}

}
