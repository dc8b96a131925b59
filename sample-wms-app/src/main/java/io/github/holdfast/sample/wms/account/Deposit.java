package io.github.holdfast.sample.wms.account;

import io.github.holdfast.sample.wms.inventory.Code;
import io.github.holdfast.sample.wms.request.Request;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * Money that a customer has paid.
 *
 * @param requestId the same each time this deposit is sent
 * @param accountNo the account it is for
 * @param amount how much, in cents
 */
public record Deposit(@Code String requestId, @Code String accountNo,
		@Min(1) @Max(1_000_000_000) long amount) implements Request {
}
