package io.github.holdfast.chaos;

import java.lang.management.ManagementFactory;

/**
 * What a node uses, or several of them.
 *
 * @param heap the kilobytes that are left on the heap after a collection
 * @param threads the threads
 * @param connections the connections to the database
 */
record Usage(long heap, long threads, long connections) {

	private static final int KILOBYTE = 1024;

	/**
	 * What this process uses.
	 */
	static Usage now(int connections) {
		System.gc();
		return new Usage(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / KILOBYTE,
				ManagementFactory.getThreadMXBean().getThreadCount(), connections);
	}

	Usage plus(Usage other) {
		return new Usage(this.heap + other.heap, this.threads + other.threads, this.connections + other.connections);
	}

	@Override
	public String toString() {
		return "%d %d %d".formatted(this.heap, this.threads, this.connections);
	}

	static Usage parse(String text) {
		String[] words = text.split(" ");
		return new Usage(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
	}

}
