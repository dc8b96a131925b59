package io.github.holdfast.sample.wms.order;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.sample.wms.request.RequestIdReusedException;
import io.github.holdfast.sample.wms.request.Requests;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Creates one order for each request, however often and at how many nodes it is
 * submitted.
 */
@Service
class SubmissionService {

	private final Requests requests;

	private final OrderRepository orders;

	SubmissionService(Requests requests, OrderRepository orders) {
		this.requests = requests;
		this.orders = orders;
	}

	/**
	 * Creates the order of a request, unless an earlier call has created it.
	 * @param submission the order, without a number
	 * @return what the first call was told
	 * @throws RequestIdReusedException if the first call has asked for something else
	 */
	@DistributedLock(name = "submission", key = "#submission.lockKey")
	@Transactional
	public Submission submit(NewSubmission submission) {
		return this.requests.once(submission, Submission.class, () -> {
			Order order = submission.toOrder();
			this.orders.insert(order);
			return new Submission(submission.requestId(), order.orderNo());
		});
	}

}
