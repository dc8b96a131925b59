/**
 * Reports about all stock, taken by a scheduled job on one of the nodes.
 */
@NullMarked
package io.github.holdfast.sample.wms.report;

import org.jspecify.annotations.NullMarked;
