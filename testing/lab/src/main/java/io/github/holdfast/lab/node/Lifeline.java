package io.github.holdfast.lab.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

import org.springframework.context.annotation.Lazy;

import io.github.holdfast.lab.strategy.NodeComponent;

/**
 * Ends this node when the lab has ended, however it ended: its side of the standard input
 * is closed then.
 */
@NodeComponent
@Lazy(false)
class Lifeline {

	Lifeline() {
		Thread thread = new Thread(Lifeline::watch, "lifeline");
		thread.setDaemon(true);
		thread.start();
	}

	private static void watch() {
		InputStream lab = System.in;
		try {
			lab.transferTo(OutputStream.nullOutputStream());
		}
		catch (IOException ex) {
			// The same as its end
		}
		Runtime.getRuntime().halt(0);
	}

}
