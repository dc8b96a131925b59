/**
 * Many threads of one JVM that want the same locks.
 */
@NullMarked
package io.github.holdfast.benchmarks.contention;

import org.jspecify.annotations.NullMarked;
