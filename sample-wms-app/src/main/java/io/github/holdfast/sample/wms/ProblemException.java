package io.github.holdfast.sample.wms;

import java.net.URI;

import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

/**
 * Thrown when a request cannot be carried out; nothing has changed. Spring MVC answers
 * with its problem detail (RFC 9457).
 */
public final class ProblemException extends ErrorResponseException {

	private static final long serialVersionUID = 1L;

	public ProblemException(HttpStatus status, String type, String detail) {
		super(status);
		setType(URI.create("urn:problem:wms:" + type));
		setDetail(detail);
	}

	public static ProblemException notFound(String type, String detail) {
		return new ProblemException(HttpStatus.NOT_FOUND, type, detail);
	}

	public static ProblemException conflict(String type, String detail) {
		return new ProblemException(HttpStatus.CONFLICT, type, detail);
	}

	@Override
	public String getMessage() {
		return getBody().getDetail();
	}

}
