package io.github.holdfast.lab;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** Who may use the lab. */
class LabAccessTests {

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, localhost", "127.0.0.1, 127.0.0.1", "0:0:0:0:0:0:0:1, [::1]", "127.0.0.5, localhost" })
	void servesThisMachine(String from, String name) throws Exception {
		assertStatus(200, false, "GET", from, name, null);
		assertStatus(200, false, "POST", from, name, null);
	}

	@ParameterizedTest
	@CsvSource({ "192.168.0.7, localhost", "192.168.0.7, warehouse", "2001:db8:0:0:0:0:0:7, [::1]",
			// A page whose address has become this machine's
			"127.0.0.1, shop.example" })
	void refusesOthersUnlessTheyAreAllowed(String from, String name) throws Exception {
		for (String method : new String[] { "GET", "POST", "DELETE" }) {
			assertStatus(403, false, method, from, name, null);
			assertStatus(200, true, method, from, name, null);
		}
	}

	@ParameterizedTest
	@CsvSource({ "false, 127.0.0.1, localhost", "true, 192.168.0.7, warehouse" })
	void onlyItsOwnPageChangesSomething(boolean allowRemote, String from, String name) throws Exception {
		for (String origin : new String[] { "http://shop.example", "null", "http://" + name,
				"https://" + name + ":8080", "http://" + name + ":8081" }) {
			assertStatus(200, allowRemote, "GET", from, name, origin);
			assertStatus(403, allowRemote, "POST", from, name, origin);
			assertStatus(403, allowRemote, "DELETE", from, name, origin);
		}
		assertStatus(200, allowRemote, "POST", from, name, "http://" + name + ":8080");
	}

	@Test
	void answersAreShownInNoFrameAndRunNoCodeOfOthers() throws Exception {
		MockHttpServletResponse response = answer(false, "GET", "127.0.0.1", "localhost", null);
		assertThat(response.getHeader("Content-Security-Policy")).contains("default-src 'self'",
				"frame-ancestors 'none'");
		assertThat(response.getHeader("X-Frame-Options")).isEqualTo("DENY");
		assertThat(response.getHeader("X-Content-Type-Options")).isEqualTo("nosniff");
	}

	private static void assertStatus(int status, boolean allowRemote, String method, String from, String name,
			@Nullable String origin) throws Exception {
		assertThat(answer(allowRemote, method, from, name, origin).getStatus()).isEqualTo(status);
	}

	private static MockHttpServletResponse answer(boolean allowRemote, String method, String from, String name,
			@Nullable String origin) throws Exception {
		MockHttpServletRequest request = new MockHttpServletRequest(method, "/lab/runs");
		request.setRemoteAddr(from);
		request.setServerName(name);
		request.setServerPort(8080);
		if (origin != null) {
			request.addHeader("Origin", origin);
		}
		MockHttpServletResponse response = new MockHttpServletResponse();
		new LabAccess(allowRemote).doFilter(request, response, new MockFilterChain());
		return response;
	}

}
