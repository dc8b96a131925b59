package io.github.holdfast.sample.wms.account;

import io.github.holdfast.sample.wms.inventory.Code;
import io.github.holdfast.sample.wms.request.Request;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Money that is to be moved.
 *
 * @param requestId the same each time this transfer is sent
 * @param from the account that pays
 * @param to the account that is paid
 * @param amount how much, in cents
 */
public record Transfer(@Code String requestId, @Code String from, @Code String to,
		@Min(1) @Max(1_000_000_000) long amount) implements Request {
}
