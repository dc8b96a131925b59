package io.github.holdfast.lab;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.MediaType;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses those who may not use the lab or a node: other machines, unless they are
 * allowed, and pages of other origins that want to change something. It starts processes
 * and kills them. What it answers runs no code of others, and is in no frame.
 */
public final class LabAccess extends OncePerRequestFilter {

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

	/**
	 * With another name, the page could have been loaded from elsewhere, whose address
	 * then became this one.
	 */
	private static final Set<String> LOCAL_NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "0:0:0:0:0:0:0:1", "::1");

	/** Of the page's elements, a few have styles of their own. */
	private static final String CONTENT_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; "
			+ "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

	private final boolean allowRemote;

	public LabAccess(boolean allowRemote) {
		this.allowRemote = allowRemote;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		response.setHeader("Content-Security-Policy", CONTENT_POLICY);
		response.setHeader("X-Frame-Options", "DENY");
		response.setHeader("X-Content-Type-Options", "nosniff");
		if (!this.allowRemote && !isLocal(request)) {
			refuse(response, "Only this machine may use the lab: open http://localhost, or set lab.allow-remote");
		}
		else if (!READING.contains(request.getMethod()) && CorsUtils.isCorsRequest(request)) {
			refuse(response, "Only pages of the lab may change something");
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private static void refuse(HttpServletResponse response, String reason) throws IOException {
		response.setStatus(HttpServletResponse.SC_FORBIDDEN);
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.getWriter()
			.write("{\"type\":\"urn:problem:lab:forbidden\",\"title\":\"Forbidden\",\"status\":403,\"detail\":\""
					+ reason + "\"}");
	}

	private static boolean isLocal(HttpServletRequest request) throws IOException {
		return InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress()
				&& LOCAL_NAMES.contains(request.getServerName());
	}

}
