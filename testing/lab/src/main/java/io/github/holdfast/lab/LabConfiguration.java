package io.github.holdfast.lab;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * The lab, in the profile {@code lab}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab")
@EnableConfigurationProperties(Lab.Properties.class)
@Import({ LabServers.class, NodeClient.class, LabNodes.class, LabDatabase.class, Lab.class, Runs.class })
class LabConfiguration implements WebMvcConfigurer {

	private static final Logger logger = LoggerFactory.getLogger(LabConfiguration.class);

	@Override
	public void addViewControllers(ViewControllerRegistry registry) {
		registry.addRedirectViewController("/", "/lab/");
		registry.addRedirectViewController("/lab", "/lab/");
		registry.addViewController("/lab/").setViewName("forward:/lab/index.html");
	}

	@Bean
	JdbcConnectionDetails labDatabaseConnectionDetails(LabServers servers) {
		return new ConnectionDetails(servers.jdbcUrl(), "root", "");
	}

	/** Tomcat writes below the lab's folder, too, which is always removed. */
	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> labFolderCustomizer(LabServers servers) {
		return (tomcat) -> {
			tomcat.setBaseDirectory(servers.folder().resolve("tomcat").toFile());
			// Empty: what is in it is served
			tomcat.getSettings().setDocumentRoot(servers.newFolder("www").toFile());
		};
	}

	@Bean
	LabAccess labAccess(Lab.Properties properties) {
		return new LabAccess(properties.allowRemote());
	}

	@EventListener
	void sayWhereThePageIs(ApplicationReadyEvent ready) {
		String port = ready.getApplicationContext().getEnvironment().getProperty("local.server.port");
		logger.info("Lab: open http://localhost:{}/lab/", port);
	}

	private record ConnectionDetails(String getJdbcUrl, String getUsername,
			String getPassword) implements JdbcConnectionDetails {
	}

}
