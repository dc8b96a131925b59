/**
 * The stock of the warehouses: receiving, deducting and reading it.
 */
@NullMarked
package io.github.holdfast.sample.wms.inventory;

import org.jspecify.annotations.NullMarked;
