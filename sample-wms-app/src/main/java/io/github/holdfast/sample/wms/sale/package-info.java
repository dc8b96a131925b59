/**
 * Flash sales: many want one article at once, and nobody gets more than the limit.
 */
@NullMarked
package io.github.holdfast.sample.wms.sale;

import org.jspecify.annotations.NullMarked;
