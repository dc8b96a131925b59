package io.github.holdfast.core;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Calls that lock many keys.
 */
@Tag("F71")
class ManyKeysTests {

	private static final int MOST = 1000;

	@Test
	void moreKeysThanTheLimitAreRefusedBeforeAnythingIsAcquired() {
		FakeLockBackend backend = new FakeLockBackend();
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			assertThatIllegalArgumentException().isThrownBy(() -> locks.acquire(keys(MOST + 1)))
				.withMessageContaining("1001 locks at once")
				.withMessageContaining("1000 allowed");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> locks.withMode(LockRequest.Mode.OPTIMISTIC).execute(keys(MOST + 1), () -> true));
			assertThat(backend.calls).isEmpty();
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	@Test
	@SuppressWarnings("try")
	void equalKeysCountOnce() {
		FakeLockBackend backend = new FakeLockBackend();
		List<String> twice = Stream.concat(keys(MOST).stream(), keys(MOST).stream()).toList();
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try (LockTemplate.Scope scope = locks.acquire(twice)) {
			assertThat(backend.held()).hasSize(MOST);
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(backend.held()).isEmpty();
	}

	@Test
	@SuppressWarnings("try")
	void heldKeysAreFoundWithoutASearchForEach() {
		AtomicLong looks = new AtomicLong();
		LocalLockBackend store = new LocalLockBackend();
		LockBackend backend = (request) -> counting(store.acquire(request), looks);
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try (LockTemplate.Scope outer = locks.acquire(keys(MOST));
				LockTemplate.Scope inner = locks.acquire(keys(MOST))) {
			assertThat(LockContext.current().orElseThrow().leases()).hasSize(MOST);
		}
		finally {
			TemplateAccess.close(locks);
		}
		assertThat(looks.get()).as("looks at the keys of leases").isLessThan(20 * MOST);
	}

	private static LockLease counting(LockLease lease, AtomicLong looks) {
		return (LockLease) Proxy.newProxyInstance(LockLease.class.getClassLoader(), new Class<?>[] { LockLease.class },
				(proxy, method, args) -> {
					if (method.getName().equals("key")) {
						looks.incrementAndGet();
					}
					try {
						return method.invoke(lease, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private static List<String> keys(int count) {
		return IntStream.range(0, count).mapToObj((i) -> "order-line:" + i).toList();
	}

}
