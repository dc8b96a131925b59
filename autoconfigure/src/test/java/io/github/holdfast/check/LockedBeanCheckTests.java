package io.github.holdfast.check;

import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the check remembers of beans.
 */
@Tag("F60")
class LockedBeanCheckTests {

	static class Thing {

		@DistributedLock(key = "'thing'")
		public void work() {
		}

	}

	static class SelfReferring extends Thing {

		@Autowired
		@SuppressWarnings("unused")
		private SelfReferring self;

	}

	@Test
	void nothingIsRememberedOfBeansAfterTheStart() {
		LockedApplication.local()
			.withAllowCircularReferences(true)
			.withBean("lazy", SelfReferring.class, SelfReferring::new, (definition) -> definition.setLazyInit(true))
			.withBean("eager", SelfReferring.class)
			.run((context) -> {
				LockedBeanCheck check = context.getBean(LockedBeanCheck.class);
				assertThat(remembered(check)).isZero();
				AutowireCapableBeanFactory beans = context.getAutowireCapableBeanFactory();
				for (int i = 0; i < 100; i++) {
					beans.initializeBean(new Object(), "object-" + i);
					beans.initializeBean(new Thing(), "thing-" + i);
				}
				context.getBean("lazy");
				assertThat(remembered(check)).isZero();
			});
	}

	private static int remembered(LockedBeanCheck check) {
		AtomicInteger size = new AtomicInteger();
		ReflectionUtils.doWithLocalFields(LockedBeanCheck.class, (field) -> {
			Object value = Modifier.isStatic(field.getModifiers()) ? null
					: ReflectionTestUtils.getField(check, field.getName());
			if (value instanceof Collection<?> all) {
				size.addAndGet(all.size());
			}
			else if (value instanceof Map<?, ?> all) {
				size.addAndGet(all.size());
			}
		});
		return size.get();
	}

}
