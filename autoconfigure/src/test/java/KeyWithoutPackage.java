/**
 * Has a hash code but no text of its own, and a name without a dot.
 */
public class KeyWithoutPackage {

	@Override
	public int hashCode() {
		return 42;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof KeyWithoutPackage;
	}

}
