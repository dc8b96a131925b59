package io.github.holdfast.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.testsupport.EtcdServer;

/**
 * One etcd.
 */
final class EtcdLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.STORE_PAUSE, Fault.Kind.RESTART,
			Fault.Kind.RESTART_EMPTY);

	private static final Duration OPERATOR_TIME = Duration.ofSeconds(5);

	private final HttpClient http = HttpClient.newHttpClient();

	private final EtcdServer server = EtcdServer.start();

	@Override
	public int port() {
		return this.server.port();
	}

	@Override
	public void begin(Fault fault) {
		switch (fault.kind()) {
			case FORGET -> forget();
			case STORE_PAUSE -> this.server.pause();
			case RESTART -> this.server.restart();
			case RESTART_EMPTY -> {
				this.server.kill();
				this.server.forget();
				this.server.restart();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	@Override
	public void end(Fault fault) {
		if (fault.kind() == Fault.Kind.STORE_PAUSE) {
			this.server.resume();
		}
	}

	/**
	 * Deletes all locks, as an operator does.
	 */
	private void forget() {
		String range = "{\"key\":\"%s\",\"range_end\":\"%s\"}".formatted(base64("/holdfast/locks/"),
				base64("/holdfast/locks0"));
		HttpRequest request = HttpRequest.newBuilder(URI.create(this.server.endpoint() + "/v3/kv/deleterange"))
			.POST(HttpRequest.BodyPublishers.ofString(range))
			.timeout(OPERATOR_TIME)
			.build();
		try {
			this.http.send(request, HttpResponse.BodyHandlers.discarding());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static String base64(String key) {
		return Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public void close() {
		this.server.close();
	}

}
