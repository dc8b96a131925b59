package io.github.holdfast.interceptor;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Turns a value into a part of a key, or refuses it: a null would merge the keys of all
 * nulls, and the text of an object without a {@code toString} of its own is different in
 * each JVM, so that the lock would lock nothing. So would that of an object whose text
 * changes with its state.
 */
final class KeyText {

	private static final int MAX_LENGTH = 4096;

	/**
	 * As in {@code java.lang.Object@1b6d3586}, also inside of a record's text. Only the
	 * last dot counts, so that each character is looked at once.
	 */
	private static final Pattern IDENTITY_HASH = Pattern.compile("[\\w$]\\.[\\w$]++@[0-9a-f]{1,8}+(?![\\w.-])");

	/** The begin of one, as in {@code , quantity=2}. */
	private static final Pattern COMPONENT = Pattern.compile("(?:[\\[({]|, )\\w++=");

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
			throw new IllegalArgumentException(expression.get()
					+ " is null: check it before the call, or leave such calls without a lock by 'condition'");
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
		String text = value.toString();
		if (text == null || isIdentity(value, checked(text, expression))) {
			throw refusedObject(value, expression);
		}
		if (isListOfComponents(value, text)) {
			throw new IllegalArgumentException(expression.get() + " is a " + ClassUtils.getShortName(value.getClass())
					+ ", which has the text '" + text + "', another one for each of its states: use the part that "
					+ "identifies what is locked, such as " + expression.get() + ".id, or give the class a toString() "
					+ "that is the key and not a list of its components");
		}
		return text;
	}

	/**
	 * Whether a text is as it is generated for records and classes of data, with more
	 * than one component: {@code Order[id=1, quantity=2]}, also with other brackets.
	 */
	private static boolean isListOfComponents(Object value, String text) {
		if (value instanceof Record && value.getClass().getRecordComponents().length < 2) {
			return false;
		}
		String name = value.getClass().getSimpleName();
		int begin = text.indexOf(name) + name.length();
		return !name.isEmpty() && text.contains(name) && begin < text.length() - 1
				&& "[({".indexOf(text.charAt(begin)) >= 0 && "])}".indexOf(text.charAt(text.length() - 1)) >= 0
				&& COMPONENT.matcher(text).region(begin, text.length()).results().limit(2).count() == 2;
	}

	/**
	 * Whether a text is, or contains, what {@link Object#toString()} returns. A class may
	 * have a hash code of its own and still no text.
	 */
	private static boolean isIdentity(Object value, String text) {
		return text.indexOf('@') >= 0 && (text.endsWith("@" + Integer.toHexString(System.identityHashCode(value)))
				|| text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()))
				|| IDENTITY_HASH.matcher(text).find());
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
