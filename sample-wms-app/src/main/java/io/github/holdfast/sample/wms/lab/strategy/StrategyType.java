package io.github.holdfast.sample.wms.lab.strategy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * All strategies, with what is said about them.
 */
public enum StrategyType {

	/** {@link MemoryOverwrite}. */
	MEMORY_OVERWRITE("memory-overwrite", Group.WRONG, MemoryOverwrite.class, "Check in memory, then overwrite",
			"Reads the stock, checks it in memory, and writes the new value, all in one transaction.",
			"Two transactions read the same value. The later one overwrites what the earlier one has written."),

	/** {@link ForUpdate}. */
	FOR_UPDATE("for-update", Group.DATABASE, ForUpdate.class, "SELECT … FOR UPDATE",
			"The database locks the row when it is read, until the transaction ends.",
			"Each waiter keeps a connection. It needs a row that exists already, and one database.");

	private static final String STOCK_SERVICE = StockService.class.getSimpleName();

	private final String id;

	private final Group group;

	private final Class<? extends Strategy> type;

	private final String title;

	private final String explanation;

	private final String weakness;

	private final List<String> nodeProperties;

	StrategyType(String id, Group group, Class<? extends Strategy> type, String title, String explanation,
			String weakness, String... nodeProperties) {
		this.id = id;
		this.group = group;
		this.type = type;
		this.title = title;
		this.explanation = explanation;
		this.weakness = weakness;
		this.nodeProperties = List.of(nodeProperties);
	}

	/**
	 * Finds a strategy.
	 * @param id what it is called over HTTP
	 * @return the strategy, if there is one
	 */
	public static Optional<StrategyType> of(String id) {
		return Arrays.stream(values()).filter((type) -> type.id.equals(id)).findFirst();
	}

	/**
	 * What it is called over HTTP.
	 * @return the id
	 */
	public String id() {
		return this.id;
	}

	/**
	 * What it has in common with others.
	 * @return the group
	 */
	public Group group() {
		return this.group;
	}

	/**
	 * The class of its bean.
	 * @return the class
	 */
	public Class<? extends Strategy> type() {
		return this.type;
	}

	/**
	 * What it is called by people.
	 * @return the title
	 */
	public String title() {
		return this.title;
	}

	/**
	 * What it does.
	 * @return a sentence
	 */
	public String explanation() {
		return this.explanation;
	}

	/**
	 * What is wrong with it, or what it costs.
	 * @return a sentence
	 */
	public String weakness() {
		return this.weakness;
	}

	/**
	 * The properties with which nodes are started for it.
	 * @return {@code name=value}
	 */
	public List<String> nodeProperties() {
		return this.nodeProperties;
	}

	/**
	 * The code that runs, as it was compiled.
	 * @return Java
	 */
	public String source() {
		String source = read(this.type.getSimpleName());
		if (source.contains(STOCK_SERVICE)) {
			source += "\n" + read(STOCK_SERVICE);
		}
		return this.nodeProperties.stream()
			.map((property) -> "// " + property + "\n")
			.collect(Collectors.joining("", "", source));
	}

	private static String read(String name) {
		try (InputStream source = StrategyType.class.getResourceAsStream(name + ".java")) {
			if (source == null) {
				throw new IllegalStateException("The source of " + name + " was not packaged");
			}
			return new String(source.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
