package org.springframework.samples;

import io.github.holdfast.DistributedLock;

/** An application whose package looks as if it were a part of Spring. */
public class Clinic {

	public void visitAll() {
		visit();
	}

	@DistributedLock(key = "'visit'")
	public void visit() {
	}

}
