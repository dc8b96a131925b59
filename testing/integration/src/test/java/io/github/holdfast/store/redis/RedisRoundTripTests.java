package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an uncontended call of a locked method costs.
 */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class RedisRoundTripTests {

	private static final int CALLS = 100;

	private final String key = "round:" + UUID.randomUUID();

	private final RedisServer server = RedisServer.start();

	private ConfigurableApplicationContext application;

	@BeforeEach
	void start() {
		this.application = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.run("--holdfast.backend=redis", "--holdfast.commit-guard=lease",
					"--spring.data.redis.port=" + this.server.port(),
					"--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
	}

	@AfterEach
	void stop() {
		this.server.command("CLIENT", "UNPAUSE");
		this.application.close();
		this.server.close();
	}

	@Test
	void callSendsTwoScriptsAndNothingElse() {
		call(() -> {
		});
		String lock = LockKey.of("lock:" + this.key).lock();
		await().until(() -> this.server.command("EXISTS", lock).equals(0L));
		this.server.command("CONFIG", "RESETSTAT");
		for (int i = 0; i < CALLS; i++) {
			call(() -> {
			});
		}
		await().until(() -> commands().get("publish") == CALLS);
		assertThat(commands()).containsEntry("evalsha", 2 * CALLS)
			.containsOnlyKeys("evalsha", "config", "info", "hmget", "time", "hget", "hset", "pexpire", "del",
					"publish");
	}

	@Test
	void releaseAfterACheckedCommitIsNotWaitedFor(CapturedOutput output) {
		String lock = LockKey.of("lock:" + this.key).lock();
		call(() -> this.server.command("CLIENT", "PAUSE", "60000", "WRITE"));
		String caller = Thread.currentThread().getName() + "]";
		assertThat(output.toString().lines())
			.noneMatch((line) -> line.contains(caller) && line.contains("could not be released"));
		assertThat(this.server.command("EXISTS", lock)).isEqualTo(1L);
		this.server.command("CLIENT", "UNPAUSE");
		await().untilAsserted(() -> assertThat(this.server.command("EXISTS", lock)).isEqualTo(0L));
	}

	@Test
	void connectionThatIsClosedIsReplaced() {
		LettuceConnectionFactory connections = this.application.getBean(LettuceConnectionFactory.class);
		call(connections::resetConnection);
		call(() -> {
			connections.stop();
			connections.start();
		});
		String lock = LockKey.of("lock:" + this.key).lock();
		await().atMost(Duration.ofSeconds(30)).until(() -> this.server.command("EXISTS", lock).equals(0L));
	}

	private void call(Runnable body) {
		this.application.getBean(Service.class).call(this.key, body);
	}

	private Map<String, Integer> commands() {
		Map<String, Integer> calls = new HashMap<>();
		Arrays.stream(this.server.command("INFO", "COMMANDSTATS").toString().split("\r\n"))
			.filter((line) -> line.startsWith("cmdstat_"))
			.map((line) -> line.substring("cmdstat_".length()).split(":calls=|,"))
			.collect(Collectors.toMap((fields) -> fields[0], (fields) -> Integer.parseInt(fields[1])))
			.forEach(calls::put);
		return calls;
	}

	static class Service {

		@DistributedLock(key = "#key")
		@Transactional
		public void call(String key, Runnable body) {
			body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Service service() {
			return new Service();
		}

	}

}
