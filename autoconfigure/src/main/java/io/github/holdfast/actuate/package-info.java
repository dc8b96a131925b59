/**
 * Locks as operators see them: the endpoint and the health of the store.
 */
@NullMarked
package io.github.holdfast.actuate;

import org.jspecify.annotations.NullMarked;
