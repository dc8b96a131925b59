package io.github.holdfast;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A request that is half valid cannot be made.
 */
class LockRequestTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t\n" })
	void blankKeyIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> request(key, "name", "owner", SECOND, SECOND, 0))
			.withMessageContaining("key");
	}

	@Test
	void blankNameIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> request("key", "", "owner", SECOND, SECOND, 0))
			.withMessageContaining("name");
	}

	@Test
	void blankOwnerIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> request("key", "name", "", SECOND, SECOND, 0))
			.withMessageContaining("owner");
	}

	@Test
	void negativeWaitTimeIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> request("key", "name", "owner", Duration.ofNanos(-1), SECOND, 0))
			.withMessageContaining("Wait time");
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, -1 })
	void leaseTimeThatIsNotPositiveIsRefused(long nanos) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> request("key", "name", "owner", SECOND, Duration.ofNanos(nanos), 0))
			.withMessageContaining("Lease time");
	}

	@Test
	void negativeEpochIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> request("key", "name", "owner", SECOND, SECOND, -1))
			.withMessageContaining("epoch");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\ud83d", "\ude00a", "\ude00\ud83d" })
	void halfOfASurrogatePairIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> request(key, "name", "owner", SECOND, SECOND, 0))
			.withMessageContaining("surrogate");
	}

	@Test
	void keyOutsideOfTheBasicPlaneIsAccepted() {
		assertThat(request("lock:\ud83d\ude00", "name", "owner", SECOND, SECOND, 0).key()).isEqualTo("lock:😀");
	}

	@Test
	void copyDiffersOnlyInItsWaitTime() {
		LockRequest request = request("key", "name", "owner", SECOND, SECOND, 7);
		LockRequest copy = request.withWaitTime(Duration.ZERO);
		assertThat(copy.waitTime()).isZero();
		assertThat(copy.withWaitTime(SECOND)).isEqualTo(request);
	}

	private static LockRequest request(String key, String name, String owner, Duration waitTime, Duration leaseTime,
			long minEpoch) {
		return new LockRequest(key, name, LockRequest.Mode.EXCLUSIVE, false, waitTime, leaseTime, owner, "holder",
				minEpoch);
	}

}
