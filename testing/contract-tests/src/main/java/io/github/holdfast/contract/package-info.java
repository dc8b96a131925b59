/** The contract of every lock backend: tests for authors of backends. */
@NullMarked
package io.github.holdfast.contract;

import org.jspecify.annotations.NullMarked;
