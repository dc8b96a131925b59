package io.github.holdfast.lab.node;

import java.time.Duration;

import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.lab.strategy.Mishap;

/**
 * Lets something happen to this node.
 */
@RestController
@Profile("lab-node")
class MishapController {

	@PostMapping("/lab-node/freeze")
	void freeze(@RequestParam Mishap.Moment moment, @RequestParam long millis) throws InterruptedException {
		Mishap.freeze(moment, Duration.ofMillis(millis)).happenSoon();
	}

	@PostMapping("/lab-node/kill")
	void kill(@RequestParam Mishap.Moment moment) throws InterruptedException {
		Mishap.kill(moment).happenSoon();
	}

}
