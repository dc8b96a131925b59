package io.github.holdfast.store.etcd;

import java.util.Collection;
import java.util.List;

import io.etcd.jetcd.Client;

import io.github.holdfast.testsupport.EtcdServer;

/**
 * Clients as the auto-configuration makes them.
 */
final class EtcdClients {

	private EtcdClients() {
	}

	static Client connect(EtcdServer server) {
		return connect(List.of(server.endpoint()));
	}

	static Client connect(Collection<String> endpoints) {
		Client client = EtcdLockBackend.clientBuilder().endpoints(endpoints.toArray(String[]::new)).build();
		EtcdServer.awaitAnswer(client);
		return client;
	}

	static EtcdLockBackend backend(Client client) {
		return new EtcdLockBackend(() -> client);
	}

}
