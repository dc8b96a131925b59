package io.github.holdfast.autoconfigure;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The stores that can keep locks. Those that are available and asked for become
 * candidates.
 */
@Configuration(proxyBeanMethods = false)
@Import({ LocalLockConfiguration.class, JdbcLockConfiguration.class, RedisLockConfiguration.class,
		RedissonLockConfiguration.class, EtcdLockConfiguration.class, ZooKeeperLockConfiguration.class })
class LockStores {

}
