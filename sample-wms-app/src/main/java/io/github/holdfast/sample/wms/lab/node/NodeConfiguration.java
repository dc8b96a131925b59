package io.github.holdfast.sample.wms.lab.node;

import org.springframework.boot.web.server.context.WebServerPortFileWriter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Profile;

/**
 * What a node has in addition to the service.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab-node")
class NodeConfiguration {

	/**
	 * Tells the lab on which port this node is.
	 */
	@Bean
	@Lazy(false)
	static WebServerPortFileWriter portFile() {
		return new WebServerPortFileWriter();
	}

}
