package io.github.holdfast.lab;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.client.RestClient;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import io.github.holdfast.lab.access.LabAccess;

/**
 * The lab, in the profile {@code lab}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab")
@EnableConfigurationProperties(LabProperties.class)
class LabConfiguration implements WebMvcConfigurer {

	private static final Logger logger = LoggerFactory.getLogger(LabConfiguration.class);

	@Override
	public void addViewControllers(ViewControllerRegistry registry) {
		registry.addRedirectViewController("/", "/lab/");
		registry.addRedirectViewController("/lab", "/lab/");
		registry.addViewController("/lab/").setViewName("forward:/lab/index.html");
	}

	@Bean
	LabServers labServers() {
		return new LabServers();
	}

	@Bean
	JdbcConnectionDetails labDatabaseConnectionDetails(LabServers servers) {
		return new ConnectionDetails(servers.jdbcUrl());
	}

	/**
	 * Lets Tomcat write below the lab's folder, too, which is removed even if the lab is
	 * killed.
	 */
	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> labFolderCustomizer(LabServers servers) {
		return (tomcat) -> {
			tomcat.setBaseDirectory(servers.folder().resolve("tomcat").toFile());
			// Empty: what is in it is served
			tomcat.getSettings().setDocumentRoot(servers.newFolder("www").toFile());
		};
	}

	@Bean
	NodeClient nodeClient() {
		return new NodeClient(RestClient.builder());
	}

	@Bean
	LabNodes labNodes(LabServers servers, LabProperties properties, NodeClient client) {
		return new LabNodes(servers, properties, client);
	}

	@Bean
	Runs runs(LabServers servers, LabNodes nodes, JdbcClient jdbc, NodeClient client, LabProperties properties) {
		return new Runs(new Lab(servers, nodes, new LabDatabase(jdbc), client, properties));
	}

	@Bean
	FilterRegistrationBean<LabAccess> labAccess(LabProperties properties) {
		FilterRegistrationBean<LabAccess> registration = new FilterRegistrationBean<>(
				new LabAccess(properties.allowRemote()));
		registration.addUrlPatterns("/lab", "/lab/*");
		return registration;
	}

	@EventListener
	void sayWhereThePageIs(ApplicationReadyEvent ready) {
		String port = ready.getApplicationContext().getEnvironment().getProperty("local.server.port");
		logger.info("Lab: open http://localhost:{}/lab/", port);
	}

	private record ConnectionDetails(String getJdbcUrl) implements JdbcConnectionDetails {

		@Override
		public String getUsername() {
			return "root";
		}

		@Override
		public String getPassword() {
			return "";
		}

	}

}
