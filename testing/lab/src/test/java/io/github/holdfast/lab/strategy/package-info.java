/**
 * Tests of what is said about the strategies.
 */
@NullMarked
package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.NullMarked;
