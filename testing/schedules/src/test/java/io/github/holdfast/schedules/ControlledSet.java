package io.github.holdfast.schedules;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/**
 * A concurrent set in the order of arrival.
 *
 * @param <T> the type of the members
 */
final class ControlledSet<T> extends AbstractSet<T> {

	private final Set<T> members = new CopyOnWriteArraySet<>();

	@Override
	public boolean add(T member) {
		Hooks.point();
		return this.members.add(member);
	}

	@Override
	public boolean remove(Object member) {
		Hooks.point();
		return this.members.remove(member);
	}

	@Override
	public Iterator<T> iterator() {
		Hooks.point();
		return this.members.iterator();
	}

	@Override
	public int size() {
		Hooks.point();
		return this.members.size();
	}

}
