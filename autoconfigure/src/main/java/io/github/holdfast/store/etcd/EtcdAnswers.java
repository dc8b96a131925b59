package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Answers;

/**
 * How long answers of etcd are waited for, and what failures mean.
 */
final class EtcdAnswers {

	/**
	 * How long an answer is waited for, whatever the wait time of a call is: another
	 * member may know more than one that does not answer.
	 */
	static final Duration TIMEOUT = Duration.ofSeconds(3);

	/** Of a member that restarts, or of a cluster that elects a leader. */
	private static final Set<Status.Code> TRANSIENT = Set.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED,
			Status.Code.CANCELLED);

	private EtcdAnswers() {
	}

	static <T> T await(CompletableFuture<T> answer) throws InterruptedException, ExecutionException, TimeoutException {
		return answer.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
	}

	/**
	 * Whether the same request may have an answer in a moment.
	 */
	static boolean isTransient(Throwable failure) {
		return failure instanceof TimeoutException || TRANSIENT.contains(code(failure));
	}

	/**
	 * Whether the lease has run out or was revoked.
	 */
	static boolean isLeaseGone(Throwable failure) {
		return code(failure) == Status.Code.NOT_FOUND;
	}

	private static Status.Code code(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			Status.Code code = ownCode(cause);
			if (code != null) {
				return code;
			}
		}
		return Status.Code.UNKNOWN;
	}

	private static Status.@Nullable Code ownCode(Throwable failure) {
		if (failure instanceof EtcdException ex) {
			return Status.Code.valueOf(ex.getErrorCode().name());
		}
		if (failure instanceof StatusRuntimeException ex) {
			return ex.getStatus().getCode();
		}
		return (failure instanceof StatusException ex) ? ex.getStatus().getCode() : null;
	}

	static LockBackendException failure(String key, String what, Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof TimeoutException) && ownCode(cause) == null && cause.getCause() != null) {
			cause = cause.getCause();
		}
		return Answers.failure(key, what, "etcd", cause);
	}

}
