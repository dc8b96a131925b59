package io.github.holdfast.lab;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Orders as CSV (RFC 4180), one line each.
 */
final class OrderCsv {

	private static final String HEADER = "n,strategy,node,thread,outcome,read,wrote,start,acquired,begin,readAt,writeAt,"
			+ "commit,released,end,message\r\n";

	private OrderCsv() {
	}

	static String of(List<OrderView> orders) {
		return orders.stream().map(OrderCsv::line).collect(Collectors.joining("", HEADER, ""));
	}

	private static String line(OrderView order) {
		return Stream
			.of(order.n(), order.strategy(), order.node(), order.thread(), order.outcome(), order.read(), order.wrote(),
					order.start(), order.acquired(), order.begin(), order.readAt(), order.writeAt(), order.commit(),
					order.released(), order.end(), order.message())
			.map((value) -> quoted(Objects.toString(value, "")))
			.collect(Collectors.joining(",", "", "\r\n"));
	}

	private static String quoted(String value) {
		boolean plain = value.chars().noneMatch((c) -> c == ',' || c == '"' || c == '\r' || c == '\n');
		return plain ? value : "\"" + value.replace("\"", "\"\"") + "\"";
	}

}
