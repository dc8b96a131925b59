package io.github.holdfast.sample.wms;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** The first start of the service, without any profile. */
@ExtendWith(OutputCaptureExtension.class)
class DefaultStartTests {

	/** Spring Security is there for tests only, and warns of its user. */
	@Test
	void warnsOfNothing(CapturedOutput output) {
		try (ConfigurableApplicationContext service = new SpringApplicationBuilder(WmsApplication.class)
			.main(WmsApplication.class)
			.run("--server.port=0", "--spring.datasource.url=jdbc:h2:mem:default-start")) {
			assertThat(service.isActive()).isTrue();
		}
		assertThat(output.toString().lines().toList()).anyMatch((line) -> line.contains("Started WmsApplication"))
			.filteredOn((line) -> line.contains(" WARN ") || line.contains(" ERROR "))
			.filteredOn((line) -> !line.contains("UserDetailsService"))
			.isEmpty();
	}

}
