package io.github.holdfast.sample.wms.proof;

import java.util.List;

import org.junit.jupiter.api.Assumptions;

import io.github.holdfast.testsupport.EtcdServer;

/**
 * The etcd that is installed on this machine, as a server of its own for one test, which
 * forgets everything when it is killed. Without etcd, tests are skipped.
 */
final class TestEtcd implements LockServer.Forgetful {

	private final EtcdServer server;

	TestEtcd() {
		Assumptions.assumeTrue(EtcdServer.isInstalled(), "etcd is not on the PATH");
		this.server = EtcdServer.start();
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.profiles.active=etcd", "--holdfast.etcd.endpoints=" + this.server.endpoint());
	}

	@Override
	public void kill() {
		this.server.kill();
		this.server.forget();
	}

	@Override
	public void restart() {
		this.server.restart();
	}

	@Override
	public void close() {
		this.server.close();
	}

}
