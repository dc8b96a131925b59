/**
 * Locks in one Redis, through Holdfast and through what else there is.
 */
@NullMarked
package io.github.holdfast.benchmarks.redis;

import org.jspecify.annotations.NullMarked;
