package io.github.holdfast.interceptor;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
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
		LockMethodRules.refuseIf(text.isBlank(), where + " is blank.", "Give a SpEL expression, such as \"'orders'\".");
		LockMethodRules.refuseIf(text.contains("${"),
				where + " contains a placeholder, which would be taken literally.",
				"Use a bean reference, such as \"@environment.getProperty('app.tenant')\".");
		@Nullable String @Nullable [] names = discoverer.getParameterNames(method);
		Parameters parameters = new Parameters(method.getParameterCount(),
				(names != null) ? names : discoverer.getParameterNames(annotated));
		try {
			SpelNode root = parser.parseRaw(text).getAST();
			check(root, false, false, parameters, where);
			return new LockExpression(where, root, (arguments) -> context(method, arguments, parameters));
		}
		catch (ParseException ex) {
			throw new LockConfigurationException(where + " is not a SpEL expression: " + ex.getMessage() + ".",
					"Write literal text in single quotes and parameters with #, such as \"'inventory:' + #sku\".", ex);
		}
	}

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
	 * @param argument whether the node is inside an argument of a call. SpEL itself
	 * evaluates arguments, and writes a null into a concatenation as a text
	 */
	private static void check(SpelNode node, boolean scoped, boolean argument, Parameters parameters, String where) {
		String name = node.toStringAST();
		LockMethodRules.refuseIf(node instanceof FunctionReference,
				where + " calls a function that does not exist: " + name + ".",
				"Call a method of a bean (@bean.method(...)) or of a parameter instead.");
		LockMethodRules.refuseIf(
				!scoped && (node instanceof PropertyOrFieldReference || node instanceof MethodReference),
				where + " uses the bare name '" + name + "', which means nothing here.",
				"Write \"#" + name + "\" for a parameter, \"'" + name + "'\" for literal text.");
		if (node instanceof VariableReference) {
			parameters.check(name.substring(1), where);
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			LockMethodRules
				.refuseIf(argument && node instanceof OpPlus && child instanceof StringLiteral,
						where + " joins text in an argument of a call, where a null would become part of the key: "
								+ name + ".",
						"Pass the parts as separate arguments, or join the text outside the call.");
			boolean element = node instanceof Projection || node instanceof Selection
					|| (node instanceof CompoundExpression && i > 0);
			check(child, scoped || element, argument || node instanceof MethodReference, parameters, where);
		}
	}

	/**
	 * The parameters of a method.
	 *
	 * @param count how many there are
	 * @param names their names, or {@code null} if they are unknown
	 */
	private record Parameters(int count, @Nullable String @Nullable [] names) implements ParameterNameDiscoverer {

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
			boolean position = name.matches("[pa]\\d{1,3}") && Integer.parseInt(name.substring(1)) < this.count;
			boolean unnamed = this.names == null && this.count > 0;
			String problem = unnamed ? "the class was compiled without parameter names."
					: "the method has no such parameter.";
			String action = (unnamed ? "Compile with the option -parameters, or use" : "Use") + " one of "
					+ known.stream().map("#"::concat).toList() + ".";
			LockMethodRules.refuseIf(!position && !known.contains(name) && !name.equals("this") && !name.equals("root"),
					where + " uses #" + name + ", but " + problem,
					known.isEmpty() ? "The method has no parameters at all: add one, or write literal text in quotes."
							: action);
		}

	}

}
