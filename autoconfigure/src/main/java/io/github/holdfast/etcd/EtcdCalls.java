package io.github.holdfast.etcd;

import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Constants;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;

/**
 * What each call of a client for locks needs: a member that knows a leader, so that one
 * that is cut off from the others is not waited for; and, unless it is a watch, an end.
 * Safe for use by many threads.
 *
 * @since 0.1.0
 */
public final class EtcdCalls implements ClientInterceptor {

	private static final String WATCH = "etcdserverpb.Watch";

	private static final long TIMEOUT_SECONDS = 10;

	@Override
	public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
		CallOptions limited = WATCH.equals(method.getServiceName()) ? options
				: options.withDeadlineAfter(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		return new SimpleForwardingClientCall<>(next.newCall(method, limited)) {

			@Override
			public void start(Listener<A> listener, Metadata headers) {
				headers.discardAll(Constants.REQUIRE_LEADER_KEY);
				headers.put(Constants.REQUIRE_LEADER_KEY, Constants.REQUIRE_LEADER_VALUE);
				super.start(listener, headers);
			}

		};
	}

}
