package io.github.holdfast.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * A test that replaces the template by a mock.
 */
@ExtendWith(OutputCaptureExtension.class)
@SpringJUnitConfig
@Import(MockedTemplateTests.Stock.class)
@ImportAutoConfiguration({ AopAutoConfiguration.class, LockBackendAutoConfiguration.class,
		DistributedLockAutoConfiguration.class })
@TestPropertySource(properties = "holdfast.backend=local")
@DirtiesContext
class MockedTemplateTests {

	@MockitoBean
	private LockTemplate locks;

	@Autowired
	private Stock stock;

	@Test
	void annotatedMethodRunsWithoutALockAndIsTold(CapturedOutput output) {
		assertThat(this.stock.deduct("A")).isFalse();
		assertThat(output).contains("The LockTemplate bean is a mock");
	}

	@Test
	void mockDoesWhatItIsTold() {
		LockTemplate.Scope scope = mock(LockTemplate.Scope.class);
		given(this.locks.acquire("A")).willReturn(scope);
		assertThat(this.locks.acquire("A")).isSameAs(scope);
	}

	static class Stock {

		@DistributedLock(key = "#sku")
		public boolean deduct(String sku) {
			return LockContext.current().isPresent();
		}

	}

}
