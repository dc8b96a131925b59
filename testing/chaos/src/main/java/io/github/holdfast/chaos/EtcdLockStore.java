package io.github.holdfast.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.testsupport.EtcdCluster;
import io.github.holdfast.testsupport.EtcdServer;

/**
 * An etcd cluster of three members.
 */
final class EtcdLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.STORE_PAUSE, Fault.Kind.RESTART,
			Fault.Kind.RESTART_EMPTY, Fault.Kind.LEADER_KILLED, Fault.Kind.COMPACTION);

	private static final Duration OPERATOR_TIME = Duration.ofSeconds(5);

	private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");

	/** Left out if nothing was. */
	private static final Pattern DELETED = Pattern.compile("\"deleted\":\"(\\d+)\"");

	private static final Pattern COUNT = Pattern.compile("\"count\":\"(\\d+)\"");

	private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]+)\"");

	private static final String LOCKS = "{\"key\":\"%s\",\"range_end\":\"%s\"}".formatted(base64("/holdfast/locks/"),
			base64("/holdfast/locks0"));

	private final HttpClient http = HttpClient.newHttpClient();

	private final EtcdCluster cluster = EtcdCluster.start("--heartbeat-interval", "50", "--election-timeout", "500");

	private @Nullable EtcdServer victim;

	@Override
	public List<Integer> ports() {
		return this.cluster.endpoints().stream().map((endpoint) -> URI.create(endpoint).getPort()).toList();
	}

	@Override
	public boolean begin(Fault fault) {
		switch (fault.kind()) {
			case FORGET -> {
				return DELETED.matcher(ask("/v3/kv/deleterange", LOCKS)).find();
			}
			case COMPACTION -> {
				Matcher revision = REVISION.matcher(ask("/v3/kv/range", LOCKS));
				return revision.find()
						&& REVISION.matcher(ask("/v3/kv/compaction", "{\"revision\":\"" + revision.group(1) + "\"}"))
							.find();
			}
			case STORE_PAUSE -> {
				this.victim = this.cluster.leader();
				this.victim.pause();
			}
			case LEADER_KILLED -> {
				this.victim = this.cluster.leader();
				this.victim.kill();
			}
			case RESTART -> this.cluster.restart(false);
			case RESTART_EMPTY -> this.cluster.restart(true);
			default -> throw new IllegalArgumentException(fault.toString());
		}
		return true;
	}

	@Override
	public void end(Fault fault) {
		if (this.victim != null) {
			switch (fault.kind()) {
				case STORE_PAUSE -> this.victim.resume();
				case LEADER_KILLED -> this.victim.restart();
				default -> {
				}
			}
		}
	}

	/**
	 * As an operator does, who gives up if nobody answers.
	 */
	private String ask(String path, String question) {
		HttpRequest request = HttpRequest.newBuilder(URI.create(this.cluster.leader().endpoint() + path))
			.POST(HttpRequest.BodyPublishers.ofString(question))
			.timeout(OPERATOR_TIME)
			.build();
		try {
			return this.http.send(request, HttpResponse.BodyHandlers.ofString()).body();
		}
		catch (IOException ex) {
			return "";
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return "";
		}
	}

	private static String base64(String key) {
		return Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public List<String> leftovers() {
		List<String> left = new ArrayList<>(KEY.matcher(ask("/v3/kv/range", LOCKS))
			.results()
			.map((result) -> new String(Base64.getDecoder().decode(result.group(1)), StandardCharsets.UTF_8))
			.toList());
		int leases = this.cluster.leader().leases();
		if (leases > 0) {
			left.add(leases + " leases");
		}
		return left;
	}

	@Override
	public long size() {
		String all = "{\"key\":\"%s\",\"range_end\":\"AA==\",\"count_only\":true}".formatted(base64("\0"));
		Matcher count = COUNT.matcher(ask("/v3/kv/range", all));
		return count.find() ? Long.parseLong(count.group(1)) : 0;
	}

	@Override
	public void close() {
		this.cluster.close();
	}

}
