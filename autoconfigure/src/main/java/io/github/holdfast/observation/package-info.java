/**
 * Observations of locked calls, and the detection of locks that are held for too long.
 */
@NullMarked
package io.github.holdfast.observation;

import org.jspecify.annotations.NullMarked;
