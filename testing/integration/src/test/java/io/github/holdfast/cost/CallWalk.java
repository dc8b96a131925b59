package io.github.holdfast.cost;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Field;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.MethodEntryRequest;

import io.github.holdfast.testsupport.Threads;

/**
 * What one locked call goes through, as a debugger sees it: the files of the library of
 * which it enters a method, on whatever thread, and the classes of which it makes an
 * object, with their fields that are not final.
 */
record CallWalk(Set<String> files, Map<String, Integer> mutable) {

	private static final String LIBRARY = "io.github.holdfast.";

	/** Whose classes are beside those of the library on the class path. */
	private static final Set<String> TESTS = Set.of(LIBRARY + "testsupport.", LIBRARY + "cost.");

	/** Follow a call of {@link WalkedApplication}. */
	static CallWalk of(int redis, String kind) throws Exception {
		LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
		Map<String, Connector.Argument> arguments = connector.defaultArguments();
		arguments.get("main").setValue(WalkedApplication.class.getName() + " " + redis + " " + kind);
		arguments.get("options")
			.setValue("-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \"" + System.getProperty("java.class.path") + "\"");
		VirtualMachine machine = connector.launch(arguments);
		Process process = machine.process();
		try {
			discard(process.getInputStream());
			discard(process.getErrorStream());
			CallWalk walk = new CallWalk(new TreeSet<>(), new TreeMap<>());
			walk.follow(machine);
			return walk;
		}
		finally {
			process.destroyForcibly().waitFor();
		}
	}

	private static void discard(InputStream output) {
		Threads.start(() -> output.transferTo(OutputStream.nullOutputStream()));
	}

	private void follow(VirtualMachine machine) throws InterruptedException {
		EventRequestManager requests = machine.eventRequestManager();
		ClassPrepareRequest prepared = requests.createClassPrepareRequest();
		prepared.addClassFilter(WalkedApplication.class.getName());
		prepared.enable();
		MethodEntryRequest entries = requests.createMethodEntryRequest();
		entries.addClassFilter(LIBRARY + "*");
		entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
		try {
			while (true) {
				EventSet events = machine.eventQueue().remove();
				for (Event event : events) {
					if (event instanceof VMDisconnectEvent || event instanceof VMDeathEvent) {
						return;
					}
					if (event instanceof ClassPrepareEvent prepare) {
						stopAt(requests, prepare.referenceType(), "begin");
						stopAt(requests, prepare.referenceType(), "end");
					}
					else if (event instanceof BreakpointEvent stop) {
						entries.setEnabled(stop.location().method().name().equals("begin"));
					}
					else if (event instanceof MethodEntryEvent entry) {
						entered(entry.method());
					}
				}
				events.resume();
			}
		}
		catch (VMDisconnectedException ex) {
			// It has ended
		}
	}

	private static void stopAt(EventRequestManager requests, ReferenceType type, String method) {
		requests.createBreakpointRequest(type.methodsByName(method).get(0).location()).enable();
	}

	private void entered(Method method) {
		ReferenceType type = method.declaringType();
		String name = type.name();
		if (TESTS.stream().anyMatch(name::startsWith)) {
			return;
		}
		this.files.add(name.contains("$") ? name.substring(0, name.indexOf('$')) : name);
		if (method.isConstructor()) {
			int fields = (int) type.fields().stream().filter(CallWalk::isMutable).count();
			if (fields > 0) {
				this.mutable.put(name, fields);
			}
		}
	}

	private static boolean isMutable(Field field) {
		return !field.isFinal() && !field.isStatic() && !field.isSynthetic();
	}

	/** The number of fields that are not final, of all objects that the call makes. */
	int mutableFields() {
		return this.mutable.values().stream().mapToInt(Integer::intValue).sum();
	}

	@Override
	public String toString() {
		return this.files.size() + " files, " + mutableFields() + " mutable fields in " + this.mutable.size()
				+ " classes\n" + String.join("\n", this.files) + "\n" + this.mutable;
	}

}
