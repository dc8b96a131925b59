package io.github.holdfast.check;

import java.util.List;
import java.util.stream.Stream;

import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.autoconfigure.HiddenLock;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.LockContext;
import io.github.holdfast.interceptor.TestCompiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.spy;

/** Each way to an annotated method takes the lock, or the application does not start. */
class NeverUnlockedTests {

	/** What the beans below extend and implement. */
	private static final String TYPES = """
			import io.github.holdfast.*;
			interface Api { @DistributedLock(key = "#p0") boolean deduct(String sku); }
			interface SubApi extends Api { }
			interface SameApi { @DistributedLock(key = "#p0") boolean deduct(String sku); }
			interface OtherApi { @DistributedLock(key = "'other:' + #p0") boolean deduct(String sku); }
			interface GenericApi<T> { @DistributedLock(key = "#p0") boolean handle(T value); }
			abstract class Base {
				public boolean deduct(String sku) { return Lock.isHeld(sku); }
				public boolean deduct(Integer sku) { return Lock.isHeld(sku); }
			}
			abstract class GenericBase<T> {
				public boolean deduct(T sku) { return Lock.isHeld(sku); }
				public boolean handle(T value) { return Lock.isHeld(value); }
			}
			class Annotated { @DistributedLock(key = "#p0") public boolean deduct(String sku) { return Lock.isHeld(sku); } }
			class Overriding extends Annotated {
				@Override public boolean deduct(String sku) { return Lock.isHeld(sku); }
			}
			class Lock {
				static boolean isHeld(Object key) {
					return LockContext.current().filter((lock) -> lock.keys().contains(key)).isPresent();
				}
			}
			""";

	/** All methods with a text as their argument are locked. */
	private static final String BEANS = """
			Bean extends Base implements SubApi { }

			Bean extends GenericBase<String> implements Api, GenericApi<String> { }

			Bean extends Overriding { }

			Bean extends Overriding { @Override public boolean deduct(String sku) { return super.deduct(sku); } }

			Bean implements Api, SameApi { @Override public boolean deduct(String sku) { return Lock.isHeld(sku); } }

			Bean implements Api, OtherApi {
				@Override @DistributedLock(key = "'own:' + #sku")
				public boolean deduct(String sku) { return Lock.isHeld("own:" + sku); }
			}
			""";

	@ParameterizedTest
	@MethodSource
	void methodIsLockedAsItsInterfaceOrSuperclassSays(String source, boolean classProxy) throws Exception {
		Class<?> type = TestCompiler.compiled("Bean", TYPES + "class " + source, "-parameters");
		LockedApplication.local()
			.withClassLoader(type.getClassLoader())
			.withPropertyValues("spring.aop.proxy-target-class=" + classProxy)
			.withBean("bean", type)
			.run((context) -> {
				Object bean = context.getBean("bean");
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isEqualTo(!classProxy && source.contains("implements"));
				assertThat(bean.getClass().getMethods())
					.filteredOn((method) -> List.of("deduct", "handle").contains(method.getName()))
					.isNotEmpty()
					.allSatisfy((method) -> {
						boolean isNumber = method.getParameterTypes()[0] == Integer.class;
						assertThat(AopUtils.invokeJoinpointUsingReflection(bean, method,
								new Object[] { isNumber ? 1 : "A" }))
							.isEqualTo(!isNumber);
					});
			});
	}

	static Stream<Arguments> methodIsLockedAsItsInterfaceOrSuperclassSays() {
		return Stream.of(BEANS.split("\n\n"))
			.flatMap((source) -> Stream.of(true, false).map((classProxy) -> Arguments.of(source, classProxy)));
	}

	static class Service {

		@DistributedLock(key = "'a'")
		public boolean work() {
			return isLocked();
		}

	}

	@Aspect
	static class LockedAspect extends Service {

	}

	/** Spring makes no proxy of an aspect. */
	@Test
	void beanWithoutAProxyIsRefusedWhenItIsMadeAfterTheStart() {
		LockedApplication.assertRefused(LockedApplication.local().withBean(LockedAspect.class),
				"has no proxy that takes locks");
		LockedApplication.local()
			.withBean(LockedAspect.class, LockedAspect::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean(LockedAspect.class))
				.withRootCauseInstanceOf(LockConfigurationException.class)
				.withStackTraceContaining("has no proxy that takes locks"));
	}

	@Test
	void beansOfParentAndChildWithLocksAreLocked() {
		LockedApplication.local().withBean("inParent", Service.class).run((parent) -> {
			try (AnnotationConfigApplicationContext plain = new AnnotationConfigApplicationContext()) {
				plain.setParent(parent);
				plain.refresh();
				assertThat(plain.getBean(Service.class).work()).isTrue();
			}
			LockedApplication.local().withParent(parent).withBean("inChild", Service.class).run((child) -> {
				assertThat(child.getBean("inParent", Service.class).work()).isTrue();
				assertThat(child.getBean("inChild", Service.class).work()).isTrue();
			});
		});
	}

	interface Made {

		boolean work();

	}

	static class MadeByFactory extends Service implements Made {

	}

	static class MadeFactory implements FactoryBean<Made> {

		@Override
		public Made getObject() {
			return new MadeByFactory();
		}

		@Override
		public Class<?> getObjectType() {
			return Made.class;
		}

	}

	static class LockedPostProcessor extends Service implements BeanPostProcessor {

	}

	@Test
	void beanIsLockedInWhateverWayItIsMade() {
		LockedApplication.local()
			.withBean("made", MadeFactory.class)
			.withBean(LockedPostProcessor.class)
			.withBean("spy", Service.class, () -> spy(new Service()))
			.withBean("prototype", Service.class, Service::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> {
				((GenericApplicationContext) context.getSourceApplicationContext()).registerBean("late", Service.class);
				assertThat(context.getBean(Made.class).work()).isTrue();
				assertThat(context.getBean(LockedPostProcessor.class).work()).isTrue();
				for (String name : List.of("spy", "prototype", "late")) {
					assertThat(context.getBean(name, Service.class).work()).as(name).isTrue();
				}
				assertThat(context.getAutowireCapableBeanFactory().createBean(Service.class).work()).isTrue();
			});
	}

	interface Defaulting {

		@DistributedLock(key = "'a'")
		default boolean byDefault() {
			return isLocked();
		}

	}

	static class DefaultingBean implements Defaulting {

	}

	@Configuration
	static class Beans {

		@Bean
		Defaulting defaulting() {
			return new DefaultingBean();
		}

		@Bean
		@Scope(value = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.TARGET_CLASS)
		Service scoped() {
			return new Service();
		}

		@Bean
		@DistributedLock(key = "'a'")
		Boolean factoryMethod() {
			return isLocked();
		}

		@DistributedLock(key = "'a'")
		boolean ofConfiguration() {
			return isLocked();
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void beansOfAConfigurationAreLocked(boolean classProxy) {
		LockedApplication.local()
			.withPropertyValues("spring.aop.proxy-target-class=" + classProxy)
			.withUserConfiguration(Beans.class)
			.run((context) -> {
				assertThat(context.getBean(Defaulting.class).byDefault()).isTrue();
				assertThat(context.getBean("scoped", Service.class).work()).isTrue();
				assertThat(context.getBean("factoryMethod")).isEqualTo(true);
				assertThat(context.getBean(Beans.class).ofConfiguration()).isTrue();
			});
	}

	public static class InOtherPackage extends HiddenLock {

	}

	@Test
	void methodThatOnlyAnotherPackageCanOverrideFailsTheStart() {
		LockedApplication.assertRefused(LockedApplication.local().withBean(InOtherPackage.class),
				"InOtherPackage.isLocked()", "package-private in another package", "make it public or protected");
	}

	private static boolean isLocked() {
		return LockContext.current().isPresent();
	}

}
