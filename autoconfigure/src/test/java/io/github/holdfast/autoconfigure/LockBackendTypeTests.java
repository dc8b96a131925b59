package io.github.holdfast.autoconfigure;

import java.util.EnumSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Capability;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of what the backends offer.
 */
class LockBackendTypeTests {

	@Test
	void localOffersWhatTheTableSays() {
		LockedApplication.local()
			.run((context) -> assertOffers(context.getBean(LockBackend.class), LockBackendType.LOCAL));
	}

	@Test
	void jdbcOffersNoSharedLocksOnH2() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.run((context) -> assertThat(context.getBean(LockBackend.class).capabilities())
				.containsExactly(Capability.OPTIMISTIC));
	}

	@Test
	void remedyNamesTheBackendsThatCan() {
		assertThat(LockBackendType.remedy(Set.of(Capability.FAIR)))
			.contains("'holdfast.backend' to one that offers [FAIR] ('local', ")
			.contains("'holdfast.locks.<name>.backend'")
			.contains("'redisson'")
			.doesNotContain("'jdbc'");
	}

	@Test
	void remedyOfTheOptimisticModeIsTheFence() {
		assertThat(LockBackendType.remedy(Set.of(Capability.OPTIMISTIC))).contains("'holdfast.commit-guard' to 'fence'")
			.contains("'jdbc'");
	}

	static void assertOffers(LockBackend backend, LockBackendType type) {
		Set<Capability> offered = EnumSet.of(Capability.SHARED, Capability.FAIR);
		offered.retainAll(backend.capabilities());
		assertThat(type.capabilities()).isEqualTo(offered);
	}

}
