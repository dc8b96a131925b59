package io.github.holdfast.autoconfigure;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.etcd.EtcdLockBackend;

/**
 * The client of etcd: that of the application, or one of our own if endpoints are set,
 * which is closed with the application context.
 */
class EtcdLockClient implements Supplier<Client>, AutoCloseable {

	private final ObjectProvider<Client> applications;

	private final @Nullable Client own;

	EtcdLockClient(LockProperties.Etcd properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<Client> applications) {
		this.applications = applications;
		if (properties.endpoints().isEmpty()) {
			checkUnused(properties);
		}
		this.own = properties.endpoints().isEmpty() ? null : connect(properties, bundles);
	}

	private static void checkUnused(LockProperties.Etcd properties) {
		if (StringUtils.hasText(properties.username()) || StringUtils.hasText(properties.password())
				|| properties.ssl().bundle() != null) {
			throw new LockConfigurationException(
					"User, password and TLS of 'holdfast.etcd' are not those of the application's Client bean.",
					"Set 'holdfast.etcd.endpoints', or remove the others.");
		}
	}

	private static Client connect(LockProperties.Etcd properties, ObjectProvider<SslBundles> bundles) {
		String bundle = properties.ssl().bundle();
		boolean encrypted = bundle != null
				|| properties.endpoints().stream().anyMatch((endpoint) -> endpoint.startsWith("https://"));
		ClientBuilder builder = EtcdLockBackend.clientBuilder().endpoints(endpoints(properties.endpoints(), encrypted));
		if (encrypted) {
			builder.sslContext(sslContext((bundle != null) ? bundles.getObject().getBundle(bundle) : null));
		}
		if (StringUtils.hasText(properties.username()) != StringUtils.hasText(properties.password())) {
			throw new LockConfigurationException("etcd needs both a user name and a password, or none.",
					"Set both 'holdfast.etcd.username' and 'holdfast.etcd.password'.");
		}
		if (StringUtils.hasText(properties.username()) && StringUtils.hasText(properties.password())) {
			builder.user(ByteSequence.from(properties.username(), StandardCharsets.UTF_8))
				.password(ByteSequence.from(properties.password(), StandardCharsets.UTF_8));
		}
		return builder.build();
	}

	private static List<URI> endpoints(List<String> endpoints, boolean encrypted) {
		return endpoints.stream().map((endpoint) -> endpoint(endpoint, encrypted)).toList();
	}

	private static URI endpoint(String endpoint, boolean encrypted) {
		String scheme = encrypted ? "https" : "http";
		try {
			URI uri = URI.create(endpoint.contains("://") ? endpoint : scheme + "://" + endpoint);
			if (scheme.equals(uri.getScheme()) && uri.getHost() != null && uri.getUserInfo() == null) {
				return uri;
			}
		}
		catch (IllegalArgumentException ex) {
			// Refused below, without the text of a parser
		}
		throw new LockConfigurationException(
				"One of 'holdfast.etcd.endpoints' is no address of etcd" + (encrypted ? " with encryption." : "."),
				"Write 'host:port', or 'http://host:port', or 'https://host:port' for all of them; "
						+ "the user belongs to 'holdfast.etcd.username'.");
	}

	private static SslContext sslContext(@Nullable SslBundle bundle) {
		try {
			SslContextBuilder builder = GrpcSslContexts.forClient();
			if (bundle != null) {
				builder.keyManager(bundle.getManagers().getKeyManagerFactory())
					.trustManager(bundle.getManagers().getTrustManagerFactory());
				if (bundle.getOptions().getEnabledProtocols() != null) {
					builder.protocols(bundle.getOptions().getEnabledProtocols());
				}
				if (bundle.getOptions().getCiphers() != null) {
					builder.ciphers(List.of(bundle.getOptions().getCiphers()));
				}
			}
			return builder.build();
		}
		catch (SSLException ex) {
			throw new LockConfigurationException("Encryption could not be set up for etcd: " + ex.getMessage(),
					"Check the SSL bundle that 'holdfast.etcd.ssl.bundle' names.", ex);
		}
	}

	@Override
	public Client get() {
		if (this.own != null) {
			return this.own;
		}
		Client unique = this.applications.getIfUnique();
		if (unique == null) {
			throw new LockConfigurationException("The lock backend 'etcd' found several Client beans.",
					"Mark the one for the locks as @Primary, or set 'holdfast.etcd.endpoints'.");
		}
		return unique;
	}

	@Override
	public void close() {
		if (this.own != null) {
			this.own.close();
		}
	}

}
