package io.github.holdfast.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.schedules.Server;
import io.github.holdfast.schedules.Threads;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;

/**
 * The backend of one node on a {@link Server}. Other threads may go on before and after
 * each request.
 */
public final class ModelStore implements LockBackend {

	private final Threads threads;

	private final Server server;

	private final boolean answersLater;

	private Duration noticeTime = Duration.ZERO;

	private int failures;

	private int renewing;

	/**
	 * Create a backend.
	 * @param answersLater whether renewals and releases are answered on a thread of the
	 * client
	 */
	public ModelStore(Threads threads, Server server, boolean answersLater) {
		this.threads = threads;
		this.server = server;
		this.answersLater = answersLater;
	}

	/**
	 * Let others take some time to notice a release, so that this node leaves the lock to
	 * them for a while.
	 */
	public void noticeTime(Duration noticeTime) {
		this.noticeTime = noticeTime;
	}

	/**
	 * Let the next requests fail, which the server may have done or not.
	 */
	public void failures(int failures) {
		this.failures = failures;
	}

	/**
	 * Whether a renewal has been sent that has no answer yet.
	 */
	public boolean isRenewing() {
		return this.renewing > 0;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		this.server.beginAsking(request.key());
		try {
			Deadline deadline = Deadline.after(request.waitTime());
			while (true) {
				LockLease lease = ask(request);
				if (lease != null || deadline.hasPassed()) {
					return lease;
				}
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
				long pause = Math.min(deadline.remainingNanos(), 10_000_000);
				this.threads.await(() -> this.server.isFree(request.key()), pause);
			}
		}
		finally {
			this.server.endAsking(request.key());
		}
	}

	private @Nullable LockLease ask(LockRequest request) {
		Deadline deadline = Deadline.ofLease(request.leaseTime());
		long epoch = send(request.key(),
				() -> this.server.grant(request.key(), request.owner(), request.leaseTime().toNanos()));
		return (epoch != 0) ? new Lease(request, epoch, deadline) : null;
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		List<LockLease> leases = new ArrayList<>();
		for (LockRequest request : sorted) {
			this.server.beginAsking(request.key());
			LockLease lease = ask(request);
			this.server.endAsking(request.key());
			if (lease == null) {
				leases.forEach((one) -> one.release().toCompletableFuture().join());
				return null;
			}
			leases.add(lease);
		}
		return leases;
	}

	@Override
	public Duration noticeTime() {
		return this.noticeTime;
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.RELEASE_NOT_AWAITED);
	}

	private <T> T send(String key, Supplier<@Nullable T> request) {
		this.threads.point();
		boolean fails = this.failures > 0;
		if (fails) {
			this.failures--;
		}
		T answer = (fails && this.threads.choose(2) == 0) ? null : request.get();
		this.threads.point();
		if (fails) {
			throw new LockBackendException(key, "has no answer", null);
		}
		return answer;
	}

	private final class Lease extends ExpiringLease {

		private boolean givenBack;

		private Lease(LockRequest request, long epoch, Deadline deadline) {
			super(request, epoch, deadline);
		}

		@Override
		protected CompletionStage<Boolean> extend(Duration leaseTime) {
			ModelStore.this.renewing++;
			return answer(() -> {
				try {
					return send(key(), () -> ModelStore.this.server.extend(key(), owner(), leaseTime.toNanos()));
				}
				finally {
					ModelStore.this.renewing--;
				}
			});
		}

		@Override
		protected CompletionStage<Boolean> giveBack() {
			ModelStore.this.threads.check(!this.givenBack, "a lease is given back once");
			this.givenBack = true;
			return answer(() -> send(key(), () -> ModelStore.this.server.free(key(), owner())));
		}

		private CompletionStage<Boolean> answer(Supplier<Boolean> request) {
			if (!ModelStore.this.answersLater) {
				return CompletableFuture.completedStage(request.get());
			}
			CompletableFuture<Boolean> answer = new CompletableFuture<>();
			ModelStore.this.threads.startDaemon("client", () -> {
				try {
					answer.complete(request.get());
				}
				catch (LockBackendException ex) {
					answer.completeExceptionally(ex);
				}
			});
			return answer;
		}

	}

}
