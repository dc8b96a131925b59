/**
 * Tests of what is said about the strategies.
 */
@NullMarked
package io.github.holdfast.sample.wms.lab.strategy;

import org.jspecify.annotations.NullMarked;
