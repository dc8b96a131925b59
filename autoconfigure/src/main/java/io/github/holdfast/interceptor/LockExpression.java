package io.github.holdfast.interceptor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
import org.springframework.util.ObjectUtils;

/**
 * An expression over the arguments of a locked method.
 *
 * <p>
 * SpEL writes a null into a concatenation as the text {@code null}. So concatenations are
 * put together here, wherever they stand as a key or as an element of a list or
 * projection, and each of their parts is checked. Those in arguments of a call, which
 * SpEL evaluates, are refused at the start.
 */
final class LockExpression {

	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration();

	private static final Set<String> CONTEXT_OBJECTS = Set.of("#this", "#root");

	private final String text;

	private final SpelNode root;

	private final Map<SpelNode, String> arguments = new IdentityHashMap<>();

	LockExpression(String text, SpelNode root) {
		this.text = text;
		this.root = root;
		findArguments(root);
	}

	/**
	 * SpEL itself would describe the class of an argument to its compiler at each
	 * evaluation.
	 */
	private void findArguments(SpelNode node) {
		if (node instanceof VariableReference && !CONTEXT_OBJECTS.contains(node.toStringAST())) {
			this.arguments.put(node, node.toStringAST().substring(1));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			findArguments(node.getChild(i));
		}
	}

	/**
	 * Evaluates the expression to keys.
	 * @param context the arguments of the call
	 * @return the keys
	 * @throws IllegalArgumentException if a key or a part of one is refused
	 */
	List<String> keys(EvaluationContext context) {
		Object value = value(this.root, state(context));
		if (value != null && isSeveral(value)) {
			List<String> keys = new ArrayList<>();
			addKeys(value, this.root::toStringAST, keys);
			return keys;
		}
		return List.of(key(value, this.root::toStringAST));
	}

	/**
	 * Evaluates the expression to a condition.
	 * @param context the arguments of the call
	 * @return the result
	 * @throws IllegalArgumentException if it is not a boolean
	 */
	boolean isTrue(EvaluationContext context) {
		if (this.root.getValue(state(context)) instanceof Boolean result) {
			return result;
		}
		throw new IllegalArgumentException(this.text + " is neither true nor false");
	}

	private static ExpressionState state(EvaluationContext context) {
		return new ExpressionState(context, TypedValue.NULL, CONFIGURATION);
	}

	private static boolean isSeveral(Object value) {
		return value instanceof Collection<?> || value.getClass().isArray();
	}

	private static void addKeys(Object values, Supplier<String> expression, List<String> keys) {
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
		return (value instanceof Iterable<?> iterable) ? iterable : Arrays.asList(ObjectUtils.toObjectArray(value));
	}

	private @Nullable Object value(SpelNode node, ExpressionState state) {
		String argument = this.arguments.get(node);
		if (argument != null) {
			return state.getEvaluationContext().lookupVariable(argument);
		}
		if (node instanceof OpPlus && node.getChildCount() == 2) {
			return sum(node, state);
		}
		if (node instanceof Ternary) {
			boolean first = Boolean.TRUE.equals(node.getChild(0).getValue(state));
			return value(node.getChild(first ? 1 : 2), state);
		}
		if (node instanceof InlineList) {
			List<@Nullable Object> values = new ArrayList<>();
			for (int i = 0; i < node.getChildCount(); i++) {
				values.add(value(node.getChild(i), state));
			}
			return values;
		}
		if (node instanceof Elvis) {
			Object value = value(node.getChild(0), state);
			return isMissing(value) ? value(node.getChild(1), state) : value;
		}
		if (node instanceof CompoundExpression && node.getChild(node.getChildCount() - 1) instanceof Projection) {
			return projection(node, state);
		}
		if (node instanceof CompoundExpression && node.getChild(0) instanceof OpPlus) {
			return source(node, node.getChildCount(), state).getValue();
		}
		return node.getValue(state);
	}

	private static boolean isMissing(@Nullable Object value) {
		return value == null || "".equals(value) || (value instanceof Optional<?> optional && optional.isEmpty());
	}

	private @Nullable Object sum(SpelNode node, ExpressionState state) {
		SpelNode leftNode = node.getChild(0);
		SpelNode rightNode = node.getChild(1);
		Object left = value(leftNode, state);
		Object right = value(rightNode, state);
		if (left instanceof Number && right instanceof Number) {
			if (!(leftNode instanceof Literal) && !(rightNode instanceof Literal)) {
				throw new IllegalArgumentException(node.toStringAST() + " adds two numbers, so that others with the "
						+ "same sum would have the same key: put a text between them, as in " + leftNode.toStringAST()
						+ " + ':' + " + rightNode.toStringAST());
			}
			return node.getValue(state);
		}
		return KeyText.of(left, leftNode::toStringAST).concat(KeyText.of(right, rightNode::toStringAST));
	}

	/**
	 * Evaluates {@code source.![element]} with the checks of a concatenation in each
	 * element.
	 */
	private Object projection(SpelNode node, ExpressionState state) {
		int last = node.getChildCount() - 1;
		Object value = source(node, last, state).getValue();
		if (value == null) {
			throw new IllegalArgumentException(sourceText(node, last)
					+ " is null: check it before the call, or leave such calls without a lock by 'condition'");
		}
		SpelNode element = node.getChild(last).getChild(0);
		List<@Nullable Object> keys = new ArrayList<>();
		for (Object item : elements((value instanceof Map<?, ?> map) ? map.entrySet() : value)) {
			state.pushActiveContextObject(new TypedValue(item));
			state.enterScope();
			try {
				keys.add(value(element, state));
			}
			finally {
				state.exitScope();
				state.popActiveContextObject();
			}
		}
		return keys;
	}

	/**
	 * Evaluates the first children of {@code a.b.c}, each on the value of the one before.
	 */
	private TypedValue source(SpelNode node, int children, ExpressionState state) {
		SpelNode first = node.getChild(0);
		TypedValue source = (first instanceof OpPlus) ? new TypedValue(value(first, state))
				: first.getTypedValue(state);
		for (int i = 1; i < children; i++) {
			source = inContext(source, state, node.getChild(i));
		}
		return source;
	}

	private static TypedValue inContext(TypedValue source, ExpressionState state, SpelNode node) {
		state.pushActiveContextObject(source);
		try {
			return node.getTypedValue(state);
		}
		finally {
			state.popActiveContextObject();
		}
	}

	private static String sourceText(SpelNode node, int children) {
		StringBuilder text = new StringBuilder(node.getChild(0).toStringAST());
		for (int i = 1; i < children; i++) {
			text.append('.').append(node.getChild(i).toStringAST());
		}
		return text.toString();
	}

	@Override
	public String toString() {
		return this.text;
	}

	/**
	 * Whether a failure is one of the expression rather than of the code that it calls.
	 */
	static boolean isFailure(RuntimeException ex) {
		return ex instanceof IllegalArgumentException || ex instanceof ExpressionException;
	}

}
