/**
 * The fence: rows of the business database by which a commit finds out that its holder
 * was superseded, and the installation of each holder in them.
 */
@NullMarked
package io.github.holdfast.fence;

import org.jspecify.annotations.NullMarked;
