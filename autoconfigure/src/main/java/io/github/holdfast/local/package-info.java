/**
 * Locks between the threads of one JVM.
 */
@NullMarked
package io.github.holdfast.local;

import org.jspecify.annotations.NullMarked;
