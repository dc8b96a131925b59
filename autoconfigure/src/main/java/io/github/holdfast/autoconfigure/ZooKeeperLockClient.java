package io.github.holdfast.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;

/**
 * The client of ZooKeeper that the locks use: one of their own if there is a connect
 * string, which is closed with the application after the last lock, or the application's.
 */
class ZooKeeperLockClient implements DisposableBean {

	/** Its clients take an int of milliseconds. */
	private static final Duration LONGEST = Duration.ofMillis(Integer.MAX_VALUE);

	private final LockProperties.ZooKeeper properties;

	private final ObjectProvider<CuratorFramework> applicationClient;

	private @Nullable CuratorFramework ownClient;

	ZooKeeperLockClient(LockProperties.ZooKeeper properties, ObjectProvider<CuratorFramework> applicationClient) {
		this.properties = properties;
		this.applicationClient = applicationClient;
		checkCredentials(properties);
	}

	/**
	 * Where the client is configured, for a sentence.
	 */
	String settings() {
		return (this.properties.connectString() != null) ? "'holdfast.zookeeper.connect-string'"
				: "the CuratorFramework bean";
	}

	/**
	 * The path behind the addresses, below which the client sees all nodes.
	 * @return the path, or {@code null} if there is none
	 */
	@Nullable String path() {
		String addresses = get().getZookeeperClient().getCurrentConnectionString();
		return new ConnectStringParser(addresses).getChrootPath();
	}

	synchronized CuratorFramework get() {
		if (this.properties.connectString() == null) {
			return applicationClient();
		}
		if (this.ownClient == null) {
			this.ownClient = start(this.properties, this.properties.connectString());
		}
		return this.ownClient;
	}

	private CuratorFramework applicationClient() {
		CuratorFramework client = this.applicationClient.getIfUnique();
		if (client == null) {
			throw new LockConfigurationException("The lock backend 'zookeeper' found several CuratorFramework beans.",
					"Mark the one for the locks as @Primary, or set 'holdfast.zookeeper.connect-string'.");
		}
		if (client.getState() == CuratorFrameworkState.LATENT) {
			throw new LockConfigurationException("The CuratorFramework bean was not started.",
					"Call its method 'start', for example by '@Bean(initMethod = \"start\")'.");
		}
		return client;
	}

	private static CuratorFramework start(LockProperties.ZooKeeper properties, String connectString) {
		checkAddresses(connectString);
		CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs(millis("session-timeout", properties.sessionTimeout()))
			.connectionTimeoutMs(millis("connection-timeout", properties.connectionTimeout()))
			.retryPolicy(new ExponentialBackoffRetry(100, 3));
		if (StringUtils.hasText(properties.username())) {
			builder
				.authorization("digest",
						(properties.username() + ':' + properties.password()).getBytes(StandardCharsets.UTF_8))
				.aclProvider(new OwnerOnly());
		}
		CuratorFramework client = builder.build();
		client.start();
		return client;
	}

	private static int millis(String property, Duration time) {
		if (time.compareTo(LONGEST) > 0) {
			throw new LockConfigurationException(
					"'holdfast.zookeeper." + property + "' is " + time + ", which is more than ZooKeeper can count.",
					"Set it to a shorter time, such as '30s'.");
		}
		return (int) time.toMillis();
	}

	private static void checkCredentials(LockProperties.ZooKeeper properties) {
		boolean hasUser = StringUtils.hasText(properties.username());
		if (hasUser != StringUtils.hasText(properties.password())) {
			throw new LockConfigurationException("ZooKeeper needs both a user name and a password, or none.",
					"Set both 'holdfast.zookeeper.username' and 'holdfast.zookeeper.password'.");
		}
		if (hasUser && properties.connectString() == null) {
			throw new LockConfigurationException(
					"'holdfast.zookeeper.username' is not that of the application's CuratorFramework bean.",
					"Set 'holdfast.zookeeper.connect-string', or remove the user name and the password.");
		}
	}

	private static void checkAddresses(String connectString) {
		try {
			new ConnectStringParser(connectString);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"The addresses '" + connectString + "' of ZooKeeper are not understood: " + ex.getMessage() + ".",
					"Write 'holdfast.zookeeper.connect-string' as 'host1:2181,host2:2181/path'.", ex);
		}
	}

	@Override
	public synchronized void destroy() {
		if (this.ownClient != null) {
			this.ownClient.close();
		}
	}

	/**
	 * All permissions for whoever creates a node.
	 */
	private static final class OwnerOnly implements ACLProvider {

		/** ZooKeeper asks whether it contains null, which others do not bear. */
		private static final List<ACL> CREATOR = Collections
			.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("auth", "")));

		@Override
		public List<ACL> getDefaultAcl() {
			return CREATOR;
		}

		@Override
		public List<ACL> getAclForPath(String path) {
			return CREATOR;
		}

	}

}
