package io.github.holdfast.store.etcd;

import io.etcd.jetcd.Client;

import io.github.holdfast.testsupport.EtcdServer;

/**
 * The contract on one etcd server.
 */
class EtcdLockBackendTests extends AbstractEtcdLockBackendTests {

	@Override
	Client connect() {
		return EtcdClients.connect(EtcdServer.shared());
	}

}
