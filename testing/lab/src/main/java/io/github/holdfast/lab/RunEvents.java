package io.github.holdfast.lab;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;

import org.springframework.http.MediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * The events of one run, for all who watch it. The last ones are kept for those who come
 * late. Everything is done by one thread, which is not one of the run's.
 */
final class RunEvents {

	private static final int MAX_KEPT = 4_000;

	private final Executor sender;

	private final Deque<Event> kept = new ArrayDeque<>();

	private final List<SseEmitter> watchers = new ArrayList<>();

	private long lastId;

	private boolean ended;

	RunEvents(Executor sender) {
		this.sender = sender;
	}

	void publish(String name, Object data) {
		this.sender.execute(() -> {
			Event event = new Event(++this.lastId, name, data);
			this.kept.add(event);
			if (this.kept.size() > MAX_KEPT) {
				this.kept.remove();
			}
			this.watchers.removeIf((watcher) -> !send(watcher, event));
		});
	}

	/**
	 * Tells all who watch that nothing follows.
	 */
	void end() {
		this.sender.execute(() -> {
			this.ended = true;
			this.watchers.forEach(SseEmitter::complete);
			this.watchers.clear();
		});
	}

	/**
	 * Watches the run.
	 * @param lastSeen the last event that is known already; 0 for none
	 * @return where the events go
	 */
	SseEmitter watch(long lastSeen) {
		SseEmitter watcher = new SseEmitter(0L);
		this.sender.execute(() -> {
			for (Event event : this.kept) {
				if (event.id() > lastSeen && !send(watcher, event)) {
					return;
				}
			}
			if (this.ended) {
				watcher.complete();
			}
			else {
				this.watchers.add(watcher);
			}
		});
		return watcher;
	}

	private static boolean send(SseEmitter watcher, Event event) {
		try {
			watcher.send(SseEmitter.event()
				.id(String.valueOf(event.id()))
				.name(event.name())
				.data(event.data(), MediaType.APPLICATION_JSON));
			return true;
		}
		catch (IOException | IllegalStateException ex) {
			// Nobody watches any more
			return false;
		}
	}

	private record Event(long id, String name, Object data) {
	}

}
