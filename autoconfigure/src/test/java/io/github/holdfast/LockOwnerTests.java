package io.github.holdfast;

import java.security.Provider;
import java.security.SecureRandom;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.SplittableRandom;

import io.github.holdfast.LockRequest.Owner;
import org.junit.jupiter.api.Test;

import org.springframework.core.OverridingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;

/** Two JVMs that were restored from one image, as by CRaC or of a whole machine. */
class LockOwnerTests {

	@Test
	void ownersOfTwoRestoredJvmsDiffer() throws Exception {
		Provider image = new Image();
		Security.insertProviderAt(image, 1);
		try {
			assertThat(new SecureRandom().nextLong()).as("what both make at random")
				.isEqualTo(new SecureRandom().nextLong());
			assertThat(id(restored())).isNotEqualTo(id(restored()));
			assertThat(number(restored())).isNotEqualTo(number(restored()));
		}
		finally {
			Security.removeProvider(image.getName());
		}
	}

	private static Object id(Class<?> restored) throws ReflectiveOperationException {
		return restored.getMethod("id").invoke(restored.getConstructor(String.class).newInstance("test"));
	}

	private static Object number(Class<?> restored) throws ReflectiveOperationException {
		return restored.getMethod("randomNumber").invoke(null);
	}

	/** The class as it is initialized in each of the JVMs. */
	private static Class<?> restored() throws ClassNotFoundException {
		return Class.forName(Owner.class.getName(), true, new OverridingClassLoader(Owner.class.getClassLoader()) {
			@Override
			protected boolean isEligibleForOverriding(String className) {
				return className.equals(Owner.class.getName());
			}
		});
	}

	private static final class Image extends Provider {

		private static final long serialVersionUID = 1L;

		private Image() {
			super("Image", "1", "for tests");
			put("SecureRandom.Image", Sequence.class.getName());
		}

	}

	/** Goes on where the image was taken. */
	public static final class Sequence extends SecureRandomSpi {

		private static final long serialVersionUID = 1L;

		private final transient SplittableRandom random = new SplittableRandom(42);

		@Override
		protected void engineSetSeed(byte[] seed) {
		}

		@Override
		protected void engineNextBytes(byte[] bytes) {
			this.random.nextBytes(bytes);
		}

		@Override
		protected byte[] engineGenerateSeed(int count) {
			return new byte[count];
		}

	}

}
