/**
 * What grows when there are many keys, callers or rows.
 */
@NullMarked
package io.github.holdfast.benchmarks.scale;

import org.jspecify.annotations.NullMarked;
