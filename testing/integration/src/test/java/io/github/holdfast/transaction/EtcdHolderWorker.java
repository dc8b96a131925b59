package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.etcd.EtcdLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;

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

	static Client connect(String endpoint) {
		Client client = EtcdLockBackend.clientBuilder().endpoints(endpoint).build();
		EtcdServer.awaitAnswer(client);
		return client;
	}

	static String take(HikariDataSource business, Client client, HolderWorker.Pause pause) {
		LockBackend locks = new EtcdLockBackend(() -> client);
		return HolderWorker.take(LockPlace.OTHER_DATABASE, business, locks, false, pause);
	}

}
