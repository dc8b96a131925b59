package io.github.holdfast.interceptor;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys that would lock nothing, or merge locks that have nothing to do with each other.
 */
class RefusedKeyTests {

	@Test
	void nullKeyIsRefused() {
		assertRefused((service) -> service.plain(null), "\"#value\"", "plain(Object)", "#value is null");
	}

	@Test
	void blankKeyIsRefused() {
		assertRefused((service) -> service.plain(" "), "\"#value\"", "#value is blank");
	}

	@Test
	void emptyKeyIsRefused() {
		assertRefused((service) -> service.plain(""), "#value is blank");
	}

	@Test
	void nullElementIsRefused() {
		assertRefused((service) -> service.plain(Arrays.asList("a", null)), "element 1 of #value is null");
	}

	@Test
	void blankElementIsRefused() {
		assertRefused((service) -> service.plain(new String[] { "a", " " }), "element 1 of #value is blank");
	}

	@Test
	void emptyOptionalIsRefused() {
		assertRefused((service) -> service.plain(Optional.empty()), "#value is null");
	}

	@Test
	void iterableThatIsNoCollectionIsRefusedEvenWithoutElements() {
		Iterable<String> nothing = Collections::emptyIterator;
		assertRefused((service) -> service.plain(nothing), "#value is a");
	}

	@Test
	void identityHashInsideOfATextIsRefused() {
		assertRefused((service) -> service.plain(new Pair("a", new Object())), "#value is a RefusedKeyTests.Pair");
	}

	record Pair(String name, Object value) {

	}

	@Test
	void objectWithoutTextOfItsOwnIsRefused() {
		assertRefused((service) -> service.plain(new NoText()), "#value is a RefusedKeyTests.NoText",
				"use one of its properties");
	}

	@Test
	void objectWithoutTextOfItsOwnIsRefusedWhateverItsClassAndHashCodeAre() throws ReflectiveOperationException {
		Object unpackaged = Class.forName("KeyWithoutPackage").getDeclaredConstructor().newInstance();
		Runnable lambda = () -> {
		};
		assertThat(unpackaged).hasToString("KeyWithoutPackage@2a");
		assertRefused((service) -> service.plain(unpackaged), "#value is a KeyWithoutPackage", "no text form");
		assertRefused((service) -> service.plain(lambda), "no text form");
	}

	@Test
	void textThatContainsTheIdentityHashIsRefused() {
		assertRefused((service) -> service.plain(new IdentityText()), "#value is a RefusedKeyTests.IdentityText");
	}

	@Test
	void mapIsRefused() {
		assertRefused((service) -> service.plain(Map.of("a", 1)), "#value is a", "projection");
	}

	@Test
	void hugeKeyIsRefused() {
		assertRefused((service) -> service.plain("x".repeat(5000)), "5000 characters");
	}

	@Test
	@Tag("F72")
	void hugeTextOfAnObjectIsRefusedBeforeItIsLookedAt() {
		assertRefused((service) -> service.plain(new Text("a.".repeat(4000))), "8000 characters");
		assertRefused((service) -> service.plain(new Text("a".repeat(100_000))), "100000 characters");
	}

	@Test
	@Tag("F72")
	void longTextOfAnObjectNeedsNoStack() throws InterruptedException {
		String dots = "a.".repeat(2000);
		AtomicReference<Object> text = new AtomicReference<>();
		Thread thread = new Thread(null, () -> {
			try {
				text.set(KeyText.of(new Text(dots), () -> "#value"));
			}
			catch (Throwable ex) {
				text.set(ex);
			}
		}, "small-stack", 256 * 1024);
		thread.start();
		thread.join();
		assertThat(text.get()).isEqualTo(dots);
		assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(new Text(dots + "b@1a2b"), () -> "#value"))
			.withMessageContaining("no text form of its own");
	}

	record Text(String text) {

		@Override
		public String toString() {
			return this.text;
		}

	}

	@ParameterizedTest
	@MethodSource
	void textOfSeveralComponentsIsRefused(Object order) {
		assertRefused((service) -> service.plain(order), "#value is a ", "which has the text '", "#value.id");
		assertRefused((service) -> service.concatenation("order", order), "#sku is a ", "#sku.id");
		assertRefused((service) -> service.projection(List.of(new Line(order))), "sku is a ");
	}

	static Stream<Object> textOfSeveralComponentsIsRefused() {
		return Stream.of(new Order(1, 2), new OrderWithText("Order(id=1, quantity=2)"),
				new OrderWithText("RefusedKeyTests.Order(id=1, quantity=2)"),
				new OrderWithText("Order{id='1', quantity=2}"));
	}

	@Test
	void textOfAKeyIsAccepted() {
		run((service) -> {
			assertThat(service.concatenation("order", new OrderId("1, quantity=2")))
				.containsExactly("order:OrderId[value=1, quantity=2]");
			assertThat(service.concatenation("stock", new StockKey("W1", "SKU-1"))).containsExactly("stock:W1/SKU-1");
		});
	}

	@Test
	void sumOfTwoNumbersIsRefused() {
		assertRefused((service) -> service.sum(1, 2L), "#a + #b", "adds two numbers", "#a + ':' + #b");
		assertRefused((service) -> service.sumInAConcatenation(1, 2), "adds two numbers");
	}

	@Test
	void numberOfTheExpressionIsAdded() {
		run((service) -> assertThat(service.next(1)).containsExactly("2"));
	}

	record Order(long id, int quantity) {

	}

	record OrderId(String value) {

	}

	record StockKey(String warehouse, String sku) {

		@Override
		public String toString() {
			return this.warehouse + "/" + this.sku;
		}

	}

	/**
	 * As Lombok, Kotlin and development environments generate it.
	 */
	static class OrderWithText {

		private final String text;

		OrderWithText(String text) {
			this.text = text;
		}

		@Override
		public String toString() {
			return this.text.replace("Order", "OrderWithText");
		}

	}

	@Test
	@Tag("F50")
	void nullPartOfAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation("inv", null), "\"#prefix + ':' + #sku\"", "#sku is null");
	}

	@Test
	@Tag("F50")
	void nullFirstPartOfAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation(null, "SKU-1"), "#prefix is null");
	}

	@Test
	void collectionInAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation("inv", List.of("a")), "#sku is a", "#lines.!['inventory:'");
	}

	@Test
	void arrayInAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation("inv", new int[] { 1 }), "#sku is a int[]");
	}

	@Test
	void objectWithoutTextInAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation("inv", new NoText()), "#sku is a RefusedKeyTests.NoText");
	}

	@Test
	void emptyOptionalInAConcatenationIsRefused() {
		assertRefused((service) -> service.concatenation("inv", Optional.empty()), "#sku is null");
	}

	@Test
	@Tag("F50")
	void nullPropertyInAProjectionIsRefused() {
		assertRefused((service) -> service.projection(List.of(new Line("A"), new Line(null))), "sku is null");
	}

	@Test
	void nullSourceOfAProjectionIsRefused() {
		assertRefused((service) -> service.projection(null), "#lines is null");
	}

	@Test
	void nullElementOfAProjectionIsRefused() {
		assertRefused((service) -> service.projection(Collections.singletonList(null)), "lines.![");
	}

	@Test
	void nullSourceOfANullSafeProjectionIsRefused() {
		assertRefused((service) -> service.nullSafeProjection(null), "#lines is null");
	}

	@Test
	@Tag("F50")
	void nullPartInATernaryIsRefused() {
		assertRefused((service) -> service.ternary(true, null), "#sku is null");
		assertRefused((service) -> service.ternary(false, null), "#sku is null");
	}

	@Test
	@Tag("F50")
	void nullPartInAListIsRefused() {
		assertRefused((service) -> service.list(null), "#sku is null");
	}

	@Test
	void nullPartInTheDefaultOfAMissingValueIsRefused() {
		assertRefused((service) -> service.elvis(null, null), "#sku is null");
	}

	@Test
	void nullPartOfATextThatIsThenChangedIsRefused() {
		assertRefused((service) -> service.changed(null), "#sku is null");
	}

	@Test
	void propertyOfNullIsRefused() {
		assertRefused((service) -> service.property(null), "\"#line.sku\"");
	}

	@Test
	void nothingRunsUnderARefusedKey() {
		run((service) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> service.plain(null));
			assertThat(service.ran()).isFalse();
			assertThat(LockContext.current()).isEmpty();
		});
	}

	@Test
	@Tag("F49")
	void separatorsOfAnExpressionAreNeitherAddedNorRemoved() {
		run((service) -> {
			assertThat(service.concatenation("a", "b:c")).containsExactly("a:b:c");
			assertThat(service.concatenation("", "c")).containsExactly(":c");
		});
	}

	private static void assertRefused(Consumer<Service> call, String... message) {
		run((service) -> assertThatIllegalArgumentException().isThrownBy(() -> call.accept(service))
			.withMessageContainingAll(message)
			.withMessageContaining("@DistributedLock on RefusedKeyTests.Service."));
	}

	private static void run(Consumer<Service> test) {
		LockedApplication.local().withBean(Service.class).run((context) -> test.accept(context.getBean(Service.class)));
	}

	record Line(@Nullable Object sku) {

	}

	static class NoText {

	}

	static class IdentityText {

		@Override
		public String toString() {
			return "text of " + super.toString();
		}

	}

	static class Service {

		private boolean ran;

		public boolean ran() {
			return this.ran;
		}

		@DistributedLock(key = "#value")
		public void plain(@Nullable Object value) {
			this.ran = true;
		}

		@DistributedLock(key = "#prefix + ':' + #sku")
		public List<String> concatenation(@Nullable Object prefix, @Nullable Object sku) {
			return LockContext.current().orElseThrow().keys();
		}

		@DistributedLock(key = "#a + #b")
		public void sum(Number a, Number b) {
		}

		@DistributedLock(key = "#a + #b + ':x'")
		public void sumInAConcatenation(int a, int b) {
		}

		@DistributedLock(key = "#a + 1")
		public List<String> next(int a) {
			return LockContext.current().orElseThrow().keys();
		}

		@DistributedLock(key = "#lines.!['inventory:' + sku]")
		public void projection(@Nullable List<Line> lines) {
		}

		@DistributedLock(key = "#lines?.!['inventory:' + sku]")
		public void nullSafeProjection(@Nullable List<Line> lines) {
		}

		@DistributedLock(key = "#big ? 'big:' + #sku : 'small:' + #sku")
		public void ternary(boolean big, @Nullable String sku) {
		}

		@DistributedLock(key = "{'from:' + #sku, 'to'}")
		public void list(@Nullable String sku) {
		}

		@DistributedLock(key = "#id ?: ('inventory:' + #sku)")
		public void elvis(@Nullable String id, @Nullable String sku) {
		}

		@DistributedLock(key = "('inventory:' + #sku).toLowerCase()")
		public void changed(@Nullable String sku) {
		}

		@DistributedLock(key = "#line.sku")
		public void property(@Nullable Line line) {
		}

	}

}
