package io.github.holdfast.testsupport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The messages that clients send to a server, as far as {@link RoundTrips} has to know
 * them. Each constant cuts the bytes of a connection into the requests that the server
 * answers; what is sent without one, and what only keeps a connection alive, is left out.
 */
public enum WireProtocol {

	/**
	 * Packets with a length and a number; those that begin a command have the number 0.
	 */
	MARIADB {

		@Override
		Reader requests(Consumer<String> request) {
			return new Reader() {

				@Override
				boolean readNext(ByteBuffer bytes) {
					if (bytes.remaining() < 4) {
						return false;
					}
					int header = Integer.reverseBytes(bytes.getInt());
					int length = header & 0xffffff;
					if (bytes.remaining() < length) {
						return false;
					}
					byte[] packet = take(bytes, length);
					if (header >>> 24 == 0 && !UNANSWERED_OR_PING.contains(packet[0])) {
						request.accept(command(packet));
					}
					return true;
				}

			};
		}

		private static String command(byte[] packet) {
			return switch (packet[0]) {
				case 0x03 -> text(packet, 1, packet.length);
				case 0x16 -> "prepare " + text(packet, 1, packet.length);
				default -> "command " + packet[0];
			};
		}

	},

	/**
	 * Messages with a type and a length. The server answers when it is told that the
	 * client waits: after a {@code Sync}, or a simple query.
	 */
	POSTGRESQL {

		@Override
		Reader requests(Consumer<String> request) {
			return new PostgresReader(request);
		}

	},

	/** Arrays of strings. */
	REDIS {

		@Override
		Reader requests(Consumer<String> request) {
			return new Reader() {

				@Override
				boolean readNext(ByteBuffer bytes) {
					int parts = number(bytes, '*');
					List<String> command = new ArrayList<>();
					for (int i = 0; i < parts; i++) {
						int length = number(bytes, '$');
						if (length < 0 || bytes.remaining() < length + 2) {
							return false;
						}
						command.add(text(take(bytes, length), 0, length));
						take(bytes, 2);
					}
					if (parts > 0 && !command.get(0).equals("PING")) {
						request.accept(String.join(" ", command));
					}
					return parts >= 0;
				}

			};
		}

		/**
		 * The number of a line, or -1 if the line is not complete.
		 */
		private static int number(ByteBuffer bytes, char type) {
			int number = 0;
			for (int i = bytes.position(); i < bytes.limit(); i++) {
				char next = (char) bytes.get(i);
				if (next == '\n') {
					bytes.position(i + 1);
					return number;
				}
				if (i == bytes.position() && next != type) {
					throw new IllegalStateException("Not a Redis command: " + next);
				}
				if (next >= '0' && next <= '9') {
					number = number * 10 + next - '0';
				}
			}
			return -1;
		}

	},

	/** Frames with a length; all but the first have an id and a type. */
	ZOOKEEPER {

		@Override
		Reader requests(Consumer<String> request) {
			return new FrameReader((frame) -> {
				if (frame.getInt(0) > 0) {
					request.accept("request of type " + frame.getInt(4));
				}
			});
		}

		/**
		 * Events and answers to pings have negative ids.
		 */
		@Override
		Reader answers(Runnable answer) {
			return new FrameReader((frame) -> {
				if (frame.getInt(0) > 0) {
					answer.run();
				}
			});
		}

	},

	/** HTTP/2, in which each request and each answer has data. */
	ETCD {

		@Override
		Reader requests(Consumer<String> request) {
			return new HttpReader(HTTP_PREFACE, () -> request.accept("request"));
		}

		@Override
		Reader answers(Runnable answer) {
			return new HttpReader(0, answer);
		}

	};

	/** {@code COM_QUIT}, {@code COM_PING} and {@code COM_STMT_CLOSE}. */
	private static final Set<Byte> UNANSWERED_OR_PING = Set.of((byte) 0x01, (byte) 0x0e, (byte) 0x19);

	private static final int HTTP_PREFACE = 24;

	/**
	 * Reads what a client sends on one connection.
	 * @param request is told each request that the server is to answer
	 */
	abstract Reader requests(Consumer<String> request);

	/**
	 * Reads what a server sends on one connection.
	 * @param answer is told of answers, at least one for each request
	 */
	Reader answers(Runnable answer) {
		return new Reader() {

			@Override
			boolean readNext(ByteBuffer bytes) {
				bytes.position(bytes.limit());
				answer.run();
				return true;
			}

		};
	}

	private static byte[] take(ByteBuffer bytes, int length) {
		byte[] taken = new byte[length];
		bytes.get(taken);
		return taken;
	}

	private static String text(byte[] bytes, int from, int to) {
		return new String(bytes, from, to - from, StandardCharsets.UTF_8);
	}

	/**
	 * Puts together what arrives in pieces.
	 */
	abstract static class Reader {

		private byte[] unread = {};

		final void read(byte[] bytes, int length) {
			ByteBuffer all = ByteBuffer.allocate(this.unread.length + length)
				.put(this.unread)
				.put(bytes, 0, length)
				.flip();
			int read = 0;
			while (all.hasRemaining() && readNext(all)) {
				read = all.position();
			}
			this.unread = take(all.position(read), all.limit() - read);
		}

		/**
		 * Reads one message.
		 * @return {@code false} if it has not arrived completely
		 */
		abstract boolean readNext(ByteBuffer bytes);

	}

	/**
	 * Frames with a length of four bytes. The first one connects.
	 */
	private static final class FrameReader extends Reader {

		private final Consumer<ByteBuffer> frames;

		private boolean connected;

		FrameReader(Consumer<ByteBuffer> frames) {
			this.frames = frames;
		}

		@Override
		boolean readNext(ByteBuffer bytes) {
			if (bytes.remaining() < 4) {
				return false;
			}
			int length = bytes.getInt();
			if (bytes.remaining() < length) {
				return false;
			}
			ByteBuffer frame = ByteBuffer.wrap(take(bytes, length));
			if (this.connected) {
				this.frames.accept(frame);
			}
			this.connected = true;
			return true;
		}

	}

	private static final class HttpReader extends Reader {

		private static final byte DATA = 0;

		private final Runnable data;

		private int preface;

		HttpReader(int preface, Runnable data) {
			this.preface = preface;
			this.data = data;
		}

		@Override
		boolean readNext(ByteBuffer bytes) {
			if (bytes.remaining() < Math.max(this.preface, 9)) {
				return false;
			}
			if (this.preface > 0) {
				take(bytes, this.preface);
				this.preface = 0;
				return true;
			}
			int header = bytes.getInt();
			int length = header >>> 8;
			take(bytes, 5);
			if (bytes.remaining() < length) {
				return false;
			}
			take(bytes, length);
			if ((header & 0xff) == DATA && length > 0) {
				this.data.run();
			}
			return true;
		}

	}

	private static final class PostgresReader extends Reader {

		/** The first message of a session; others only ask for encryption. */
		private static final int STARTUP = 196_608;

		private final Consumer<String> request;

		private final Map<String, String> prepared = new HashMap<>();

		private final List<String> statements = new ArrayList<>();

		private boolean started;

		PostgresReader(Consumer<String> request) {
			this.request = request;
		}

		@Override
		boolean readNext(ByteBuffer bytes) {
			int header = this.started ? 5 : 4;
			if (bytes.remaining() < header) {
				return false;
			}
			char type = this.started ? (char) bytes.get() : ' ';
			int length = bytes.getInt() - 4;
			if (bytes.remaining() < length) {
				return false;
			}
			byte[] body = take(bytes, length);
			if (this.started) {
				read(type, body);
			}
			else {
				this.started = ByteBuffer.wrap(body).getInt() == STARTUP;
			}
			return true;
		}

		private void read(char type, byte[] body) {
			switch (type) {
				case 'P' -> this.prepared.put(string(body, 0), string(body, end(body, 0) + 1));
				case 'B' -> this.statements.add(this.prepared.getOrDefault(string(body, end(body, 0) + 1), "?"));
				case 'Q' -> {
					this.statements.add(string(body, 0));
					end();
				}
				case 'S' -> end();
				default -> {
				}
			}
		}

		/**
		 * The driver asks whether a connection is alive by an empty statement.
		 */
		private void end() {
			if (this.statements.isEmpty() || this.statements.stream().anyMatch((sql) -> !sql.isBlank())) {
				this.request.accept(String.join("; ", this.statements));
			}
			this.statements.clear();
		}

		private static String string(byte[] body, int from) {
			return text(body, from, end(body, from));
		}

		private static int end(byte[] body, int from) {
			int end = from;
			while (body[end] != 0) {
				end++;
			}
			return end;
		}

	}

}
