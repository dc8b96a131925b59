/**
 * A ZooKeeper server inside the application, so that its locks can be tried with nothing
 * installed.
 */
@NullMarked
package io.github.holdfast.sample.wms.zookeeper;

import org.jspecify.annotations.NullMarked;
