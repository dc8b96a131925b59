package io.github.holdfast.sample.wms.lab;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.util.Set;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses those who may not use the lab: other machines, unless they are allowed, and
 * pages of other origins that want to change something. It starts processes and kills
 * them.
 */
final class LabAccess extends OncePerRequestFilter {

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

	/**
	 * With another name, the page could have been loaded from elsewhere, whose address
	 * then became this one.
	 */
	private static final Set<String> LOCAL_NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "0:0:0:0:0:0:0:1", "::1");

	private final boolean allowRemote;

	LabAccess(boolean allowRemote) {
		this.allowRemote = allowRemote;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (!this.allowRemote && !isLocal(request)) {
			response.sendError(HttpServletResponse.SC_FORBIDDEN, "Only from this machine");
		}
		else if (!READING.contains(request.getMethod()) && !isSameOrigin(request)) {
			response.sendError(HttpServletResponse.SC_FORBIDDEN, "Only from the lab's page");
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private static boolean isLocal(HttpServletRequest request) throws IOException {
		return InetAddress.getByName(request.getRemoteAddr()).isLoopbackAddress()
				&& LOCAL_NAMES.contains(request.getServerName());
	}

	/**
	 * Programs send no origin; browsers do.
	 */
	private static boolean isSameOrigin(HttpServletRequest request) {
		String origin = request.getHeader(HttpHeaders.ORIGIN);
		return origin == null || origin.equals(ownOrigin(request));
	}

	private static @Nullable String ownOrigin(HttpServletRequest request) {
		URI uri = URI.create(request.getRequestURL().toString());
		return uri.getScheme() + "://" + uri.getAuthority();
	}

}
