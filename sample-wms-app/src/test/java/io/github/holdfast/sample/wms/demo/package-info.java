/**
 * Tests of the demo.
 */
@NullMarked
package io.github.holdfast.sample.wms.demo;

import org.jspecify.annotations.NullMarked;
