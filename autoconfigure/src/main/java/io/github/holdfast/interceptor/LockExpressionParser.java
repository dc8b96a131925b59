package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
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

	private final StandardEvaluationContext context = new StandardEvaluationContext() {

		@Override
		public boolean isAssignmentEnabled() {
			return false;
		}

	};

	LockExpressionParser(BeanFactory beanFactory) {
		this.context.setBeanResolver(new BeanFactoryResolver(beanFactory));
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
		Parameters parameters = Parameters.of(method.getParameterCount(),
				(names != null) ? names : discoverer.getParameterNames(annotated));
		try {
			SpelNode root = parser.parseRaw(text).getAST();
			check(root, false, false, parameters, where);
			return new LockExpression(where, root, this.context, parameters.positions);
		}
		catch (ParseException ex) {
			throw new LockConfigurationException(where + " is not a SpEL expression: " + ex.getMessage() + ".",
					"Write literal text in single quotes and parameters with #, such as \"'inventory:' + #sku\".", ex);
		}
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
	 * @param known what to call them in messages
	 * @param unnamed whether their names are unknown
	 * @param positions the position of each name, such as sku, p0 and a0
	 */
	private record Parameters(List<String> known, boolean unnamed, Map<String, Integer> positions) {

		static Parameters of(int count, @Nullable String @Nullable [] names) {
			Map<String, Integer> positions = new HashMap<>();
			List<String> known = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				known.add((names != null && names[i] != null) ? names[i] : "p" + i);
				// A parameter may have such a name at another position
				positions.putIfAbsent("p" + i, i);
				positions.putIfAbsent("a" + i, i);
				positions.put(known.get(i), i);
			}
			return new Parameters(known, names == null && count > 0, positions);
		}

		void check(String name, String where) {
			String problem = this.unnamed ? "the class was compiled without parameter names."
					: "the method has no such parameter.";
			String action = (this.unnamed ? "Compile with the option -parameters, or use" : "Use") + " one of "
					+ this.known.stream().map("#"::concat).toList() + ".";
			LockMethodRules.refuseIf(!this.positions.containsKey(name) && !name.equals("this") && !name.equals("root"),
					where + " uses #" + name + ", but " + problem,
					this.known.isEmpty()
							? "The method has no parameters at all: add one, or write literal text in quotes."
							: action);
		}

	}

}
