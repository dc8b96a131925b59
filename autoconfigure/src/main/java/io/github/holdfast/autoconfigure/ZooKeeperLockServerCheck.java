package io.github.holdfast.autoconfigure;

import java.util.UUID;
import java.util.concurrent.ExecutionException;

import org.apache.zookeeper.KeeperException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.zookeeper.ZooKeeperLockBackend;

/**
 * Fails the start when no lock can be taken in ZooKeeper, and tells how long the locks of
 * a JVM outlive it.
 */
class ZooKeeperLockServerCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(ZooKeeperLockServerCheck.class);

	private final ZooKeeperLockClient client;

	private final LockProperties.ZooKeeper zooKeeperProperties;

	private final LockProperties properties;

	ZooKeeperLockServerCheck(ZooKeeperLockClient client, LockProperties.ZooKeeper zooKeeperProperties,
			LockProperties properties) {
		this.client = client;
		this.zooKeeperProperties = zooKeeperProperties;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		takeLock();
		logger.info(
				"Locks of this JVM are freed {} ms after it has died, which is its session time-out in ZooKeeper; "
						+ "'holdfast.lease-time' is not used",
				this.client.get().getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
	}

	private void takeLock() {
		String key = this.properties.getKeyPrefix() + "holdfast:start";
		LockRequest request = new LockRequest(key, "start", LockRequest.Mode.EXCLUSIVE, false,
				this.zooKeeperProperties.connectionTimeout(), this.properties.getLeaseTime(),
				UUID.randomUUID().toString(), "the check at the start", 0);
		try {
			LockLease lease = new ZooKeeperLockBackend(this.client::get).acquire(request);
			if (lease != null) {
				lease.release().toCompletableFuture().get();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | LockBackendException ex) {
			throw failure(ex);
		}
	}

	private LockConfigurationException failure(Exception failure) {
		String found = "The ZooKeeper of the lock backend 'zookeeper' ";
		Throwable cause = failure;
		while (cause.getCause() != null && !(cause instanceof KeeperException)) {
			cause = cause.getCause();
		}
		if (cause instanceof KeeperException.ConnectionLossException) {
			return new LockConfigurationException(
					found + "could not be reached within " + this.zooKeeperProperties.connectionTimeout().toMillis()
							+ " ms.",
					"Check " + this.client.settings() + ", and that ZooKeeper 3.6 or later is running.", failure);
		}
		if (cause instanceof KeeperException.NoAuthException || cause instanceof KeeperException.InvalidACLException
				|| cause instanceof KeeperException.AuthFailedException) {
			return new LockConfigurationException(found + "refused access: " + cause.getMessage() + ".",
					"Give its user all permissions on '/holdfast' and below, as docs/zookeeper.md tells.", failure);
		}
		String path = this.client.path();
		if (cause instanceof KeeperException.NoNodeException && path != null) {
			return new LockConfigurationException(
					found + "has no node '" + path + "', the path behind the addresses of " + this.client.settings()
							+ ".",
					"Create it, each part of it by a 'create' of zkCli.sh, or leave it away and set "
							+ "'holdfast.zookeeper.namespace', a path that is created when it is needed.",
					failure);
		}
		return new LockConfigurationException(found + "could not be used: " + cause.getMessage() + ".",
				"Check " + this.client.settings() + ", and that ZooKeeper 3.6 or later is running.", failure);
	}

}
