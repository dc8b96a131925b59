package io.github.holdfast.lab;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.lab.strategy.Mishap;

/**
 * What is done to one strategy in a run. When its orders are answered, it ends with all
 * that it has done: nodes go on, and Redis is back.
 */
final class Faults {

	private static final Logger logger = LoggerFactory.getLogger(Faults.class);

	private final Trial trial;

	private final Lab lab;

	private final Consumer<Fault> listener;

	private final CountDownLatch over = new CountDownLatch(1);

	private final List<Thread> actors = new ArrayList<>();

	private final List<Fault> happened = new ArrayList<>();

	private final Set<LabNode> frozen = ConcurrentHashMap.newKeySet();

	Faults(Trial trial, Lab lab, Consumer<Fault> listener) {
		this.trial = trial;
		this.lab = lab;
		this.listener = listener;
	}

	/** Does something when its time has come, unless all orders are answered by then. */
	synchronized void schedule(FaultRequest request) {
		start(() -> {
			if (!this.over.await(Objects.requireNonNull(request.atMs()), TimeUnit.MILLISECONDS)) {
				Optional<Fault> fault = note(request);
				if (fault.isPresent()) {
					act(fault.get());
				}
			}
		});
	}

	private synchronized Optional<Fault> note(FaultRequest request) {
		if (this.over.getCount() == 0) {
			return Optional.empty();
		}
		Fault.Kind kind = Objects.requireNonNull(request.kind());
		long now = this.trial.elapsedMs();
		Fault fault = new Fault(this.trial.strategy().id(), kind, kind.isOfNode() ? request.node() : null,
				kind.isOfNode() ? request.moment() : null, now, now + Objects.requireNonNull(request.millis()));
		this.happened.add(fault);
		this.listener.accept(fault);
		return Optional.of(fault);
	}

	private void start(Action action) {
		Thread actor = new Thread(() -> {
			try {
				action.run();
			}
			catch (IOException | RuntimeException ex) {
				if (this.over.getCount() != 0) {
					logger.warn("Lab: a fault could not be injected: {}", ex.toString());
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "lab-fault");
		actor.setDaemon(true);
		this.actors.add(actor);
		actor.start();
	}

	private void act(Fault fault) throws IOException, InterruptedException {
		Duration time = Duration.ofMillis(fault.untilMs() - fault.atMs());
		switch (fault.kind()) {
			case FREEZE -> freeze(node(fault), moment(fault), time);
			case KILL -> kill(node(fault), moment(fault), time);
			case RESTART_REDIS -> {
				this.lab.nodes().redisWasAway();
				this.lab.servers().restartRedis(() -> awaitEnd(time));
			}
			case PROMOTE_REPLICA -> {
				this.lab.nodes().redisWasAway();
				this.lab.servers().promoteReplica(() -> awaitEnd(time));
			}
		}
	}

	private void freeze(LabNode node, Mishap.Moment moment, Duration time) {
		this.frozen.add(node);
		try {
			node.freezeDuring(() -> this.lab.client().freeze(node, moment, time));
		}
		finally {
			this.frozen.remove(node);
		}
	}

	private void kill(LabNode node, Mishap.Moment moment, Duration time) throws IOException, InterruptedException {
		node.comesBack();
		this.lab.client().kill(node, moment);
		node.kill();
		awaitEnd(time);
		node.restart();
		this.lab.nodes().awaitStart(node, this.trial.strategy());
	}

	private void awaitEnd(Duration time) throws InterruptedException {
		this.over.await(time.toMillis(), TimeUnit.MILLISECONDS);
	}

	private LabNode node(Fault fault) {
		return this.lab.nodes().all().get(Objects.requireNonNull(fault.node()) - 1);
	}

	private static Mishap.Moment moment(Fault fault) {
		return Objects.requireNonNull(fault.moment());
	}

	/**
	 * Lets nothing more happen, and waits until all that has happened is over.
	 * @param cancelled whether nobody wants to wait for a node that stands still
	 */
	void end(boolean cancelled) {
		List<Thread> running;
		synchronized (this) {
			this.over.countDown();
			running = List.copyOf(this.actors);
		}
		boolean interrupted = false;
		for (Thread actor : running) {
			while (actor.isAlive()) {
				if (cancelled || interrupted) {
					this.frozen.forEach(LabNode::kill);
				}
				try {
					actor.join(100);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	synchronized List<Fault> happened() {
		return List.copyOf(this.happened);
	}

	private interface Action {

		void run() throws IOException, InterruptedException;

	}

}
