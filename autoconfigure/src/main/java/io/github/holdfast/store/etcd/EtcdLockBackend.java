package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling.Deadline;

/**
 * Locks in etcd 3.4 or later, through a {@link Client} that is never closed here. Each
 * acquisition has its own etcd lease and one key with that lease. The oldest key of a
 * lock holds it, so waiters of all nodes are served in order of arrival. A lock is freed
 * by deleting its key.
 *
 * <p>
 * The keys have the form of the Go client's {@code concurrency.Mutex}, so Go clients and
 * {@code etcdctl lock} exclude this one, and vice versa. Leases run by etcd's clock, in
 * whole seconds and at least for the minimum of the server (two seconds by default). The
 * epoch is the revision at which the key was created.
 */
public final class EtcdLockBackend implements ManageableLockBackend {

	private static final long PAUSE_MILLIS = 100;

	private final Supplier<Client> client;

	/**
	 * Create a backend.
	 * @param client supplies the client, at the first use
	 */
	public EtcdLockBackend(Supplier<Client> client) {
		this.client = SingletonSupplier.of(client);
	}

	/**
	 * A builder for a client that suits locks. Requests fail at once if no member can be
	 * reached, members without a leader reject them, and dead connections are detected.
	 * @return the builder, which needs endpoints
	 */
	public static ClientBuilder clientBuilder() {
		return Client.builder()
			.header("hasleader", "true")
			.waitForReady(false)
			.retryMaxAttempts(2)
			.retryDelay(50)
			.retryMaxDelay(500)
			// Etcd refuses clients that ask more often than every five seconds
			.keepaliveTime(Duration.ofSeconds(10))
			.keepaliveTimeout(Duration.ofSeconds(3))
			.keepaliveWithoutCalls(false);
	}

	private EtcdQueue queue(String key) {
		return EtcdQueue.of(this.client.get(), key);
	}

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		Deadline deadline = Deadline.after(request.waitTime());
		while (true) {
			try {
				return new EtcdAcquisition(queue(request.key()), request, deadline).await();
			}
			catch (ExecutionException | TimeoutException ex) {
				if (deadline.hasPassed() || !EtcdAnswers.isTransient(ex) && !EtcdAnswers.isLeaseGone(ex)) {
					throw EtcdAnswers.failure(request.key(), "acquired", ex);
				}
				Thread.sleep(PAUSE_MILLIS);
			}
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return holders(key).stream().findFirst().map((first) -> {
			String holder = first.getValue().toString(StandardCharsets.UTF_8);
			return new LockHolder("held by " + (holder.isEmpty() ? "another client of etcd" : holder), null, null,
					first.getCreateRevision());
		}).orElse(null);
	}

	private List<KeyValue> holders(String key) {
		EtcdQueue queue = queue(key);
		List<KeyValue> entries = answer(key, "inspected", queue.all());
		List<KeyValue> shared = entries.stream().takeWhile(queue::isShared).toList();
		return shared.isEmpty() ? entries.stream().limit(1).toList() : shared;
	}

	@Override
	public boolean forceRelease(String key) {
		boolean released = false;
		for (KeyValue holder : holders(key)) {
			released |= answer(key, "force-released", queue(key).delete(holder.getKey(), holder.getCreateRevision()));
		}
		return released;
	}

	/**
	 * A majority of the members takes part in the answer.
	 */
	@Override
	public Status ping() {
		GetResponse answer = answer("ping", "checked", queue("").entries().get(EtcdQueue.bytes("holdfast:ping")));
		return new Status("etcd cluster " + Long.toHexString(answer.getHeader().getClusterId()), null);
	}

	private static <T> T answer(String key, String what, CompletableFuture<T> answer) {
		try {
			return answer.orTimeout(EtcdAnswers.TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
		}
		catch (CompletionException ex) {
			throw EtcdAnswers.failure(key, what, ex);
		}
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SHARED, Capability.FAIR);
	}

	@Override
	public String name() {
		return "etcd";
	}

}
