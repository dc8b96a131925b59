package io.github.holdfast.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.actuate.LocksEndpointWebExtension;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the endpoint {@code locks}.
 *
 * @since 0.2.0
 */
@AutoConfiguration(after = LockBackendAutoConfiguration.class)
@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, LocksEndpoint.class })
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
@ConditionalOnBean({ LockBackend.class, LockTemplate.class })
@EnableConfigurationProperties(LocksEndpointProperties.class)
public final class LocksEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LocksEndpoint locksEndpoint(ObjectProvider<LockTemplate> template, LockBackend backend, NamedBackends named,
			LockProperties properties, LocksEndpointProperties endpoint, ApplicationEventPublisher publisher) {
		return new LocksEndpoint(() -> template.getObject().uses(), () -> named.with(backend),
				properties.getKeyPrefix(), endpoint.getShowValues(), publisher);
	}

	@Bean
	@ConditionalOnBean(LocksEndpoint.class)
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
	LocksEndpointWebExtension locksEndpointWebExtension(LocksEndpoint endpoint, LocksEndpointProperties properties) {
		return new LocksEndpointWebExtension(endpoint, properties.getShowValues(), properties.getRoles());
	}

}
