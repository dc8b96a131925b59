package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A small process that cleans up when the lab has ended, even if it was killed: it ends
 * all processes that name the lab's folder on their command line, and removes the folder.
 */
final class Caretaker implements AutoCloseable {

	/** Its standard input ends when the lab does. */
	private static final String SCRIPT = """
			trap '' INT TERM HUP
			cat > /dev/null
			ps -A -ww -o pid= -o args= | while read -r pid args; do
				case "$args" in
					*"$0/"*) kill -9 "$pid";;
				esac
			done
			rm -rf "$0"
			""";

	private final Process process;

	Caretaker(Path folder) throws IOException {
		this.process = new ProcessBuilder("sh", "-c", SCRIPT, folder.toString())
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
	}

	@Override
	public void close() {
		try {
			this.process.getOutputStream().close();
		}
		catch (IOException ex) {
			// It has ended already
		}
		this.process.onExit().join();
	}

}
