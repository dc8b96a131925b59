------------------------------- MODULE Purge -------------------------------
(* A row of the fence table is deleted, also while a call holds its lock. An absent row rejects an assert and refuses a claim; an
   install inserts it. *)
EXTENDS Source

DeleteRow ==
  /\ row # NoRow /\ ~IsLocked /\ row' = NoRow
  /\ UNCHANGED <<granted, holder, grants, restarts, call, claimant, sharers, version, latest, lost, late>>

PurgedSpec == Init /\ [][Next \/ DeleteRow]_vars
=============================================================================
