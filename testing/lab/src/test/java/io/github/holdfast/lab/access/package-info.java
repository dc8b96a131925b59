/**
 * Tests of who may use the lab and its nodes.
 */
@NullMarked
package io.github.holdfast.lab.access;

import org.jspecify.annotations.NullMarked;
