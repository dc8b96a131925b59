package io.github.holdfast.benchmarks.overhead;

import java.util.ArrayList;
import java.util.List;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;

import io.github.holdfast.benchmarks.BenchmarkApplication;
import io.github.holdfast.benchmarks.StorelessTransactionManager;

/**
 * What stands between the caller and the method.
 */
public enum CallPath {

	/** Nothing. */
	PLAIN {

		@Override
		Stock stock() {
			return new Stock();
		}

	},

	/** A proxy with an interceptor that does nothing. */
	PROXY {

		@Override
		Stock stock() {
			Advice nothing = (MethodInterceptor) MethodInvocation::proceed;
			return proxy(new Stock(), new DefaultPointcutAdvisor(nothing));
		}

	},

	/** The annotation as it is in an application, on the backend {@code local}. */
	LOCK {

		@Override
		Stock stock() {
			return bean(Stock.Locked.class, true);
		}

	},

	/** The same with meters. */
	LOCK_METERS {

		@Override
		Stock stock() {
			return bean(Stock.Locked.class, true, Meters.On.class);
		}

	},

	/** The same with meters that the application has switched off. */
	LOCK_METERS_OFF {

		@Override
		Stock stock() {
			return bean(Stock.Locked.class, true, Meters.Off.class);
		}

	},

	/** Only a transaction, in an application without Holdfast. */
	TRANSACTION {

		@Override
		Stock stock() {
			return bean(Stock.InTransaction.class, false);
		}

	},

	/** The lock, the transaction and the guard at level {@code lease}. */
	LOCK_GUARD_TRANSACTION {

		@Override
		Stock stock() {
			return bean(Stock.LockedInTransaction.class, true);
		}

	};

	abstract Stock stock();

	private static Stock proxy(Stock target, Advisor advisor) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(advisor);
		return (Stock) factory.getProxy();
	}

	private static Stock bean(Class<? extends Stock> type, boolean locks, Class<?>... others) {
		List<Class<?>> beans = new ArrayList<>(List.of(type, StorelessTransactionManager.class));
		beans.addAll(List.of(others));
		return BenchmarkApplication.start(beans, List.of("holdfast.backend=local", "holdfast.commit-guard=lease",
				"spring.autoconfigure.exclude=" + (locks ? "" : HOLDFAST)))
			.getBean(Stock.class);
	}

	private static final String HOLDFAST = "io.github.holdfast.autoconfigure.HoldfastAutoConfiguration";

}
