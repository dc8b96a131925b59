package io.github.holdfast.store.etcd;

import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RequiresEtcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A waiter is woken by what it watches, long before it would look by itself.
 */
@Timeout(60)
@RequiresEtcd
class DepartureTests {

	private static final long AN_HOUR = TimeUnit.HOURS.toNanos(1);

	private final ByteSequence key = Entry.bytes("/departure/" + UUID.randomUUID());

	private Client client;

	private Departure departure;

	@BeforeEach
	void connect() {
		this.client = EtcdClients.connect(EtcdServer.shared());
		this.departure = new Departure(new EtcdLocks(() -> this.client, "/departure/"));
	}

	@AfterEach
	void close() {
		this.departure.close();
		this.client.close();
	}

	@Test
	void waiterIsWokenWhenTheKeyIsDeleted() throws Exception {
		this.departure.expect(this.key, put());
		FutureTask<Boolean> waiter = startWaiting();
		await().during(300, TimeUnit.MILLISECONDS).until(() -> !waiter.isDone());
		put();
		await().during(300, TimeUnit.MILLISECONDS).until(() -> !waiter.isDone());
		delete();
		assertThat(waiter.get(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void keyThatWasDeletedBeforeTheWatchBeginsIsNoticed() throws Exception {
		this.departure.expect(this.key, put());
		delete();
		assertThat(startWaiting().get(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void watchOfARevisionThatIsGoneIsReplaced() throws Exception {
		long revision = put();
		put();
		long compacted = put();
		this.client.getKVClient().compact(compacted).join();
		this.departure.expect(this.key, revision);
		FutureTask<Boolean> waiter = start(() -> {
			while (!this.departure.await(TimeUnit.MILLISECONDS.toNanos(50))) {
				// As after each look
				this.departure.expect(this.key, compacted);
			}
			return true;
		});
		await().during(300, TimeUnit.MILLISECONDS).until(() -> !waiter.isDone());
		delete();
		assertThat(waiter.get(30, TimeUnit.SECONDS)).isTrue();
	}

	private FutureTask<Boolean> startWaiting() {
		return start(() -> this.departure.await(AN_HOUR));
	}

	private static FutureTask<Boolean> start(Callable<Boolean> call) {
		FutureTask<Boolean> waiter = new FutureTask<>(call);
		Thread thread = new Thread(waiter, "departure");
		thread.setDaemon(true);
		thread.start();
		return waiter;
	}

	private long put() {
		return this.client.getKVClient().put(this.key, this.key).join().getHeader().getRevision();
	}

	private void delete() {
		this.client.getKVClient().delete(this.key).join();
	}

}
