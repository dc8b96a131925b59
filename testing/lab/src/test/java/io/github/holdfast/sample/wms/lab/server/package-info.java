/**
 * Tests of the servers that the lab brings along.
 */
@NullMarked
package io.github.holdfast.sample.wms.lab.server;

import org.jspecify.annotations.NullMarked;
