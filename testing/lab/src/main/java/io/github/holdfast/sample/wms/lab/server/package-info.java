/**
 * The servers that the lab brings along, so that nothing has to be installed.
 */
@NullMarked
package io.github.holdfast.sample.wms.lab.server;

import org.jspecify.annotations.NullMarked;
