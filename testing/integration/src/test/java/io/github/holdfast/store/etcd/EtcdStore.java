package io.github.holdfast.store.etcd;

import java.util.List;

import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestStore;

/** etcd as contracts see it. */
final class EtcdStore implements TestStore {

	private final FaultProxy proxy;

	private final EtcdNode near;

	private final EtcdNode far;

	EtcdStore(EtcdServer server) {
		this.proxy = new FaultProxy(server.port());
		this.near = new EtcdNode(List.of(server.endpoint(this.proxy.port())));
		this.far = new EtcdNode(List.of(server.endpoint()));
	}

	EtcdNode nearNode() {
		return this.near;
	}

	EtcdNode farNode() {
		return this.far;
	}

	@Override
	public ManageableLockBackend near() {
		return this.near.backend();
	}

	@Override
	public ManageableLockBackend far() {
		return this.far.backend();
	}

	@Override
	public FaultProxy proxy() {
		return this.proxy;
	}

	@Override
	public boolean isHeld(String key) {
		return !this.far.entries(key).isEmpty();
	}

	@Override
	public boolean isWaitedFor(String key) {
		return this.far.entries(key).size() == 2;
	}

	@Override
	public void remove(String key) {
		this.far.client().getKVClient().delete(this.far.entries(key).get(0).getKey()).join();
	}

	@Override
	public void close() {
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

}
