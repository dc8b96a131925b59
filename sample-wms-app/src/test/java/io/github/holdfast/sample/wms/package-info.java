/**
 * Tests of the warehouse service over HTTP, on each database and on two nodes.
 */
@NullMarked
package io.github.holdfast.sample.wms;

import org.jspecify.annotations.NullMarked;
