/**
 * Helpers that all stores share: polling, deadlines and stored keys.
 */
@NullMarked
package io.github.holdfast.store;

import org.jspecify.annotations.NullMarked;
