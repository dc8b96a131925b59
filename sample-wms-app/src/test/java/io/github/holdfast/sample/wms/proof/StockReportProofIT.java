package io.github.holdfast.sample.wms.proof;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node stands still in the middle of the report, loses the lock, and wakes up when
 * another one has taken the report. That a holder which stands still is refused is shown
 * on single rows by shorter tests.
 */
@Tag("long")
@Tag("night")
class StockReportProofIT {

	private final HttpClient http = HttpClient.newHttpClient();

	@ParameterizedTest
	@EnumSource(names = { "JDBC", "REDIS", "REDISSON" })
	void nodeThatHangsCannotCommit(Backend backend) throws Exception {
		ConditionFactory await = Awaitility.await().atMost(Duration.ofMinutes(1));
		StockDatabase database = StockDatabase.create(TestDatabase.POSTGRESQL);
		try (LockServer server = backend.start();
				Cluster cluster = Cluster.start("report-" + backend, database, server, "--holdfast.lease-time=3s",
						"--wms.stock-report.min-hold-time=0s")) {
			CompletableFuture<HttpResponse<String>> hanging;
			try (Connection reports = database.lockReports()) {
				hanging = take(cluster.node(0));
				await.until(() -> database.blocked() == 1);
				cluster.pauseFirst();
				reports.rollback();
			}
			HttpResponse<String> taken = await.until(() -> take(cluster.node(1)).get(),
					(answer) -> answer.statusCode() == 201);
			cluster.resumeFirst();
			assertThat(hanging.get().statusCode()).isEqualTo(409);
			assertThat(hanging.get().body()).contains("urn:problem:wms:lock-lost");
			assertThat(reports(cluster.node(0))).containsExactly(JsonPath.<Object>read(taken.body(), "$"));
		}
	}

	private CompletableFuture<HttpResponse<String>> take(URI node) {
		return this.http.sendAsync(HttpRequest.newBuilder(node.resolve("/stock-reports"))
			.timeout(Duration.ofMinutes(2))
			.POST(BodyPublishers.noBody())
			.build(), BodyHandlers.ofString());
	}

	private List<Object> reports(URI node) throws Exception {
		return JsonPath.read(
				this.http.send(HttpRequest.newBuilder(node.resolve("/stock-reports")).build(), BodyHandlers.ofString())
					.body(),
				"$");
	}

}
