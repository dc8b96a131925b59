/**
 * Ways of guarding stock, right and wrong ones, each as short as it can honestly be. They
 * are here to learn from: half of them sell what is not there. A node of the lab, in the
 * profile {@code lab-node}, sells by the one that an order asks for.
 */
@NullMarked
package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.NullMarked;
