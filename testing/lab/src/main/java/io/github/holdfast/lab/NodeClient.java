package io.github.holdfast.lab;

import java.net.http.HttpClient;
import java.time.Duration;

import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

import io.github.holdfast.lab.strategy.Mishap;
import io.github.holdfast.lab.strategy.Order;
import io.github.holdfast.lab.strategy.OrderView;

final class NodeClient {

	/** Longer than an order waits and a node stands still. */
	private static final Duration READ_TIME = Duration.ofMinutes(2);

	private final RestClient client;

	NodeClient() {
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(
				HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
		requests.setReadTimeout(READ_TIME);
		this.client = RestClient.builder().requestFactory(requests).build();
	}

	OrderView send(LabNode node, Order.Request order) {
		return this.client.post()
			.uri(node.uri() + "/lab-node/orders")
			.body(order)
			.retrieve()
			.requiredBody(OrderView.class);
	}

	/** Lets a node stand still, and waits until it goes on. */
	void freeze(LabNode node, Mishap.Moment moment, Duration time) {
		this.client.post()
			.uri(node.uri() + "/lab-node/freeze?moment={moment}&millis={millis}", moment, time.toMillis())
			.retrieve()
			.toBodilessEntity();
	}

	void kill(LabNode node, Mishap.Moment moment) {
		try {
			this.client.post().uri(node.uri() + "/lab-node/kill?moment={moment}", moment).retrieve().toBodilessEntity();
		}
		catch (RestClientException ex) {
			// The dead do not answer
		}
	}

}
