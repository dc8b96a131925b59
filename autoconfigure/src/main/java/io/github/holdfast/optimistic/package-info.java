/**
 * Optimistic locks: the version of a fence row instead of a lease.
 */
@NullMarked
package io.github.holdfast.optimistic;

import org.jspecify.annotations.NullMarked;
