package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.etcd.jetcd.Client;

import io.github.holdfast.testsupport.EtcdServer;

import static org.awaitility.Awaitility.await;

/**
 * Clients as the auto-configuration makes them.
 */
final class EtcdClients {

	/** As by default. */
	static final String NAMESPACE = "/holdfast/";

	private EtcdClients() {
	}

	static Client connect(EtcdServer server) {
		return connect(List.of(server.endpoint()));
	}

	/**
	 * The connection is there then: the first one of a JVM takes its time.
	 */
	static Client connect(Collection<String> endpoints) {
		Client client = EtcdLockBackend.clientBuilder().endpoints(endpoints.toArray(String[]::new)).build();
		await().atMost(Duration.ofSeconds(60)).ignoreException(CompletionException.class).until(() -> {
			client.getKVClient().get(Entry.bytes(NAMESPACE)).join();
			return true;
		});
		return client;
	}

	static EtcdLockBackend backend(Client client) {
		return new EtcdLockBackend(() -> client, NAMESPACE);
	}

}
