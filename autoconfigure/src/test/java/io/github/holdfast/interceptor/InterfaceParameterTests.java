package io.github.holdfast.interceptor;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockListener;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys that name parameters of an interface, in beans with generated methods. */
class InterfaceParameterTests {

	interface Stock<T> {

		@DistributedLock(key = "{#sku, #store}", condition = "#sku != 'free'")
		String deduct(T sku, String store);

	}

	private static String join(String sku, String store) {
		return sku + store;
	}

	enum Kind {

		LAMBDA(() -> (sku, store) -> join(sku, store)),

		METHOD_REFERENCE(() -> InterfaceParameterTests::join),

		CLIENT(() -> stock(ProxyFactory.getProxy(Stock.class,
				(MethodInterceptor) (invocation) -> join((String) invocation.getArguments()[0],
						(String) invocation.getArguments()[1])))),

		MAPPER(() -> stock(Proxy.newProxyInstance(Stock.class.getClassLoader(), new Class<?>[] { Stock.class },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "deduct" -> join((String) arguments[0], (String) arguments[1]);
					case "hashCode" -> System.identityHashCode(proxy);
					case "equals" -> proxy == arguments[0];
					default -> "mapper";
				})));

		private final Supplier<Stock<String>> bean;

		Kind(Supplier<Stock<String>> bean) {
			this.bean = bean;
		}

		@SuppressWarnings("unchecked")
		private static Stock<String> stock(Object proxy) {
			return (Stock<String>) proxy;
		}

	}

	@ParameterizedTest
	@EnumSource
	@SuppressWarnings("unchecked")
	void parameterOfTheInterfaceIsFound(Kind kind) {
		List<String> locked = new CopyOnWriteArrayList<>();
		LockedApplication.local()
			.withBean("stock", Stock.class, kind.bean::get)
			.withBean(LockListener.class, () -> new LockListener() {

				@Override
				public void onAcquired(Call call, Duration waitTime) {
					locked.addAll(call.keys());
				}

			})
			.run((context) -> {
				Stock<String> stock = context.getBean(Stock.class);
				assertThat(stock.deduct("A", "1")).isEqualTo("A1");
				assertThat(locked).containsExactlyInAnyOrder("A", "1");
				assertThat(stock.deduct("free", "1")).isEqualTo("free1");
				assertThat(locked).hasSize(2);
			});
	}

}
