package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
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

import io.github.holdfast.core.LockConfigurationException;

/**
 * Parses the expressions of a locked method and finds, before the first call, what cannot
 * work: a parameter that does not exist, a name without {@code #}, a placeholder.
 */
final class LockExpressionParser {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private static final ParameterNameDiscoverer discoverer = new DefaultParameterNameDiscoverer();

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	LockExpressionParser(BeanFactory beanFactory) {
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared.getPropertyAccessors();
		this.shared.getMethodResolvers();
		this.shared.getConstructorResolvers();
		this.shared.getIndexAccessors();
	}

	/**
	 * The names of the parameters, empty if they are not known.
	 * @param method the method, which has none if it is generated, as that of a lambda
	 * @param annotated the method with the annotation
	 */
	static List<String> parameterNames(Method method, Method annotated) {
		@Nullable String[] names = discoverer.getParameterNames(method);
		if (names == null) {
			names = discoverer.getParameterNames(annotated);
		}
		return (names != null) ? List.of(names) : List.of();
	}

	EvaluationContext context(List<String> names, @Nullable Object[] arguments) {
		return new LockEvaluationContext(this.shared, names, arguments);
	}

	LockExpression parse(String attribute, String text, Method method, List<String> names, String location) {
		String where = "The " + attribute + " \"" + text + "\" of @DistributedLock on " + location;
		if (text.isBlank()) {
			throw new LockConfigurationException(where + " is blank.", "Give a SpEL expression, such as \"'orders'\".");
		}
		if (text.contains("${")) {
			throw new LockConfigurationException(where + " contains a placeholder, which would be taken literally.",
					"Use a bean reference, such as \"@environment.getProperty('app.tenant')\".");
		}
		try {
			SpelNode root = parser.parseRaw(text).getAST();
			check(root, false, method.getParameterCount(), names, where);
			refuseTextInArguments(root, false, where);
			return new LockExpression(text, root);
		}
		catch (ParseException ex) {
			throw new LockConfigurationException(where + " is not a SpEL expression: " + ex.getMessage() + ".",
					"Write literal text in single quotes and parameters with #, such as \"'inventory:' + #sku\".", ex);
		}
	}

	/**
	 * @param scoped whether the node is evaluated on an object, so that bare names mean
	 * its properties
	 */
	private void check(SpelNode node, boolean scoped, int count, List<String> names, String where) {
		if (node instanceof VariableReference && !(node instanceof FunctionReference)) {
			checkVariable(node.toStringAST(), count, names, where);
		}
		else if (node instanceof FunctionReference) {
			throw new LockConfigurationException(
					where + " calls a function that does not exist: " + node.toStringAST() + ".",
					"Call a method of a bean (@bean.method(...)) or of a parameter instead.");
		}
		else if (!scoped && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
			String name = node.toStringAST();
			throw new LockConfigurationException(
					where + " uses the bare name '" + name + "', which means nothing here.",
					"Write \"#" + name + "\" for a parameter, \"'" + name + "'\" for literal text.");
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			boolean element = node instanceof Projection || node instanceof Selection;
			boolean tail = node instanceof CompoundExpression && i > 0;
			check(node.getChild(i), scoped || element || tail, count, names, where);
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

	private void checkVariable(String reference, int count, List<String> names, String where) {
		String name = reference.substring(1);
		if (name.equals("this") || name.equals("root") || LockEvaluationContext.indexOf(names, count, name) >= 0) {
			return;
		}
		List<String> known = !names.isEmpty() ? names.stream().map("#"::concat).toList()
				: IntStream.range(0, count).mapToObj((i) -> "#p" + i).toList();
		if (names.isEmpty() && count > 0) {
			throw new LockConfigurationException(
					where + " uses " + reference + ", but the class was compiled without parameter names.",
					"Compile with the option -parameters, or use one of " + known + ".");
		}
		throw new LockConfigurationException(where + " uses " + reference + ", but the method has no such parameter.",
				known.isEmpty()
						? "The method has no parameters at all: add one, or write a literal text such as \"'orders'\"."
						: "Use one of " + known + ".");
	}

}
