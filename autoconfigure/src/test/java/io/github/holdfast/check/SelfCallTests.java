package io.github.holdfast.check;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.AopContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.autoconfigure.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls of a locked method on the own object: found in the class files of a bean, and no
 * other calls are taken for one.
 */
@Tag("F09")
@ExtendWith(OutputCaptureExtension.class)
class SelfCallTests {

	// Calls that take no lock

	abstract static class Stock {

		@DistributedLock(key = "'stock:' + #sku")
		public boolean deduct(String sku) {
			return LockContext.current().isPresent();
		}

	}

	static class Plain extends Stock {

		public boolean confirm(String sku) {
			return deduct(sku);
		}

	}

	static class InPrivateMethod extends Stock {

		public boolean confirm(String sku) {
			return confirmAtOnce(sku);
		}

		private boolean confirmAtOnce(String sku) {
			return deduct(sku);
		}

	}

	static class InLambda extends Stock {

		public Supplier<Boolean> confirm(String sku) {
			return () -> deduct(sku);
		}

	}

	static class MethodReference extends Stock {

		public void confirm(List<String> skus) {
			skus.forEach(this::deduct);
		}

	}

	static class ReferenceToSuper extends Stock {

		public void confirm(List<String> skus) {
			skus.forEach(super::deduct);
		}

	}

	static class InConstructor extends Stock {

		@SuppressWarnings("this-escape")
		InConstructor() {
			deduct("A");
		}

	}

	static class ByVariable extends Stock {

		public boolean confirm(String sku) {
			ByVariable stock = this;
			return stock.deduct(sku);
		}

	}

	static class ToSuper extends Stock {

		public boolean confirm(String sku) {
			return super.deduct(sku);
		}

	}

	static class Overload {

		@DistributedLock(key = "'stock:' + #sku")
		public boolean deduct(String sku, int quantity) {
			return LockContext.current().isPresent();
		}

		public boolean deduct(String sku) {
			return deduct(sku, 1);
		}

	}

	static class OtherKey extends Stock {

		@DistributedLock(key = "'order:' + #sku")
		public boolean confirm(String sku) {
			return deduct(sku);
		}

	}

	static class BehindMuch extends Stock {

		private final long[] numbers = new long[3];

		private double sum;

		public boolean confirm(String sku, int choice) {
			this.numbers[choice]++;
			this.sum += (this.numbers[0] > 3L) ? 1.5 : this.numbers[1] * 2;
			String text = switch (choice) {
				case 0 -> sku;
				case 1 -> sku + choice;
				default -> {
					try {
						yield String.valueOf(Long.parseLong(sku) >>> 3);
					}
					catch (NumberFormatException ex) {
						yield ex.getMessage();
					}
				}
			};
			for (int i = 0; i < choice; i++) {
				synchronized (this) {
					text = text + new int[2][3].length + (this instanceof Stock) + this.sum;
				}
			}
			return choice > 3 && deduct((text.length() > 5) ? text : sku);
		}

	}

	abstract static class TemplateMethod {

		public boolean confirm(String sku) {
			return work(sku);
		}

		protected abstract boolean work(String sku);

	}

	static class BySuperclass extends TemplateMethod {

		@Override
		@DistributedLock(key = "#sku")
		protected boolean work(String sku) {
			return LockContext.current().isPresent();
		}

	}

	abstract static class GenericTemplate<T> {

		public boolean confirm(T item) {
			return work(item);
		}

		protected abstract boolean work(T item);

	}

	static class ByGenericSuperclass extends GenericTemplate<String> {

		@Override
		@DistributedLock(key = "#sku")
		protected boolean work(String sku) {
			return LockContext.current().isPresent();
		}

	}

	interface Confirming {

		@DistributedLock(key = "#p0")
		boolean deduct(String sku);

		default boolean confirm(String sku) {
			return deduct(sku);
		}

	}

	static class ByInterface implements Confirming {

		@Override
		public boolean deduct(String sku) {
			return LockContext.current().isPresent();
		}

	}

	static class Cautious extends Stock {

		@DistributedLock(key = "'all'", mode = LockMode.SHARED)
		public boolean count() {
			return true;
		}

		@DistributedLock(key = "'all'")
		public boolean close() {
			return count();
		}

	}

	@Configuration
	static class OfConfiguration {

		@Bean
		String confirmed() {
			return prepare();
		}

		@DistributedLock(key = "'a'")
		String prepare() {
			return "";
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, InPrivateMethod.class, InLambda.class, MethodReference.class,
			ReferenceToSuper.class, InConstructor.class, ByVariable.class, ToSuper.class, Overload.class,
			OtherKey.class, BehindMuch.class, BySuperclass.class, ByGenericSuperclass.class, ByInterface.class,
			OfConfiguration.class })
	void callOnTheOwnObjectFailsTheStart(Class<?> bean) {
		assertRefused(LockedApplication.local().withBean("stock", bean), "bean 'stock'", "past the proxy", " calls ",
				"'holdfast.startup-checks'");
	}

	@Test
	void callerAndCalleeAreNamed() {
		assertRefused(LockedApplication.local().withBean(Plain.class),
				"SelfCallTests.Plain.confirm calls SelfCallTests.Plain.deduct(String)");
		assertRefused(LockedApplication.local().withBean(InLambda.class), "SelfCallTests.InLambda.confirm calls");
		assertRefused(LockedApplication.local().withBean(InConstructor.class),
				"SelfCallTests.InConstructor.<init> calls");
		assertRefused(LockedApplication.local().withBean(BySuperclass.class), "SelfCallTests.TemplateMethod.confirm",
				"SelfCallTests.BySuperclass.work(String)");
	}

	@Test
	void modeOfTheCallerMustBeTheSame() {
		assertRefused(LockedApplication.local().withBean(Cautious.class), "Cautious.close", "Cautious.count()");
	}

	// Calls that do

	static class SelfInjected extends Stock {

		private final SelfInjected self;

		SelfInjected(@Lazy SelfInjected self) {
			this.self = self;
		}

		public boolean confirm(String sku) {
			return this.self.deduct(sku);
		}

	}

	static class SelfInjectedOrThis extends Stock {

		private final SelfInjectedOrThis self;

		SelfInjectedOrThis(@Lazy SelfInjectedOrThis self) {
			this.self = self;
		}

		public boolean confirm(String sku) {
			SelfInjectedOrThis target = this;
			if (this.self != null) {
				target = this.self;
			}
			return ((this.self != null) ? this.self : this).deduct(sku) && target.deduct(sku);
		}

	}

	static class CurrentProxy extends Stock {

		public boolean confirm(String sku) {
			return ((CurrentProxy) AopContext.currentProxy()).deduct(sku);
		}

	}

	static class Overriding extends Stock {

		@Override
		public boolean deduct(String sku) {
			return super.deduct(sku);
		}

		public boolean confirm(Stock other, String sku) {
			return other.deduct(sku);
		}

	}

	static class OverriddenCaller extends Plain {

		@Override
		public boolean confirm(String sku) {
			return true;
		}

	}

	static class OverriddenCallerByIntention extends Plain {

		@Override
		public boolean confirm(String sku) {
			return super.confirm(sku);
		}

	}

	static class SameLiteralKey {

		@DistributedLock(key = "'tree'")
		public int walk(int depth) {
			return (depth > 0) ? walk(depth - 1) + 1 : 0;
		}

		@DistributedLock(key = "'tree'")
		public int walkAll() {
			return walk(3);
		}

	}

	static class SameDynamicKey {

		@DistributedLock(key = "'tree:' + #node")
		public int walk(String node) {
			return node.isEmpty() ? 0 : walkAll(node) + 1;
		}

		@DistributedLock(key = "'tree:' + #node")
		public int walkAll(String node) {
			return walk(node.substring(1));
		}

	}

	abstract static class Handler<T> {

		@DistributedLock(key = "'doc:' + #document")
		public boolean handle(T document) {
			return LockContext.current().isPresent();
		}

	}

	/** Overrides a method of a generic superclass, which has a bridge then. */
	@Tag("F6")
	static class GenericOverriding extends Handler<String> {

		@Override
		public boolean handle(String document) {
			return super.handle(document);
		}

	}

	static class OtherOverload {

		@DistributedLock(key = "#sku")
		public boolean deduct(String sku) {
			return work(sku);
		}

		public boolean deduct(Integer sku) {
			return work(sku.toString());
		}

		public boolean confirm() {
			return deduct(1);
		}

		private boolean work(String sku) {
			return !sku.isEmpty();
		}

	}

	static class OfArgument extends Stock {

		public void confirm(List<? extends Stock> others, Consumer<Stock> consumer) {
			others.forEach((other) -> other.deduct("A"));
			consumer.accept(this);
		}

		static boolean confirm(OfArgument other) {
			return other.deduct("A");
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { SelfInjected.class, SelfInjectedOrThis.class, CurrentProxy.class, Overriding.class,
			GenericOverriding.class, OverriddenCaller.class, SameLiteralKey.class, SameDynamicKey.class,
			OtherOverload.class, OfArgument.class })
	void otherCallsAreAccepted(Class<?> bean) {
		LockedApplication.local().withBean(bean).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void overriddenCallerThatIsCalledIsRefused() {
		assertRefused(LockedApplication.local().withBean(OverriddenCallerByIntention.class), "Plain.confirm calls");
	}

	@Test
	void callThroughTheReferenceToItselfIsLocked() {
		LockedApplication.local()
			.withBean(SelfInjected.class)
			.run((context) -> assertThat(context.getBean(SelfInjected.class).confirm("A")).isTrue());
	}

	@Test
	void warningIsLoggedIfThatIsAskedFor(CapturedOutput output) {
		LockedApplication.local()
			.withPropertyValues("holdfast.startup-checks=warn")
			.withBean("stock", Plain.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Plain.class).confirm("A")).isFalse();
			});
		assertThat(output).contains("WARN", "bean 'stock'", "Plain.confirm", "take no lock");
	}

	@Test
	void prototypeIsRefusedWhenItIsMade() {
		LockedApplication.local()
			.withBean("stock", Plain.class, Plain::new, (definition) -> definition.setScope("prototype"))
			.run((context) -> assertThat(failure(() -> context.getBean("stock"))).contains("Plain.confirm"));
	}

	private static String failure(Supplier<Object> action) {
		try {
			action.get();
		}
		catch (RuntimeException ex) {
			return configurationFailure(ex).getMessage();
		}
		throw new AssertionError("There was no failure");
	}

	private static void assertRefused(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			assertThat(configurationFailure(context.getStartupFailure()).getMessage()).contains(text);
		});
	}

	private static LockConfigurationException configurationFailure(Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof LockConfigurationException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOf(LockConfigurationException.class);
		return (LockConfigurationException) cause;
	}

}
