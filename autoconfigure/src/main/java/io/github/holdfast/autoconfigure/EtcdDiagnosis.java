package io.github.holdfast.autoconfigure;

import io.github.holdfast.core.LockConfigurationException;

/**
 * Tells why no lock can be taken in etcd.
 */
final class EtcdDiagnosis implements LockProbe.Diagnosis {

	@Override
	public LockConfigurationException of(Exception cause) {
		String reason = LockProbe.reason(cause);
		String found = "The etcd of the lock backend 'etcd' ";
		if (reason.contains("permission denied")) {
			return new LockConfigurationException(found + "refused its user: " + reason + ".",
					"Give the user a role that may read and write all keys that begin with 'holdfast.etcd.namespace'.",
					cause);
		}
		if (reason.contains("authentication failed") || reason.contains("user name is empty")) {
			return new LockConfigurationException(found + "did not accept its user: " + reason + ".",
					"Check 'holdfast.etcd.username' and 'holdfast.etcd.password'.", cause);
		}
		if (reason.contains("database space exceeded")) {
			return new LockConfigurationException(found + "has no space left: " + reason + ".",
					"Compact and defragment etcd, disarm its alarm, and raise its '--quota-backend-bytes'.", cause);
		}
		return new LockConfigurationException(found + "could not be used: " + reason + ".",
				"Check 'holdfast.etcd', or the Client bean of the application, and that etcd 3.4 or later is running.",
				cause);
	}

}
