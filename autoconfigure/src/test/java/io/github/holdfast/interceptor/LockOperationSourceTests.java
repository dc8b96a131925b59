package io.github.holdfast.interceptor;

import org.junit.jupiter.api.Test;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

class LockOperationSourceTests {

	@Test
	void startsWhenTheFirstBeanIsALockedOne() {
		LockedApplication.local()
			.withBean(LockedBean.class)
			.run((context) -> assertThat(context.getBean(LockedBean.class).held("a")).isTrue());
	}

	static class LockedBean {

		@DistributedLock(key = "#key")
		public boolean held(String key) {
			return LockContext.current().isPresent();
		}

	}

}
