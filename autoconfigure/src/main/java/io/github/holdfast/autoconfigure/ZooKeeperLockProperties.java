package io.github.holdfast.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration properties for locks in ZooKeeper.
 *
 * @param connectString Addresses of the ZooKeeper servers, separated by commas and
 * optionally followed by a path. If not set, the application's CuratorFramework is used.
 * @param sessionTimeout Time after which others get the locks of a JVM that has died or
 * cannot reach ZooKeeper. The servers have limits of their own for it.
 * @param connectionTimeout Time that the application waits for ZooKeeper when it starts.
 * @param namespace Path in front of all nodes, without a leading slash.
 * @param username User of the scheme 'digest', who alone may use the nodes. If not set,
 * everybody may.
 * @param password Password of the user.
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.zookeeper")
public record ZooKeeperLockProperties(@Nullable String connectString, @DefaultValue("30s") Duration sessionTimeout,
		@DefaultValue("15s") Duration connectionTimeout, @Nullable String namespace, @Nullable String username,
		@Nullable String password) {

	@Override
	public String toString() {
		return "ZooKeeperLockProperties[connectString=" + this.connectString + "]";
	}

}
