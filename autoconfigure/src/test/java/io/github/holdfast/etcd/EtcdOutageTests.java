package io.github.holdfast.etcd;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.OutageContractTests;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestStore;

/**
 * Calls while etcd is down.
 */
@RequiresEtcd
class EtcdOutageTests extends OutageContractTests {

	private static EtcdServer server;

	@BeforeAll
	static void start() {
		server = EtcdServer.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		return new EtcdStore(server);
	}

}
