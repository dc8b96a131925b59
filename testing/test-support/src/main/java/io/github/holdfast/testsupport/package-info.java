/**
 * What tests of several modules need: the contract that a backend is tested with, real
 * databases and lock servers, child processes that can be killed or paused, and a network
 * that can fail.
 */
@NullMarked
package io.github.holdfast.testsupport;

import org.jspecify.annotations.NullMarked;
