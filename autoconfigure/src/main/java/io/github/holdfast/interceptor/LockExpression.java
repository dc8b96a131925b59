package io.github.holdfast.interceptor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
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

	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration();

	private static final int MAX_KEYS = 1000;

	private final String text;

	private final SpelNode root;

	private final Function<@Nullable Object[], EvaluationContext> contexts;

	/**
	 * Create an expression.
	 * @param text the expression as it is written
	 * @param root the parsed expression
	 * @param contexts creates the context of a call from its arguments
	 */
	LockExpression(String text, SpelNode root, Function<@Nullable Object[], EvaluationContext> contexts) {
		this.text = text;
		this.root = root;
		this.contexts = contexts;
	}

	/**
	 * Evaluates the expression to keys.
	 * @param arguments the arguments of the call
	 * @return the keys
	 * @throws IllegalArgumentException if a key or a part of one is refused
	 */
	Collection<String> keys(@Nullable Object[] arguments) {
		Object value = value(this.root, state(arguments));
		if (value == null || !isSeveral(value)) {
			return List.of(key(value, this.root::toStringAST));
		}
		Set<String> keys = new LinkedHashSet<>();
		addKeys(value, this.root::toStringAST, keys);
		if (keys.size() > MAX_KEYS) {
			throw new IllegalArgumentException(this.text + " has " + keys.size() + " different keys; the limit is "
					+ MAX_KEYS + ": lock fewer keys, or take one lock for all of them");
		}
		return keys;
	}

	/**
	 * Evaluates the expression to a condition.
	 * @param arguments the arguments of the call
	 * @return the result
	 * @throws IllegalArgumentException if it is not a boolean
	 */
	boolean isTrue(@Nullable Object[] arguments) {
		if (this.root.getValue(state(arguments)) instanceof Boolean result) {
			return result;
		}
		throw new IllegalArgumentException(this.text + " is neither true nor false");
	}

	private ExpressionState state(@Nullable Object[] arguments) {
		return new ExpressionState(this.contexts.apply(arguments), TypedValue.NULL, CONFIGURATION);
	}

	private static boolean isSeveral(Object value) {
		return value instanceof Collection<?> || value.getClass().isArray();
	}

	private static void addKeys(Object values, Supplier<String> expression, Set<String> keys) {
		int index = 0;
		for (Object element : elements(values)) {
			int position = index++;
			Supplier<String> elementText = () -> "element " + position + " of " + expression.get();
			if (element != null && isSeveral(element)) {
				addKeys(element, elementText, keys);
			}
			else {
				keys.add(key(element, elementText));
			}
		}
	}

	private static String key(@Nullable Object value, Supplier<String> expression) {
		String key = KeyText.of(value, expression);
		if (key.isBlank()) {
			throw new IllegalArgumentException(expression.get() + " is blank");
		}
		return key;
	}

	private static Iterable<?> elements(Object value) {
		if (value instanceof Map<?, ?> map) {
			return map.entrySet();
		}
		return (value instanceof Iterable<?> iterable) ? iterable : Arrays.asList(ObjectUtils.toObjectArray(value));
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
			return isMissing(value) ? value(node.getChild(1), state) : value;
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

	private static boolean isMissing(@Nullable Object value) {
		return value == null || "".equals(value) || (value instanceof Optional<?> optional && optional.isEmpty());
	}

	private @Nullable Object sum(SpelNode node, ExpressionState state) {
		SpelNode leftNode = node.getChild(0);
		SpelNode rightNode = node.getChild(1);
		Object left = value(leftNode, state);
		Object right = value(rightNode, state);
		if (!(left instanceof Number && right instanceof Number)) {
			return KeyText.of(left, leftNode::toStringAST).concat(KeyText.of(right, rightNode::toStringAST));
		}
		if (!(leftNode instanceof Literal) && !(rightNode instanceof Literal)) {
			throw new IllegalArgumentException(node.toStringAST() + " adds two numbers, so that others with the "
					+ "same sum would have the same key: put a text between them, as in " + leftNode.toStringAST()
					+ " + ':' + " + rightNode.toStringAST());
		}
		return node.getValue(state);
	}

	/**
	 * Evaluates {@code a.b.c}, each part on the value of the one before.
	 */
	private @Nullable Object compound(SpelNode node, ExpressionState state) {
		int last = node.getChildCount() - 1;
		SpelNode first = node.getChild(0);
		SpelNode lastNode = node.getChild(last);
		if (!(first instanceof OpPlus) && !(lastNode instanceof Projection)) {
			return node.getValue(state);
		}
		TypedValue value = (first instanceof OpPlus) ? new TypedValue(value(first, state)) : first.getTypedValue(state);
		for (int i = 1; i < last; i++) {
			SpelNode part = node.getChild(i);
			value = on(value, state, () -> part.getTypedValue(state));
		}
		if (lastNode instanceof Projection) {
			return projection(node, value.getValue(), state);
		}
		return on(value, state, () -> lastNode.getValue(state));
	}

	/**
	 * Evaluates {@code source.![element]} with the checks of a concatenation in each
	 * element.
	 */
	private List<@Nullable Object> projection(SpelNode node, @Nullable Object source, ExpressionState state) {
		int last = node.getChildCount() - 1;
		if (source == null) {
			throw new IllegalArgumentException(IntStream.range(0, last)
				.mapToObj((i) -> node.getChild(i).toStringAST())
				.collect(Collectors.joining("."))
					+ " is null: check it before the call, or leave such calls without a lock by 'condition'");
		}
		SpelNode element = node.getChild(last).getChild(0);
		List<@Nullable Object> values = new ArrayList<>();
		for (Object item : elements(source)) {
			values.add(on(new TypedValue(item), state, () -> value(element, state)));
		}
		return values;
	}

	private static <T extends @Nullable Object> T on(TypedValue context, ExpressionState state,
			Supplier<T> evaluation) {
		state.pushActiveContextObject(context);
		state.enterScope();
		try {
			return evaluation.get();
		}
		finally {
			state.exitScope();
			state.popActiveContextObject();
		}
	}

	@Override
	public String toString() {
		return this.text;
	}

}
