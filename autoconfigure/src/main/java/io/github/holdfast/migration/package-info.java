/**
 * The change of a backend or of a prefix while nodes run: each lock is taken in two
 * places.
 */
@NullMarked
package io.github.holdfast.migration;

import org.jspecify.annotations.NullMarked;
