/**
 * The servers that the lab brings along, so that nothing has to be installed.
 */
@NullMarked
package io.github.holdfast.lab.server;

import org.jspecify.annotations.NullMarked;
