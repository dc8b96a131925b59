package io.github.holdfast.testsupport;

import java.util.List;

/**
 * A slot of a Redis Cluster that moves from one master to another, step by step, as
 * {@code redis-cli --cluster reshard} does it.
 */
public final class MovingSlot {

	private final RedisCluster cluster;

	private final String slot;

	private final RedisServer source;

	private final RedisServer target;

	private MovingSlot(RedisCluster cluster, String slot, RedisServer source, RedisServer target) {
		this.cluster = cluster;
		this.slot = slot;
		this.source = source;
		this.target = target;
	}

	/**
	 * Begins to move the slot of a key that is there. Nothing of it has moved yet.
	 */
	public static MovingSlot of(RedisCluster cluster, String key) {
		List<RedisServer> masters = cluster.masters();
		String slot = masters.get(0).command("CLUSTER", "KEYSLOT", key).toString();
		RedisServer source = masters.stream()
			.filter((master) -> (Long) master.command("CLUSTER", "COUNTKEYSINSLOT", slot) > 0)
			.findFirst()
			.orElseThrow();
		RedisServer target = masters.stream().filter((master) -> master != source).findFirst().orElseThrow();
		target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
		source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
		return new MovingSlot(cluster, slot, source, target);
	}

	private static String id(RedisServer server) {
		return server.command("CLUSTER", "MYID").toString();
	}

	public void move(String key) {
		this.source.command("MIGRATE", "127.0.0.1", String.valueOf(this.target.port()), key, "0", "10000");
	}

	/**
	 * Moves all keys that are left, and tells all masters where the slot is now.
	 */
	public void end() {
		((List<?>) this.source.command("CLUSTER", "GETKEYSINSLOT", this.slot, "100"))
			.forEach((key) -> move(key.toString()));
		this.target.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target));
		this.source.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target));
		this.cluster.masters()
			.forEach((master) -> master.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.target)));
	}

	/**
	 * How often a request had keys on both sides.
	 */
	public long refusals() {
		return this.cluster.masters()
			.stream()
			.flatMap((master) -> master.command("INFO", "ERRORSTATS").toString().lines())
			.filter((line) -> line.startsWith("errorstat_TRYAGAIN:count="))
			.mapToLong((line) -> Long.parseLong(line.split("=")[1]))
			.sum();
	}

}
