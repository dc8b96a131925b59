package io.github.holdfast.core;

import java.util.List;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who a holder says that it is.
 */
class LockOwnerTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
		LockOwner.forgetProcess();
	}

	/**
	 * Spring stops an application before the image is taken, and starts it where it is
	 * restored.
	 */
	@Test
	@Tag("F66")
	void holderIsTheProcessThatWasRestoredFromAnImage() {
		Supplier<String> image = () -> "1@where-the-image-was-taken ";
		ReflectionTestUtils.setField(LockOwner.class, "process", image);
		assertThat(holder()).startsWith("1@where-the-image-was-taken ");
		TemplateAccess.drain(this.locks);
		TemplateAccess.resume(this.locks);
		assertThat(holder()).startsWith(ProcessHandle.current().pid() + "@").doesNotContain("image");
	}

	private String holder() {
		this.locks.acquire("A").close();
		return this.backend.requests.get(this.backend.requests.size() - 1).holder();
	}

}
