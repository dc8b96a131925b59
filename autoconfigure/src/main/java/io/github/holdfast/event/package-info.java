/**
 * What becomes of locked calls, as events of the application.
 */
@NullMarked
package io.github.holdfast.event;

import org.jspecify.annotations.NullMarked;
