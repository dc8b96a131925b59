package io.github.holdfast.interceptor;

import java.util.List;
import java.util.stream.Collectors;
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

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The keys of a call, and keys that would lock nothing or merge locks that have nothing
 * to do with each other.
 */
class KeyExpressionTests {

	/** The key of a method, the arguments of a call, and the locks that it takes. */
	private static final String KEYS = """
			'orders' | | orders
			'inventory:' + #sku | String sku = "SKU-1" | inventory:SKU-1
			#p0 + '/' + #a1 | String sku = "SKU-1"; int quantity = 7 | SKU-1/7
			#p1 + '/' + #p2 | String p1 = "first"; String p2 = "second" | first/second
			#a1 + '/' + #a0 | String a1 = "first"; String a0 = "second" | first/second
			#line.sku | Line line = new Line("SKU-1", 7) | SKU-1
			@tenant.id + ':' + #sku | String sku = "SKU-1" | acme:SKU-1
			@environment.getProperty('app.tenant') | | of-the-environment
			#skus | Collection<String> skus = List.of("B", "A", "B") | A, B
			#skus | Collection<String> skus = List.of() |
			#skus | String[] skus = { "B", "A" } | A, B
			#numbers | int[] numbers = { 2, 1 } | 1, 2
			#lines.!['inventory:' + sku] | List<Line> lines = lines("B", "A") | inventory:A, inventory:B
			#order.lines.![sku + ':' + quantity] | Order order = new Order(lines("A")) | A:2
			#node.isBlank() ? {} : #lines.![#node + ':' + sku] | String node = "N1"; List<Line> lines = lines("A") | N1:A
			#lines.![('x' + sku).concat(sku)] | List<Line> lines = lines("A", "B") | xAA, xBB
			#stock.![key + '=' + value] | Map<String, Integer> stock = Map.of("A", 1) | A=1
			{'from:' + #from, 'to:' + #to} | String from = "B"; String to = "A" | from:B, to:A
			#big ? 'big:' + #sku : 'small:' + #sku | String sku = "SKU-1"; boolean big = true | big:SKU-1
			'inventory:' + (#sku ?: 'none') | String sku = null | inventory:none
			#number + 1 | int number = 1 | 2
			#prefix + ':' + #sku | String prefix = "a"; String sku = "b:c" | a:b:c
			#prefix + ':' + #sku | String prefix = ""; String sku = "c" | :c
			#value | StringBuilder value = new StringBuilder("a") | a
			#value | BigDecimal value = new BigDecimal("1.50") | 1.50
			#value | boolean value = true | true
			#value | char value = 'c' | c
			#value | UUID value = new UUID(1, 2) | 00000000-0000-0001-0000-000000000002
			#value | Shelf value = Shelf.LOW | LOW
			#value | DayOfWeek value = DayOfWeek.FRIDAY | FRIDAY
			#value | LocalDate value = LocalDate.of(2026, 11, 28) | 2026-11-28
			#value | Instant value = Instant.EPOCH | 1970-01-01T00:00:00Z
			#value | YearMonth value = YearMonth.of(2026, 11) | 2026-11
			#value | Duration value = Duration.ofSeconds(1) | PT1S
			#value | ZoneId value = ZoneId.of("Europe/Berlin") | Europe/Berlin
			#value | Locale value = Locale.GERMANY | de_DE
			#value | Optional<String> value = Optional.of("a") | a
			""";

	/** The key of a method, the arguments of a call, and what the exception says. */
	private static final String REFUSED = """
			#value | Object value = null | "#value" | lock(Object) | #value is null
			#value | String value = " " | "#value" | #value is blank
			#value | String value = "" | #value is blank
			#value | List<String> value = Arrays.asList("a", null) | element 1 of #value is null
			#value | String[] value = { "a", " " } | element 1 of #value is blank
			#value | Optional<String> value = Optional.empty() | #value is null
			#value | Map<String, Integer> value = Map.of("a", 1) | #value is a | projection
			#value | Iterable<String> value = Collections::emptyIterator | #value is a
			#value | String value = "x".repeat(5000) | 5000 characters
			#value | List<Integer> value = IntStream.range(0, 1001).boxed().toList() | 1001 different keys | lock fewer keys
			#a + #b | int a = 1; long b = 2 | #a + #b | adds two numbers | #a + ':' + #b
			#a + #b + ':x' | int a = 1; int b = 2 | adds two numbers
			#a + ':' + #sku | String a = "a"; String sku = null | "#a + ':' + #sku" | #sku is null
			#a + ':' + #sku | String a = null; String sku = "SKU-1" | #a is null
			#a + ':' + #sku | int a = 1; List<String> sku = List.of("a") | #sku is a | #lines.!['inventory:'
			#a + ':' + #sku | int a = 1; int[] sku = { 1 } | #sku is a int[]
			#a + ':' + #sku | int a = 1; Optional<String> sku = Optional.empty() | #sku is null
			#lines.!['inventory:' + sku] | List<Line> lines = lines("A", null) | sku is null
			#lines.!['inventory:' + sku] | List<Line> lines = null | #lines is null
			#lines.!['inventory:' + sku] | List<Line> lines = Collections.singletonList(null) | lines.![
			#lines?.!['inventory:' + sku] | List<Line> lines = null | #lines is null
			#big ? 'big:' + #sku : 'small:' + #sku | boolean big = true; String sku = null | #sku is null
			#big ? 'big:' + #sku : 'small:' + #sku | boolean big = false; String sku = null | #sku is null
			{'from:' + #sku, 'to'} | String sku = null | #sku is null
			#id ?: ('inventory:' + #sku) | String id = null; String sku = null | #sku is null
			('inventory:' + #sku).toLowerCase() | String sku = null | #sku is null
			(#big ? 'big:' + #sku : 'small:' + #sku).toLowerCase() | boolean big = true; String sku = null | #sku is null
			(#id ?: 'inventory:' + #sku).toLowerCase() | String id = null; String sku = null | #sku is null
			#line.sku | Line line = null | "#line.sku"
			#value.length = 0 | StringBuilder value = new StringBuilder("a") | "#value.length = 0"
			#value | NoText value = new NoText() | #value is a Rows.NoText | write a property: `#id.value`
			#a + ':' + #sku | int a = 1; NoText sku = new NoText() | #sku is a Rows.NoText | write a property: `#id.value`
			#lines.!['order:' + sku] | List<Line> lines = lines(new NoText()) | sku is a Rows.NoText | write a property
			#value | Line value = new Line("A", 1) | #value is a Rows.Line | write a property
			#value | OwnNumber value = new OwnNumber() | #value is a Rows.OwnNumber | write a property
			#value | Runnable value = () -> { } | #value is a Rows | write a property
			#value | Date value = new Date() | #value is a Date | write a property
			#value | AtomicReference<String> value = new AtomicReference<>("a") | #value is a AtomicReference | write a property
			#value | Class<?> value = String.class | #value is a Class | write a property
			""";

	private static final String ROWS = """
			import java.math.BigDecimal;
			import java.time.*;
			import java.util.*;
			import java.util.concurrent.atomic.*;
			import java.util.stream.*;
			import io.github.holdfast.*;
			public class Rows {
				public record Line(Object sku, int quantity) { }
				public record Order(List<Line> lines) { }
				public enum Shelf { LOW { @Override public String toString() { return "changed"; } } }
				public static class OwnNumber extends AtomicLong { }
				public static class NoText { }
				static List<Line> lines(Object... skus) { return Stream.of(skus).map((sku) -> new Line(sku, 2)).toList(); }
				%s
			}
			""";

	private static final String ROW = """
			public static class Row%d {
				@DistributedLock("%s")
				public List<String> lock(%s) { return LockContext.current().map(LockContext::keys).orElse(List.of()); }
				public static List<String> call(Row%1$d bean) { %s; return bean.lock(%s); }
			}
			""";

	@ParameterizedTest(name = "{0} | {1}")
	@MethodSource
	void callTakesTheKeys(String key, String arguments, String keys, Class<?> bean) {
		run(bean, (context) -> assertThat(String.join(", ", call(bean, context))).isEqualTo(keys));
	}

	static Stream<Arguments> callTakesTheKeys() throws Exception {
		return compiled(KEYS);
	}

	@ParameterizedTest(name = "{0} | {1}")
	@MethodSource
	void keyIsRefused(String key, String arguments, String message, Class<?> bean) {
		run(bean,
				(context) -> assertThatIllegalArgumentException().isThrownBy(() -> call(bean, context))
					.withMessageContainingAll(message.split(" \\| "))
					.withMessageContaining("@DistributedLock on Rows.Row"));
	}

	static Stream<Arguments> keyIsRefused() throws Exception {
		return compiled(REFUSED);
	}

	private static Stream<Arguments> compiled(String table) throws Exception {
		List<String[]> rows = table.lines().map((row) -> row.split("\\s*\\|\\s*", 3)).toList();
		String source = IntStream.range(0, rows.size())
			.mapToObj((number) -> source(number, rows.get(number)))
			.collect(Collectors.joining());
		ClassLoader loader = TestCompiler.compiled("Rows", ROWS.formatted(source), "-parameters").getClassLoader();
		return IntStream.range(0, rows.size()).mapToObj((number) -> {
			String[] row = rows.get(number);
			return Arguments.of(row[0], row[1], row[2], ClassUtils.resolveClassName("Rows$Row" + number, loader));
		});
	}

	private static String source(int number, String[] row) {
		List<String> parameters = Stream.of(row[1].split("; ")).map((variable) -> variable.split(" = ")[0]).toList();
		return ROW.formatted(number, row[0], String.join(", ", parameters), row[1],
				parameters.stream()
					.map((parameter) -> parameter.substring(parameter.lastIndexOf(' ') + 1))
					.collect(Collectors.joining(", ")));
	}

	@SuppressWarnings("unchecked")
	private static List<String> call(Class<?> bean, ApplicationContext context) throws Throwable {
		return (List<String>) AopUtils.invokeJoinpointUsingReflection(null, bean.getMethod("call", bean),
				new Object[] { context.getBean(bean) });
	}

	@Test
	void bodyRunsUnderAThousandKeysButNotUnderARefusedOne() {
		run(Service.class, (context) -> {
			Service service = context.getBean(Service.class);
			assertThatIllegalArgumentException().isThrownBy(() -> service.call(null));
			assertThat(service.ran()).isFalse();
			assertThat(LockContext.current()).isEmpty();
			service.call(IntStream.range(0, 1000).boxed().toList());
			assertThat(service.ran()).isTrue();
		});
	}

	private static void run(Class<?> bean, ContextConsumer<ApplicationContext> test) {
		LockedApplication.local()
			.withClassLoader(bean.getClassLoader())
			.withPropertyValues("app.tenant=of-the-environment")
			.withBean("tenant", Tenant.class)
			.withBean(bean)
			.run(test);
	}

	static class Tenant {

		public String getId() {
			return "acme";
		}

	}

	static class Service {

		private boolean ran;

		public boolean ran() {
			return this.ran;
		}

		@DistributedLock(key = "#value")
		public void call(@Nullable Object value) {
			this.ran = true;
		}

	}

}
