package io.github.holdfast.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * Shows the arguments of one call to an expression. Everything else, and its caches, is
 * shared by all calls.
 */
record LockEvaluationContext(EvaluationContext shared, List<String> names,
		@Nullable Object[] arguments) implements EvaluationContext {

	@Override
	public @Nullable Object lookupVariable(String name) {
		int index = indexOf(this.names, this.arguments.length, name);
		return (index >= 0) ? this.arguments[index] : null;
	}

	/**
	 * The index of a parameter by its name, or by {@code p0} or {@code a0}.
	 * @return the index, or -1 if there is no such parameter
	 */
	static int indexOf(List<String> names, int count, String name) {
		int index = names.indexOf(name);
		if (index < 0 && name.matches("[pa]\\d{1,3}")) {
			int position = Integer.parseInt(name.substring(1));
			return (position < count) ? position : -1;
		}
		return index;
	}

	@Override
	public TypedValue getRootObject() {
		return TypedValue.NULL;
	}

	@Override
	public void setVariable(String name, @Nullable Object value) {
		throw new UnsupportedOperationException("An expression of a lock must not set '#" + name + "'");
	}

	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

	@Override
	public List<PropertyAccessor> getPropertyAccessors() {
		return this.shared.getPropertyAccessors();
	}

	@Override
	public List<IndexAccessor> getIndexAccessors() {
		return this.shared.getIndexAccessors();
	}

	@Override
	public List<ConstructorResolver> getConstructorResolvers() {
		return this.shared.getConstructorResolvers();
	}

	@Override
	public List<MethodResolver> getMethodResolvers() {
		return this.shared.getMethodResolvers();
	}

	@Override
	public @Nullable BeanResolver getBeanResolver() {
		return this.shared.getBeanResolver();
	}

	@Override
	public TypeLocator getTypeLocator() {
		return this.shared.getTypeLocator();
	}

	@Override
	public TypeConverter getTypeConverter() {
		return this.shared.getTypeConverter();
	}

	@Override
	public TypeComparator getTypeComparator() {
		return this.shared.getTypeComparator();
	}

	@Override
	public OperatorOverloader getOperatorOverloader() {
		return this.shared.getOperatorOverloader();
	}

}
