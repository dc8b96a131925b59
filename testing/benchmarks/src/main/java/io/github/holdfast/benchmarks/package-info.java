/**
 * The locks that are compared, the servers that they are kept in, and benchmarks of free
 * locks.
 */
@NullMarked
package io.github.holdfast.benchmarks;

import org.jspecify.annotations.NullMarked;
