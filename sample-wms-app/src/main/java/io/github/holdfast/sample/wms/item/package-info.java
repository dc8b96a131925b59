/**
 * Master data of the items: what customers want to store about a SKU, as JSON.
 */
@NullMarked
package io.github.holdfast.sample.wms.item;

import org.jspecify.annotations.NullMarked;
