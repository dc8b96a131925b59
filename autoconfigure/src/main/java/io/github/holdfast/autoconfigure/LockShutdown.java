package io.github.holdfast.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.core.LockManager;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Ends the use of locks in order. Callers that wait fail as soon as the context begins to
 * close. Methods that run keep their locks until they end, for at most
 * {@code spring.lifecycle.timeout-per-shutdown-phase}. Stops after the web server and
 * before connection pools and clients. A stopped context is not started again.
 */
final class LockShutdown implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

	private final ApplicationContext context;

	private final LockManager manager;

	private volatile boolean running;

	LockShutdown(ApplicationContext context, LockManager manager) {
		this.context = context;
		this.manager = manager;
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.manager.drain();
		}
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	@Override
	public void stop(Runnable callback) {
		this.running = false;
		this.manager.drain();
		await(callback);
	}

	private void await(Runnable callback) {
		if (this.manager.isIdle()) {
			callback.run();
		}
		else {
			CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS).execute(() -> await(callback));
		}
	}

	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/**
	 * After the web server, which stops at {@code DEFAULT_PHASE - 2048}.
	 */
	@Override
	public int getPhase() {
		return DEFAULT_PHASE - 3072;
	}

}
