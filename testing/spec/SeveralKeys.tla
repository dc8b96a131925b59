---------------------------- MODULE SeveralKeys ----------------------------
(* Two keys, and transactions that need one or both of them. A lease that an earlier call of this JVM has put into its row is
   asserted at the commit, the others of the same transaction are claimed one after the other by its first statements. *)
EXTENDS Fence

CONSTANTS
  Needs,     \* the keys of each call
  Epochs     \* of each key

VARIABLES granted, holder, call, row, claimant, sharers, version, lost, late, latest

vars == <<granted, holder, call, row, claimant, sharers, version, lost, late, latest>>

Keys == {1, 2}
Calls == DOMAIN Needs
Nobody == "nobody"
Zero == [k \in Keys |-> 0]
Idle == [at |-> "idle", lease |-> Zero, claims |-> {}, seen |-> Zero]

Init ==
  /\ granted = [k \in Keys |-> 1] /\ holder = [k \in Keys |-> Nobody] /\ call = [c \in Calls |-> Idle]
  /\ row = [k \in Keys |-> [epoch |-> 1, owner |-> "earlier"]] 
  /\ claimant = [k \in Keys |-> Nobody] /\ sharers = [k \in Keys |-> {}]
  /\ version = Zero /\ latest = Zero /\ lost = FALSE /\ late = FALSE

At(c, step) == call[c].at = step
Lease(c, k) == [epoch |-> call[c].lease[k], owner |-> c]
IsLocked(k) == claimant[k] # Nobody \/ sharers[k] # {}
HasClaimed(c) == {k \in Keys : claimant[k] = c}
HasAsserted(c) == {k \in Keys : c \in sharers[k]}

(* Sorted, so that calls do not wait for each other in a circle. *)
First(keys) == CHOOSE k \in keys : \A other \in keys : k <= other

Ended(c) ==
  /\ call' = [call EXCEPT ![c] = Idle]
  /\ claimant' = [k \in Keys |-> IF claimant[k] = c THEN Nobody ELSE claimant[k]]
  /\ sharers' = [k \in Keys |-> sharers[k] \ {c}]

GivenBack(c) == holder' = [k \in Keys |-> IF holder[k] = c THEN Nobody ELSE holder[k]]

(* One key after the other; the next one, too, may be waited for. *)
Grant(c) ==
  /\ At(c, "idle")
  /\ LET missing == {k \in Needs[c] : call[c].lease[k] = 0} IN
       /\ missing # {}
       /\ LET k == First(missing) IN
            /\ holder[k] = Nobody /\ granted[k] < Epochs
            /\ granted' = [granted EXCEPT ![k] = @ + 1] /\ holder' = [holder EXCEPT ![k] = c]
            /\ \E claims \in BOOLEAN :
                 call' = [call EXCEPT ![c].lease[k] = granted[k] + 1,
                                      ![c].claims = IF claims THEN @ \union {k} ELSE @,
                                      ![c].at = IF missing = {k} THEN "granted" ELSE "idle"]
  /\ UNCHANGED <<row, claimant, sharers, version, lost, late, latest>>

Expire(k) ==
  /\ holder[k] # Nobody /\ holder' = [holder EXCEPT ![k] = Nobody]
  /\ UNCHANGED <<granted, call, row, claimant, sharers, version, lost, late, latest>>

Install(c) ==
  /\ At(c, "granted")
  /\ \E k \in Needs[c] \ call[c].claims :
       /\ row[k] # Lease(c, k) /\ ~IsLocked(k)
       /\ IF Installs(row[k], Lease(c, k))
          THEN row' = [row EXCEPT ![k] = Lease(c, k)] /\ UNCHANGED <<holder, call, claimant, sharers>>
          ELSE Ended(c) /\ GivenBack(c) /\ UNCHANGED row
  /\ UNCHANGED <<granted, version, lost, late, latest>>

(* The transaction begins. An install that has been replaced meanwhile is found at the commit. *)
Begin(c) ==
  /\ At(c, "granted") /\ \A k \in Needs[c] \ call[c].claims : row[k].epoch >= call[c].lease[k]
  /\ call' = [call EXCEPT ![c].at = IF call[c].claims = {} THEN "begun" ELSE "claiming"]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, lost, late, latest>>

(* FenceClaims.claim: all, or the transaction is rolled back. *)
Claim(c) ==
  /\ At(c, "claiming")
  /\ LET k == First(call[c].claims \ HasClaimed(c))
         last == call[c].claims \ HasClaimed(c) = {k} IN
       IF ~IsLocked(k) /\ Claims(row[k], Lease(c, k))
       THEN /\ claimant' = [claimant EXCEPT ![k] = c]
            /\ call' = (IF last THEN [call EXCEPT ![c].at = "begun"] ELSE call)
            /\ UNCHANGED <<holder, sharers>>
       ELSE IF ~Keeps("claim of all keys") /\ last /\ HasClaimed(c) # {}
            THEN call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<holder, claimant, sharers>>
            ELSE Ended(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, lost, late, latest>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = [k \in Keys |-> IF k \in Needs[c] THEN version[k] ELSE 0]]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, lost, late, latest>>

ToAssert(c) == IF Keeps("assert of all keys") \/ call[c].claims # {} \/ HasAsserted(c) = {}
               THEN Needs[c] \ (call[c].claims \union HasAsserted(c)) ELSE {}

ToAssertBeside(c) == IF Keeps("assert beside a claim") \/ call[c].claims = {} THEN ToAssert(c) ELSE {}

(* One key after the other. Waits for the transaction of a claim. *)
Assert(c) ==
  /\ At(c, "read")
  /\ IF ToAssertBeside(c) = {} THEN call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE LET k == First(ToAssertBeside(c)) IN
            /\ claimant[k] = Nobody
            /\ IF Holds(row[k], Lease(c, k))
               THEN sharers' = [sharers EXCEPT ![k] = @ \union {c}] /\ UNCHANGED <<holder, call, claimant>>
               ELSE Ended(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, lost, late, latest>>

Readers(k) == {c \in Calls : k \in Needs[c] /\ call[c].at \in {"read", "checked"} /\ (k \in call[c].claims => claimant[k] = c)}

Commit(c) ==
  /\ At(c, "checked")
  /\ version' = [k \in Keys |-> IF k \in Needs[c] THEN version[k] + 1 ELSE version[k]]
  /\ lost' = (lost \/ \E k \in Needs[c] : call[c].seen[k] # version[k])
  /\ late' = (late \/ \E k \in Needs[c] : \/ latest[k] > call[c].lease[k]
                                          \/ \E d \in Readers(k) : call[d].lease[k] > call[c].lease[k])
  /\ latest' = [k \in Keys |-> IF k \in Needs[c] /\ call[c].lease[k] > latest[k] THEN call[c].lease[k] ELSE latest[k]]
  /\ row' = [k \in Keys |-> IF claimant[k] = c THEN Lease(c, k) ELSE row[k]]
  /\ Ended(c) /\ GivenBack(c) /\ UNCHANGED granted

(* Also as the victim of a deadlock of two asserts. *)
Fail(c) == call[c] # Idle /\ Ended(c) /\ UNCHANGED <<granted, holder, row, version, lost, late, latest>>

Next == \/ \E k \in Keys : Expire(k)
        \/ \E c \in Calls : Grant(c) \/ Install(c) \/ Begin(c) \/ Claim(c) \/ Read(c) \/ Assert(c) \/ Commit(c) \/ Fail(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost
NoCommitBySuperseded == ~late
OneWriter == \A k \in Keys : Cardinality({c \in Calls : (k \in Needs[c] /\ At(c, "checked")) \/ claimant[k] = c}) <= 1

OneNeedsBoth == [one |-> {1}, both |-> {1, 2}]
TwoNeedBoth == [first |-> {1, 2}, second |-> {1, 2}]
EachNeedsAnother == [one |-> {1}, two |-> {2}, both |-> {1, 2}]
=============================================================================
