/**
 * Many threads that want one lock, in one JVM or in two, with a transaction or without.
 */
@NullMarked
package io.github.holdfast.benchmarks.contended;

import org.jspecify.annotations.NullMarked;
