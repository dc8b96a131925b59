package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Turns a value into a part of a key, or refuses it: a null would merge the keys of all
 * nulls, and the text of an object without a {@code toString} of its own is different in
 * each JVM, so that the lock would lock nothing.
 */
final class KeyText {

	private static final int MAX_LENGTH = 4096;

	/**
	 * As in {@code java.lang.Object@1b6d3586}, also inside of a record's text. Only the
	 * last dot counts, so that each character is looked at once.
	 */
	private static final Pattern IDENTITY_HASH = Pattern.compile("[\\w$]\\.[\\w$]++@[0-9a-f]{1,8}+(?![\\w.-])");

	private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			Method toString = ReflectionUtils.findMethod(type, "toString");
			return toString != null && toString.getDeclaringClass() != Object.class;
		}

	};

	private KeyText() {
	}

	/**
	 * Returns the text of a value.
	 * @param value the value
	 * @param expression supplies the part of the expression that gave it, for messages
	 * @return the text
	 * @throws IllegalArgumentException if the value is refused; its message begins with
	 * the expression
	 */
	static String of(@Nullable Object value, Supplier<String> expression) {
		if (value instanceof String text) {
			return checked(text, expression);
		}
		if (value == null) {
			throw new IllegalArgumentException(expression.get() + " is null");
		}
		if (value instanceof Optional<?> optional) {
			return of(optional.orElse(null), expression);
		}
		if ((value instanceof Iterable<?> && !(value instanceof Path)) || value instanceof Map<?, ?>
				|| value.getClass().isArray()) {
			throw new IllegalArgumentException(expression.get() + " is a " + ClassUtils.getShortName(value.getClass())
					+ ", which cannot be a part of one key; for one lock per element use a projection such as "
					+ "#lines.!['inventory:' + sku]");
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (!HAS_TEXT.get(value.getClass())) {
			throw refusedObject(value, expression);
		}
		String text = value.toString();
		if (text == null || text.endsWith("@" + Integer.toHexString(System.identityHashCode(value)))
				|| IDENTITY_HASH.matcher(checked(text, expression)).find()) {
			throw refusedObject(value, expression);
		}
		return text;
	}

	private static IllegalArgumentException refusedObject(Object value, Supplier<String> expression) {
		return new IllegalArgumentException(expression.get() + " is a " + ClassUtils.getShortName(value.getClass())
				+ ", which has no text form of its own: use one of its properties, such as its id");
	}

	private static String checked(String text, Supplier<String> expression) {
		if (text.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(expression.get() + " has " + text.length()
					+ " characters, more than the " + MAX_LENGTH + " allowed");
		}
		return text;
	}

}
