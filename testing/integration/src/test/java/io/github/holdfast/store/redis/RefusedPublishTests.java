package io.github.holdfast.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A Redis that refuses {@code PUBLISH} in scripts: releases are told by a command beside
 * the script, and none is lost while that is found out.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class RefusedPublishTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final String NOTICE = "refuses PUBLISH in scripts";

	private final RedisServer server = RedisServer.start();

	private final RedisConnectionFactory listener = RedisConnections.lettuce(this.server.port());

	private final String key = "quiet:" + UUID.randomUUID();

	@AfterAll
	void stop() {
		RedisConnections.close(this.listener);
		this.server.close();
	}

	/**
	 * What was sent past the filter before would be known by its digest.
	 */
	@BeforeEach
	void forgetScripts() {
		this.server.command("SCRIPT", "FLUSH");
	}

	static Stream<Arguments> clientsAndRefusals() {
		return Stream.of(Client.values())
			.flatMap((client) -> Stream.of(Refusal.values()).map((refusal) -> Arguments.of(client, refusal)));
	}

	@ParameterizedTest
	@MethodSource("clientsAndRefusals")
	void eachReleaseIsToldAndOnlyOneIsRefused(Client client, Refusal refusal, CapturedOutput output) throws Exception {
		try (ScriptFilter filter = new ScriptFilter(this.server.port(), refusal.filter);
				Messages messages = new Messages()) {
			client.run(filter.port(), (backend) -> {
				for (int i = 0; i < 5; i++) {
					LockLease lease = acquired(backend, RedisRequests.request(this.key, Duration.ZERO));
					assertThat(lease.release().toCompletableFuture().get()).isTrue();
					assertThat(messages.next()).isNotNull();
					assertThat(this.server.command("EXISTS", LockKey.of(this.key).lock())).isEqualTo(0L);
				}
			});
			assertThat(messages.received).isEmpty();
			assertThat(filter.replaced()).isEqualTo(1);
		}
		assertThat(output.toString().split(NOTICE, -1)).hasSize(2);
		assertThat(output).doesNotContain("could not be released", "later attempt");
	}

	@ParameterizedTest
	@MethodSource("clientsAndRefusals")
	void sharedLockIsFreeWithItsLastReleaseWhichIsTold(Client client, Refusal refusal) throws Exception {
		try (ScriptFilter filter = new ScriptFilter(this.server.port(), refusal.filter);
				Messages messages = new Messages()) {
			client.run(filter.port(), (backend) -> {
				for (int i = 0; i < 2; i++) {
					LockLease first = acquired(backend, RedisRequests.shared(this.key, Duration.ZERO));
					LockLease last = acquired(backend, RedisRequests.shared(this.key, Duration.ZERO));
					assertThat(first.release().toCompletableFuture().get()).isTrue();
					assertThat(this.server.command("EXISTS", LockKey.of(this.key).lock())).isEqualTo(1L);
					assertThat(last.release().toCompletableFuture().get()).isTrue();
					assertThat(messages.next()).isNotNull();
					assertThat(this.server.command("EXISTS", LockKey.of(this.key).lock())).isEqualTo(0L);
				}
			});
		}
	}

	@ParameterizedTest
	@MethodSource("clientsAndRefusals")
	void aLateReleaseTakesNothingFromTheNextHolder(Client client, Refusal refusal) throws Exception {
		try (ScriptFilter filter = new ScriptFilter(this.server.port(), refusal.filter)) {
			client.run(filter.port(), (backend) -> {
				LockLease lost = acquired(backend, RedisRequests.request(this.key, Duration.ZERO));
				this.server.command("DEL", LockKey.of(this.key).lock());
				LockLease lease = acquired(backend, RedisRequests.request(this.key, Duration.ZERO));
				assertThat(lost.release().toCompletableFuture().get()).isFalse();
				assertThat(lease.release().toCompletableFuture().get()).isTrue();
			});
		}
	}

	@ParameterizedTest
	@MethodSource("clientsAndRefusals")
	void waitersAreServedInTurn(Client client, Refusal refusal) throws Exception {
		try (ScriptFilter filter = new ScriptFilter(this.server.port(), refusal.filter)) {
			client.run(filter.port(), (backend) -> {
				LockLease lease = acquired(backend, RedisRequests.fair(this.key, Duration.ZERO));
				assertThat(backend.acquire(RedisRequests.fair(this.key, Duration.ofMillis(100)))).isNull();
				CompletableFuture<LockLease> waiter = CompletableFuture.supplyAsync(() -> {
					try {
						return backend.acquire(RedisRequests.fair(this.key, LONG));
					}
					catch (InterruptedException ex) {
						throw new CompletionException(ex);
					}
				}, (task) -> new Thread(task).start());
				lease.release().toCompletableFuture().get();
				assertThat(waiter.get(60, TimeUnit.SECONDS).release().toCompletableFuture().get()).isTrue();
			});
		}
	}

	@Test
	void messageIsSentWithTheScriptOnceItIsKnownThatItMustBe() throws Exception {
		try (ScriptFilter filter = new ScriptFilter(this.server.port(), Refusal.BEFORE.filter)) {
			Client.LETTUCE.run(filter.port(), (backend) -> {
				acquired(backend, RedisRequests.request(this.key, Duration.ZERO)).release().toCompletableFuture().get();
				LockLease lease = acquired(backend, RedisRequests.request(this.key, Duration.ZERO));
				filter.commands().clear();
				this.server.command("CLIENT", "PAUSE", "600000", "WRITE");
				CompletableFuture<Boolean> released = lease.release().toCompletableFuture();
				await().until(() -> filter.commands().contains("PUBLISH"));
				assertThat(released).isNotDone();
				this.server.command("CLIENT", "UNPAUSE");
				assertThat(released.get()).isTrue();
				assertThat(Collections.frequency(filter.commands(), "PUBLISH")).isEqualTo(1);
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusalIsToldIfItIsOfSomethingElse(Client client, CapturedOutput output) throws Exception {
		String refused = "return redis.error_reply('ERR no script is right')";
		try (ScriptFilter filter = new ScriptFilter(this.server.port(),
				(lua) -> lua.contains("'del'") ? refused : lua)) {
			client.run(filter.port(), (backend) -> {
				LockLease lease = acquired(backend, RedisRequests.request(this.key, Duration.ZERO));
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> lease.release().toCompletableFuture().get())
					.havingRootCause()
					.withMessageContaining("no script is right");
			});
		}
		finally {
			this.server.command("DEL", LockKey.of(this.key).lock());
		}
		assertThat(output).doesNotContain(NOTICE);
	}

	private static LockLease acquired(RedisLockBackend backend, LockRequest request) throws InterruptedException {
		LockLease lease = backend.acquire(request);
		assertThat(lease).isNotNull();
		return lease;
	}

	/**
	 * What a server does with a script that publishes.
	 */
	enum Refusal {

		/** It does not run it. */
		BEFORE((lua) -> "return redis.error_reply('ERR bad lua script, publish is not allowed')"),

		/** It stops at the command, when the lock is released already. */
		MIDWAY((lua) -> lua.replace("'publish'", "'refused'"));

		private final UnaryOperator<String> filter;

		Refusal(UnaryOperator<String> filter) {
			this.filter = (lua) -> lua.contains("'publish'") ? filter.apply(lua) : lua;
		}

	}

	enum Client {

		LETTUCE {

			@Override
			void run(int port, Body body) throws Exception {
				RedisConnectionFactory connections = RedisConnections.lettuce(port);
				try (RedisLockBackend backend = new RedisLockBackend(() -> connections)) {
					body.run(backend);
				}
				finally {
					RedisConnections.close(connections);
				}
			}

		},

		REDISSON {

			@Override
			void run(int port, Body body) throws Exception {
				RedissonClient client = RedissonClients.single(port);
				try (RedisLockBackend backend = RedisLockBackend.redisson(() -> client)) {
					body.run(backend);
				}
				finally {
					RedissonClients.close(client);
				}
			}

		};

		abstract void run(int port, Body body) throws Exception;

	}

	@FunctionalInterface
	private interface Body {

		void run(RedisLockBackend backend) throws Exception;

	}

	/**
	 * Those of the lock, as somebody gets them who listens.
	 */
	private final class Messages implements AutoCloseable {

		private final RedisConnection connection = RefusedPublishTests.this.listener.getConnection();

		private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

		private Messages() throws IOException {
			MessageListener messages = (message, pattern) -> this.received.add(message.toString());
			this.connection.subscribe(messages, LockKey.bytes(LockKey.of(RefusedPublishTests.this.key).channel()));
		}

		private String next() throws InterruptedException {
			return this.received.poll(LONG.toSeconds(), TimeUnit.SECONDS);
		}

		@Override
		public void close() {
			this.connection.close();
		}

	}

}
