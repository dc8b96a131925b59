/**
 * Tests of what clients are told when a request cannot be served.
 */
@NullMarked
package io.github.holdfast.sample.wms.problem;

import org.jspecify.annotations.NullMarked;
