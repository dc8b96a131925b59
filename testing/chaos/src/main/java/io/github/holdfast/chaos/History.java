package io.github.holdfast.chaos;

import java.util.List;
import java.util.Map;

/**
 * What is left of a run.
 *
 * @param plan the plan
 * @param faults the faults that there really were
 * @param calls the calls that have ended, as the nodes wrote them down
 * @param sales what is in the database, by account and in the order of the versions
 * @param freeAfter how many milliseconds after the faults all locks were free; negative
 * if they were not
 * @param leftovers what was left when no call was: connections in use, locks in the
 * store, and so on
 */
record History(Plan plan, List<Fault> faults, List<Call> calls, Map<String, List<Accounts.Sale>> sales, int freeAfter,
		List<String> leftovers) {

}
