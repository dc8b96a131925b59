/**
 * The page of the lab, in a browser.
 */
@NullMarked
package io.github.holdfast.lab.page;

import org.jspecify.annotations.NullMarked;
