/**
 * The page of the lab, in a browser.
 */
@NullMarked
package io.github.holdfast.sample.wms.lab.page;

import org.jspecify.annotations.NullMarked;
