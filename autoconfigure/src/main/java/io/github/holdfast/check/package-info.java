/**
 * What is refused at the start, of the beans with locked methods.
 */
@NullMarked
package io.github.holdfast.check;

import org.jspecify.annotations.NullMarked;
