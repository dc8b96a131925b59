package io.github.holdfast.sample.wms.order;

import io.github.holdfast.DistributedLock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Creates one order for each request, however often and at how many nodes it is
 * submitted. It looks whether there is an order and then creates one, so it is only
 * correct under the lock of the request.
 */
@Service
class SubmissionService {

	private final SubmissionMapper submissions;

	private final OrderRepository orders;

	SubmissionService(SubmissionMapper submissions, OrderRepository orders) {
		this.submissions = submissions;
		this.orders = orders;
	}

	/**
	 * Creates the order of a request, unless an earlier call has created it.
	 * @param requestId the request
	 * @param order the order, with a number of its own
	 * @return what the first call was told
	 * @throws RequestIdReusedException if the first call has asked for something else
	 */
	@DistributedLock(name = "submission", key = "'submission:' + #requestId")
	@Transactional
	public Submission submit(String requestId, Order order) {
		Submission earlier = this.submissions.find(requestId);
		if (earlier == null) {
			Submission submission = new Submission(requestId, order.orderNo());
			this.orders.insert(order);
			this.submissions.insert(submission);
			return submission;
		}
		if (this.orders.find(earlier.orderNo()).filter(order::asksForTheSameAs).isEmpty()) {
			throw new RequestIdReusedException(requestId);
		}
		return earlier;
	}

}
