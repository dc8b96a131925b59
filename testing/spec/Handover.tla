------------------------------ MODULE Handover ------------------------------
(* One lease of the store that the threads of a JVM have one after the other (Cohort, TurnLease), beside other JVMs. Epoch and
   owner stay the same with each turn, so that the fence row cannot tell them apart. The answer to a COMMIT may be lost: the
   transaction then ends later, one way or the other. *)
EXTENDS Fence

CONSTANTS
  Threads,         \* of one JVM
  Others,          \* calls of other JVMs, one each
  Epochs, Turns,
  Releases         \* the lock of a call whose outcome is unknown is given back, not kept

VARIABLES
  granted,    \* the last epoch of the store
  held,       \* whether the store has not ended its lease yet
  cohort,     \* the lease of the JVM of Threads: its epoch, the last turn, and whether a transaction has put it into the row
  call, row, claimant, sharers, version, latest, lost, late, passed

vars == <<granted, held, cohort, call, row, claimant, sharers, version, latest, lost, late, passed>>

Calls == Threads \union Others
Nobody == "nobody"
Idle == [at |-> "idle", lease |-> NoRow, turn |-> 0, claims |-> FALSE, seen |-> 0, handedOver |-> FALSE]
NoCohort == [lease |-> NoRow, turn |-> 0, installed |-> FALSE]

Init ==
  /\ granted = 1 /\ held = FALSE /\ cohort = NoCohort /\ call = [c \in Calls |-> Idle]
  /\ row = [epoch |-> 1, owner |-> "earlier"] /\ claimant = Nobody /\ sharers = {}
  /\ version = 0 /\ latest = <<0, 0>> /\ lost = FALSE /\ late = FALSE /\ passed = FALSE

At(c, step) == call[c].at = step
IsLocked == claimant # Nobody \/ sharers # {}
Token(c) == <<call[c].lease.epoch, call[c].turn>>
Before(one, other) == one[1] < other[1] \/ (one[1] = other[1] /\ one[2] < other[2])

(* LockCall.isHeld: this turn has not been handed over. *)
IsHeld(c) == ~call[c].handedOver

RowIsFree(c) == claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}

(* A new lease of the store: for a thread its JVM's next one, also if the last one has ended while its holder works on. *)
Grant(c) ==
  /\ At(c, "idle") /\ ~held /\ granted < Epochs
  /\ LET lease == [epoch |-> granted + 1, owner |-> IF c \in Threads THEN "threads" ELSE c] IN
       /\ granted' = granted + 1 /\ held' = TRUE
       /\ cohort' = (IF c \in Threads THEN [NoCohort EXCEPT !.lease = lease] ELSE cohort)
       /\ \E claims \in BOOLEAN :
            call' = [call EXCEPT ![c] = [Idle EXCEPT !.at = "granted", !.claims = claims, !.lease = lease]]
  /\ UNCHANGED <<row, claimant, sharers, version, latest, lost, late, passed>>

Expire ==
  /\ held /\ held' = FALSE
  /\ UNCHANGED <<granted, cohort, call, row, claimant, sharers, version, latest, lost, late, passed>>

(* The call gives the lease back. *)
Release(c) == held' = (IF granted = call[c].lease.epoch /\ IsHeld(c) THEN FALSE ELSE held)

(* FenceClaims.isPending: only a transaction that was committed has put the lease into the row. *)
Installed(c) == cohort' = (IF c \in Threads /\ cohort.lease = call[c].lease THEN [cohort EXCEPT !.installed = TRUE] ELSE cohort)

Refused(c) == call' = [call EXCEPT ![c] = Idle] /\ Release(c) /\ RowIsFree(c)

Install(c) ==
  /\ At(c, "granted") /\ ~call[c].claims /\ ~IsLocked
  /\ IF Installs(row, call[c].lease)
     THEN row' = call[c].lease /\ Installed(c) /\ call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<held, claimant, sharers>>
     ELSE Refused(c) /\ UNCHANGED <<row, cohort>>
  /\ UNCHANGED <<granted, version, latest, lost, late, passed>>

Claim(c) ==
  /\ At(c, "granted") /\ call[c].claims
  /\ IF ~IsLocked /\ Claims(row, call[c].lease)
     THEN claimant' = c /\ call' = [call EXCEPT ![c].at = "begun"] /\ UNCHANGED <<held, sharers>>
     ELSE Refused(c)
  /\ UNCHANGED <<granted, cohort, row, version, latest, lost, late, passed>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<granted, held, cohort, row, claimant, sharers, version, latest, lost, late, passed>>

(* CommitCheck.run: that the call still has its turn, and the row. *)
Check(c) ==
  /\ At(c, "read") /\ (call[c].claims \/ claimant = Nobody)
  /\ IF (Keeps("turn at the commit") => IsHeld(c)) /\ (call[c].claims \/ Holds(row, call[c].lease))
     THEN /\ call' = [call EXCEPT ![c].at = "checked"]
          /\ sharers' = (IF call[c].claims THEN sharers ELSE sharers \union {c}) /\ UNCHANGED <<held, claimant>>
     ELSE Refused(c)
  /\ UNCHANGED <<granted, cohort, row, version, latest, lost, late, passed>>

Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (call[c].claims => claimant = c)
                          /\ (Keeps("turn at the commit") => IsHeld(c))}

(* The database commits. *)
Committed(c) ==
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ late' = (late \/ Before(Token(c), latest) \/ \E d \in Readers : Before(Token(c), Token(d)))
  /\ latest' = (IF Before(latest, Token(c)) THEN Token(c) ELSE latest)
  /\ row' = (IF claimant = c THEN call[c].lease ELSE row)
  /\ passed' = (passed \/ ~IsHeld(c))
  /\ RowIsFree(c)

Commit(c) ==
  /\ At(c, "checked")
  /\ Committed(c) /\ (IF claimant = c THEN Installed(c) ELSE UNCHANGED cohort)
  /\ call' = [call EXCEPT ![c].at = "over"]
  /\ UNCHANGED <<granted, held>>

(* The answer is lost. The call ends, and its lease runs out. *)
LoseAnswer(c) ==
  /\ At(c, "checked")
  /\ call' = [call EXCEPT ![c].at = "unknown"] /\ (IF Releases THEN Release(c) ELSE UNCHANGED held)
  /\ UNCHANGED <<granted, cohort, row, claimant, sharers, version, latest, lost, late, passed>>

CommitLater(c) == At(c, "unknown") /\ Committed(c) /\ call' = [call EXCEPT ![c] = Idle] /\ UNCHANGED <<granted, held, cohort>>

RollBackLater(c) ==
  /\ At(c, "unknown")
  /\ RowIsFree(c) /\ call' = [call EXCEPT ![c] = Idle]
  /\ UNCHANGED <<granted, held, cohort, row, version, latest, lost, late, passed>>

RollBack(c) ==
  /\ call[c].at \in {"granted", "begun", "read", "checked"}
  /\ RowIsFree(c) /\ call' = [call EXCEPT ![c].at = "over"]
  /\ UNCHANGED <<granted, held, cohort, row, version, latest, lost, late, passed>>

(* LockCall.giveBack, or the lease is not valid any more. *)
GiveBack(c) ==
  /\ At(c, "over")
  /\ Release(c) /\ call' = [call EXCEPT ![c] = Idle]
  /\ UNCHANGED <<granted, cohort, row, claimant, sharers, version, latest, lost, late, passed>>

(* TurnLease.handOver, by the thread that has the turn: after its transaction, or while it is open, as a Scope may be closed
   there. The next turn of a lease that is not in the row yet has to claim it, or gives it back. *)
HandOver(c, d) ==
  /\ c \in Threads /\ d \in Threads /\ At(d, "idle")
  /\ IsHeld(c) /\ cohort.lease = call[c].lease /\ cohort.turn + 1 < Turns
  /\ \/ call[c].at \in {"begun", "read", "over"}
     \/ (~Keeps("known outcome") /\ At(c, "unknown"))
     \/ (~Keeps("own thread") /\ At(c, "checked"))
  /\ cohort' = [cohort EXCEPT !.turn = @ + 1]
  /\ call' = [call EXCEPT ![c] = IF At(c, "over") THEN Idle ELSE [@ EXCEPT !.handedOver = TRUE],
                          ![d] = [Idle EXCEPT !.at = IF cohort.installed THEN "begun" ELSE "granted", !.lease = cohort.lease,
                                              !.turn = cohort.turn + 1, !.claims = ~cohort.installed]]
  /\ UNCHANGED <<granted, held, row, claimant, sharers, version, latest, lost, late, passed>>

Next == \/ Expire
        \/ \E c \in Calls : \/ Grant(c) \/ Install(c) \/ Claim(c) \/ Read(c) \/ Check(c) \/ Commit(c) \/ RollBack(c)
                            \/ GiveBack(c) \/ LoseAnswer(c) \/ CommitLater(c) \/ RollBackLater(c)
        \/ \E c, d \in Threads : HandOver(c, d)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost

(* As in Claim, by token: epoch, then turn. *)
NoCommitBySuperseded == ~late
OneWriter == Cardinality({c \in Calls : call[c].at \in {"checked", "unknown"} \/ claimant = c}) <= 1

(* A turn that was handed over does not commit. *)
PassedTurnNeverCommits == ~passed

Symmetry == Alike(Threads)
=============================================================================
