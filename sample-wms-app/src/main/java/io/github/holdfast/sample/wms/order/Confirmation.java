package io.github.holdfast.sample.wms.order;

/**
 * The answer to a confirmed order.
 *
 * @param orderNo the order's number
 * @param status how far the order is
 * @param alreadyConfirmed whether an earlier call has confirmed it, so that this one
 * deducted nothing
 */
public record Confirmation(String orderNo, OrderStatus status, boolean alreadyConfirmed) {
}
