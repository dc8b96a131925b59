package io.github.holdfast.lab;

import java.net.http.HttpClient;
import java.time.Duration;

import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

import io.github.holdfast.lab.node.OrderAnswer;
import io.github.holdfast.lab.node.OrderRequest;
import io.github.holdfast.lab.strategy.Mishap;

/**
 * Talks to the nodes.
 */
final class NodeClient {

	/** Longer than an order waits and a node stands still. */
	private static final Duration READ_TIME = Duration.ofMinutes(2);

	/** For a look at how a node is. */
	private static final Duration QUICK_TIME = Duration.ofSeconds(2);

	private final RestClient client;

	private final RestClient quickClient;

	NodeClient(RestClient.Builder builder) {
		HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		this.client = builder.clone().requestFactory(requests(http, READ_TIME)).build();
		this.quickClient = builder.clone().requestFactory(requests(http, QUICK_TIME)).build();
	}

	private static JdkClientHttpRequestFactory requests(HttpClient http, Duration readTime) {
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(http);
		requests.setReadTimeout(readTime);
		return requests;
	}

	/**
	 * Lets a node make what a strategy needs.
	 */
	void prepare(LabNode node, String strategy) {
		this.client.get().uri(node.uri() + "/lab-node/strategies/{strategy}", strategy).retrieve().toBodilessEntity();
	}

	OrderAnswer send(LabNode node, OrderRequest order) {
		return this.client.post()
			.uri(node.uri() + "/lab-node/orders")
			.body(order)
			.retrieve()
			.requiredBody(OrderAnswer.class);
	}

	/**
	 * Lets a node stand still, and waits until it goes on.
	 */
	void freeze(LabNode node, Mishap.Moment moment, Duration time) {
		this.client.post()
			.uri(node.uri() + "/lab-node/freeze?moment={moment}&millis={millis}", moment, time.toMillis())
			.retrieve()
			.toBodilessEntity();
	}

	/**
	 * Lets a node be killed.
	 */
	void kill(LabNode node, Mishap.Moment moment) {
		try {
			this.client.post().uri(node.uri() + "/lab-node/kill?moment={moment}", moment).retrieve().toBodilessEntity();
		}
		catch (RestClientException ex) {
			// The dead do not answer
		}
	}

	/**
	 * What a node holds and waits for.
	 */
	LockView.Answer locks(LabNode node) {
		return this.quickClient.get()
			.uri(node.uri() + "/actuator/locks")
			.accept(MediaType.APPLICATION_JSON)
			.retrieve()
			.requiredBody(LockView.Answer.class);
	}

}
