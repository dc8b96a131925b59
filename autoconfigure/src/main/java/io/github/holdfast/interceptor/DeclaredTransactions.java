package io.github.holdfast.interceptor;

import java.lang.reflect.Method;

import io.github.holdfast.core.LockSettings.BodyTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the transaction of a method and its manager the way Spring's advice does.
 */
final class DeclaredTransactions extends TransactionAspectSupport {

	private DeclaredTransactions(TransactionAspectSupport advice, BeanFactory beanFactory) {
		setTransactionManager(advice.getTransactionManager());
		setBeanFactory(beanFactory);
	}

	/**
	 * Finds the transaction of a method.
	 * @param advice begins the transaction
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param beanFactory has the managers
	 * @param innermost whether the advice comes right behind the lock
	 * @return the transaction, or {@code null} if the method declares none
	 */
	static @Nullable BodyTransaction find(TransactionAspectSupport advice, Method method, Class<?> targetClass,
			BeanFactory beanFactory, boolean innermost) {
		TransactionAttributeSource source = advice.getTransactionAttributeSource();
		TransactionAttribute attribute = (source != null) ? source.getTransactionAttribute(method, targetClass) : null;
		return (attribute == null) ? null : new BodyTransaction(attribute,
				SingletonSupplier.of(() -> manager(advice, attribute, targetClass, beanFactory)), innermost);
	}

	private static @Nullable TransactionManager manager(TransactionAspectSupport advice, TransactionAttribute attribute,
			Class<?> targetClass, BeanFactory beanFactory) {
		try {
			return new DeclaredTransactions(advice, beanFactory).determineTransactionManager(attribute, targetClass);
		}
		catch (BeansException ex) {
			return null;
		}
	}

}
