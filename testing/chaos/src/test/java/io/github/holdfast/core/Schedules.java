package io.github.holdfast.core;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.github.holdfast.LockRequest.Owner;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.Executor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.observers.TimelineCoverageType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.randomness.RandomnessProvider;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.runtime.LivenessException;

import org.springframework.util.Assert;

/**
 * Plays scenes again and again, each time with other decisions on which thread goes on.
 * The decisions follow from the number of the schedule. Run in a process of its own, see
 * {@link ScheduledCore}.
 */
final class Schedules {

	private static final int MOST_STEPS = 20_000;

	/** What a step takes. */
	private static final long STEP = 10_000;

	private Schedules() {
	}

	/**
	 * Plays scenes until they are broken.
	 * @param args the directory for the reports, how many schedules of each scene, and
	 * the names of the scenes
	 */
	public static void main(String[] args) {
		// These read files and ask for the name of the host, for the first time
		Owner.currentThread().id();
		for (String scene : List.of(args).subList(2, args.length)) {
			long start = System.nanoTime();
			Seeds seeds = new Seeds();
			Configuration configuration = new Configuration(
					new ExecutionInfo(new Play(Scene.valueOf(scene)), false, false, MOST_STEPS),
					Path.of(args[0], scene), Integer.parseInt(args[1]), Integer.MAX_VALUE,
					new RandomScheduler(seeds.getRandomness()), seeds, false, false, true, false, false, true,
					NetworkDelegateType.NONE, SystemTimeDelegateType.MOCK, STEP, false, false, false, false, false,
					false, TimelineCoverageType.NONE);
			Throwable failure = new TestRunner(configuration).run();
			System.out.printf("scene %s %s after %d schedules and %d ms%n", scene,
					(failure != null) ? "BROKEN (" + failure + ")" : "kept", configuration.getCurrentIteration(),
					(System.nanoTime() - start) / 1_000_000);
		}
		System.exit(0);
	}

	/**
	 * One random source for each schedule.
	 */
	private static final class Seeds implements RandomnessProvider {

		private final Random seeds = new Random(1);

		@Override
		public Randomness getRandomness() {
			return new ControlledRandom(new ArrayList<>(), new ArrayList<>(), new Random(this.seeds.nextLong()));
		}

	}

	private static final class Play implements Executor {

		private final Scene scene;

		private int number;

		private boolean endless;

		Play(Scene scene) {
			this.scene = scene;
		}

		@Override
		public void beforeExecution() {
		}

		@Override
		public void execute(boolean resetClassLoader) {
			// Not told before, because Fray does not take it for a failure
			Assert.state(!this.endless, "The schedule before did not end");
			try {
				this.scene.play(new Random(this.number++));
			}
			catch (LivenessException ex) {
				this.endless = true;
				throw ex;
			}
			catch (Exception ex) {
				throw new AssertionError(ex);
			}
		}

		@Override
		public void afterExecution() {
		}

	}

}
