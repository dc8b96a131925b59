/**
 * Locks between the threads of one JVM.
 */
@NullMarked
package io.github.holdfast.store.local;

import org.jspecify.annotations.NullMarked;
