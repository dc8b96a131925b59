package io.github.holdfast.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.jdbc.SqlScriptsTestExecutionListener;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Resets the {@link TestLocks} before each test method, after its SQL scripts, and after
 * it.
 */
final class TestLocksResetListener extends AbstractTestExecutionListener {

	/** After {@link SqlScriptsTestExecutionListener}. */
	@Override
	public int getOrder() {
		return 5500;
	}

	@Override
	public void beforeTestMethod(TestContext testContext) {
		reset(testContext);
	}

	@Override
	public void afterTestMethod(TestContext testContext) {
		reset(testContext);
	}

	private static void reset(TestContext testContext) {
		if (testContext.hasApplicationContext()) {
			testContext.getApplicationContext().getBeanProvider(TestLocks.class).ifAvailable(TestLocks::reset);
		}
	}

}
