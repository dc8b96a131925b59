package io.github.holdfast.transaction;

import java.util.concurrent.atomic.AtomicInteger;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.store.jdbc.JdbcLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is found out about a transaction manager at the start, and not again.
 */
class GuardedManagerTests {

	/**
	 * Finding a bean takes as long as half a statement, and would be done for each
	 * commit.
	 */
	@Test
	void fenceIsLookedUpOnce() {
		JdbcDataSource dataSource = new JdbcDataSource();
		Fence fence = JdbcLockBackend.fence(() -> dataSource);
		AtomicInteger lookups = new AtomicInteger();
		GuardedManager manager = new GuardedManager("transactionManager", new JdbcTransactionManager(dataSource),
				() -> CommitGuardLevel.FENCE, () -> {
					lookups.incrementAndGet();
					return fence;
				}, (name) -> false, (name) -> false, () -> BackendGuards.NONE);
		assertThat(manager.locks().guarding()).isEqualTo(CommitGuardLevel.FENCE);
		assertThat(manager.locks().fence()).isSameAs(manager.locks().fence()).isSameAs(fence);
		assertThat(lookups).hasValue(1);
	}

}
