/**
 * Persistence contexts that are bound to a thread.
 */
@NullMarked
package io.github.holdfast.jpa;

import org.jspecify.annotations.NullMarked;
