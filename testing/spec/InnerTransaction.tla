-------------------------- MODULE InnerTransaction --------------------------
(* A transaction of its own (REQUIRES_NEW) inside of one that has claimed the lock. It cannot assert the row, which the outer one
   has locked; so CommitCheck refuses its commit. The twins commit it after having asked, on the outer connection and as the last
   thing before the inner COMMIT, whether the claim is still held. Other calls install and assert. *)
EXTENDS Fence

CONSTANTS
  Calls, Epochs,
  InnerCommits,      \* the inner COMMIT: "refused", or in a twin "after asking" or "unchecked"
  KillsOuterAlone,   \* the outer session can end between the answer and the inner COMMIT
  OuterRollsBack,    \* the outer transaction can be rolled back, or its session end, after the inner COMMIT
  LosesAnswers       \* the answer to the inner COMMIT can be lost, so that the outer transaction may end before it takes place

VARIABLES granted, holder, call, row, claimant, sharers, version, latest, lost, late

vars == <<granted, holder, call, row, claimant, sharers, version, latest, lost, late>>

Nobody == "nobody"
Idle == [at |-> "idle", lease |-> NoRow, claims |-> FALSE, seen |-> 0]

Init ==
  /\ granted = 1 /\ holder = Nobody /\ call = [c \in Calls |-> Idle]
  /\ row = [epoch |-> 1, owner |-> "earlier"] /\ claimant = Nobody /\ sharers = {}
  /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE

At(c, step) == call[c].at = step
IsLocked == claimant # Nobody \/ sharers # {}
GivenBack(c) == holder' = (IF holder = c THEN Nobody ELSE holder)

(* The call is over; what its transactions have not committed is rolled back. *)
Over(c) ==
  /\ call' = [call EXCEPT ![c] = Idle]
  /\ claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}

Grant(c) ==
  /\ At(c, "idle") /\ holder = Nobody /\ granted < Epochs
  /\ granted' = granted + 1 /\ holder' = c
  /\ \E claims \in BOOLEAN :
       call' = [call EXCEPT ![c] = [Idle EXCEPT !.at = "granted", !.claims = claims,
                                                !.lease = [epoch |-> granted + 1, owner |-> c]]]
  /\ UNCHANGED <<row, claimant, sharers, version, latest, lost, late>>

Expire ==
  /\ holder # Nobody /\ holder' = Nobody
  /\ UNCHANGED <<granted, call, row, claimant, sharers, version, latest, lost, late>>

(* The transaction that reads and writes comes next: the only one of a call that installs, the inner one of a call that claims. *)
Install(c) ==
  /\ At(c, "granted") /\ ~call[c].claims /\ ~IsLocked
  /\ IF Installs(row, call[c].lease)
     THEN row' = call[c].lease /\ call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE Over(c) /\ GivenBack(c) /\ UNCHANGED row
  /\ UNCHANGED <<granted, version, latest, lost, late>>

Claim(c) ==
  /\ At(c, "granted") /\ call[c].claims
  /\ IF ~IsLocked /\ Claims(row, call[c].lease)
     THEN claimant' = c /\ call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<holder, sharers>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

Assert(c) ==
  /\ At(c, "read") /\ ~call[c].claims /\ claimant = Nobody
  /\ IF Holds(row, call[c].lease)
     THEN call' = [call EXCEPT ![c].at = "checked"] /\ sharers' = sharers \union {c} /\ UNCHANGED <<holder, claimant>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

CheckOuterClaim(c) ==
  /\ At(c, "read") /\ call[c].claims /\ InnerCommits # "refused"
  /\ IF claimant = c \/ InnerCommits = "unchecked"
     THEN call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (call[c].claims => claimant = c)}

(* Of the only transaction of a call that installs, with which it is over, or of the inner one of a call that claims. *)
Commit(c) ==
  /\ call[c].at \in {"checked", "unknown"}
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ late' = (late \/ latest > call[c].lease.epoch \/ \E d \in Readers : call[d].lease.epoch > call[c].lease.epoch)
  /\ latest' = (IF latest > call[c].lease.epoch THEN latest ELSE call[c].lease.epoch)
  /\ IF call[c].claims
     THEN call' = [call EXCEPT ![c].at = "committed", ![c].seen = 0] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row>>

LoseAnswer(c) ==
  /\ LosesAnswers /\ At(c, "checked") /\ call[c].claims
  /\ call' = [call EXCEPT ![c].at = "unknown"]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

EndOuterBefore(c) ==
  /\ At(c, "unknown") /\ claimant = c
  /\ claimant' = Nobody /\ row' \in {row, call[c].lease}
  /\ UNCHANGED <<granted, holder, call, sharers, version, latest, lost, late>>

CommitOuter(c) ==
  /\ call[c].at \in {"begun", "committed"} /\ claimant = c
  /\ row' = call[c].lease /\ Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, version, latest, lost, late>>

(* The body, or the end of the process. *)
RollBack(c) ==
  /\ ~At(c, "idle") /\ (At(c, "committed") => OuterRollsBack)
  /\ Over(c) /\ UNCHANGED <<granted, holder, row, version, latest, lost, late>>

(* The database, or whoever ends connections that are idle, ends the outer session. The body does not notice yet. *)
KillOuter(c) ==
  /\ claimant = c
  /\ call[c].at \in {"checked", "unknown"} => KillsOuterAlone
  /\ At(c, "committed") => OuterRollsBack
  /\ claimant' = Nobody
  /\ UNCHANGED <<granted, holder, call, row, sharers, version, latest, lost, late>>

Next == \/ Expire
        \/ \E c \in Calls : \/ Grant(c) \/ Install(c) \/ Claim(c) \/ Read(c) \/ Assert(c) \/ CheckOuterClaim(c) \/ Commit(c)
                            \/ LoseAnswer(c) \/ EndOuterBefore(c) \/ CommitOuter(c) \/ RollBack(c) \/ KillOuter(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost
NoCommitBySuperseded == ~late
OneWriter == Cardinality({c \in Calls : call[c].at \in {"checked", "unknown"} \/ claimant = c}) <= 1

Symmetry == Alike(Calls)
=============================================================================
