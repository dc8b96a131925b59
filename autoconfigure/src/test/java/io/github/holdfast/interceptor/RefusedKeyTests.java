package io.github.holdfast.interceptor;

import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys that would lock nothing, or merge locks that have nothing to do with each other.
 */
class RefusedKeyTests {

	@Test
	void iterableThatIsNoCollectionIsRefusedEvenWithoutElements() {
		Iterable<String> nothing = Collections::emptyIterator;
		assertRefused((service) -> service.plain(nothing), "#value is a");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void keyIsRefused(String key, Consumer<Service> call, String... message) {
		assertRefused(call, message);
	}

	static Stream<Arguments> keyIsRefused() {
		return Stream.of(
				refused("null key", (service) -> service.plain(null), "\"#value\"", "plain(Object)", "#value is null"),
				refused("blank key", (service) -> service.plain(" "), "\"#value\"", "#value is blank"),
				refused("empty key", (service) -> service.plain(""), "#value is blank"),
				refused("null element", (service) -> service.plain(Arrays.asList("a", null)),
						"element 1 of #value is null"),
				refused("blank element", (service) -> service.plain(new String[] { "a", " " }),
						"element 1 of #value is blank"),
				refused("empty optional", (service) -> service.plain(Optional.empty()), "#value is null"),
				refused("map", (service) -> service.plain(Map.of("a", 1)), "#value is a", "projection"),
				refused("huge key", (service) -> service.plain("x".repeat(5000)), "5000 characters"),
				refused("sum of two numbers", (service) -> service.sum(1, 2L), "#a + #b", "adds two numbers",
						"#a + ':' + #b"),
				refused("sum of two numbers", (service) -> service.sumInAConcatenation(1, 2), "adds two numbers"),
				refused("null part of a concatenation", (service) -> service.concatenation("inv", null),
						"\"#prefix + ':' + #sku\"", "#sku is null"),
				refused("null first part of a concatenation", (service) -> service.concatenation(null, "SKU-1"),
						"#prefix is null"),
				refused("collection in a concatenation", (service) -> service.concatenation("inv", List.of("a")),
						"#sku is a", "#lines.!['inventory:'"),
				refused("array in a concatenation", (service) -> service.concatenation("inv", new int[] { 1 }),
						"#sku is a int[]"),
				refused("object without text in a concatenation",
						(service) -> service.concatenation("inv", new NoText()), "#sku is a RefusedKeyTests.NoText"),
				refused("empty optional in a concatenation",
						(service) -> service.concatenation("inv", Optional.empty()), "#sku is null"),
				refused("null property in a projection",
						(service) -> service.projection(List.of(new Line("A"), new Line(null))), "sku is null"),
				refused("null source of a projection", (service) -> service.projection(null), "#lines is null"),
				refused("null element of a projection",
						(service) -> service.projection(Collections.singletonList(null)), "lines.!["),
				refused("null source of a null safe projection", (service) -> service.nullSafeProjection(null),
						"#lines is null"),
				refused("null part in a ternary", (service) -> service.ternary(true, null), "#sku is null"),
				refused("null part in a ternary", (service) -> service.ternary(false, null), "#sku is null"),
				refused("null part in a list", (service) -> service.list(null), "#sku is null"),
				refused("null part in the default of a missing value", (service) -> service.elvis(null, null),
						"#sku is null"),
				refused("null part of a text that is then changed", (service) -> service.changed(null), "#sku is null"),
				refused("property of null", (service) -> service.property(null), "\"#line.sku\""),
				refused("assignment in an expression", (service) -> service.assigned(new StringBuilder("a")),
						"\"#value.length = 0\""));
	}

	private static Arguments refused(String key, Consumer<Service> call, String... message) {
		return Arguments.of(key, call, message);
	}

	@ParameterizedTest
	@MethodSource
	void objectThatIsNotOfAPlainTypeIsRefused(Object value) {
		assertRefused((service) -> service.plain(value), "#value is a ", "write a property: `#id.value`");
		assertRefused((service) -> service.concatenation("order", value), "#sku is a ", "write a property");
		assertRefused((service) -> service.projection(List.of(new Line(value))), "sku is a ");
	}

	static Stream<Object> objectThatIsNotOfAPlainTypeIsRefused() {
		Runnable lambda = () -> {
		};
		return Stream.of(new NoText(), new Order(1, 2), new OrderId("1"), new OwnNumber(), lambda, new Date(),
				new AtomicReference<>("a"), String.class);
	}

	@ParameterizedTest
	@MethodSource
	void textOfAPlainTypeIsAccepted(Object value, String text) {
		run((service) -> assertThat(service.concatenation("any", value)).containsExactly("any:" + text));
	}

	static Stream<Arguments> textOfAPlainTypeIsAccepted() {
		return Stream.of(Arguments.of("a", "a"), Arguments.of(new StringBuilder("a"), "a"), Arguments.of(7, "7"),
				Arguments.of(new BigDecimal("1.50"), "1.50"), Arguments.of(true, "true"), Arguments.of('c', "c"),
				Arguments.of(new UUID(1, 2), "00000000-0000-0001-0000-000000000002"), Arguments.of(Shelf.LOW, "LOW"),
				Arguments.of(DayOfWeek.FRIDAY, "FRIDAY"), Arguments.of(LocalDate.of(2026, 11, 28), "2026-11-28"),
				Arguments.of(Instant.EPOCH, "1970-01-01T00:00:00Z"), Arguments.of(YearMonth.of(2026, 11), "2026-11"),
				Arguments.of(Duration.ofSeconds(1), "PT1S"), Arguments.of(ZoneId.of("Europe/Berlin"), "Europe/Berlin"),
				Arguments.of(Locale.GERMANY, "de_DE"), Arguments.of(Optional.of("a"), "a"));
	}

	enum Shelf {

		LOW {

			@Override
			public String toString() {
				return "changed";
			}

		}

	}

	static class OwnNumber extends Number {

		private static final long serialVersionUID = 1L;

		@Override
		public int intValue() {
			return 1;
		}

		@Override
		public long longValue() {
			return 1;
		}

		@Override
		public float floatValue() {
			return 1;
		}

		@Override
		public double doubleValue() {
			return 1;
		}

	}

	@Test
	void numberOfTheExpressionIsAdded() {
		run((service) -> assertThat(service.next(1)).containsExactly("2"));
	}

	record Order(long id, int quantity) {

	}

	record OrderId(String value) {

	}

	@Test
	void argumentInAProjectionIsReadFromTheElement() {
		run((service) -> assertThat(service.arguments(List.of(new Line("A"), new Line("B")))).containsExactly("xAA",
				"xBB"));
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
	void separatorsOfAnExpressionAreNeitherAddedNorRemoved() {
		run((service) -> {
			assertThat(service.concatenation("a", "b:c")).containsExactly("a:b:c");
			assertThat(service.concatenation("", "c")).containsExactly(":c");
		});
	}

	@Test
	void moreThanAThousandKeysAreRefused() {
		List<Integer> keys = IntStream.range(0, 1001).boxed().toList();
		assertRefused((service) -> service.plain(keys), "1001 different keys", "lock fewer keys");
		run((service) -> service.plain(keys.subList(0, 1000)));
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

		@DistributedLock(key = "#lines.![('x' + sku).concat(sku)]")
		public List<String> arguments(List<Line> lines) {
			return LockContext.current().orElseThrow().keys();
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

		@DistributedLock(key = "#value.length = 0")
		public void assigned(StringBuilder value) {
		}

		@DistributedLock(key = "#line.sku")
		public void property(@Nullable Line line) {
		}

	}

}
