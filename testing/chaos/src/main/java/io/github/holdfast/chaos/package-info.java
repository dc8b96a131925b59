/**
 * The fault machine: from a seed to a plan, from a plan to a run of three nodes under
 * faults, and from what they left in the database to the violations of the promises.
 */
@NullMarked
package io.github.holdfast.chaos;

import org.jspecify.annotations.NullMarked;
