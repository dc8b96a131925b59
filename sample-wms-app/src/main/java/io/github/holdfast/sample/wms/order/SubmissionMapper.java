package io.github.holdfast.sample.wms.order;

import org.apache.ibatis.annotations.Mapper;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code order_submission}. The table accepts a request id twice:
 * whoever writes holds the lock of the request.
 */
@Mapper
public interface SubmissionMapper {

	@Nullable Submission find(String requestId);

	void insert(Submission submission);

}
