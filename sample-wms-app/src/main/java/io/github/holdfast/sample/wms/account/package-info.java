/**
 * The money of customers: deposits, transfers and balances.
 */
@NullMarked
package io.github.holdfast.sample.wms.account;

import org.jspecify.annotations.NullMarked;
