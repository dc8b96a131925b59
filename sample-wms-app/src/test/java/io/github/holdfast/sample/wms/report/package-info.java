/**
 * Tests of the scheduled job on several nodes.
 */
@NullMarked
package io.github.holdfast.sample.wms.report;

import org.jspecify.annotations.NullMarked;
