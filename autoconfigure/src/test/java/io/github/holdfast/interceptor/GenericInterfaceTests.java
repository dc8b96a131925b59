package io.github.holdfast.interceptor;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Locked methods of generic types, where a bridge method stands for the method. */
class GenericInterfaceTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void methodOfAGenericInterfaceIsLocked(boolean classProxy) {
		run(classProxy, InvoiceHandler.class, (context) -> {
			Handler<Invoice> handler = handler(context, "invoiceHandler");
			assertThat(handler.handle(new Invoice("1"))).containsExactly("doc:1");
			assertThat(context.getBean(LockOperationSource.class).getAll(handler)).singleElement()
				.satisfies((operation) -> assertThat(LockOperationSource.callable(operation.method(), handler))
					.isNotNull());
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void annotationOfAGenericInterfaceCounts(boolean classProxy) {
		run(classProxy, AnnotatedHandler.class,
				(context) -> assertThat(
						GenericInterfaceTests.<Invoice>handler(context, "annotatedHandler").handle(new Invoice("1")))
					.containsExactly("doc:1"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void fallbackMethodOfAGenericInterfaceIsCalledThroughTheProxy(boolean classProxy) {
		run(classProxy, WithFallback.class, (context) -> {
			Handler<Invoice> handler = handler(context, "withFallback");
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockTemplate.Scope holder = CompletableFuture.supplyAsync(() -> locks.acquire("doc:1")).join();
			assertThat(handler.handle(new Invoice("1"))).containsExactly("later:1");
			holder.close();
		});
	}

	@SuppressWarnings("unchecked")
	private static <T> Handler<T> handler(AssertableApplicationContext context, String name) {
		return context.getBean(name, Handler.class);
	}

	private static void run(boolean classProxy, Class<?> bean, ContextConsumer<AssertableApplicationContext> test) {
		String name = Character.toLowerCase(bean.getSimpleName().charAt(0)) + bean.getSimpleName().substring(1);
		LockedApplication.local()
			.withPropertyValues("spring.aop.proxy-target-class=" + classProxy, "holdfast.wait-time=0s")
			.withBean(name, bean)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(AopUtils.isCglibProxy(context.getBean(name))).isEqualTo(classProxy);
				test.accept(context);
			});
	}

	private static List<String> heldKeys() {
		return LockContext.current().map(LockContext::keys).orElse(List.of());
	}

	record Invoice(String id) {

	}

	interface Handler<T> {

		List<String> handle(T t);

		default List<String> later(T t) {
			return List.of();
		}

	}

	static class InvoiceHandler implements Handler<Invoice> {

		@Override
		@DistributedLock("'doc:' + #invoice.id()")
		public List<String> handle(Invoice invoice) {
			return heldKeys();
		}

	}

	interface LockedHandler<T extends Invoice> extends Handler<T> {

		@Override
		@DistributedLock("'doc:' + #p0.id()")
		List<String> handle(T t);

	}

	static class AnnotatedHandler implements LockedHandler<Invoice> {

		@Override
		public List<String> handle(Invoice invoice) {
			return heldKeys();
		}

	}

	static class WithFallback implements Handler<Invoice> {

		@Override
		@DistributedLock(key = "'doc:' + #invoice.id()", fallbackMethod = "later")
		public List<String> handle(Invoice invoice) {
			return heldKeys();
		}

		@Override
		@DistributedLock("'later:' + #invoice.id()")
		public List<String> later(Invoice invoice) {
			return heldKeys();
		}

	}

}
