package io.github.holdfast.sample.wms.request;

import org.apache.ibatis.annotations.Mapper;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code answered_request}. The table accepts a request id twice:
 * whoever writes holds the lock of the request.
 */
@Mapper
public interface RequestMapper {

	@Nullable AnsweredRequest find(String requestId);

	void insert(AnsweredRequest request);

}
