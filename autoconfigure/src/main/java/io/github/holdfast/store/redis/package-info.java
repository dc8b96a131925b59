/**
 * Locks in Redis.
 */
@NullMarked
package io.github.holdfast.store.redis;

import org.jspecify.annotations.NullMarked;
