/**
 * Runs the stress tests, and judges what they have seen.
 */
@NullMarked
package io.github.holdfast.stress;

import org.jspecify.annotations.NullMarked;
