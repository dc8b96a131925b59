package io.github.holdfast.benchmarks.contended;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A number in memory that several JVMs share through a file. To count is to read and then
 * to write, so that without a lock increments get lost.
 */
final class SharedCounter {

	private static final VarHandle VALUE = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final ByteBuffer memory;

	private SharedCounter(ByteBuffer memory) {
		this.memory = memory;
	}

	static SharedCounter open(Path file) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			return new SharedCounter(channel.map(MapMode.READ_WRITE, 0, Long.BYTES));
		}
	}

	void increment() {
		VALUE.setVolatile(this.memory, 0, value() + 1);
	}

	long value() {
		return (long) VALUE.getVolatile(this.memory, 0);
	}

}
