/**
 * The lab: shows which way of guarding stock holds, by firing orders at nodes that it
 * starts as processes of their own. In the profile {@code lab}.
 */
@NullMarked
package io.github.holdfast.lab;

import org.jspecify.annotations.NullMarked;
