package io.github.holdfast.sample.wms.order;

/**
 * The answer to a submitted order, the same for each call with the same request id.
 *
 * @param requestId the id that the client chose
 * @param orderNo the number of the order that was created for it
 */
public record Submission(String requestId, String orderNo) {
}
