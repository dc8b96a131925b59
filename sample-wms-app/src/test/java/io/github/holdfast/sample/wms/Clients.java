package io.github.holdfast.sample.wms;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Clients that call at the same time.
 */
final class Clients {

	private static final int NUMBER = 16;

	private Clients() {
	}

	/**
	 * Makes calls, sixteen at a time.
	 * @param calls how many calls
	 * @param call a call, by its number
	 * @return their answers
	 */
	static <T> List<T> call(int calls, IntFunction<T> call) throws Exception {
		return call(calls, NUMBER, call);
	}

	/**
	 * Makes calls, all of them at once.
	 * @param calls how many calls
	 * @param call a call, by its number
	 * @return their answers
	 */
	static <T> List<T> callAtOnce(int calls, IntFunction<T> call) throws Exception {
		return call(calls, calls, call);
	}

	private static <T> List<T> call(int calls, int number, IntFunction<T> call) throws Exception {
		ExecutorService clients = Executors.newFixedThreadPool(number);
		try {
			List<Future<T>> futures = IntStream.range(0, calls)
				.mapToObj((i) -> clients.submit(() -> call.apply(i)))
				.toList();
			List<T> answers = new ArrayList<>();
			for (Future<T> future : futures) {
				answers.add(future.get());
			}
			return answers;
		}
		finally {
			clients.shutdownNow();
		}
	}

}
