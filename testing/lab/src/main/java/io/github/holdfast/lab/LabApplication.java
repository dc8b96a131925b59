package io.github.holdfast.lab;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The lab, and, in the profile {@code lab-node}, each node that it starts.
 */
@SpringBootApplication
@EnableScheduling
public class LabApplication {

	public static void main(String[] args) {
		SpringApplication.run(LabApplication.class, args);
	}

}
