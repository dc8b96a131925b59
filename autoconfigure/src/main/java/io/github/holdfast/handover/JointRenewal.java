package io.github.holdfast.handover;

import java.time.Duration;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;

/**
 * Extends several leases with one request to the store. None of them is handed over
 * meanwhile, so that what is extended for one holder is not that of the next one.
 */
final class JointRenewal {

	private final List<LockLease> leases;

	private final Duration leaseTime;

	private final Map<LockLease, TurnLease.Renewal> begun = new IdentityHashMap<>();

	JointRenewal(List<LockLease> leases, Duration leaseTime) {
		this.leases = leases;
		this.leaseTime = leaseTime;
	}

	/**
	 * Ask the store, and wait for its answers.
	 */
	List<CompletionStage<Boolean>> run(LockBackend store) {
		try {
			begin();
			Map<LockLease, CompletionStage<Boolean>> answers = ask(store);
			return this.leases.stream().map((lease) -> end(lease, answers.get(lease))).toList();
		}
		finally {
			this.begun.values().forEach((renewal) -> renewal.end(false, this.leaseTime));
		}
	}

	/**
	 * In the order of the keys, so that two of these do not wait for each other.
	 */
	private void begin() {
		this.leases.stream()
			.filter(TurnLease.class::isInstance)
			.map(TurnLease.class::cast)
			.sorted(Comparator.comparing(LockLease::key))
			.forEach((lease) -> {
				TurnLease.Renewal renewal = lease.beginRenewal();
				if (renewal != null) {
					this.begun.put(lease, renewal);
				}
			});
	}

	/**
	 * Without those whose turn is over. What the queue does not know is the store's own.
	 */
	private Map<LockLease, CompletionStage<Boolean>> ask(LockBackend store) {
		List<LockLease> asked = this.leases.stream()
			.filter((lease) -> !(lease instanceof TurnLease) || this.begun.containsKey(lease))
			.toList();
		Map<LockLease, CompletionStage<Boolean>> answers = new IdentityHashMap<>();
		if (!asked.isEmpty()) {
			Iterator<CompletionStage<Boolean>> all = store
				.renewAll(asked.stream().map(JointRenewal::ofStore).toList(), this.leaseTime)
				.iterator();
			asked.forEach((lease) -> answers.put(lease, all.next()));
		}
		return answers;
	}

	private static LockLease ofStore(LockLease lease) {
		return (lease instanceof TurnLease turn) ? turn.ofStore() : lease;
	}

	private CompletionStage<Boolean> end(LockLease lease, @Nullable CompletionStage<Boolean> answer) {
		if (answer == null) {
			return CompletableFuture.completedStage(false);
		}
		TurnLease.Renewal renewal = this.begun.get(lease);
		if (renewal != null) {
			boolean renewed = isYes(answer);
			this.begun.remove(lease);
			renewal.end(renewed, this.leaseTime);
		}
		return (lease instanceof TurnLease turn) ? answer.thenApply((renewed) -> renewed && !turn.isOver()) : answer;
	}

	private static boolean isYes(CompletionStage<Boolean> answer) {
		try {
			return answer.toCompletableFuture().join();
		}
		catch (CompletionException | CancellationException ex) {
			return false;
		}
	}

}
