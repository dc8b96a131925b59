/**
 * Locks in Redis through the application's Redisson client.
 */
@NullMarked
package io.github.holdfast.redisson;

import org.jspecify.annotations.NullMarked;
