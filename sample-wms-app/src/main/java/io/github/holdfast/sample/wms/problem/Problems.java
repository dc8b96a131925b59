package io.github.holdfast.sample.wms.problem;

import java.net.URI;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/**
 * Makes the problem details (RFC 9457) of this service.
 */
public final class Problems {

	private Problems() {
	}

	/**
	 * Makes a problem detail.
	 * @param status the HTTP status
	 * @param type what kind of problem it is, for programs
	 * @param title what kind of problem it is, for people
	 * @param detail what happened this time
	 * @return the problem detail
	 */
	public static ProblemDetail of(HttpStatus status, String type, String title, @Nullable String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		problem.setType(URI.create("urn:problem:wms:" + type));
		problem.setTitle(title);
		return problem;
	}

}
