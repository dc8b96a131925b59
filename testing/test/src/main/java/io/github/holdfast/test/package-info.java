/** Locks that a test of an application controls, and assertions on them. */
@NullMarked
package io.github.holdfast.test;

import org.jspecify.annotations.NullMarked;
