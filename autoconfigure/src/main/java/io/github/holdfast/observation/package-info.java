/**
 * Meters and spans of locked calls.
 */
@NullMarked
package io.github.holdfast.observation;

import org.jspecify.annotations.NullMarked;
