/**
 * The locks that are compared, and the servers they are kept in.
 */
@NullMarked
package io.github.holdfast.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
