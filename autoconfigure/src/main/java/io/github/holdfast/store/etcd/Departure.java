package io.github.holdfast.store.etcd;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.watch.WatchResponse;
import org.jspecify.annotations.Nullable;

/**
 * Tells when the one ahead in the queue has gone. It may miss it: waiters look by
 * themselves, too.
 */
final class Departure implements AutoCloseable {

	private final EtcdLocks locks;

	private final Semaphore departed = new Semaphore(0);

	private @Nullable ByteSequence key;

	private long revision;

	private @Nullable Subscription subscription;

	Departure(EtcdLocks locks) {
		this.locks = locks;
	}

	/**
	 * What to wait for from now on.
	 * @param key the key that will be deleted
	 * @param revision the last one that it was seen at
	 */
	void expect(ByteSequence key, long revision) {
		if (this.subscription != null && (this.subscription.failed || !key.equals(this.key))) {
			close();
		}
		this.key = key;
		this.revision = revision;
	}

	/**
	 * Wait for it.
	 * @return {@code false} if nothing was heard
	 */
	boolean await(long nanos) throws InterruptedException {
		if (this.subscription == null && this.key != null) {
			this.departed.drainPermits();
			this.subscription = new Subscription(this.departed);
			this.subscription.watcher = this.locks.watchDeletion(this.key, this.revision + 1, this.subscription);
		}
		boolean departed = this.departed.tryAcquire(nanos, TimeUnit.NANOSECONDS);
		this.departed.drainPermits();
		return departed;
	}

	@Override
	public void close() {
		if (this.subscription != null && this.subscription.watcher != null) {
			this.subscription.watcher.close();
		}
		this.subscription = null;
	}

	/**
	 * One watch. A failed one is replaced after the next look, which needs no hurry.
	 */
	private static final class Subscription implements Watch.Listener {

		private final Semaphore departed;

		private Watch.@Nullable Watcher watcher;

		private volatile boolean failed;

		private Subscription(Semaphore departed) {
			this.departed = departed;
		}

		@Override
		public void onNext(WatchResponse response) {
			if (!response.getEvents().isEmpty()) {
				this.departed.release();
			}
		}

		@Override
		public void onError(Throwable throwable) {
			this.failed = true;
		}

		@Override
		public void onCompleted() {
			this.failed = true;
		}

	}

}
