-------------------------- MODULE InnerTransaction --------------------------
(* Inner transactions, by physical connection: what is known of a transaction is kept by the connection, and Spring transactions
   are its users. An inner one of another manager of the same DataSource works on the connection of the outer one: its COMMIT
   commits, and its ROLLBACK undoes, whatever is there, the work of the outer one and its claim included. An inner one with a
   connection of its own (REQUIRES_NEW) cannot assert the row, which the outer one has locked by its claim; so its commit is
   refused. Twins commit it after having asked, on the outer connection and as the last thing before the inner COMMIT, whether
   the claim is still held. Some calls claim, others install. *)
EXTENDS Fence

CONSTANTS
  Calls, Epochs,
  Inners,            \* how many inner transactions a call has at most
  InnerCommits,      \* the inner COMMIT on another connection: "refused", or in a twin "after asking" or "unchecked"
  KillsOuterAlone,   \* the outer session can end between the answer and the inner COMMIT
  OuterRollsBack,    \* the outer transaction can be rolled back, or its session end, after the inner COMMIT
  LosesAnswers       \* the answer to the inner COMMIT can be lost, so that the outer transaction may end before it takes place

VARIABLES
  granted, holder, call, row, claimant, sharers, version, latest, lost, late   \* as in Claim

vars == <<granted, holder, call, row, claimant, sharers, version, latest, lost, late>>

Nobody == "nobody"

(* claim: "wanted", "open" on the outer connection, or "none": also when the connection has been committed or rolled back.
   inner: the connection of the running inner transaction, "same" or "another". work: on the outer connection, not committed yet.
   changed: work of the call is in the database. asked: a user of the connection has committed. *)
Idle == [at |-> "idle", lease |-> NoRow, claim |-> "none", inner |-> "none", inners |-> 0, seen |-> 0,
         work |-> FALSE, changed |-> FALSE, asked |-> FALSE]

Init ==
  /\ granted = 1 /\ holder = Nobody /\ call = [c \in Calls |-> Idle]
  /\ row = [epoch |-> 1, owner |-> "earlier"] /\ claimant = Nobody /\ sharers = {}
  /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE

At(c, step) == call[c].at = step
Inner(c, connection) == call[c].inner = connection
OnOuterConnection(c) == call[c].inner # "another"
IsLocked == claimant # Nobody \/ sharers # {}
GivenBack(c) == holder' = (IF holder = c THEN Nobody ELSE holder)

(* The outer connection has been committed or rolled back: what it had locked is free. *)
Unlocked(c) == claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}

(* The call is over; what its transactions have not committed is rolled back. *)
Over(c) == call' = [call EXCEPT ![c] = Idle] /\ Unlocked(c)

Grant(c) ==
  /\ At(c, "idle") /\ holder = Nobody /\ granted < Epochs
  /\ granted' = granted + 1 /\ holder' = c
  /\ \E claim \in {"wanted", "none"} :
       call' = [call EXCEPT ![c] = [Idle EXCEPT !.at = "granted", !.claim = claim,
                                                !.lease = [epoch |-> granted + 1, owner |-> c]]]
  /\ UNCHANGED <<row, claimant, sharers, version, latest, lost, late>>

Expire ==
  /\ holder # Nobody /\ holder' = Nobody
  /\ UNCHANGED <<granted, call, row, claimant, sharers, version, latest, lost, late>>

Install(c) ==
  /\ At(c, "granted") /\ call[c].claim = "none" /\ ~IsLocked
  /\ IF Installs(row, call[c].lease)
     THEN row' = call[c].lease /\ call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE Over(c) /\ GivenBack(c) /\ UNCHANGED row
  /\ UNCHANGED <<granted, version, latest, lost, late>>

Claim(c) ==
  /\ At(c, "granted") /\ call[c].claim = "wanted"
  /\ IF ~IsLocked /\ Claims(row, call[c].lease)
     THEN claimant' = c /\ call' = [call EXCEPT ![c].at = "begun", ![c].claim = "open"] /\ UNCHANGED <<holder, sharers>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

(* On the outer connection, by whichever of its users; also behind the check, as a persistence context is flushed by its commit. *)
Write(c) ==
  /\ call[c].at \in {"read", "checked"} /\ OnOuterConnection(c) /\ ~call[c].work
  /\ call' = [call EXCEPT ![c].work = TRUE]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

(* Those whose transactions, as far as they have read, may still be committed. *)
Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (claimant = c \/ row = call[c].lease)}

(* An update, by a transaction of the call, of what the call has read. *)
Updated(c) ==
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ late' = (late \/ latest > call[c].lease.epoch \/ \E d \in Readers : call[d].lease.epoch > call[c].lease.epoch)
  /\ latest' = (IF latest > call[c].lease.epoch THEN latest ELSE call[c].lease.epoch)

(* What COMMIT on the outer connection does in the database: its work, and the claim, which is an installed token from now on. *)
Committed(c) ==
  /\ row' = (IF claimant = c THEN call[c].lease ELSE row) /\ Unlocked(c)
  /\ IF call[c].work THEN Updated(c) ELSE UNCHANGED <<version, latest, lost, late>>

AfterCommit(state) == [state EXCEPT !.work = FALSE, !.changed = state.changed \/ state.work,
                                    !.seen = IF state.work THEN version + 1 ELSE state.seen]

(* Of another manager of the DataSource. A pool may have left a transaction open, but nobody knows that this is one. *)
BeginOnSame(c) ==
  /\ call[c].at \in {"begun", "read"} /\ Inner(c, "none") /\ call[c].inners < Inners
  /\ IF Keeps("COMMIT by users only")
     THEN /\ call' = [call EXCEPT ![c].inner = "same", ![c].inners = @ + 1]
          /\ UNCHANGED <<row, claimant, sharers, version, latest, lost, late>>
     ELSE /\ call' = [call EXCEPT ![c] = AfterCommit([@ EXCEPT !.inner = "same", !.inners = @ + 1])]
          /\ Committed(c)
  /\ UNCHANGED <<granted, holder>>

(* REQUIRES_NEW. It is what reads and writes then. *)
BeginOnAnother(c) ==
  /\ At(c, "begun") /\ call[c].claim = "open" /\ Inner(c, "none") /\ call[c].inners < Inners
  /\ call' = [call EXCEPT ![c].inner = "another", ![c].inners = @ + 1]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

(* CommitCheck, for each COMMIT on the outer connection, whoever of its users commits. An open claim has the row locked, whatever
   this process believes of its lease; otherwise the token has to be found in the row. *)
Check(c) ==
  /\ At(c, "read") /\ OnOuterConnection(c)
  /\ IF call[c].claim = "open" \/ ~Keeps("assert without an open claim")
     THEN call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE /\ claimant \in {Nobody, c}
          /\ IF Holds(row, call[c].lease)
             THEN call' = [call EXCEPT ![c].at = "checked"] /\ sharers' = sharers \union {c} /\ UNCHANGED <<holder, claimant>>
             ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

CommitOnSame(c) ==
  /\ At(c, "checked") /\ Inner(c, "same")
  /\ call' = [call EXCEPT ![c] = AfterCommit([@ EXCEPT !.at = IF Keeps("check until COMMIT only") THEN "read" ELSE "checked",
                !.inner = "none", !.asked = TRUE, !.claim = IF Keeps("end of the claim by COMMIT") THEN "none" ELSE @])]
  /\ Committed(c) /\ UNCHANGED <<granted, holder>>

(* A twin: an inner transaction that is read-only, or has no lock itself, counts as harmless. It commits what others have written. *)
CommitUncheckedOnSame(c) ==
  /\ ~Keeps("check of each COMMIT") /\ At(c, "read") /\ Inner(c, "same")
  /\ call' = [call EXCEPT ![c] = AfterCommit([@ EXCEPT !.inner = "none", !.asked = TRUE])]
  /\ Committed(c) /\ UNCHANGED <<granted, holder>>

(* By the body, which catches the exception, or because its commit was refused. *)
RollBackOnSame(c) ==
  /\ Inner(c, "same")
  /\ call' = [call EXCEPT ![c].at = IF At(c, "checked") THEN "read" ELSE @, ![c].inner = "none", ![c].work = FALSE,
                          ![c].claim = IF Keeps("end of the claim by ROLLBACK") THEN "none" ELSE @]
  /\ Unlocked(c) /\ UNCHANGED <<granted, holder, row, version, latest, lost, late>>

Commit(c) ==
  /\ At(c, "checked") /\ Inner(c, "none")
  /\ call' = [call EXCEPT ![c] = Idle]
  /\ Committed(c) /\ GivenBack(c) /\ UNCHANGED granted

CheckOuterClaim(c) ==
  /\ At(c, "read") /\ Inner(c, "another") /\ InnerCommits # "refused"
  /\ IF claimant = c \/ InnerCommits = "unchecked"
     THEN call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, claimant, sharers>>
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, version, latest, lost, late>>

CommitOnAnother(c) ==
  /\ call[c].at \in {"checked", "unknown"} /\ Inner(c, "another")
  /\ Updated(c)
  /\ call' = [call EXCEPT ![c].at = "committed", ![c].seen = 0, ![c].changed = TRUE, ![c].asked = TRUE]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers>>

(* The outer one goes on, unless its session has ended. *)
RollBackOnAnother(c) ==
  /\ Inner(c, "another") /\ call[c].at \in {"begun", "read"} /\ claimant = c
  /\ call' = [call EXCEPT ![c].at = "begun", ![c].inner = "none", ![c].seen = 0]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

LoseAnswer(c) ==
  /\ LosesAnswers /\ At(c, "checked") /\ Inner(c, "another")
  /\ call' = [call EXCEPT ![c].at = "unknown"]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late>>

EndOuterBefore(c) ==
  /\ At(c, "unknown") /\ claimant = c
  /\ claimant' = Nobody /\ row' \in {row, call[c].lease}
  /\ UNCHANGED <<granted, holder, call, sharers, version, latest, lost, late>>

(* Which has done nothing itself, but claimed. *)
CommitOuter(c) ==
  /\ At(c, "committed") \/ (At(c, "begun") /\ Inner(c, "none"))
  /\ claimant = c
  /\ row' = call[c].lease /\ Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, version, latest, lost, late>>

(* The body, or the end of the process, or of the outer session. *)
RollBack(c) ==
  /\ ~At(c, "idle") /\ (At(c, "committed") => OuterRollsBack)
  /\ Over(c) /\ UNCHANGED <<granted, holder, row, version, latest, lost, late>>

(* The database, or whoever ends connections that are idle, ends the outer session. The body does not notice yet. *)
KillOuter(c) ==
  /\ claimant = c /\ Inner(c, "another")
  /\ call[c].at \in {"checked", "unknown"} => KillsOuterAlone
  /\ At(c, "committed") => OuterRollsBack
  /\ claimant' = Nobody
  /\ UNCHANGED <<granted, holder, call, row, sharers, version, latest, lost, late>>

Next == \/ Expire
        \/ \E c \in Calls : \/ Grant(c) \/ Install(c) \/ Claim(c) \/ Read(c) \/ Write(c) \/ Check(c) \/ Commit(c) \/ RollBack(c)
                            \/ BeginOnSame(c) \/ CommitOnSame(c) \/ CommitUncheckedOnSame(c) \/ RollBackOnSame(c)
                            \/ BeginOnAnother(c) \/ CheckOuterClaim(c) \/ CommitOnAnother(c) \/ RollBackOnAnother(c)
                            \/ LoseAnswer(c) \/ EndOuterBefore(c) \/ CommitOuter(c) \/ KillOuter(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost
NoCommitBySuperseded == ~late
OneWriter == Cardinality({c \in Calls : call[c].at \in {"checked", "unknown"} \/ claimant = c}) <= 1

(* Nothing of a transaction is in the database before a COMMIT of a user of its connection. *)
NothingUnasked == \A c \in Calls : call[c].changed => call[c].asked

Symmetry == Alike(Calls)
=============================================================================
