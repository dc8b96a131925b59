package io.github.holdfast.sample.wms.account;

import io.github.holdfast.sample.wms.inventory.Code;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Money that is to be moved.
 *
 * @param from the account that pays
 * @param to the account that is paid
 * @param amount how much, in cents
 */
record Transfer(@Code String from, @Code String to, @Min(1) @Max(1_000_000_000) long amount) {
}
