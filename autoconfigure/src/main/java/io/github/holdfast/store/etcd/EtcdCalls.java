package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
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
 */
final class EtcdCalls implements ClientInterceptor {

	private static final String WATCH = "etcdserverpb.Watch";

	private static final long TIMEOUT_SECONDS = 10;

	/** Not more often than etcd allows by default, which is every five seconds. */
	private static final Duration PING_INTERVAL = Duration.ofSeconds(10);

	private static final Duration PING_TIMEOUT = Duration.ofSeconds(3);

	private static final int MAX_RETRIES = 2;

	private static final long FIRST_RETRY_MILLIS = 50;

	private static final long LAST_RETRY_MILLIS = 500;

	static ClientBuilder clientBuilder() {
		return Client.builder()
			.interceptor(new EtcdCalls())
			.waitForReady(false)
			.retryMaxAttempts(MAX_RETRIES)
			.retryDelay(FIRST_RETRY_MILLIS)
			.retryMaxDelay(LAST_RETRY_MILLIS)
			.keepaliveTime(PING_INTERVAL)
			.keepaliveTimeout(PING_TIMEOUT)
			.keepaliveWithoutCalls(false);
	}

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
