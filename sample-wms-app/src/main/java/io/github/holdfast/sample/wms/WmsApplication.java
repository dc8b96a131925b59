package io.github.holdfast.sample.wms;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * The warehouse service. Start it as often as you like on one database: the nodes do not
 * sell the same piece twice.
 */
@SpringBootApplication
public class WmsApplication {

	public static void main(String[] args) {
		SpringApplication.run(WmsApplication.class, args);
	}

}
