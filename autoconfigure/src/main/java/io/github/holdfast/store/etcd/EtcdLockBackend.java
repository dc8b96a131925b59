package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Polling;

/**
 * Locks in etcd 3.4 or later. Each acquisition has an etcd lease of its own and one key
 * with that lease:
 * <ol>
 * <li>the key is put, and in the same transaction those are looked for that were put
 * before;</li>
 * <li>whoever finds none holds the lock; others watch the last one before them until it
 * is gone, and look again;</li>
 * <li>the key is deleted to release the lock; the lease is revoked when nobody waits for
 * it any more.</li>
 * </ol>
 * So the lock is always fair. Shared locks look for exclusive ones only. With a wait time
 * of zero nothing is put while another one holds the lock or waits for it.
 *
 * <p>
 * Leases run by etcd's clock, in whole seconds and at least for the minimum of the server
 * (two seconds by default). The epoch is the revision at which the key was put, plus an
 * offset that rises when a request asks for more.
 *
 * @since 0.2.0
 */
public final class EtcdLockBackend implements LockBackend, AutoCloseable {

	private static final Set<Capability> CAPABILITIES = Set.of(Capability.FAIR, Capability.SHARED,
			Capability.RELEASE_NOT_AWAITED);

	private static final Duration FIRST_LOOK = Duration.ofMillis(500);

	private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(2);

	private final EtcdLocks locks;

	/**
	 * Create a backend.
	 * @param client supplies the client, at the first use; it is never closed
	 * @param namespace what all keys in etcd begin with
	 */
	public EtcdLockBackend(Supplier<Client> client, String namespace) {
		Assert.hasText(namespace, "Namespace must not be blank");
		this.locks = new EtcdLocks(SingletonSupplier.of(client), namespace);
	}

	/**
	 * A builder for a client that fits locks: each call but a watch ends in time, is
	 * refused by members without a leader, and fails at once if no member can be reached.
	 * @return the builder, which needs endpoints
	 */
	public static ClientBuilder clientBuilder() {
		return EtcdCalls.clientBuilder();
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		try (EtcdAcquisition acquisition = new EtcdAcquisition(this.locks, request)) {
			return polling(request.leaseTime()).until(request.waitTime(), acquisition::attempt, acquisition::pause);
		}
	}

	/**
	 * Each look prolongs the lease of the waiter, too.
	 */
	private static Polling polling(Duration leaseTime) {
		Duration longest = min(LONGEST_INTERVAL, leaseTime.dividedBy(3));
		return new Polling(min(FIRST_LOOK, longest), longest);
	}

	private static Duration min(Duration first, Duration second) {
		return (first.compareTo(second) < 0) ? first : second;
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return answer(key, "looked up", this.locks.first(key)).map(EtcdLocks.First::holder).orElse(null);
	}

	@Override
	public Eviction evict(String key, String owner, long epoch) {
		Optional<EtcdLocks.First> first = answer(key, "looked up", this.locks.first(key))
			.filter((held) -> held.holder().isOf(owner, epoch));
		boolean evicted = first.isPresent() && answer(key, "taken away", this.locks.delete(first.get()));
		return evicted ? Eviction.EVICTED : Eviction.NOT_HELD;
	}

	@Override
	public Status probe(String key) {
		return new Status(answer(key, "asked for", this.locks.describe()), null);
	}

	private static <T> T answer(String key, String what, CompletableFuture<T> answer) {
		try {
			return Answers.awaitUninterruptibly(answer, EtcdAnswers.TIMEOUT);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw EtcdAnswers.failure(key, what, ex);
		}
	}

	@Override
	public Set<Capability> capabilities() {
		return CAPABILITIES;
	}

	/**
	 * Stops what is still tried again because etcd has failed. The client stays open.
	 */
	@Override
	public void close() {
		this.locks.close();
	}

	@Override
	public String name() {
		return "etcd";
	}

	@Override
	public String toString() {
		return "backend 'etcd'";
	}

}
