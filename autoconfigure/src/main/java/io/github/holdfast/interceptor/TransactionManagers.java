package io.github.holdfast.interceptor;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Finds the transaction manager of a method, as Spring's own interceptor does.
 *
 * @since 0.2.0
 */
public final class TransactionManagers extends TransactionAspectSupport {

	private final Supplier<@Nullable TransactionInterceptor> interceptor;

	/**
	 * Create a finder.
	 * @param interceptor supplies Spring's interceptor, which knows the default manager
	 * if one is configured
	 * @param beanFactory has the managers
	 */
	public TransactionManagers(Supplier<@Nullable TransactionInterceptor> interceptor, BeanFactory beanFactory) {
		this.interceptor = interceptor;
		setBeanFactory(beanFactory);
	}

	/**
	 * The manager of a method.
	 * @return the manager, or {@code null} if it is not known
	 */
	@Nullable TransactionManager find(TransactionAttribute attribute, Class<?> targetClass) {
		try {
			TransactionManager configured = getTransactionManager();
			TransactionInterceptor interceptor = this.interceptor.get();
			if (configured == null && interceptor != null && interceptor.getTransactionManager() != null) {
				setTransactionManager(interceptor.getTransactionManager());
			}
			return determineTransactionManager(attribute, targetClass);
		}
		catch (BeansException ex) {
			return null;
		}
	}

}
