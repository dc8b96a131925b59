package io.github.holdfast.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.jdbc.SqlScriptsTestExecutionListener;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Lets each test method begin with locks that are free and with nothing recorded, after
 * scripts of the test have run, and ends what it has ordered.
 */
final class TestLocksResetListener extends AbstractTestExecutionListener {

	/** After {@link SqlScriptsTestExecutionListener}. */
	private static final int ORDER = 5500;

	@Override
	public int getOrder() {
		return ORDER;
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
