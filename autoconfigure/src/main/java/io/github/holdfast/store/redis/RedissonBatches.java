package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.redisson.api.BatchOptions;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.command.CommandBatchService;
import org.redisson.command.RedisCommonBatchExecutor;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.NodeSource;
import org.redisson.liveobject.core.RedissonObjectBuilder.ReferenceType;

import io.github.holdfast.store.Deadline;

/**
 * Sends the scripts of many threads to a single server. What Redisson sends needs a
 * connection of its own and wakes two threads, so scripts that come while two batches are
 * under way wait and go together with the next one. None is sent again once it was
 * written, unless Redis was not ready for it.
 */
final class RedissonBatches {

	/** One for what a thread has given back, and one for what it asks for next. */
	private static final int UNDER_WAY = 2;

	/** So that others need not wait for long until their scripts run. */
	private static final int LARGEST = 64;

	private final CommandAsyncExecutor executor;

	private final Queue<RedissonCommand> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger underWay = new AtomicInteger();

	private final Duration patience;

	private volatile Deadline nextAnyway = Deadline.PASSED;

	/**
	 * Create the way to a server.
	 * @param patience after which batches without an answer keep nothing else from being
	 * sent
	 */
	RedissonBatches(CommandAsyncExecutor executor, Duration patience) {
		this.executor = executor;
		this.patience = patience;
	}

	/**
	 * Send a command, or let it be sent with others.
	 */
	CompletableFuture<List<Object>> send(RedissonCommand command) {
		this.waiting.add(command);
		sendWaiting();
		return command.getPromise();
	}

	private void sendWaiting() {
		while (!this.waiting.isEmpty() && begin()) {
			List<RedissonCommand> commands = next();
			if (commands.isEmpty()) {
				this.underWay.decrementAndGet();
			}
			else {
				send(commands);
			}
		}
	}

	private boolean begin() {
		int underWay = this.underWay.get();
		while (underWay < UNDER_WAY || this.nextAnyway.hasPassed()) {
			if (this.underWay.compareAndSet(underWay, underWay + 1)) {
				this.nextAnyway = Deadline.after(this.patience);
				return true;
			}
			underWay = this.underWay.get();
		}
		return false;
	}

	/**
	 * Those whose callers have given up are left out.
	 */
	private List<RedissonCommand> next() {
		List<RedissonCommand> commands = new ArrayList<>();
		while (commands.size() < LARGEST) {
			RedissonCommand command = this.waiting.poll();
			if (command == null) {
				break;
			}
			if (!command.getPromise().isDone()) {
				commands.add(command);
			}
		}
		return commands;
	}

	private void send(List<RedissonCommand> commands) {
		CompletableFuture<Void> answered = new CompletableFuture<>();
		answered.whenComplete((nothing, ex) -> {
			this.underWay.decrementAndGet();
			commands.forEach((command) -> command.end(ex));
			sendWaiting();
		});
		try {
			executor(commands, answered).execute();
		}
		catch (RuntimeException | LinkageError ex) {
			answered.completeExceptionally(ex);
		}
	}

	private RedisCommonBatchExecutor executor(List<RedissonCommand> commands, CompletableFuture<Void> answered) {
		CommandBatchService.Entry entry = new CommandBatchService.Entry();
		entry.setReadOnlyMode(false);
		commands.forEach(entry::add);
		ConnectionManager connections = this.executor.getConnectionManager();
		NodeSource server = new NodeSource(connections.getEntry(commands.get(0).key()));
		return new RedisCommonBatchExecutor(server, answered, connections, BatchOptions.defaults(), entry,
				new AtomicInteger(1), ReferenceType.DEFAULT, true);
	}

}
