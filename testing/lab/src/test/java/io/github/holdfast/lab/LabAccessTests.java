package io.github.holdfast.lab;

import java.io.IOException;

import jakarta.servlet.ServletException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who may use the lab.
 */
class LabAccessTests {

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, localhost", "127.0.0.1, 127.0.0.1", "0:0:0:0:0:0:0:1, [::1]", "127.0.0.5, localhost" })
	void servesThisMachine(String from, String name) throws ServletException, IOException {
		assertThat(status(false, request("GET", from, name, null))).isEqualTo(200);
		assertThat(status(false, request("POST", from, name, null))).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "192.168.0.7, localhost", "192.168.0.7, warehouse", "2001:db8:0:0:0:0:0:7, [::1]",
			// A page whose address has become this machine's
			"127.0.0.1, shop.example" })
	void refusesOthersUnlessTheyAreAllowed(String from, String name) throws ServletException, IOException {
		for (String method : new String[] { "GET", "POST", "DELETE" }) {
			assertThat(status(false, request(method, from, name, null))).isEqualTo(403);
			assertThat(status(true, request(method, from, name, null))).isEqualTo(200);
		}
	}

	@ParameterizedTest
	@CsvSource({ "false, 127.0.0.1, localhost", "true, 192.168.0.7, warehouse" })
	void onlyItsOwnPageChangesSomething(boolean allowRemote, String from, String name)
			throws ServletException, IOException {
		for (String origin : new String[] { "http://shop.example", "null", "http://" + name,
				"https://" + name + ":8080", "http://" + name + ":8081" }) {
			assertThat(status(allowRemote, request("GET", from, name, origin))).isEqualTo(200);
			assertThat(status(allowRemote, request("POST", from, name, origin))).isEqualTo(403);
			assertThat(status(allowRemote, request("DELETE", from, name, origin))).isEqualTo(403);
		}
		assertThat(status(allowRemote, request("POST", from, name, "http://" + name + ":8080"))).isEqualTo(200);
	}

	@Test
	void answersAreShownInNoFrameAndRunNoCodeOfOthers() throws ServletException, IOException {
		MockHttpServletResponse response = answer(false, request("GET", "127.0.0.1", "localhost", null));
		assertThat(response.getHeader("Content-Security-Policy")).contains("default-src 'self'",
				"frame-ancestors 'none'");
		assertThat(response.getHeader("X-Frame-Options")).isEqualTo("DENY");
		assertThat(response.getHeader("X-Content-Type-Options")).isEqualTo("nosniff");
	}

	private static MockHttpServletRequest request(String method, String from, String name, @Nullable String origin) {
		MockHttpServletRequest request = new MockHttpServletRequest(method, "/lab/runs");
		request.setRemoteAddr(from);
		request.setServerName(name);
		request.setServerPort(8080);
		if (origin != null) {
			request.addHeader("Origin", origin);
		}
		return request;
	}

	private static int status(boolean allowRemote, MockHttpServletRequest request)
			throws ServletException, IOException {
		return answer(allowRemote, request).getStatus();
	}

	private static MockHttpServletResponse answer(boolean allowRemote, MockHttpServletRequest request)
			throws ServletException, IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new LabAccess(allowRemote).doFilter(request, response, new MockFilterChain());
		return response;
	}

}
