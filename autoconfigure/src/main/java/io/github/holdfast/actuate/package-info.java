/**
 * The Actuator endpoint {@code locks} and the health of the lock backend.
 */
@NullMarked
package io.github.holdfast.actuate;

import org.jspecify.annotations.NullMarked;
