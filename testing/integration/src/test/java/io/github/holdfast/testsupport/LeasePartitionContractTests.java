package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.FaultProxy.Fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** More for a backend whose leases run out by time. */
public abstract class LeasePartitionContractTests extends PartitionContractTests {

	@ParameterizedTest
	@EnumSource(names = { "HOLD_REPLIES", "BLACKHOLE", "HOLD_REQUESTS" })
	final void holderThatIsCutOffKnowsItBeforeOthersGetTheLock(Fault fault) throws Exception {
		TestLease lease = TestLease.acquire(store().near(), request(PATIENCE, Duration.ofSeconds(1)));
		assertThat(lease).isNotNull();
		proxy().inject(fault);
		FutureTask<Boolean> renewal = Threads.start(() -> lease.renew(Duration.ofSeconds(1)));
		TestLease successor = acquired(store().far());
		assertThat(lease.isValid()).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get)
			.withCauseInstanceOf(LockBackendException.class);
		proxy().inject(Fault.NONE);
		connect();
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(successor.renew(PATIENCE)).isTrue();
		assertThat(release(successor).get()).isTrue();
	}

	@Test
	final void leaseOfASlowStoreIsCountedFromBeforeTheRequest() throws Exception {
		proxy().delay(Duration.ofMillis(300));
		TestLease slow = TestLease.acquire(store().near(), request(PATIENCE, Duration.ofSeconds(30)));
		assertThat(slow).isNotNull();
		assertThat(slow.remaining()).isLessThan(Duration.ofMillis(29_400));
		assertThat(slow.renew(Duration.ofSeconds(30))).isTrue();
		assertThat(slow.remaining()).isLessThan(Duration.ofMillis(29_400));
	}

}
