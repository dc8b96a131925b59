/**
 * Tests of the servers that the lab brings along.
 */
@NullMarked
package io.github.holdfast.lab.server;

import org.jspecify.annotations.NullMarked;
