package io.github.holdfast.sample.wms;

import java.time.Duration;
import java.util.function.Supplier;

import com.jayway.jsonpath.JsonPath;
import org.awaitility.Awaitility;

import org.springframework.test.web.servlet.client.EntityExchangeResult;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/**
 * What the service has answered.
 *
 * @param status the HTTP status
 * @param body the JSON, or nothing
 */
record Answer(int status, String body) {

	static Answer of(ResponseSpec response) {
		EntityExchangeResult<String> result = response.returnResult(String.class);
		String body = result.getResponseBody();
		return new Answer(result.getStatus().value(), (body != null) ? body : "");
	}

	/**
	 * Calls again while there is too much to do.
	 */
	static Answer whenServed(Supplier<ResponseSpec> call) {
		return Awaitility.await()
			.pollInSameThread()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofSeconds(1))
			.atMost(Duration.ofMinutes(5))
			.until(() -> of(call.get()), (answer) -> answer.status() != 503);
	}

	<T> T read(String path) {
		return JsonPath.read(this.body, path);
	}

}
