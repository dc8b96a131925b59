package io.github.holdfast.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.jdbc.SqlScriptsTestExecutionListener;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Resets the {@link TestLocks} before each test method, after its SQL scripts. */
final class TestLocksResetListener extends AbstractTestExecutionListener {

	/** After {@link SqlScriptsTestExecutionListener}. */
	@Override
	public int getOrder() {
		return 5500;
	}

	@Override
	public void beforeTestMethod(TestContext testContext) {
		if (testContext.hasApplicationContext()) {
			testContext.getApplicationContext().getBeanProvider(TestLocks.class).ifAvailable(TestLocks::reset);
		}
	}

}
