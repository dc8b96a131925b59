package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.testsupport.ChildJvm;

/** A node of a run: a process, and after its death another one. */
final class Node implements AutoCloseable {

	private static final Duration START_TIME = Duration.ofMinutes(5);

	/** What a call may take that waits for servers which do not answer. */
	private static final Duration END_TIME = Duration.ofMinutes(2);

	/** Processes that were nodes of earlier runs. */
	private static final Queue<ChildJvm> SPARE = new ConcurrentLinkedQueue<>();

	private final int number;

	private final Servers servers;

	private final Path directory;

	private ChildJvm process;

	private int processes;

	private boolean ended;

	Node(int number, Servers servers, Path directory) {
		this.number = number;
		this.servers = servers;
		this.directory = directory;
		this.process = start();
	}

	private ChildJvm start() {
		ChildJvm process = SPARE.poll();
		if (process == null || !process.isAlive()) {
			process = ChildJvm.start(Holder.class);
		}
		process.send(Journal.JSON
			.writeValueAsString(new Holder.Place("n" + this.number + "." + this.processes++, this.number,
					this.directory.toString(), this.servers.database(this.number), this.servers.store(this.number))));
		return process;
	}

	/** Waits until the process is ready. One that cannot start is started again. */
	void awaitReady() throws InterruptedException {
		long deadline = System.nanoTime() + START_TIME.toNanos();
		while (this.process.poll("READY").isEmpty()) {
			if (!this.process.isAlive()) {
				this.process.close();
				this.process = start();
			}
			if (System.nanoTime() > deadline) {
				throw new IllegalStateException("Node " + this.number + " did not start");
			}
			TimeUnit.MILLISECONDS.sleep(20);
		}
	}

	void go() {
		this.process.send("GO");
	}

	void pause(int millis) throws InterruptedException {
		this.process.pause();
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		finally {
			this.process.resume();
		}
	}

	void kill(int millis) throws InterruptedException {
		this.process.close();
		TimeUnit.MILLISECONDS.sleep(millis);
		this.process = start();
		awaitReady();
		go();
	}

	void stop() {
		this.process.send("STOP");
	}

	void join() throws InterruptedException {
		ask("JOIN", "JOINED");
	}

	/** Takes each lock once, and says how many milliseconds that took, or -1. */
	int probe() throws InterruptedException {
		return Integer.parseInt(ask("PROBE", "FREE "));
	}

	List<String> leftovers() throws InterruptedException {
		String left = ask("REST", "RESTS ");
		return left.isEmpty() ? List.of() : List.of("node " + this.number + ": " + left);
	}

	/** Keeps the process for another run, if it comes to the end of this one. */
	void end() throws InterruptedException {
		try {
			ask("END", "ENDED");
			SPARE.add(this.process);
			this.ended = true;
		}
		catch (AssertionError ex) {
			// It is killed
		}
	}

	private String ask(String order, String answer) throws InterruptedException {
		this.process.send(order);
		return this.process.await(answer, END_TIME);
	}

	@Override
	public void close() {
		if (!this.ended) {
			this.process.close();
		}
	}

}
