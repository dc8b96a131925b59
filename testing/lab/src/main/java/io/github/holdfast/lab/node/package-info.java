/**
 * A node of the lab: sells pieces by the strategy that an order asks for. In the profile
 * {@code lab-node}.
 */
@NullMarked
package io.github.holdfast.lab.node;

import org.jspecify.annotations.NullMarked;
