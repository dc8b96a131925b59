package io.github.holdfast.interceptor;

import io.github.holdfast.DistributedLock;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a native image has to contain for the locked methods of a bean.
 */
class LockedBeanAotProcessorTests {

	@Test
	void lockedMethodFallbackAndParametersAreReachable() {
		TestGenerationContext generation = new TestGenerationContext();
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean(Orders.class);
		new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		RuntimeHints hints = generation.getRuntimeHints();
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Orders.class, "confirm")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Orders.class, "later")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Order.class, "customer")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Customer.class, "id")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Orders.class, "free")).rejects(hints);
	}

	record Order(Customer customer) {

	}

	record Customer(String id) {

	}

	static class Orders {

		@DistributedLock(key = "'order:' + #order.customer.id", fallbackMethod = "later")
		public void confirm(Order order) {
		}

		public void later(Order order) {
		}

		public void free() {
		}

	}

}
