/**
 * Locks in ZooKeeper: one queue of ephemeral nodes for each lock.
 */
@NullMarked
package io.github.holdfast.store.zookeeper;

import org.jspecify.annotations.NullMarked;
