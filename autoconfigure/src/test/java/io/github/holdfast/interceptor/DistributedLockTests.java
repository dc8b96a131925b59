package io.github.holdfast.interceptor;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.store.local.LocalLockBackend;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * From the annotation to the keys and settings of the lock, through each kind of proxy.
 */
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

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void callTakesTheKeys(String description, Consumer<Service> call, String... keys) {
		assertThat(keys(call)).containsExactly(keys);
	}

	static Stream<Arguments> callTakesTheKeys() {
		return Stream.of(keys("key is a literal", (service) -> service.literal(), "orders"),
				keys("key names a parameter", (service) -> service.byName("SKU-1"), "inventory:SKU-1"),
				keys("key names a parameter by its position", (service) -> service.byPosition("SKU-1", 7), "SKU-1/7"),
				keys("key reads properties of a parameter", (service) -> service.property(new Line("SKU-1", 7)),
						"SKU-1"),
				keys("key reads a bean", (service) -> service.bean("SKU-1"), "acme:SKU-1"),
				keys("keys are the elements of a collection", (service) -> service.collection(List.of("B", "A", "B")),
						"A", "B"),
				keys("keys are the elements of an array", (service) -> service.array("B", "A"), "A", "B"),
				keys("keys are the elements of a primitive array", (service) -> service.primitives(2, 1), "1", "2"),
				keys("keys are a projection",
						(service) -> service.projection(List.of(new Line("B", 1), new Line("A", 2))), "inventory:A",
						"inventory:B"),
				keys("keys are a projection of a property",
						(service) -> service.nestedProjection(new Order("O-1", List.of(new Line("A", 2)))), "A:2"),
				keys("element of a projection may use parameters too",
						(service) -> service.projectionWithParameter("N1", List.of(new Line("A", 2))), "N1:A"),
				keys("keys are a projection of a map", (service) -> service.map(Map.of("A", 1)), "A=1"),
				keys("keys are an inline list", (service) -> service.inlineList("B", "A"), "from:B", "to:A"),
				keys("key is a ternary", (service) -> service.ternary("SKU-1", true), "big:SKU-1"),
				keys("key has a default for a missing value", (service) -> service.elvis(null), "inventory:none"),
				keys("empty collection needs no lock", (service) -> service.collection(List.of())),
				keys("overloaded methods have locks of their own", (service) -> service.overloaded(1), "int:1"),
				keys("overloaded methods have locks of their own", (service) -> service.overloaded("1"), "text:1"),
				keys("method without annotation is not locked", (service) -> service.free()),
				keys("package private method is locked", (service) -> service.packagePrivate(), "package"),
				keys("longest renewal is taken from the annotation", (service) -> service.maxHold(), "hold"),
				keys("method is locked when its condition is true", (service) -> service.conditional("SKU-1", 11),
						"SKU-1"),
				keys("method runs without a lock when its condition is false",
						(service) -> service.conditional("SKU-1", 10)),
				keys("condition is looked at before the key", (service) -> service.conditional(null, 10)));
	}

	private static Arguments keys(String description, Consumer<Service> call, String... keys) {
		return Arguments.of(description, call, keys);
	}

	@Test
	void keyReadsThePropertiesOfTheEnvironment() {
		run(this.application.withPropertyValues("app.tenant=acme"), (service) -> service.environment());
		assertThat(lockedKeys()).containsExactly("acme");
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
		this.application.withBean("tenant", Tenant.class)
			.withBean(Service.class)
			.run((context) -> assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> context.getBean(Service.class).oddCondition("yes"))
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

	record Line(String sku, int quantity) {

	}

	record Order(String number, List<Line> lines) {

	}

	static class Tenant {

		public String getId() {
			return "acme";
		}

		public String fail() {
			throw new IllegalStateException("no tenant");
		}

	}

	static class Service {

		@DistributedLock(key = "'orders'")
		public void literal() {
		}

		@DistributedLock(key = "'inventory:' + #sku")
		public void byName(String sku) {
		}

		@DistributedLock(key = "#p0 + '/' + #a1")
		public void byPosition(String sku, int quantity) {
		}

		@DistributedLock(key = "#line.sku")
		public void property(Line line) {
		}

		@DistributedLock(key = "@tenant.id + ':' + #sku")
		public void bean(String sku) {
		}

		@DistributedLock(key = "@environment.getProperty('app.tenant')")
		public void environment() {
		}

		@DistributedLock(key = "#skus")
		public void collection(Collection<String> skus) {
		}

		@DistributedLock(key = "#skus")
		public void array(String... skus) {
		}

		@DistributedLock(key = "#numbers")
		public void primitives(int... numbers) {
		}

		@DistributedLock(key = "#lines.!['inventory:' + sku]")
		public void projection(List<Line> lines) {
		}

		@DistributedLock(key = "#order.lines.![sku + ':' + quantity]")
		public void nestedProjection(Order order) {
		}

		@DistributedLock(key = "#node.isBlank() ? {} : #lines.![#node + ':' + sku]")
		public void projectionWithParameter(String node, List<Line> lines) {
		}

		@DistributedLock(key = "#stock.![key + '=' + value]")
		public void map(Map<String, Integer> stock) {
		}

		@DistributedLock(key = "{'from:' + #from, 'to:' + #to}")
		public void inlineList(String from, String to) {
		}

		@DistributedLock(key = "#big ? 'big:' + #sku : 'small:' + #sku")
		public void ternary(String sku, boolean big) {
		}

		@DistributedLock(key = "'inventory:' + (#sku ?: 'none')")
		public void elvis(@Nullable String sku) {
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

		@DistributedLock(key = "'hold'", maxHoldTime = "PT1M")
		public void maxHold() {
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
			return heldKeys();
		}

	}

	private static List<String> heldKeys() {
		return LockContext.current().map(LockContext::keys).orElse(List.of());
	}

}
