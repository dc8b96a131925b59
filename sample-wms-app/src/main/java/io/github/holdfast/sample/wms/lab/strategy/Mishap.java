package io.github.holdfast.sample.wms.lab.strategy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Something that happens to this node at the worst time: when an order is at work, after
 * it has read the stock. At any other time it would often do no harm.
 */
public final class Mishap {

	private static final AtomicReference<@Nullable Mishap> NEXT = new AtomicReference<>();

	/** How long it waits for an order. */
	private static final long PATIENCE_MS = 1_000;

	/**
	 * Who lets the node stand still also lets it go on, whatever becomes of the lab
	 * meanwhile.
	 */
	private static final String FREEZE = """
			trap '' INT TERM HUP
			left=$1
			kill -STOP "$0"
			while [ "$left" -gt 0 ] && kill -0 "$0"; do
				sleep 0.1
				left=$((left - 1))
			done
			kill -CONT "$0"
			""";

	private static final String KILL = "kill -KILL \"$0\"";

	private final String script;

	private final String tenths;

	private final CountDownLatch over = new CountDownLatch(1);

	private Mishap(String script, String tenths) {
		this.script = script;
		this.tenths = tenths;
	}

	/**
	 * The JVM stands still for a while.
	 * @param time how long
	 * @return the mishap
	 */
	public static Mishap freeze(Duration time) {
		return new Mishap(FREEZE, String.valueOf(time.toMillis() / 100));
	}

	/**
	 * The JVM is killed.
	 * @return the mishap
	 */
	public static Mishap kill() {
		return new Mishap(KILL, "");
	}

	/**
	 * Lets it happen to the next order that is at work, or without one if there is none
	 * soon. Returns when it is over.
	 */
	public void happenSoon() throws InterruptedException {
		NEXT.set(this);
		if (!this.over.await(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
			happenNow();
			this.over.await();
		}
	}

	/**
	 * Called when an order is at work.
	 */
	static void happenNow() {
		Mishap mishap = NEXT.getAndSet(null);
		if (mishap != null) {
			mishap.happen();
		}
	}

	private void happen() {
		try {
			new ProcessBuilder("sh", "-c", this.script, String.valueOf(ProcessHandle.current().pid()), this.tenths)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new IllegalStateException("The lab needs a shell", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.over.countDown();
		}
	}

}
