package io.github.holdfast.interceptor;

import java.net.URI;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Currency;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;

/**
 * An expression over the arguments of a locked method.
 *
 * <p>
 * SpEL writes a null into a concatenation as the text {@code null}. Therefore this class
 * evaluates concatenations itself, wherever they stand as a key or as an element of a
 * list or projection, and checks each of their parts. The parser refuses concatenations
 * in arguments of a call, which SpEL evaluates.
 */
final class LockExpression {

	private static final int MAX_KEYS = 1000;

	private static final int MAX_LENGTH = 4096;

	private static final List<Class<?>> PLAIN = List.of(CharSequence.class, Number.class, Boolean.class,
			Character.class, UUID.class, TemporalAccessor.class, TemporalAmount.class, ZoneId.class, Locale.class,
			Currency.class, URI.class);

	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration();

	private final String description;

	private final SpelNode root;

	private final EvaluationContext context;

	private final Map<String, Integer> positions;

	/**
	 * Create an expression.
	 * @param description what and where the expression is, for messages
	 * @param root the parsed expression
	 * @param context resolves beans
	 * @param positions the positions of the parameters by name
	 */
	LockExpression(String description, SpelNode root, EvaluationContext context, Map<String, Integer> positions) {
		this.description = description;
		this.root = root;
		this.context = context;
		this.positions = positions;
	}

	/**
	 * Evaluates the expression to keys.
	 * @param arguments the arguments of the call
	 * @return the keys
	 * @throws IllegalArgumentException if a key or a part of one is refused
	 */
	Collection<String> keys(@Nullable Object[] arguments) {
		return evaluate(arguments, (state) -> {
			Set<String> keys = new LinkedHashSet<>(1);
			addKeys(value(this.root, state), this.root::toStringAST, keys);
			Assert.isTrue(keys.size() <= MAX_KEYS, () -> "there are " + keys.size() + " different keys; the limit is "
					+ MAX_KEYS + ": lock fewer keys, or take one lock for all of them");
			return keys;
		});
	}

	/**
	 * Evaluates the expression to a condition.
	 * @param arguments the arguments of the call
	 * @return the result
	 * @throws IllegalArgumentException if it is not a boolean
	 */
	boolean isTrue(@Nullable Object[] arguments) {
		Object result = evaluate(arguments, this.root::getValue);
		Assert.isInstanceOf(Boolean.class, result, this.description + " is neither true nor false");
		return (Boolean) result;
	}

	private <T extends @Nullable Object> T evaluate(@Nullable Object[] arguments,
			Function<ExpressionState, T> evaluation) {
		try {
			return evaluation.apply(new ExpressionState(this.context, CONFIGURATION) {

				@Override
				public TypedValue lookupVariable(String name) {
					Integer position = LockExpression.this.positions.get(name);
					return new TypedValue((position != null) ? arguments[position] : null);
				}

			});
		}
		catch (IllegalArgumentException | ExpressionException ex) {
			throw new IllegalArgumentException(this.description + " cannot be evaluated: " + ex.getMessage(), ex);
		}
	}

	private static void addKeys(@Nullable Object value, Supplier<String> expression, Set<String> keys) {
		if (value instanceof Collection<?> || ObjectUtils.isArray(value)) {
			int index = 0;
			for (Object element : elements(value)) {
				int position = index++;
				addKeys(element, () -> "element " + position + " of " + expression.get(), keys);
			}
			return;
		}
		String key = text(value, expression);
		Assert.isTrue(!key.isBlank(), () -> expression.get() + " is blank");
		keys.add(key);
	}

	private static Iterable<?> elements(Object value) {
		Object elements = (value instanceof Map<?, ?> map) ? map.entrySet() : value;
		return (elements instanceof Iterable<?> several) ? several : Arrays.asList(ObjectUtils.toObjectArray(value));
	}

	private @Nullable Object value(SpelNode node, ExpressionState state) {
		if (node instanceof OpPlus && node.getChildCount() == 2) {
			return sum(node, state);
		}
		if (node instanceof Ternary) {
			boolean first = Boolean.TRUE.equals(node.getChild(0).getValue(state));
			return value(node.getChild(first ? 1 : 2), state);
		}
		if (node instanceof Elvis) {
			Object value = value(node.getChild(0), state);
			boolean missing = value == null || "".equals(value) || Optional.empty().equals(value);
			return missing ? value(node.getChild(1), state) : value;
		}
		if (node instanceof InlineList) {
			List<@Nullable Object> values = new ArrayList<>();
			for (int i = 0; i < node.getChildCount(); i++) {
				values.add(value(node.getChild(i), state));
			}
			return values;
		}
		return (node instanceof CompoundExpression) ? compound(node, state) : node.getValue(state);
	}

	private @Nullable Object sum(SpelNode node, ExpressionState state) {
		SpelNode leftNode = node.getChild(0);
		SpelNode rightNode = node.getChild(1);
		Object left = value(leftNode, state);
		Object right = value(rightNode, state);
		if (!(left instanceof Number && right instanceof Number)) {
			return text(left, leftNode::toStringAST).concat(text(right, rightNode::toStringAST));
		}
		Assert.isTrue(leftNode instanceof Literal || rightNode instanceof Literal,
				() -> node.toStringAST()
						+ " adds two numbers, so other numbers with the same sum would have the same key: "
						+ "put a text between them: " + leftNode.toStringAST() + " + ':' + " + rightNode.toStringAST());
		return node.getValue(state);
	}

	/**
	 * Evaluates {@code a.b.c}, each part on the value of the previous part. The last part
	 * of {@code a.b.![c]} is evaluated on each element.
	 */
	private @Nullable Object compound(SpelNode node, ExpressionState state) {
		int last = node.getChildCount() - 1;
		boolean projects = node.getChild(last) instanceof Projection;
		if (!projects && node.getChild(0) instanceof VariableReference) {
			return node.getValue(state);
		}
		Object value = value(node.getChild(0), state);
		for (int i = 1; i < (projects ? last : last + 1); i++) {
			state.pushActiveContextObject(new TypedValue(value));
			value = node.getChild(i).getValue(state);
			state.popActiveContextObject();
		}
		return projects ? projection(value, node.getChild(last).getChild(0), node.getChild(last - 1), state) : value;
	}

	private List<@Nullable Object> projection(@Nullable Object source, SpelNode element, SpelNode sourceNode,
			ExpressionState state) {
		Assert.notNull(source, () -> sourceNode.toStringAST()
				+ " is null: check it before the call, or exclude such calls with 'condition'");
		List<@Nullable Object> values = new ArrayList<>();
		for (Object item : elements(source)) {
			state.pushActiveContextObject(new TypedValue(item));
			state.enterScope();
			values.add(value(element, state));
			state.exitScope();
			state.popActiveContextObject();
		}
		return values;
	}

	/**
	 * Returns the text of a value. Accepts only the plain types of the JDK whose text is
	 * the same on all nodes and identifies the value. A null would merge the keys of all
	 * nulls, and an object without its own {@code toString} would have another key in
	 * each JVM.
	 * @param value the value
	 * @param expression supplies the part of the expression that gave it, for messages
	 * @return the text
	 * @throws IllegalArgumentException if the value is refused; the message begins with
	 * the expression
	 */
	private static String text(@Nullable Object value, Supplier<String> expression) {
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
