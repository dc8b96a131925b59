package io.github.holdfast.store.etcd;

import java.util.List;

import io.etcd.jetcd.Client;

import io.github.holdfast.testsupport.EtcdServer;

/** The contract on one etcd server. */
class EtcdLockBackendTests extends AbstractEtcdLockBackendTests {

	@Override
	Client connect() {
		return EtcdNode.connect(List.of(EtcdServer.shared().endpoint()));
	}

}
