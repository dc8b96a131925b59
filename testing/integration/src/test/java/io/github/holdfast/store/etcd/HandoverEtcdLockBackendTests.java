package io.github.holdfast.store.etcd;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.LockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.EtcdServer;

/**
 * The contract on one etcd server with two JVMs' local queues in front of it.
 */
@Tag("long")
@Tag("night")
class HandoverEtcdLockBackendTests extends AbstractEtcdLockBackendTests {

	@Override
	Client connect() {
		return EtcdClients.connect(EtcdServer.shared());
	}

	@Override
	LockBackend backend(Client client) {
		return new HandoverLockBackend(super.backend(client));
	}

}
