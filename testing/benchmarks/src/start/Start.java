package io.github.holdfast.benchmarks.start;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts an application, calls its only job once, and prints what that has cost. */
final class Start {

	private Start() {
	}

	static void run(Class<?> application, String... args) {
		try (ConfigurableApplicationContext context = SpringApplication.run(application, args)) {
			long ready = ManagementFactory.getRuntimeMXBean().getUptime();
			long processor = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
			context.getBean(Runnable.class).run();
			for (int i = 0; i < 3; i++) {
				System.gc();
			}
			System.out.printf("START %d %d %.2f %d%n", ready, processor / 1_000_000,
					ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6,
					ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
		}
	}

}
