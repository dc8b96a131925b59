/**
 * Ways of guarding stock, right and wrong ones, each as short as it can honestly be. They
 * are here to learn from: half of them sell what is not there.
 */
@NullMarked
package io.github.holdfast.lab.strategy;

import org.jspecify.annotations.NullMarked;
