/**
 * Startup checks that find locks without an effect.
 */
@NullMarked
package io.github.holdfast.check;

import org.jspecify.annotations.NullMarked;
