/**
 * Locks in ZooKeeper: one queue of ephemeral nodes for each lock.
 */
@NullMarked
package io.github.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
