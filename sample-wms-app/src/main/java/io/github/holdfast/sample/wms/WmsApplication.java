package io.github.holdfast.sample.wms;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * A warehouse service. Locks keep its stock and its balances right on any number of
 * nodes.
 */
@SpringBootApplication
@EnableScheduling
@EnableResilientMethods
public class WmsApplication {

	public static void main(String[] args) {
		SpringApplication.run(WmsApplication.class, args);
	}

}
