package io.github.holdfast.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.model.ModelStore;
import io.github.holdfast.schedules.Schedules;
import io.github.holdfast.schedules.Server;
import io.github.holdfast.schedules.Task;
import io.github.holdfast.schedules.Threads;

/**
 * The local queue in front of a store, and the leases that its threads hand over. Nobody
 * waits while the lock is free, and at the end it is.
 */
public class HandoverSchedules {

	private static final String KEY = "key";

	/** A thread that waits for it to pass hangs. */
	private static final Duration FOREVER = Duration.ofDays(1);

	/** Longer than a thread waits that is not forgotten. */
	private static final Duration LEASE = Duration.ofSeconds(30);

	private final List<LockLease> granted = new ArrayList<>();

	private final List<LockLease> ended = new ArrayList<>();

	private int holders;

	private long token;

	private int owners;

	@Schedules(preemptions = 2)
	void aLeaseGoesFromThreadToThread(Threads threads) {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		setting.aliveIfNobodyHangs();
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> setting.use(FOREVER));
		}
		setting.end();
	}

	@Schedules
	void aLeaseIsGivenBackToTheStoreAtItsLimits(Threads threads) {
		Setting setting = new Setting(threads, new HandoverLimits(2, Duration.ofMillis(100), (name) -> true));
		setting.store.noticeTime(Duration.ofMillis(10));
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> {
				setting.use(FOREVER);
				setting.use(FOREVER);
			});
		}
		setting.end();
	}

	@Schedules(preemptions = 2)
	void whoIsInterruptedLosesNothing(Threads threads) {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		setting.aliveIfNobodyHangs();
		threads.start("a", () -> setting.use(FOREVER));
		Task waiter = threads.start("waiter", () -> setting.useUnlessInterrupted(FOREVER));
		threads.start("interrupter", waiter::interrupt);
		threads.start("b", () -> setting.use(FOREVER));
		setting.end();
	}

	@Schedules(preemptions = 2)
	void whoseTimeIsOverLosesNothing(Threads threads) {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		threads.start("a", () -> setting.use(FOREVER));
		threads.start("waiter", () -> setting.use(Duration.ofMillis(1)));
		threads.start("b", () -> setting.use(FOREVER));
		setting.end();
	}

	/**
	 * What is renewed for one holder is not that of the next one.
	 */
	@Schedules(preemptions = 2)
	void aRenewalIsOverBeforeTheNextTurn(Threads threads) throws InterruptedException {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		LockLease lease = setting.acquire(FOREVER);
		threads.start("renewal", () -> {
			boolean before = lease.isValid();
			boolean renewed = lease.renew(LEASE);
			threads.check(before || !renewed, "a turn that ended is not renewed");
		});
		threads.start("b", () -> {
			LockLease next = setting.acquire(FOREVER);
			threads.check(next.turn() == 0 || !setting.store.isRenewing(), "a renewal is over before the next turn");
			setting.endTurn(next);
		});
		setting.endTurn(lease);
		setting.end();
	}

	@Schedules
	void aLeaseThatIsInDoubtIsNotHandedOver(Threads threads) throws InterruptedException {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		LockLease lease = setting.acquire(FOREVER);
		setting.store.failures(1);
		threads.start("b", () -> {
			LockLease next = setting.acquire(FOREVER);
			threads.check(next.turn() == 0, "a lease in doubt is not handed over");
			setting.endTurn(next);
		});
		try {
			lease.renew(LEASE);
		}
		catch (LockBackendException ex) {
			// Nobody knows
		}
		setting.endTurn(lease);
		setting.end();
	}

	/**
	 * The store answers late, or the holder is slow, so that the lease runs out.
	 */
	@Schedules(preemptions = 2)
	void noTwoLeasesAreValidAtATime(Threads threads) {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> {
				LockLease lease = setting.queue.acquire(setting.request(KEY, FOREVER, Duration.ofMillis(3)));
				if (lease != null) {
					setting.checkOnlyValid(lease);
					if (threads.choose(3) == 0) {
						threads.pause(4);
					}
					setting.checkOnlyValid(lease);
					setting.giveUp(lease);
				}
			});
		}
		setting.end();
	}

	@Schedules
	void aStoreThatFailsKeepsNobodyWaiting(Threads threads) throws InterruptedException {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		setting.store.failures(2);
		for (String name : new String[] { "a", "b", "c" }) {
			threads.start(name, () -> {
				try {
					LockLease lease = setting.queue.acquire(setting.request(KEY, FOREVER, Duration.ofMillis(30)));
					threads.check(lease != null, "who waits long enough gets the lock");
					setting.giveUp(lease);
				}
				catch (LockBackendException ex) {
					// The store has failed
				}
			});
		}
		threads.join();
		setting.store.failures(0);
		threads.pause(30);
		setting.use(FOREVER);
	}

	@Schedules
	void severalKeysAtOnce(Threads threads) {
		Setting setting = new Setting(threads, HandoverLimits.DEFAULT);
		threads.start("all", () -> {
			List<LockLease> leases = setting.queue
				.acquireAll(List.of(setting.request(KEY, Duration.ZERO), setting.request("other", Duration.ZERO)));
			if (leases != null) {
				setting.hold(leases.get(0));
				leases.get(1).release();
				setting.endTurn(leases.get(0));
			}
		});
		threads.start("b", () -> setting.use(FOREVER));
		threads.start("c", () -> setting.use(FOREVER));
		setting.end();
	}

	private final class Setting {

		private final Threads threads;

		private final Server server;

		private final ModelStore store;

		private final HandoverLockBackend queue;

		private final HandoverLimits limits;

		private Setting(Threads threads, HandoverLimits limits) {
			this.threads = threads;
			this.limits = limits;
			this.server = new Server(threads);
			this.store = new ModelStore(threads, this.server, threads.choose(2) == 0);
			this.queue = new HandoverLockBackend(this.store, limits, QueueLimits.DEFAULT);
		}

		private LockRequest request(String key, Duration waitTime) {
			return request(key, waitTime, LEASE);
		}

		private LockRequest request(String key, Duration waitTime, Duration leaseTime) {
			return new LockRequest(key, "lock", LockRequest.Mode.EXCLUSIVE, false, waitTime, leaseTime,
					"owner" + ++HandoverSchedules.this.owners, "holder", 0);
		}

		/**
		 * Nothing in such a test lets time pass, but to notice that another one has been
		 * forgotten.
		 */
		private void aliveIfNobodyHangs() {
			this.threads.whenIdle(() -> this.threads.check(HandoverSchedules.this.holders > 0,
					"nobody waits while the lock is free"));
		}

		private void use(Duration waitTime) throws InterruptedException {
			LockLease lease = acquire(waitTime);
			if (lease != null) {
				endTurn(lease);
			}
		}

		private void useUnlessInterrupted(Duration waitTime) {
			try {
				use(waitTime);
			}
			catch (InterruptedException ex) {
				// It has nothing
			}
		}

		private @Nullable LockLease acquire(Duration waitTime) throws InterruptedException {
			LockLease lease = this.queue.acquire(request(KEY, waitTime));
			if (lease != null) {
				hold(lease);
			}
			else {
				this.threads.check(!waitTime.equals(FOREVER), "who waits long enough gets the lock");
			}
			return lease;
		}

		private void hold(LockLease lease) {
			this.threads.check(++HandoverSchedules.this.holders == 1, "one holder at a time");
			this.threads.check(lease.isValid(), "what was granted is valid");
			this.threads.check(lease.turn() < this.limits.maxTurns(), "a lease is handed over only so often");
			this.threads.check(lease.token() > HandoverSchedules.this.token, "tokens rise");
			HandoverSchedules.this.token = lease.token();
			this.threads.check(HandoverSchedules.this.ended.stream().noneMatch(LockLease::isValid),
					"a turn that ended is never valid again");
		}

		private void endTurn(LockLease lease) {
			HandoverSchedules.this.holders--;
			HandoverSchedules.this.ended.add(lease);
			if (this.threads.choose(3) == 0 || !lease.handOver()) {
				Boolean released = lease.release().toCompletableFuture().join();
				this.threads.check(released, "a lock that was not lost is its holder's until it is released");
			}
			this.threads.check(!lease.isValid() && !lease.handOver() && !lease.renew(LEASE),
					"a turn that ended is never valid again");
			this.threads.check(!lease.release().toCompletableFuture().join(), "a lease is released once");
		}

		private void giveUp(LockLease lease) {
			if (this.threads.choose(3) == 0 || !lease.handOver()) {
				try {
					lease.release().toCompletableFuture().join();
				}
				catch (RuntimeException ex) {
					// It runs out
				}
			}
		}

		private void checkOnlyValid(LockLease lease) {
			if (!HandoverSchedules.this.granted.contains(lease)) {
				HandoverSchedules.this.granted.add(lease);
			}
			boolean onlyOne = this.threads
				.atOnce(() -> HandoverSchedules.this.granted.stream().filter(LockLease::isValid).count() <= 1);
			this.threads.check(onlyOne, "no two leases are valid at a time");
		}

		private void end() {
			this.threads.join();
			this.threads.check(this.server.isFree(KEY), "no lock is left");
		}

	}

}
