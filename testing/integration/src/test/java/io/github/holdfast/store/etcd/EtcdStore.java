package io.github.holdfast.store.etcd;

import java.util.List;

import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.TestStore;

/** etcd as contracts see it. */
final class EtcdStore extends TestStore<EtcdNode> {

	EtcdStore(EtcdServer server) {
		super(server.port(), (port) -> new EtcdNode(List.of(server.endpoint(port))), EtcdNode::backend);
	}

	@Override
	public boolean isHeld(String key) {
		return !farClient().entries(key).isEmpty();
	}

	@Override
	public boolean isWaitedFor(String key) {
		return farClient().entries(key).size() == 2;
	}

	@Override
	public void remove(String key) {
		farClient().client().getKVClient().delete(farClient().entries(key).get(0).getKey()).join();
	}

}
