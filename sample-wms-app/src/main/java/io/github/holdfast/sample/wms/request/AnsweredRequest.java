package io.github.holdfast.sample.wms.request;

/**
 * A row of {@code answered_request}.
 *
 * @param requestId the id that the client chose
 * @param content what it has asked for, as JSON
 * @param answer what it was told, as JSON
 */
public record AnsweredRequest(String requestId, String content, String answer) {
}
