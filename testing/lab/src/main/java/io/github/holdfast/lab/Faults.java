package io.github.holdfast.lab;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
	synchronized void schedule(Fault.Request request) {
		Thread actor = new Thread(() -> {
			try {
				if (!this.over.await(Objects.requireNonNull(request.atMs()), TimeUnit.MILLISECONDS)) {
					act(request);
				}
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

	private void act(Fault.Request request) throws IOException, InterruptedException {
		Fault.Kind kind = Objects.requireNonNull(request.kind());
		Duration time = Duration.ofMillis(Objects.requireNonNull(request.millis()));
		note(kind, request, time);
		switch (kind) {
			case FREEZE -> freeze(node(request), request, time);
			case KILL -> kill(node(request), request, time);
			case RESTART_REDIS -> replaceRedis(false, time);
			case PROMOTE_REPLICA -> replaceRedis(true, time);
		}
	}

	private synchronized void note(Fault.Kind kind, Fault.Request request, Duration time) {
		long now = this.trial.elapsedMs();
		Fault fault = new Fault(this.trial.strategy().id(), kind, kind.isOfNode() ? request.node() : null,
				kind.isOfNode() ? request.moment() : null, now, now + time.toMillis());
		this.happened.add(fault);
		this.listener.accept(fault);
	}

	private void freeze(LabNode node, Fault.Request request, Duration time) {
		this.frozen.add(node);
		try {
			node.freezeDuring(() -> this.lab.client().freeze(node, Objects.requireNonNull(request.moment()), time));
		}
		finally {
			this.frozen.remove(node);
		}
	}

	private void kill(LabNode node, Fault.Request request, Duration time) throws IOException, InterruptedException {
		node.comesBack();
		this.lab.client().kill(node, Objects.requireNonNull(request.moment()));
		node.kill();
		awaitEnd(time);
		node.restart();
		this.lab.nodes().awaitStart(node, this.trial.strategy());
	}

	/**
	 * Redis is away for some time, or a replica that lags behind by that takes its place.
	 */
	private void replaceRedis(boolean lags, Duration time) throws IOException, InterruptedException {
		LabServers servers = this.lab.servers();
		this.lab.nodes().redisWasAway();
		synchronized (servers) {
			byte[] replica = lags ? servers.redis().snapshot() : null;
			if (!lags) {
				servers.redis().kill();
			}
			awaitEnd(time);
			servers.redis().kill();
			servers.startRedis(replica);
		}
	}

	private void awaitEnd(Duration time) throws InterruptedException {
		this.over.await(time.toMillis(), TimeUnit.MILLISECONDS);
	}

	private LabNode node(Fault.Request request) {
		return this.lab.nodes().all().get(Objects.requireNonNull(request.node()) - 1);
	}

	/**
	 * Lets nothing more happen, and waits until all that has happened is over.
	 * @param cancelled whether nobody wants to wait for a node that stands still
	 */
	void end(boolean cancelled) {
		this.over.countDown();
		boolean interrupted = false;
		for (Thread actor : this.actors) {
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

}
