package io.github.holdfast.sample.wms.request;

import java.util.function.Supplier;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Does once what a client asks for, however often and at how many nodes it asks. It looks
 * whether there is an answer and then makes one, so it is only correct under the lock of
 * the request.
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
	 * Does what a request asks for, unless an earlier call has done it. What is thrown is
	 * not remembered: the next call tries again. The caller holds the
	 * {@linkplain Request#lockKey() lock of the request}, in a transaction that began
	 * under it.
	 * @param request the request
	 * @param type the type of the answer
	 * @param action does it
	 * @return what the first call was told
	 * @throws RequestIdReusedException if the first call has asked for something else
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public <T> T once(Request request, Class<T> type, Supplier<T> action) {
		String content = this.json.writeValueAsString(request);
		AnsweredRequest earlier = this.requests.find(request.requestId());
		if (earlier == null) {
			T answer = action.get();
			this.requests
				.insert(new AnsweredRequest(request.requestId(), content, this.json.writeValueAsString(answer)));
			return answer;
		}
		if (!earlier.content().equals(content)) {
			throw new RequestIdReusedException(request.requestId());
		}
		return this.json.readValue(earlier.answer(), type);
	}

}
