/**
 * Tests of who may use the lab and its nodes.
 */
@NullMarked
package io.github.holdfast.sample.wms.lab.access;

import org.jspecify.annotations.NullMarked;
