package io.github.holdfast.sample.wms.request;

import java.util.function.Supplier;

import io.github.holdfast.sample.wms.ProblemException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Carries out each request once, however often and on however many nodes it arrives. The
 * lock of the request makes repeats wait for the answer of the first one; without it they
 * would do the work and fail at the primary key.
 */
@Service
public class Requests {

	private final RequestMapper requests;

	private final JsonMapper json;

	Requests(RequestMapper requests, JsonMapper json) {
		this.requests = requests;
		this.json = json;
	}

	/**
	 * Carries out a request unless an earlier call has done so. Failures are not kept:
	 * the next call tries again. The caller holds the {@linkplain Request#lockKey() lock
	 * of the request}, in a transaction that began under it.
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public <T> T once(Request request, Class<T> type, Supplier<T> action) {
		String content = this.json.writeValueAsString(request);
		RequestMapper.Answered earlier = this.requests.find(request.requestId()).orElse(null);
		if (earlier == null) {
			T answer = action.get();
			this.requests.insert(request.requestId(), content, this.json.writeValueAsString(answer));
			return answer;
		}
		if (!earlier.content().equals(content)) {
			throw ProblemException.conflict("request-id-reused",
					"Request id '" + request.requestId() + "' belongs to another request");
		}
		return this.json.readValue(earlier.answer(), type);
	}

}
