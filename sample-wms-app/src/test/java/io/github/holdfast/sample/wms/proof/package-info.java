/**
 * The proof that two nodes on one database do not oversell, and that they would without
 * locks.
 */
@NullMarked
package io.github.holdfast.sample.wms.proof;

import org.jspecify.annotations.NullMarked;
