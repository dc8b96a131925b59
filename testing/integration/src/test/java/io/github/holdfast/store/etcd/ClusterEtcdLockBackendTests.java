package io.github.holdfast.store.etcd;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import io.github.holdfast.testsupport.EtcdCluster;

/** The contract on a cluster of three members. */
@Tag("long")
@Tag("night")
class ClusterEtcdLockBackendTests extends EtcdLockBackendTests {

	private EtcdCluster cluster;

	@BeforeAll
	@Override
	void open() {
		// A member that is slow for a second must not cost the leader its place
		this.cluster = EtcdCluster.start("--heartbeat-interval", "200", "--election-timeout", "2000");
		super.open();
	}

	@Override
	Client connect() {
		return EtcdNode.connect(this.cluster.endpoints());
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
