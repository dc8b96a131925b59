/**
 * Locks in Redis.
 */
@NullMarked
package io.github.holdfast.redis;

import org.jspecify.annotations.NullMarked;
