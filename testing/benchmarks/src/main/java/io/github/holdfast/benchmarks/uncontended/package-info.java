/**
 * Locks that nobody else wants, through Holdfast and through what else there is.
 */
@NullMarked
package io.github.holdfast.benchmarks.uncontended;

import org.jspecify.annotations.NullMarked;
