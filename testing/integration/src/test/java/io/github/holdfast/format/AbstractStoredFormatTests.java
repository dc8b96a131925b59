package io.github.holdfast.format;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes of this version, and those that wrote what was recorded, exclude each other.
 */
abstract class AbstractStoredFormatTests {

	static final long RECORDED_EPOCH = 4102444800000000L;

	private RecordedStore store;

	abstract RecordedStore open();

	@BeforeEach
	void openStore() {
		this.store = open();
	}

	@AfterEach
	void closeStore() {
		if (this.store != null) {
			this.store.close();
		}
	}

	@Test
	void recordedHolderKeepsOthersOut() throws Exception {
		this.store.replay("held");
		assertThat(this.store.backend().acquire(request("lock:recorded", "own-owner", "own holder"))).isNull();
		LockHolder holder = this.store.backend().holder("lock:recorded");
		assertThat(holder).isNotNull();
		assertThat(holder.owner()).isEqualTo("recorded-owner");
		assertThat(holder.text()).containsPattern("recorded.holder");
	}

	@Test
	void epochRisesAboveTheRecordedOne() throws Exception {
		this.store.replay("held");
		this.store.replay("released");
		LockLease lease = this.store.backend().acquire(request("lock:recorded", "own-owner", "own holder"));
		assertThat(lease).isNotNull();
		assertThat(lease.epoch()).isGreaterThan(RECORDED_EPOCH);
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
	}

	@Test
	void holderWritesWhatWasRecorded() throws Exception {
		LockLease lease = this.store.backend().acquire(request("lock:written", "written-owner", "written holder"));
		assertThat(lease).isNotNull();
		assertThat(lease.renew(Duration.ofSeconds(60))).isTrue();
		assertThat(this.store.written())
			.as("a change of the format, which nodes of the version before must understand: see docs/upgrading.md")
			.isEqualTo(RecordedStore.read(this.store.name() + "-written.txt").lines().toList());
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
	}

	@Test
	void unknownFormatFailsTheStart() throws Exception {
		LockLease marker = this.store.backend()
			.acquire(request("lock:holdfast:format", "marker", "format 2 of Holdfast 9.0"));
		assertThat(marker).isNotNull();
		this.store.application()
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("knows format 1 only",
						"the lock 'lock:holdfast:format' is held by format 2 of Holdfast 9.0",
						"Run the version of Holdfast that the other nodes have."));
		assertThat(marker.release().toCompletableFuture().join()).isTrue();
		this.store.application().run((context) -> assertThat(context).hasNotFailed());
	}

	static LockRequest request(String key, String owner, String holder) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, Duration.ofSeconds(60),
				owner, holder, 0);
	}

}
