package io.github.holdfast.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.transaction.BackendGuards;
import io.github.holdfast.transaction.FenceClaimRule;

/**
 * The rule by which transactions write their locks into rows themselves, of the fence
 * table or the lock table.
 */
@Configuration(proxyBeanMethods = false)
class FenceClaimConfiguration {

	@Bean
	FenceClaimRule lockFenceClaimRule(ObjectProvider<Fence> fence, NamedBackends named) {
		return new FenceClaimRule((backend) -> {
			BackendGuards.Guard guard = named.of(backend);
			Fence checked = (guard != null) ? guard.fence() : fence.getIfAvailable();
			return checked != null && checked.claims() != null;
		});
	}

}
