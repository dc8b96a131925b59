/**
 * Locks in Redis: on one server, Sentinel, Cluster or a quorum of servers.
 */
@NullMarked
package io.github.holdfast.store.redis;

import org.jspecify.annotations.NullMarked;
