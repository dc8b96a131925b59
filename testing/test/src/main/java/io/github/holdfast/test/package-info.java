/**
 * What tests of applications need: locks that do what a test tells them, and assertions.
 */
@NullMarked
package io.github.holdfast.test;

import org.jspecify.annotations.NullMarked;
