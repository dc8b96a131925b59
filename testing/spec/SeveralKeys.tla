---------------------------- MODULE SeveralKeys ----------------------------
(* Two keys, and calls that need one or both of them, with transaction locks or with leases. A transaction claims all of its keys,
   one after the other, before its body reads. *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Needs,     \* the keys of each call
  GoesOn,    \* a deadlock rolls all of a transaction back, and its session goes on (all servers except PostgreSQL)
  Without    \* the sentence that a broken twin leaves out; "nothing" in the rule

VARIABLES row, lock, call, version, lost

vars == <<row, lock, call, version, lost>>

Keeps(sentence) == Without # sentence
Keys == {1, 2}
Calls == DOMAIN Needs
Nobody == "nobody"

Init ==
  /\ row = [k \in Keys |-> [owner |-> Nobody, leased |-> FALSE]] /\ lock = [k \in Keys |-> Nobody]
  /\ call = [c \in Calls |-> [at |-> "idle", leases |-> FALSE, done |-> {}, seen |-> [k \in Keys |-> 0]]]
  /\ version = [k \in Keys |-> 0] /\ lost = FALSE

At(c, step) == call[c].at = step
ToDo(c) == Needs[c] \ call[c].done
NextKeys(c) == IF Keeps("keys in order") THEN {k \in ToDo(c) : \A other \in ToDo(c) : k <= other} ELSE ToDo(c)
Did(c, k, next) ==
  call' = [call EXCEPT ![c] = IF ToDo(c) = {k} THEN [@ EXCEPT !.at = next, !.done = {}] ELSE [@ EXCEPT !.done = @ \union {k}]]
Unlocked(c) == lock' = [k \in Keys |-> IF lock[k] = c THEN Nobody ELSE lock[k]]
Over(c) == Unlocked(c) /\ call' = [call EXCEPT ![c].at = "over", ![c].done = {}]

Begin(c) ==
  /\ At(c, "idle")
  /\ \E leases \in BOOLEAN :
       call' = [call EXCEPT ![c].at = IF leases THEN "leasing" ELSE "claiming", ![c].leases = leases]
  /\ UNCHANGED <<row, lock, version, lost>>

Lease(c) ==
  /\ At(c, "leasing")
  /\ \E k \in NextKeys(c) :
       /\ lock[k] = Nobody /\ ~row[k].leased
       /\ row' = [row EXCEPT ![k] = [owner |-> c, leased |-> TRUE]] /\ Did(c, k, "claiming")
  /\ UNCHANGED <<lock, version, lost>>

LeaseRunsOut(k) == row[k].leased /\ row' = [row EXCEPT ![k].leased = FALSE] /\ UNCHANGED <<lock, call, version, lost>>

(* TAKE or RENEW. *)
IsClaimable(c, k) == IF call[c].leases THEN row[k].owner = c ELSE ~row[k].leased

Claim(c) ==
  /\ At(c, "claiming")
  /\ \E k \in NextKeys(c) :
       /\ lock[k] = Nobody
       /\ IF ~IsClaimable(c, k) THEN Over(c)
          ELSE /\ lock' = [lock EXCEPT ![k] = c]
               /\ IF Keeps("claim of all keys") THEN Did(c, k, "begun") ELSE call' = [call EXCEPT ![c].at = "begun", ![c].done = {}]
  /\ UNCHANGED <<row, version, lost>>

Read(c) ==
  /\ At(c, "begun") /\ call' = [call EXCEPT ![c].at = IF GoesOn THEN "checking" ELSE "checked", ![c].seen = version]
  /\ UNCHANGED <<row, lock, version, lost>>

(* The body goes on. A deadlock in a CHECK is a refusal. *)
RollBackVictim(c) ==
  /\ GoesOn /\ call[c].at \in {"begun", "checking"} /\ call[c].done = {} /\ (\E k \in Keys : lock[k] = c)
  /\ Unlocked(c) /\ UNCHANGED <<row, call, version, lost>>

Check(c) ==
  /\ At(c, "checking")
  /\ \E k \in NextKeys(c) :
       /\ lock[k] \in {Nobody, c}
       /\ IF lock[k] # c /\ row[k].owner # c THEN Over(c)
          ELSE /\ lock' = [lock EXCEPT ![k] = c]
               /\ IF Keeps("CHECK of all keys") THEN Did(c, k, "checked")
                  ELSE call' = [call EXCEPT ![c].at = "checked", ![c].done = {}]
  /\ UNCHANGED <<row, version, lost>>

Commit(c) ==
  /\ At(c, "checked")
  /\ version' = [k \in Keys |-> IF k \in Needs[c] THEN version[k] + 1 ELSE version[k]]
  /\ lost' = (lost \/ \E k \in Needs[c] : call[c].seen[k] # version[k])
  /\ row' = [k \in Keys |-> IF lock[k] = c /\ ~call[c].leases THEN [owner |-> c, leased |-> FALSE] ELSE row[k]]
  /\ Over(c)

Fail(c) == call[c].at \notin {"idle", "over"} /\ Over(c) /\ UNCHANGED <<row, version, lost>>

Next == \/ \E k \in Keys : LeaseRunsOut(k)
        \/ \E c \in Calls : Begin(c) \/ Lease(c) \/ Claim(c) \/ Read(c) \/ RollBackVictim(c) \/ Check(c) \/ Commit(c) \/ Fail(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost

WaitsFor(c, d) == At(c, "claiming") /\ \A k \in NextKeys(c) : lock[k] = d
NoCircle == \A c, d \in Calls : c # d => ~(WaitsFor(c, d) /\ WaitsFor(d, c))

OneNeedsBoth == [one |-> {2}, both |-> {1, 2}]
TwoNeedBoth == [first |-> {1, 2}, second |-> {1, 2}]
EachNeedsAnother == [one |-> {1}, two |-> {2}, both |-> {1, 2}]
=============================================================================
