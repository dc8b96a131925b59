/**
 * Locks in etcd: keys in the order in which they were put.
 */
@NullMarked
package io.github.holdfast.store.etcd;

import org.jspecify.annotations.NullMarked;
