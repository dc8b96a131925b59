package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.model.ModelStore;
import io.github.holdfast.schedules.Schedules;
import io.github.holdfast.schedules.Server;
import io.github.holdfast.schedules.Threads;

/**
 * The lease of a store that is renewed and released by several threads, and releases that
 * are repeated.
 */
public class LeaseSchedules {

	private static final String KEY = "key";

	private int attempts;

	private boolean attempting;

	private int released;

	/**
	 * The shorter time of one renewal is not covered up by the answer to another one.
	 */
	@Schedules
	void aLeaseIsValidOnlyWhileTheStoreHasIt(Threads threads) throws InterruptedException {
		Server server = new Server(threads);
		ModelStore store = new ModelStore(threads, server, threads.choose(2) == 0);
		LockLease lease = store.acquire(request());
		threads.start("long", () -> lease.renew(Duration.ofMillis(30)));
		threads.start("short", () -> lease.renew(Duration.ofMillis(4)));
		threads.start("watch", () -> {
			for (int i = 0; i < 3; i++) {
				threads.check(threads.atOnce(() -> !lease.isValid() || server.isHeldBy(KEY, lease.owner())),
						"a lease is valid only while the store has it");
				threads.pause(2);
			}
		});
		threads.join();
	}

	@Schedules
	void aLeaseIsReleasedOnceAndOverThen(Threads threads) throws InterruptedException {
		Server server = new Server(threads);
		ModelStore store = new ModelStore(threads, server, threads.choose(2) == 0);
		LockLease lease = store.acquire(request());
		threads.start("renew", () -> lease.renew(Duration.ofMillis(30)));
		for (String name : new String[] { "a", "b" }) {
			threads.start(name, () -> {
				boolean released = lease.release().toCompletableFuture().join();
				this.released += released ? 1 : 0;
				threads.check(!lease.isValid() && !lease.renew(Duration.ofMillis(30)) && !lease.isValid(),
						"what was released is not valid again");
			});
		}
		threads.join();
		threads.check(this.released == 1 && server.isFree(KEY), "a lease is released once");
	}

	@Schedules
	void aReleaseThatFailsIsRepeated(Threads threads) {
		Releases releases = new Releases();
		threads.slowBy(10);
		CompletableFuture<Boolean> first = releases.run(KEY, Deadline.after(Duration.ofSeconds(10)),
				() -> attempt(threads, 3));
		threads.check(first.isCompletedExceptionally(), "the first attempt has failed");
		threads.pause(5_000);
		threads.check(this.attempts == 3, "a release is repeated until it succeeds");
	}

	@Schedules
	void noReleaseIsRepeatedAfterTheEndOfTheLeaseOrOfTheStore(Threads threads) {
		Releases releases = new Releases();
		threads.slowBy(10);
		boolean closes = threads.choose(2) == 0;
		releases.run(KEY, Deadline.after(Duration.ofMillis(200)), () -> attempt(threads, 100));
		if (closes) {
			threads.start("close", releases::close);
			threads.join();
			threads.point();
		}
		threads.pause(closes ? 50 : 400);
		int attempts = this.attempts;
		threads.pause(5_000);
		threads.check(this.attempts == attempts, "no release is repeated after the end");
	}

	private CompletableFuture<Boolean> attempt(Threads threads, int successful) {
		threads.check(!this.attempting, "one attempt at a time");
		this.attempting = true;
		threads.point();
		this.attempting = false;
		if (++this.attempts < successful) {
			throw new LockBackendException(KEY, "has no answer", null);
		}
		return CompletableFuture.completedFuture(true);
	}

	private static LockRequest request() {
		return new LockRequest(KEY, "lock", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, Duration.ofMillis(10),
				"owner", "holder", 0);
	}

}
