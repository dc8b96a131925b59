package io.github.holdfast.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.springframework.util.FileSystemUtils;

/**
 * Runs plans: starts servers and nodes, lets the faults happen, and collects what is
 * left. The same plan gives the same programs and faults at the same times, though not
 * the same interleaving of processes.
 */
final class Machine {

	static final String PLAN = "plan";

	/** After a clock has come back, what was written before lasts longer. */
	private static final Duration REST_TIME = Duration.ofSeconds(5);

	private Machine() {
	}

	static Run.History run(Plan plan) throws InterruptedException {
		try {
			Path directory = Files.createTempDirectory("holdfast-chaos-");
			try (Servers servers = new Servers(plan.target(), plan.latency())) {
				Files.writeString(directory.resolve(PLAN), plan.toString());
				return run(plan, servers, directory);
			}
			finally {
				FileSystemUtils.deleteRecursively(directory);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Run.History run(Plan plan, Servers servers, Path directory) throws InterruptedException {
		List<Node> nodes = new ArrayList<>();
		try {
			for (int i = 0; i < Plan.NODES; i++) {
				nodes.add(new Node(i, servers, directory));
			}
			for (Node node : nodes) {
				node.awaitReady();
			}
			nodes.forEach(Node::go);
			long started = System.nanoTime();
			List<Fault> faults = letFaultsHappen(plan, servers, nodes);
			sleepUntil(started, plan.duration(), plan.duration());
			nodes.forEach(Node::stop);
			int freeAfter = nodes.get(0).probe();
			for (Node node : nodes) {
				node.join();
			}
			// A lock that only one of them can get is not free
			for (Node node : nodes) {
				int other = node.probe();
				freeAfter = (freeAfter < 0 || other < 0) ? -1 : Math.max(freeAfter, other);
			}
			List<String> leftovers = leftovers(plan, servers, nodes);
			for (Node node : nodes) {
				node.end();
			}
			return new Run.History(plan, faults, Journal.readAll(directory), servers.sales(), freeAfter, leftovers);
		}
		finally {
			nodes.forEach(Node::close);
		}
	}

	/** What is still left after the time in which everything ends by itself. */
	private static List<String> leftovers(Plan plan, Servers servers, List<Node> nodes) throws InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2L * plan.leaseTime()) + REST_TIME.toNanos();
		while (true) {
			List<String> left = servers.leftovers();
			for (Node node : nodes) {
				left.addAll(node.leftovers());
			}
			if (left.isEmpty() || System.nanoTime() > deadline) {
				return left;
			}
			TimeUnit.MILLISECONDS.sleep(100);
		}
	}

	/** Faults of one lane come one after the other, those of several at the same time. */
	private static List<Fault> letFaultsHappen(Plan plan, Servers servers, List<Node> nodes)
			throws InterruptedException {
		Map<String, List<Fault>> lanes = plan.faults().stream().collect(Collectors.groupingBy(Fault::lane));
		Queue<Fault> happened = new ConcurrentLinkedQueue<>();
		long started = System.nanoTime();
		List<Callable<Void>> tasks = new ArrayList<>();
		lanes.values().forEach((lane) -> tasks.add(() -> {
			for (Fault fault : lane) {
				if (sleepUntil(started, fault.at(), plan.duration())
						&& happens(fault, servers, nodes.get(fault.node()))) {
					happened.add(fault);
				}
			}
			return null;
		}));
		if (!tasks.isEmpty()) {
			Campaign.inLanes(tasks.size(), tasks);
		}
		return List.copyOf(happened);
	}

	/** Waits for the time of a fault. A late lane leaves out what would come too late. */
	private static boolean sleepUntil(long started, int at, int duration) throws InterruptedException {
		TimeUnit.NANOSECONDS.sleep(TimeUnit.MILLISECONDS.toNanos(at) - (System.nanoTime() - started));
		return System.nanoTime() - started <= TimeUnit.MILLISECONDS.toNanos(duration);
	}

	/**
	 * Lets a fault happen, and says whether it has met anything, as far as can be told.
	 */
	private static boolean happens(Fault fault, Servers servers, Node node) throws InterruptedException {
		switch (fault.kind()) {
			case PAUSE -> node.pause(fault.millis());
			case KILL -> node.kill(fault.millis());
			default -> {
				boolean met = servers.begin(fault);
				TimeUnit.MILLISECONDS.sleep(fault.millis());
				return servers.end(fault) && met;
			}
		}
		return true;
	}

}
