------------------------------- MODULE Fence -------------------------------
(* The conditions on one row of the fence table, as the statements of FenceStatements have them. A lease, and a row, is an epoch
   and an owner. *)
EXTENDS Integers, FiniteSets
LOCAL INSTANCE TLC

CONSTANT Without    \* the one condition that a broken twin leaves out; "nothing" in the right model

Keeps(condition) == Without # condition

NoRow == [epoch |-> 0, owner |-> "nobody"]

(* FenceTable.install: a later holder replaces an earlier one. *)
Installs(row, lease) == row.epoch < lease.epoch

(* CLAIMABLE: not over a later holder, and not over another one with the same epoch. *)
Claims(row, lease) == row.epoch < lease.epoch \/ row = lease

(* OF_HOLDER: epoch and owner. *)
Holds(row, lease) == row = lease

(* Which calls are the same to the model. *)
Alike(calls) == Permutations(calls)
=============================================================================
