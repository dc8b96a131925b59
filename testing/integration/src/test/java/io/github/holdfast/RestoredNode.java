package io.github.holdfast;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;
import org.apache.curator.framework.CuratorFramework;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.etcd.EtcdLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.redis.RedisQuorumLockBackend;
import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * Another node, of which several are restored from one image: what this JVM has made at
 * random, or will make by what it has in its memory, is the same in all of them. It
 * acquires one lock and releases it for each line on its standard input.
 */
final class RestoredNode {

	private RestoredNode() {
	}

	public static void main(String[] args) throws IOException {
		Security.insertProviderAt(new Image(), 1);
		System.out.println("image " + UUID.randomUUID());
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		Store store = Store.valueOf(args[0]);
		List<String> address = List.of(args).subList(1, args.length);
		store.use(address, (backend) -> {
			connect(backend);
			try (LockManager manager = new LockManager(backend)) {
				LockTemplate locks = new LockTemplate(manager).withWaitTime(Duration.ofSeconds(1));
				for (String line = input.readLine(); line != null; line = input.readLine()) {
					acquire(locks, input);
				}
			}
		});
		System.exit(0);
	}

	/**
	 * The first request of a JVM may take longer than a store has for its answer. This
	 * one makes nothing at random.
	 */
	private static void connect(LockBackend backend) {
		for (boolean connected = false; !connected;) {
			try {
				backend.holder("connect");
				connected = true;
			}
			catch (LockBackendException ex) {
				System.err.println(ex);
			}
		}
	}

	private static void acquire(LockTemplate locks, BufferedReader input) throws IOException {
		try (LockTemplate.Scope scope = locks.acquire("nightly-job")) {
			System.out.println("held " + scope);
			input.readLine();
		}
		catch (LockNotAcquiredException ex) {
			System.out.println("refused " + ex.reason());
			return;
		}
		System.out.println("released");
	}

	/** Where the lock is. */
	enum Store {

		JDBC {

			@Override
			void use(List<String> address, Use use) throws IOException {
				try (HikariDataSource pool = new DatabaseAccess(address.get(0), address.get(1), address.get(2))
					.dataSource(4)) {
					use.with(new JdbcLockBackend(() -> pool));
				}
			}

		},

		REDIS {

			@Override
			void use(List<String> address, Use use) throws IOException {
				RedisConnectionFactory connections = RedisConnections.lettuce(Integer.parseInt(address.get(0)));
				use.with(new RedisLockBackend(() -> connections));
			}

		},

		QUORUM {

			@Override
			void use(List<String> address, Use use) throws IOException {
				LettuceConnectionFactory settings = RedisConnections.lettuce(1);
				use.with(new RedisQuorumLockBackend(settings, address));
			}

		},

		REDISSON {

			@Override
			void use(List<String> address, Use use) throws IOException {
				RedissonClient client = RedissonClients.single(Integer.parseInt(address.get(0)));
				System.out.println("client " + client.getId());
				use.with(RedisLockBackend.redisson(() -> client));
			}

		},

		ETCD {

			@Override
			void use(List<String> address, Use use) throws IOException {
				try (Client client = EtcdLockBackend.clientBuilder().endpoints(address.get(0)).build()) {
					use.with(new EtcdLockBackend(() -> client));
				}
			}

		},

		ZOOKEEPER {

			@Override
			void use(List<String> address, Use use) throws IOException {
				try (CuratorFramework client = ZooKeeperServer.client(Integer.parseInt(address.get(0)))) {
					use.with(new ZooKeeperLockBackend(() -> client));
				}
			}

		};

		abstract void use(List<String> address, Use use) throws IOException;

	}

	/**
	 * Does something with a backend.
	 */
	@FunctionalInterface
	interface Use {

		void with(LockBackend backend) throws IOException;

	}

	/**
	 * Random numbers that go on where the image was taken. What asks the operating system
	 * itself gets others.
	 */
	private static final class Image extends Provider {

		private static final long serialVersionUID = 1L;

		private Image() {
			super("Image", "1", "for tests");
			put("SecureRandom.Image", Sequence.class.getName());
		}

	}

	/**
	 * The same sequence in each JVM.
	 */
	public static final class Sequence extends SecureRandomSpi {

		private static final long serialVersionUID = 1L;

		private transient SplittableRandom random = new SplittableRandom(42);

		@Override
		protected void engineSetSeed(byte[] seed) {
			this.random = new SplittableRandom(42);
		}

		@Override
		protected synchronized void engineNextBytes(byte[] bytes) {
			for (int i = 0; i < bytes.length; i++) {
				bytes[i] = (byte) this.random.nextInt();
			}
		}

		@Override
		protected byte[] engineGenerateSeed(int count) {
			return ByteBuffer.allocate(count).array();
		}

	}

}
