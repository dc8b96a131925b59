package io.github.holdfast.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.WaitingCall;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks in a hierarchy of contexts.
 */
class ContextHierarchyTests {

	@Test
	@Tag("F67")
	@SuppressWarnings("try")
	void closedChildLeavesTheWaitersOfItsParentAlone() {
		LockedApplication.local().withPropertyValues("holdfast.wait-time=60s").run((parent) -> {
			LockTemplate locks = parent.getBean(LockTemplate.class);
			LockedApplication.local()
				.withParent(parent)
				.run((child) -> assertThat(child.getBean(LockTemplate.class)).isSameAs(locks));
			CompletableFuture<Boolean> waiter;
			try (LockTemplate.Scope scope = locks.acquire("key")) {
				waiter = WaitingCall.start(locks, "key");
			}
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
		});
	}

}
