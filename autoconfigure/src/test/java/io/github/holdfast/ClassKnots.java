package io.github.holdfast;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;

/**
 * The knots of classes: those of which each depends on the other ones, by whatever way. A
 * nested class counts as its outer one.
 *
 * <p>
 * After R. Tarjan, "Depth-first search and linear graph algorithms" (SIAM J. Comput.
 * 1(2), 1972).
 */
final class ClassKnots {

	private final Map<String, Set<String>> dependencies;

	private final Map<String, Integer> order = new HashMap<>();

	private final Map<String, Integer> earliest = new HashMap<>();

	private final Deque<String> open = new ArrayDeque<>();

	private final List<Set<String>> knots = new ArrayList<>();

	private ClassKnots(Map<String, Set<String>> dependencies) {
		this.dependencies = dependencies;
	}

	/**
	 * Find the knots of two or more classes.
	 * @return the names of the classes of each knot
	 */
	static List<Set<String>> in(JavaClasses classes) {
		Map<String, Set<String>> dependencies = new TreeMap<>();
		for (JavaClass type : classes) {
			Set<String> targets = dependencies.computeIfAbsent(outermost(type), (name) -> new TreeSet<>());
			type.getDirectDependenciesFromSelf().forEach((dependency) -> {
				JavaClass target = dependency.getTargetClass().getBaseComponentType();
				if (classes.contain(target.getName())) {
					targets.add(outermost(target));
				}
			});
		}
		ClassKnots knots = new ClassKnots(dependencies);
		dependencies.keySet().forEach((type) -> {
			if (!knots.order.containsKey(type)) {
				knots.visit(type);
			}
		});
		return knots.knots;
	}

	private static String outermost(JavaClass type) {
		return type.getEnclosingClass().map(ClassKnots::outermost).orElse(type.getName());
	}

	private void visit(String type) {
		this.order.put(type, this.order.size());
		this.earliest.put(type, this.order.get(type));
		this.open.push(type);
		for (String target : this.dependencies.get(type)) {
			if (!this.order.containsKey(target)) {
				visit(target);
				this.earliest.merge(type, this.earliest.get(target), Math::min);
			}
			else if (this.open.contains(target)) {
				this.earliest.merge(type, this.order.get(target), Math::min);
			}
		}
		if (this.earliest.get(type).equals(this.order.get(type))) {
			close(type);
		}
	}

	private void close(String type) {
		Set<String> knot = new TreeSet<>();
		String last;
		do {
			last = this.open.pop();
			knot.add(last);
		}
		while (!last.equals(type));
		if (knot.size() > 1) {
			this.knots.add(knot);
		}
	}

}
