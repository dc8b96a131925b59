/**
 * Outbound orders: creating, confirming and reading them.
 */
@NullMarked
package io.github.holdfast.sample.wms.order;

import org.jspecify.annotations.NullMarked;
