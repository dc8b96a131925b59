package io.github.holdfast.check;

/**
 * A call of a method on the object that the calling code belongs to, as it stands in a
 * class file.
 *
 * @param caller the calling method
 * @param place where it is, as {@code Orders.confirm (Orders.java:42)}
 * @param owner the internal name of the class through which the method is called
 * @param name the name of the called method
 * @param descriptor the descriptor of the called method, empty if the name must do
 * @param toSuper whether the version of a superclass is called
 */
record SelfCall(Caller caller, String place, String owner, String name, String descriptor, boolean toSuper) {

	/**
	 * Whether a method calls the version that it overrides.
	 */
	boolean isOfOverridden() {
		return this.toSuper && this.caller.name().equals(this.name) && this.caller.descriptor().equals(this.descriptor);
	}

	/**
	 * The method that makes a call.
	 *
	 * @param type the internal name of its class
	 * @param name its name
	 * @param descriptor its descriptor
	 * @param ofObject whether it is a method of the object, and not of an inner class
	 * @param overridable whether a subclass may override it
	 */
	record Caller(String type, String name, String descriptor, boolean ofObject, boolean overridable) {

	}

}
