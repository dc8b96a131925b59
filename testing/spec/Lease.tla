------------------------------- MODULE Lease -------------------------------
(* The level lease: no row. Before COMMIT, the call compares its lease with its own clock. *)
EXTENDS Integers, TLC

CONSTANTS
  Calls, Grants,
  Overruns,    \* a COMMIT that is under way, or whose answer was lost, may take place after the end of its lease
  Without      \* the sentence that a broken twin leaves out; "nothing" in the model

VARIABLES grants, holder, call, version, lost

vars == <<grants, holder, call, version, lost>>

Keeps(sentence) == Without # sentence
Nobody == "nobody"
Idle == [at |-> "idle", seen |-> 0]

Init == grants = 0 /\ holder = Nobody /\ call = [c \in Calls |-> Idle] /\ version = 0 /\ lost = FALSE

At(c, step) == call[c].at = step
Release(c) == holder' = (IF holder = c THEN Nobody ELSE holder)
Over(c) == call' = [call EXCEPT ![c] = Idle]

Grant(c) ==
  /\ At(c, "idle") /\ holder = Nobody /\ grants < Grants
  /\ grants' = grants + 1 /\ holder' = c /\ call' = [call EXCEPT ![c].at = "begun"]
  /\ UNCHANGED <<version, lost>>

Expire ==
  /\ holder # Nobody /\ (call[holder].at \in {"checked", "unknown"} => Overruns)
  /\ holder' = Nobody /\ UNCHANGED <<grants, call, version, lost>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c] = [at |-> "read", seen |-> version]] /\ UNCHANGED <<grants, holder, version, lost>>

Check(c) ==
  /\ At(c, "read")
  /\ IF holder = c \/ ~Keeps("lease at the commit") THEN call' = [call EXCEPT ![c].at = "checked"] ELSE Over(c)
  /\ UNCHANGED <<grants, holder, version, lost>>

Committed(c) == version' = version + 1 /\ lost' = (lost \/ call[c].seen # version)

Commit(c) == At(c, "checked") /\ Committed(c) /\ Over(c) /\ Release(c) /\ UNCHANGED grants

(* The lock is kept, because the COMMIT may still take place. *)
LoseAnswer(c) ==
  /\ At(c, "checked") /\ call' = [call EXCEPT ![c].at = "unknown"]
  /\ IF Keeps("lock of an unknown outcome") THEN UNCHANGED holder ELSE Release(c)
  /\ UNCHANGED <<grants, version, lost>>

CommitLater(c) == At(c, "unknown") /\ Committed(c) /\ Over(c) /\ UNCHANGED <<grants, holder>>

RollBack(c) == ~At(c, "idle") /\ Over(c) /\ UNCHANGED <<grants, holder, version, lost>>

Next == Expire \/ \E c \in Calls : Grant(c) \/ Read(c) \/ Check(c) \/ Commit(c) \/ LoseAnswer(c) \/ CommitLater(c) \/ RollBack(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost

Symmetry == Permutations(Calls)
=============================================================================
