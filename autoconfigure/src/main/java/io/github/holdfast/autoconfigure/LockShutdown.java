package io.github.holdfast.autoconfigure;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;

/**
 * Ends the use of locks in order: waiters fail as soon as the context begins to close or
 * is stopped; running methods keep their locks until they end, at most for
 * {@code spring.lifecycle.timeout-per-shutdown-phase}. Stops after the web server and
 * before connection pools and clients, which are closed as beans. A context that is
 * started again waits for locks as before.
 *
 * <p>
 * Only the templates of the own context are meant: those of a parent go on to be used
 * when a child is closed.
 */
class LockShutdown
		implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DestructionAwareBeanPostProcessor {

	/** After the web server, which stops at {@code DEFAULT_PHASE - 2048}. */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 3072;

	private final ApplicationContext context;

	private volatile boolean running;

	private boolean stopped;

	private boolean closed;

	LockShutdown(ApplicationContext context) {
		this.context = context;
	}

	@Override
	public synchronized void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.closed = true;
			drain();
		}
	}

	@Override
	public synchronized void start() {
		if (this.stopped && !this.closed) {
			templates().forEach(TemplateAccess::resume);
		}
		this.stopped = false;
		this.running = true;
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	@Override
	public void stop(Runnable callback) {
		CompletableFuture<?> drained;
		synchronized (this) {
			this.running = false;
			this.stopped = true;
			drained = drain();
		}
		drained.whenComplete((result, failure) -> callback.run());
	}

	private CompletableFuture<?> drain() {
		return CompletableFuture.allOf(templates().stream()
			.map(TemplateAccess::drain)
			.map(CompletionStage::toCompletableFuture)
			.toArray(CompletableFuture[]::new));
	}

	private Collection<LockTemplate> templates() {
		return this.context.getBeansOfType(LockTemplate.class, false, false).values();
	}

	@Override
	public boolean requiresDestruction(Object bean) {
		return bean instanceof LockTemplate;
	}

	/**
	 * After all beans that have got the template, which may still take locks at their
	 * end.
	 */
	@Override
	public void postProcessBeforeDestruction(Object bean, String beanName) {
		if (bean instanceof LockTemplate template) {
			TemplateAccess.close(template);
		}
	}

	/**
	 * A pause takes nothing away that locks need in general, and holders go on in it.
	 */
	@Override
	public boolean isPauseable() {
		return false;
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
