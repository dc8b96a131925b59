/**
 * What tests of several packages need: real databases, real Redis servers, child
 * processes that can be killed or paused, and a network that can fail.
 */
@NullMarked
package io.github.holdfast.testsupport;

import org.jspecify.annotations.NullMarked;
