/**
 * What every lock backend has to do, as tests: for those who write one.
 */
@NullMarked
package io.github.holdfast.contract;

import org.jspecify.annotations.NullMarked;
