/**
 * What a lock adds to a call.
 */
@NullMarked
package io.github.holdfast.benchmarks.overhead;

import org.jspecify.annotations.NullMarked;
