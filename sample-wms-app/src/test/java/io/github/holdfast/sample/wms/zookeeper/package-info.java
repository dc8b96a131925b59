/**
 * Tests of the ZooKeeper server inside the application.
 */
@NullMarked
package io.github.holdfast.sample.wms.zookeeper;

import org.jspecify.annotations.NullMarked;
