package io.github.holdfast.lab.strategy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Something that happens to this node at the worst time of an order. At any other time it
 * would often do no harm.
 */
public final class Mishap {

	private static final AtomicReference<@Nullable Mishap> NEXT = new AtomicReference<>();

	/** How long it waits for an order. */
	private static final long PATIENCE_MS = 5_000;

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

	private final Moment moment;

	private final String script;

	private final String tenths;

	private final CountDownLatch over = new CountDownLatch(1);

	private Mishap(Moment moment, String script, long tenths) {
		this.moment = moment;
		this.script = script;
		this.tenths = String.valueOf(tenths);
	}

	/** The JVM stands still for a while. */
	static Mishap freeze(Moment moment, long millis) {
		return new Mishap(moment, FREEZE, millis / 100);
	}

	static Mishap kill(Moment moment) {
		return new Mishap(moment, KILL, 0);
	}

	/**
	 * Lets it happen to the next order for which its moment comes, or without one if
	 * there is none soon. Returns when it is over.
	 */
	void happenSoon() throws InterruptedException {
		synchronized (NEXT) { // one after the other
			NEXT.set(this);
			if (!this.over.await(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
				happenOnce();
				this.over.await();
			}
		}
	}

	/** The moment has come for an order. */
	static void happenAt(Moment moment) {
		Mishap mishap = NEXT.get();
		if (mishap != null && mishap.moment == moment) {
			mishap.happenOnce();
		}
	}

	private void happenOnce() {
		if (NEXT.compareAndSet(this, null)) {
			happen();
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

	public enum Moment {

		/** The order has read the stock, and not written it yet. */
		WORK,

		/** All is checked, and the commit is about to be sent to the database. */
		COMMIT,

		/**
		 * The order is committed, and its lock is about to be given back. Only strategies
		 * that can be harmed then tell of it.
		 */
		RELEASE

	}

}
