package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How long answers may take.
 */
class AnswerTimeoutTests {

	@Test
	void answersThatDoNotComeFail() {
		AnswerTimeout timeout = new AnswerTimeout(Duration.ofMillis(50));
		CompletableFuture<String> first = timeout.limit(new CompletableFuture<>());
		CompletableFuture<String> second = timeout.limit(new CompletableFuture<>());
		await().until(() -> first.isCompletedExceptionally() && second.isCompletedExceptionally());
		assertThat(first.handle((answer, failure) -> failure).join()).isInstanceOf(TimeoutException.class);
		CompletableFuture<String> third = timeout.limit(new CompletableFuture<>());
		await().until(third::isCompletedExceptionally);
		await().until(() -> timeout.size() == 0);
	}

	@Test
	void answersThatAreDueLaterAreWaitedForAfterAnEarlierOneHasFailed() {
		AnswerTimeout timeout = new AnswerTimeout(Duration.ofMillis(100));
		CompletableFuture<String> early = timeout.limit(new CompletableFuture<>());
		await().pollDelay(Duration.ofMillis(50)).until(() -> true);
		CompletableFuture<String> late = timeout.limit(new CompletableFuture<>());
		await().until(early::isCompletedExceptionally);
		await().until(late::isCompletedExceptionally);
	}

	/**
	 * Of a pool with one thread the JDK makes no use, so the thread counts as well.
	 */
	@Test
	@Tag("F83")
	void answersThatDoNotComeFailInTimeAlthoughTheCommonPoolIsBlocked() throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		for (int i = 0; i < 2 * ForkJoinPool.getCommonPoolParallelism(); i++) {
			ForkJoinPool.commonPool().execute(() -> awaitUninterruptibly(end));
		}
		try {
			CompletableFuture<String> thread = new CompletableFuture<>();
			new AnswerTimeout(Duration.ofMillis(50)).limit(new CompletableFuture<>())
				.whenComplete((answer, failure) -> thread.complete(Thread.currentThread().getName()));
			assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("holdfast-timer");
		}
		finally {
			end.countDown();
		}
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void answersThatHaveComeAreForgotten() {
		AnswerTimeout timeout = new AnswerTimeout(Duration.ofMinutes(1));
		for (int i = 0; i < 1000; i++) {
			timeout.limit(new CompletableFuture<>()).complete(null);
			assertThat(timeout.size()).isEqualTo(1);
		}
	}

	@Test
	void answersOfManyThreadsAreForgotten() {
		AnswerTimeout timeout = new AnswerTimeout(Duration.ofMinutes(1));
		CompletableFuture<?>[] threads = IntStream.range(0, 8).mapToObj((i) -> CompletableFuture.runAsync(() -> {
			for (int n = 0; n < 1000; n++) {
				timeout.limit(new CompletableFuture<>()).complete(null);
			}
		}, (task) -> new Thread(task).start())).toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(threads).join();
		timeout.limit(new CompletableFuture<>());
		assertThat(timeout.size()).isEqualTo(1);
	}

}
