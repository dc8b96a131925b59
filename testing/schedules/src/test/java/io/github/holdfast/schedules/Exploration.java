package io.github.holdfast.schedules;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Runs one test under many schedules, until one of them fails.
 */
final class Exploration {

	private static final int SHORTEST = 50;

	private static final int MOST_LINES = 400;

	private final Class<?> testClass;

	private final Method method;

	private final long start = System.nanoTime();

	private int bounded;

	private boolean complete;

	private int random;

	private int length;

	/**
	 * Create an exploration.
	 * @param changed classes that are others than those of the class path
	 * @param className the class of the test
	 * @param methodName its method, which takes {@link Threads}
	 */
	Exploration(Map<String, byte[]> changed, String className, String methodName) {
		try {
			this.testClass = new WeavingLoader(changed).loadClass(className);
			this.method = this.testClass.getDeclaredMethod(methodName, Threads.class);
			this.method.setAccessible(true);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Run the test.
	 * @return the first failure, or {@code null}
	 */
	@Nullable AssertionError run(Bounds bounds) throws InterruptedException {
		AssertionError failure = runBounded(bounds);
		return (failure != null) ? failure : runRandom(bounds);
	}

	private @Nullable AssertionError runBounded(Bounds bounds) throws InterruptedException {
		for (int preemptions = 0; preemptions <= bounds.preemptions; preemptions++) {
			BoundedSchedule schedule = new BoundedSchedule(preemptions);
			int count = 0;
			this.complete = false;
			while (!this.complete && count < bounds.most) {
				count++;
				Throwable failure = run(schedule, null);
				if (failure != null) {
					this.bounded += count;
					List<String> trace = new ArrayList<>();
					schedule.again();
					run(schedule, trace);
					return failed("schedule " + count + " with " + preemptions + " preemptions", failure, trace);
				}
				this.complete = !schedule.advance();
			}
			this.bounded += count;
		}
		return null;
	}

	private @Nullable AssertionError runRandom(Bounds bounds) throws InterruptedException {
		int length = this.length;
		for (int i = 0; i < bounds.random; i++) {
			long seed = bounds.seed + i;
			this.random++;
			Throwable failure = run(random(seed, length), null);
			if (failure != null) {
				List<String> trace = new ArrayList<>();
				run(random(seed, length), trace);
				return failed("random schedule " + seed, failure, trace);
			}
		}
		return null;
	}

	private static Schedule random(long seed, int length) {
		return (seed % 2 == 0) ? new RandomSchedule(seed) : new PrioritySchedule(seed, Math.max(SHORTEST, length));
	}

	private @Nullable Throwable run(Schedule schedule, @Nullable List<String> trace) throws InterruptedException {
		Run run = new Run(schedule, trace);
		Throwable failure = run.execute(() -> call(new Threads(run)));
		this.length = Math.max(this.length, run.steps());
		return failure;
	}

	private void call(Threads threads) throws Exception {
		try {
			Constructor<?> constructor = this.testClass.getDeclaredConstructor();
			constructor.setAccessible(true);
			this.method.invoke(constructor.newInstance(), threads);
		}
		catch (InvocationTargetException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (Exception) ex.getCause();
		}
	}

	private AssertionError failed(String schedule, Throwable failure, List<String> trace) {
		int from = Math.max(0, trace.size() - MOST_LINES);
		return new AssertionError("%s.%s failed in %s: %s%nafter%n  %s".formatted(this.testClass.getSimpleName(),
				this.method.getName(), schedule, failure,
				String.join(System.lineSeparator() + "  ", trace.subList(from, trace.size()))), failure);
	}

	int schedules() {
		return this.bounded + this.random;
	}

	double seconds() {
		return (System.nanoTime() - this.start) / 1e9;
	}

	@Override
	public String toString() {
		return "%s.%s: %d bounded%s and %d random schedules, at most %d points, in %.1f s".formatted(
				this.testClass.getSimpleName(), this.method.getName(), this.bounded, this.complete ? " (all)" : "",
				this.random, this.length, seconds());
	}

	/**
	 * How far to go.
	 *
	 * @param preemptions the most preemptions of bounded schedules
	 * @param most the most schedules for each number of preemptions
	 * @param random the number of random schedules
	 * @param seed that of the first random one
	 */
	record Bounds(int preemptions, int most, int random, long seed) {

		/**
		 * Those of a test, as far as they are not wider or narrower for all of them.
		 */
		static Bounds of(Schedules schedules) {
			int factor = Integer.getInteger("holdfast.schedules.factor", 1);
			return new Bounds(schedules.preemptions() + ((factor > 1) ? 1 : 0), schedules.most() * factor,
					schedules.random() * factor, Long.getLong("holdfast.schedules.seed", 1));
		}

	}

}
