/**
 * What rounds are reported with: medians, charts, and the machine.
 */
@NullMarked
package io.github.holdfast.benchmarks.report;

import org.jspecify.annotations.NullMarked;
