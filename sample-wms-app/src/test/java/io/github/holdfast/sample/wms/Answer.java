package io.github.holdfast.sample.wms;

import com.jayway.jsonpath.JsonPath;

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

	<T> T read(String path) {
		return JsonPath.read(this.body, path);
	}

}
