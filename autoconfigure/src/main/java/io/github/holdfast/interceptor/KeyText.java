package io.github.holdfast.interceptor;

import java.net.URI;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Currency;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Turns a value into a part of a key. Accepts only the plain types of the JDK whose text
 * is the same on all nodes and identifies the value. A null would merge the keys of all
 * nulls, and an object without its own {@code toString} would have another key in each
 * JVM.
 */
final class KeyText {

	private static final int MAX_LENGTH = 4096;

	private static final List<Class<?>> PLAIN = List.of(CharSequence.class, Number.class, Boolean.class,
			Character.class, UUID.class, TemporalAccessor.class, TemporalAmount.class, ZoneId.class, Locale.class,
			Currency.class, URI.class);

	private KeyText() {
	}

	/**
	 * Returns the text of a value.
	 * @param value the value
	 * @param expression supplies the part of the expression that gave it, for messages
	 * @return the text
	 * @throws IllegalArgumentException if the value is refused; the message begins with
	 * the expression
	 */
	static String of(@Nullable Object value, Supplier<String> expression) {
		Object content = (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
		Assert.notNull(content,
				() -> expression.get() + " is null: check it before the call, or exclude such calls with 'condition'");
		if (content instanceof Enum<?> constant) {
			return constant.name();
		}
		// Other classes that extend these types need not have a text of their own
		Class<?> type = content.getClass();
		boolean plain = content instanceof String
				|| (type.getName().startsWith("java.") && PLAIN.stream().anyMatch((one) -> one.isInstance(content)));
		if (!plain) {
			boolean several = content instanceof Iterable<?> || content instanceof Map<?, ?> || type.isArray();
			throw new IllegalArgumentException(expression.get() + " is a " + ClassUtils.getShortName(type) + (several
					? ", which cannot be a part of one key; for one lock per element use a projection such as "
							+ "#lines.!['inventory:' + sku]"
					: ". A key consists of texts, numbers, booleans, enums, UUIDs, and dates and times of java.time. "
							+ "For your own types, write a property: `#id.value`"));
		}
		String text = content.toString();
		Assert.isTrue(text.length() <= MAX_LENGTH,
				() -> expression.get() + " has " + text.length() + " characters; the limit is " + MAX_LENGTH);
		return text;
	}

}
