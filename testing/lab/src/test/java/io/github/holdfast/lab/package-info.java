/** What the lab finds out about each strategy, and that it leaves nothing behind. */
@NullMarked
package io.github.holdfast.lab;

import org.jspecify.annotations.NullMarked;
