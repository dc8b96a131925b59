/**
 * Runs benchmarks so that they can be compared on a noisy machine.
 */
@NullMarked
package io.github.holdfast.benchmarks;

import org.jspecify.annotations.NullMarked;
