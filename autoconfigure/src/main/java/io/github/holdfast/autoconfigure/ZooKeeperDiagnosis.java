package io.github.holdfast.autoconfigure;

import org.apache.zookeeper.KeeperException;

import io.github.holdfast.core.LockConfigurationException;

/**
 * Tells why no lock can be taken in ZooKeeper.
 */
final class ZooKeeperDiagnosis implements LockProbe.Diagnosis {

	private final ZooKeeperLockClient client;

	private final LockProperties.ZooKeeper properties;

	ZooKeeperDiagnosis(ZooKeeperLockClient client, LockProperties.ZooKeeper properties) {
		this.client = client;
		this.properties = properties;
	}

	@Override
	public LockConfigurationException of(Exception failure) {
		String found = "The ZooKeeper of the lock backend 'zookeeper' ";
		Throwable cause = failure;
		while (cause.getCause() != null && !(cause instanceof KeeperException)) {
			cause = cause.getCause();
		}
		if (cause instanceof KeeperException.ConnectionLossException) {
			return new LockConfigurationException(
					found + "could not be reached within " + this.properties.connectionTimeout().toMillis() + " ms.",
					"Check " + this.client.settings() + ", and that ZooKeeper 3.6 or later is running.", failure);
		}
		if (cause instanceof KeeperException.NoAuthException || cause instanceof KeeperException.InvalidACLException
				|| cause instanceof KeeperException.AuthFailedException) {
			return new LockConfigurationException(found + "refused access: " + cause.getMessage() + ".",
					"Give its user all permissions on '/holdfast' and below, as docs/zookeeper.md tells.", failure);
		}
		String path = this.client.path();
		if (cause instanceof KeeperException.NoNodeException && path != null) {
			return new LockConfigurationException(found + "has no node '" + path
					+ "', the path behind the addresses of " + this.client.settings() + ".",
					"Create it, each part of it by a 'create' of zkCli.sh, or leave it away.", failure);
		}
		return new LockConfigurationException(found + "could not be used: " + cause.getMessage() + ".",
				"Check " + this.client.settings() + ", and that ZooKeeper 3.6 or later is running.", failure);
	}

}
