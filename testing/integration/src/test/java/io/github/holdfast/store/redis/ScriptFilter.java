package io.github.holdfast.store.redis;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.github.holdfast.store.Digest;

/**
 * A proxy in front of a Redis that lets scripts pass as other ones, so that a real server
 * answers like one that is stricter.
 */
final class ScriptFilter implements AutoCloseable {

	private final int target;

	private final UnaryOperator<String> scripts;

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	/** From the digest that the client knows to the one that Redis knows. */
	private final Map<String, String> digests = new ConcurrentHashMap<>();

	private final AtomicInteger replaced = new AtomicInteger();

	private final List<String> commands = new CopyOnWriteArrayList<>();

	/**
	 * Create a filter.
	 * @param target the local port of the server
	 * @param scripts says what a script becomes
	 */
	ScriptFilter(int target, UnaryOperator<String> scripts) throws IOException {
		this.target = target;
		this.scripts = scripts;
		this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		start(this::accept);
	}

	int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * How often a script was run as another one.
	 */
	int replaced() {
		return this.replaced.get();
	}

	/**
	 * The names of the commands that have passed.
	 */
	List<String> commands() {
		return this.commands;
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = opened(this.listener.accept());
			Socket server = opened(new Socket(InetAddress.getLoopbackAddress(), this.target));
			start(() -> requests(client, server));
			start(() -> {
				server.getInputStream().transferTo(client.getOutputStream());
				client.close();
			});
		}
	}

	private Socket opened(Socket socket) throws IOException {
		socket.setTcpNoDelay(true);
		this.sockets.add(socket);
		return socket;
	}

	private void requests(Socket client, Socket server) throws IOException {
		try (server) {
			InputStream buffered = new BufferedInputStream(client.getInputStream());
			DataInputStream in = new DataInputStream(buffered);
			OutputStream out = new BufferedOutputStream(server.getOutputStream());
			while (true) {
				List<byte[]> words = new ArrayList<>();
				for (int n = number(in, '*'); n > 0; n--) {
					byte[] word = new byte[number(in, '$')];
					in.readFully(word);
					in.readFully(new byte[2]);
					words.add(word);
				}
				write(out, filtered(words));
				if (buffered.available() == 0) {
					out.flush();
				}
			}
		}
	}

	private static int number(DataInputStream in, char type) throws IOException {
		StringBuilder line = new StringBuilder();
		for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
			line.append((char) c);
		}
		if (line.charAt(0) != type) {
			throw new IOException("Not a command: " + line);
		}
		return Integer.parseInt(line.substring(1).strip());
	}

	private List<byte[]> filtered(List<byte[]> words) {
		List<byte[]> filtered = new ArrayList<>(words);
		String command = text(words.get(0)).toUpperCase(Locale.ROOT);
		this.commands.add(command);
		if (command.equals("EVAL")) {
			filtered.set(1, bytes(replace(text(words.get(1)), true)));
		}
		else if (command.equals("SCRIPT") && text(words.get(1)).equalsIgnoreCase("LOAD")) {
			filtered.set(2, bytes(replace(text(words.get(2)), false)));
		}
		else if (command.equals("EVALSHA")) {
			String known = this.digests.get(text(words.get(1)));
			if (known != null) {
				this.replaced.incrementAndGet();
				filtered.set(1, bytes(known));
			}
		}
		return filtered;
	}

	private String replace(String script, boolean run) {
		String other = this.scripts.apply(script);
		if (!other.equals(script)) {
			this.digests.put(Digest.SHA_1.hex(bytes(script)), Digest.SHA_1.hex(bytes(other)));
			if (run) {
				this.replaced.incrementAndGet();
			}
		}
		return other;
	}

	private static void write(OutputStream out, List<byte[]> words) throws IOException {
		out.write(bytes("*" + words.size() + "\r\n"));
		for (byte[] word : words) {
			out.write(bytes("$" + word.length + "\r\n"));
			out.write(word);
			out.write(bytes("\r\n"));
		}
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static void start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				// One of the ends was closed
			}
		}, "script-filter");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

	@FunctionalInterface
	private interface Task {

		void run() throws IOException;

	}

}
