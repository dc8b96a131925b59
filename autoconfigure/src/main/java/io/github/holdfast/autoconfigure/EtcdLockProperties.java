package io.github.holdfast.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration properties for locks in etcd.
 *
 * @param endpoints Addresses of etcd's members. If not set, the application's Client bean
 * is used.
 * @param username Name of the user, if etcd asks for one.
 * @param password Password of the user.
 * @param namespace Text that all keys in etcd begin with.
 * @param ssl encryption
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.etcd")
public record EtcdLockProperties(@DefaultValue List<String> endpoints, @Nullable String username,
		@Nullable String password, @DefaultValue("/holdfast/") String namespace, @DefaultValue Ssl ssl) {

	/**
	 * Without endpoints, which may be written with a user, and without the password.
	 */
	@Override
	public String toString() {
		return "EtcdLockProperties[namespace=" + this.namespace + "]";
	}

	/**
	 * Encryption of the connections.
	 *
	 * @param bundle Name of the SSL bundle with certificates and keys. If not set,
	 * endpoints with 'https' are trusted by the certificates of the JDK.
	 */
	public record Ssl(@Nullable String bundle) {
	}

}
