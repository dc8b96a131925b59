package io.github.holdfast.autoconfigure;

import java.util.function.Supplier;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

import io.github.holdfast.LockTemplate;

/**
 * Ends the use of locks in order: waiters fail as soon as the context begins to close;
 * running methods keep their locks until they end, at most for
 * {@code spring.lifecycle.timeout-per-shutdown-phase}. Stops after the web server and
 * before connection pools and clients, which are closed as beans.
 */
class LockShutdown implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

	/** After the web server, which stops at {@code DEFAULT_PHASE - 2048}. */
	private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 3072;

	private final Supplier<LockTemplate> template;

	private final ApplicationContext context;

	private volatile boolean running;

	LockShutdown(Supplier<LockTemplate> template, ApplicationContext context) {
		this.template = template;
		this.context = context;
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.template.get().drain();
		}
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public void stop(Runnable callback) {
		stop();
		this.template.get().drain().whenComplete((result, failure) -> callback.run());
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
