package io.github.holdfast.interceptor;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.store.local.LocalLockBackend;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** From the annotation and the properties to the settings of the lock. */
class DistributedLockTests {

	private final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	private final LockBackend backend = new LocalLockBackend();

	private final ApplicationContextRunner application = LockedApplication.local()
		.withBean(LockBackend.class, () -> (request) -> {
			if (!request.key().endsWith("startup-check")) {
				this.requests.add(request);
			}
			return this.backend.acquire(request);
		});

	@Test
	void callTakesTheLockOfItsMethodIfItHasOne() {
		assertThat(keys((service) -> service.literal())).containsExactly("orders");
		assertThat(keys((service) -> service.overloaded(1))).containsExactly("int:1");
		assertThat(keys((service) -> service.overloaded("1"))).containsExactly("text:1");
		assertThat(keys((service) -> service.packagePrivate())).containsExactly("package");
		assertThat(keys((service) -> service.free())).isEmpty();
	}

	@Test
	void conditionIsLookedAtBeforeTheKey() {
		assertThat(keys((service) -> service.conditional("SKU-1", 11))).containsExactly("SKU-1");
		assertThat(keys((service) -> service.conditional("SKU-1", 10))).isEmpty();
		assertThat(keys((service) -> service.conditional(null, 10))).isEmpty();
	}

	@Test
	void composedAnnotationSetsAttributes() {
		assertThat(keys((service) -> service.composed("SKU-1"))).containsExactly("composed:SKU-1");
		assertThat(this.requests.get(0)).satisfies((request) -> {
			assertThat(request.name()).isEqualTo("stock");
			assertThat(request.waitTime()).isLessThanOrEqualTo(Duration.ofMillis(70));
		});
	}

	@Test
	void annotationOfAGenericSuperclassIsFound() {
		this.application.withBean(OfText.class)
			.run((context) -> assertThat(context.getBean(OfText.class).handle("SKU-1"))
				.containsExactly("generic:SKU-1"));
	}

	@Test
	void nameIsClassAndMethodByDefault() {
		keys((service) -> service.literal());
		assertThat(this.requests.get(0).name()).isEqualTo("DistributedLockTests.Service.literal");
	}

	@Test
	void placeholdersInNameAndTimesAreResolved() {
		run(this.application.withPropertyValues("app.name=reports", "app.wait=PT30.5S", "app.lease=7s"),
				(service) -> service.placeholders());
		assertThat(this.requests.get(0)).satisfies((request) -> {
			assertThat(request.name()).isEqualTo("reports");
			assertThat(request.waitTime()).isLessThanOrEqualTo(Duration.ofMillis(30_500))
				.isGreaterThan(Duration.ofSeconds(10));
			assertThat(request.leaseTime()).isEqualTo(Duration.ofSeconds(7));
		});
	}

	@Test
	void timesAreThoseOfThePropertiesByDefault() {
		run(this.application.withPropertyValues("holdfast.wait-time=0s", "holdfast.lease-time=11s",
				"holdfast.key-prefix=shop:"), (service) -> service.literal());
		assertThat(this.requests.get(0)).satisfies((request) -> {
			assertThat(request.waitTime()).isZero();
			assertThat(request.leaseTime()).isEqualTo(Duration.ofSeconds(11));
			assertThat(request.key()).isEqualTo("shop:orders");
		});
	}

	@Test
	void shortestHoldIsTakenFromTheAnnotation() {
		List<LockListener.Outcome> outcomes = new ArrayList<>();
		run(this.application.withBean("outcomes", LockListener.class, () -> new LockListener() {

			@Override
			public void onReleased(Call call, Outcome outcome, Duration holdTime) {
				outcomes.add(outcome);
			}

		}), (service) -> service.minHold());
		assertThat(outcomes).containsExactly(LockListener.Outcome.HELD);
	}

	@Test
	void conditionThatIsNotBooleanIsRefused() {
		run(this.application,
				(service) -> assertThatExceptionOfType(IllegalArgumentException.class)
					.isThrownBy(() -> service.oddCondition("yes"))
					.withMessageContaining("#flag")
					.withMessageContaining("neither true nor false"));
	}

	@Test
	void lockThatIsExpectedButNotHeldIsAMistake() {
		assertThatIllegalStateException().isThrownBy(() -> LockContext.assertHeld("stock:A"))
			.withMessageContaining("Lock 'stock:A' is not held here: this thread holds no lock")
			.withMessageContaining("Likely causes: the locked method was called on 'this'");
	}

	@Test
	void exceptionOfTheMethodReachesTheCallerUnchanged() {
		run(this.application,
				(service) -> assertThatExceptionOfType(IOException.class).isThrownBy(() -> service.fails())
					.withMessage("body")
					.withNoCause());
		assertThat(lockedKeys()).containsExactly("fails");
	}

	@Test
	void exceptionOfABeanInTheKeyReachesTheCallerUnchanged() {
		run(this.application,
				(service) -> assertThatExceptionOfType(IllegalStateException.class)
					.isThrownBy(() -> service.failingBean())
					.withMessage("no tenant"));
		assertThat(this.requests).isEmpty();
	}

	private List<String> keys(Consumer<Service> call) {
		this.requests.clear();
		run(this.application, call);
		return lockedKeys();
	}

	private List<String> lockedKeys() {
		return this.requests.stream().map((request) -> request.key().substring("holdfast:".length())).toList();
	}

	private static void run(ApplicationContextRunner application, Consumer<Service> call) {
		application.withBean("tenant", Tenant.class)
			.withBean(Service.class)
			.run((context) -> call.accept(context.getBean(Service.class)));
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(key = "'overridden'", name = "stock")
	@interface StockLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "value")
		String value();

		@AliasFor(annotation = DistributedLock.class)
		String waitTime() default "70ms";

	}

	static class Tenant {

		public String fail() {
			throw new IllegalStateException("no tenant");
		}

	}

	static class Service {

		@DistributedLock(key = "'orders'")
		public void literal() {
		}

		@StockLock("'composed:' + #sku")
		public void composed(String sku) {
		}

		@DistributedLock(key = "'int:' + #value")
		public void overloaded(int value) {
		}

		@DistributedLock(key = "'text:' + #value")
		public void overloaded(String value) {
		}

		public void free() {
		}

		@DistributedLock(key = "'package'")
		void packagePrivate() {
		}

		@DistributedLock(key = "'placeholders'", name = "${app.name:none}", waitTime = "${app.wait:1s}",
				leaseTime = "${app.lease:1s}")
		public void placeholders() {
		}

		@DistributedLock(key = "'min-hold'", minHoldTime = "1m")
		public void minHold() {
		}

		@DistributedLock(key = "#sku", condition = "#quantity > 10")
		public void conditional(@Nullable String sku, int quantity) {
		}

		@DistributedLock(key = "'odd'", condition = "#flag")
		public void oddCondition(String flag) {
		}

		@DistributedLock(key = "'fails'")
		public void fails() throws IOException {
			throw new IOException("body");
		}

		@DistributedLock(key = "@tenant.fail()")
		public void failingBean() {
		}

	}

	abstract static class Generic<T> {

		@DistributedLock(key = "'generic:' + #p0")
		public abstract List<String> handle(T value);

	}

	static class OfText extends Generic<String> {

		@Override
		public List<String> handle(String value) {
			return LockContext.current().map(LockContext::keys).orElse(List.of());
		}

	}

}
