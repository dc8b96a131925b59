package io.github.holdfast.interceptor;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.github.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Parses the expressions of locked methods. Detects, before the first call, an expression
 * that cannot work: a parameter that does not exist, a name without {@code #}, a
 * placeholder.
 */
final class LockExpressionParser {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private static final ParameterNameDiscoverer discoverer = new DefaultParameterNameDiscoverer();

	private static final Pattern POSITION = Pattern.compile("[pa](\\d{1,3})");

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	LockExpressionParser(BeanFactory beanFactory) {
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
	}

	/**
	 * Parses an expression.
	 * @param attribute the attribute of the annotation
	 * @param text the expression
	 * @param method the locked method; it has no names of parameters if it is generated
	 * @param annotated the method that has the annotation
	 * @param location the method, for messages
	 * @return the expression
	 * @throws LockConfigurationException if the expression cannot work
	 */
	LockExpression parse(String attribute, String text, Method method, Method annotated, String location) {
		String where = "The " + attribute + " \"" + text + "\" of @DistributedLock on " + location;
		if (text.isBlank()) {
			throw new LockConfigurationException(where + " is blank.", "Give a SpEL expression, such as \"'orders'\".");
		}
		if (text.contains("${")) {
			throw new LockConfigurationException(where + " contains a placeholder, which would be taken literally.",
					"Use a bean reference, such as \"@environment.getProperty('app.tenant')\".");
		}
		Parameters parameters = Parameters.of(method, annotated);
		try {
			SpelNode root = parser.parseRaw(text).getAST();
			check(root, false, parameters, where);
			refuseTextInArguments(root, false, where);
			return new LockExpression(text, root, (arguments) -> context(method, arguments, parameters));
		}
		catch (ParseException ex) {
			throw new LockConfigurationException(where + " is not a SpEL expression: " + ex.getMessage() + ".",
					"Write literal text in single quotes and parameters with #, such as \"'inventory:' + #sku\".", ex);
		}
	}

	@SuppressWarnings("NullAway") // The constructor's root object may be null
	private EvaluationContext context(Method method, @Nullable Object[] arguments, Parameters parameters) {
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(null, method, arguments, parameters) {

			@Override
			public boolean isAssignmentEnabled() {
				return false;
			}

		};
		this.shared.applyDelegatesTo(context);
		return context;
	}

	/**
	 * Checks a node and its children.
	 * @param scoped whether the node is evaluated on an object, so that bare names mean
	 * its properties
	 */
	private static void check(SpelNode node, boolean scoped, Parameters parameters, String where) {
		String name = node.toStringAST();
		if (node instanceof FunctionReference) {
			throw new LockConfigurationException(where + " calls a function that does not exist: " + name + ".",
					"Call a method of a bean (@bean.method(...)) or of a parameter instead.");
		}
		if (node instanceof VariableReference) {
			parameters.check(name.substring(1), where);
		}
		if (!scoped && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
			throw new LockConfigurationException(
					where + " uses the bare name '" + name + "', which means nothing here.",
					"Write \"#" + name + "\" for a parameter, \"'" + name + "'\" for literal text.");
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			boolean element = node instanceof Projection || node instanceof Selection;
			boolean tail = node instanceof CompoundExpression && i > 0;
			check(node.getChild(i), scoped || element || tail, parameters, where);
		}
	}

	/**
	 * SpEL itself evaluates arguments, and writes a null into a concatenation as a text.
	 */
	private static void refuseTextInArguments(SpelNode node, boolean argument, String where) {
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (argument && node instanceof OpPlus && child instanceof StringLiteral) {
				throw new LockConfigurationException(
						where + " joins text in an argument of a call, where a null would become part of the key: "
								+ node.toStringAST() + ".",
						"Pass the parts as separate arguments, or join the text outside of the call.");
			}
			refuseTextInArguments(child, argument || node instanceof MethodReference, where);
		}
	}

	/**
	 * The parameters of a method.
	 *
	 * @param count how many there are
	 * @param names their names, or {@code null} if they are unknown
	 */
	private record Parameters(int count, @Nullable String @Nullable [] names) implements ParameterNameDiscoverer {

		static Parameters of(Method method, Method annotated) {
			return new Parameters(method.getParameterCount(), Optional.ofNullable(discoverer.getParameterNames(method))
				.orElseGet(() -> discoverer.getParameterNames(annotated)));
		}

		@Override
		public @Nullable String @Nullable [] getParameterNames(Method method) {
			return this.names;
		}

		@Override
		public @Nullable String @Nullable [] getParameterNames(Constructor<?> constructor) {
			return null;
		}

		void check(String name, String where) {
			List<String> known = (this.names != null) ? List.of(this.names)
					: IntStream.range(0, this.count).mapToObj("p%d"::formatted).toList();
			Matcher position = POSITION.matcher(name);
			if (known.contains(name) || name.equals("this") || name.equals("root")
					|| (position.matches() && Integer.parseInt(position.group(1)) < this.count)) {
				return;
			}
			List<String> choice = known.stream().map("#"::concat).toList();
			if (this.names == null && this.count > 0) {
				throw new LockConfigurationException(
						where + " uses #" + name + ", but the class was compiled without parameter names.",
						"Compile with the option -parameters, or use one of " + choice + ".");
			}
			throw new LockConfigurationException(where + " uses #" + name + ", but the method has no such parameter.",
					known.isEmpty()
							? "The method has no parameters at all: add one, or write a literal text such as \"'orders'\"."
							: "Use one of " + choice + ".");
		}

	}

}
