package io.github.holdfast.schedules;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Loads the classes of Holdfast, and the tests, so that they run under a schedule.
 */
final class WeavingLoader extends ClassLoader {

	private static final String OWN = WeavingLoader.class.getPackageName() + ".";

	private static final ClassLoader APPLICATION = WeavingLoader.class.getClassLoader();

	/** What was woven for loaders without changes. */
	private static final Map<String, byte[]> woven = new ConcurrentHashMap<>();

	private final Map<String, byte[]> changed;

	private final Weaver weaver = new Weaver(this::bytes);

	/**
	 * Create a loader.
	 * @param changed classes that are others than those of the class path
	 */
	WeavingLoader(Map<String, byte[]> changed) {
		super(APPLICATION);
		this.changed = changed;
	}

	private static boolean isWoven(String name) {
		return (name.startsWith("io.github.holdfast.") && !name.startsWith(OWN))
				|| name.equals("org.springframework.util.function.SingletonSupplier");
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			if (loaded != null) {
				return loaded;
			}
			if (!isWoven(name)) {
				return super.loadClass(name, resolve);
			}
			byte[] bytes = this.changed.containsKey(name) ? this.weaver.weave(this.changed.get(name))
					: woven.computeIfAbsent(name, this::weave);
			if (bytes.length == 0) {
				throw new ClassNotFoundException(name);
			}
			return defineClass(name, bytes, 0, bytes.length);
		}
	}

	private byte[] weave(String name) {
		byte[] bytes = bytes(name);
		return (bytes != null) ? this.weaver.weave(bytes) : new byte[0];
	}

	private byte @Nullable [] bytes(String name) {
		byte[] bytes = this.changed.get(name);
		if (bytes != null) {
			return bytes;
		}
		try (InputStream in = APPLICATION.getResourceAsStream(name.replace('.', '/') + ".class")) {
			return (in != null) ? in.readAllBytes() : null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
