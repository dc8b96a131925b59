-------------------------- MODULE TransactionLock --------------------------
(* The transaction lock: the row of the lock table is locked by the first statement of the business transaction itself, which waits
   for it, and COMMIT is the release. Calls that cannot do so take a lease on the same row, and assert it at their commit. *)
EXTENDS Fence

CONSTANTS
  Calls, Epochs,
  GoesOn,      \* the database rolls a transaction back and lets its session go on, and the body does (all but PostgreSQL)
  InnerEnds,   \* an inner transaction of another manager may commit the connection, or roll it back
  Purges,      \* rows that nobody uses are deleted; who finds none inserts it, in a transaction of its own
  Asks         \* when a transaction that had locked the row looks for it at its commit: "always", "once ended" (after an inner
               \* transaction on its connection), "never"

VARIABLES
  row,       \* epoch and owner; without an owner it is free. If it is not there, the next one will not have a smaller epoch
  there,     \* the row
  expired,   \* nobody has a lease: it has run out, or the row was written by a transaction that had it locked
  locker,    \* the call whose transaction has the row locked
  call, version, latest, lost, late

vars == <<row, there, expired, locker, call, version, latest, lost, late>>

Free == "nobody"
Nobody == "nobody"
Idle == [at |-> "idle", leases |-> FALSE, lease |-> NoRow, seen |-> 0, ended |-> FALSE]

Init ==
  /\ row = [epoch |-> 1, owner |-> Free] /\ there = TRUE /\ expired = TRUE /\ locker = Nobody
  /\ call = [c \in Calls |-> Idle] /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE

At(c, step) == call[c].at = step
NextOf(c) == [epoch |-> row.epoch + 1, owner |-> c]
Unlocked(c) == locker' = (IF locker = c THEN Nobody ELSE locker)

Over(c) ==
  /\ call' = [call EXCEPT ![c] = Idle] /\ Unlocked(c)
  /\ UNCHANGED <<row, there, expired, version, latest, lost, late>>

Begin(c) ==
  /\ At(c, "idle") /\ row.epoch < Epochs
  /\ \E leases \in BOOLEAN :
       call' = [call EXCEPT ![c] = [Idle EXCEPT !.at = "begun", !.leases = leases,
                                                !.seen = IF Keeps("nothing read before") THEN 0 ELSE version]]
  /\ UNCHANGED <<row, there, expired, locker, version, latest, lost, late>>

(* Epoch and owner are written, too, with a lease that has run out. Who finds one that holds gives its transaction back, and waits
   without. *)
LockRow(c) ==
  /\ At(c, "begun") /\ ~call[c].leases /\ locker = Nobody /\ row.epoch < Epochs
  /\ there \/ ~Keeps("row to lock")
  /\ Keeps("row without a lease") => expired
  /\ call' = [call EXCEPT ![c].at = IF Keeps("nothing read before") THEN "held" ELSE "read", ![c].lease = NextOf(c)]
  /\ IF Keeps("row locked to COMMIT")
     THEN locker' = (IF there THEN c ELSE Nobody) /\ UNCHANGED <<row, expired>>
     ELSE row' = NextOf(c) /\ expired' = TRUE /\ UNCHANGED locker
  /\ UNCHANGED <<there, version, latest, lost, late>>

Grant(c) ==
  /\ At(c, "begun") /\ call[c].leases /\ there /\ expired /\ row.epoch < Epochs
  /\ Keeps("grant skips locked rows") => locker = Nobody
  /\ row' = NextOf(c) /\ expired' = FALSE
  /\ call' = [call EXCEPT ![c].at = "held", ![c].lease = NextOf(c)]
  /\ UNCHANGED <<there, locker, version, latest, lost, late>>

Expire ==
  /\ ~expired /\ expired' = TRUE
  /\ UNCHANGED <<row, there, locker, call, version, latest, lost, late>>

Purge ==
  /\ Purges /\ there /\ expired /\ locker = Nobody
  /\ there' = FALSE /\ row' = [row EXCEPT !.owner = Free]
  /\ UNCHANGED <<expired, locker, call, version, latest, lost, late>>

Insert ==
  /\ ~there /\ there' = TRUE
  /\ UNCHANGED <<row, expired, locker, call, version, latest, lost, late>>

Read(c) ==
  /\ At(c, "held")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<row, there, expired, locker, version, latest, lost, late>>

(* The body catches the exception, and goes on in what is now another transaction of its session. *)
Victim(c) ==
  /\ GoesOn /\ locker = c /\ call[c].at \in {"held", "read"}
  /\ locker' = Nobody
  /\ UNCHANGED <<row, there, expired, call, version, latest, lost, late>>

CommitInner(c) ==
  /\ InnerEnds /\ locker = c /\ call[c].at \in {"held", "read"} /\ ~call[c].leases
  /\ row' = call[c].lease /\ expired' = TRUE /\ locker' = Nobody
  /\ call' = [call EXCEPT ![c].ended = TRUE]
  /\ UNCHANGED <<there, version, latest, lost, late>>

RollBackInner(c) ==
  /\ InnerEnds /\ locker = c /\ call[c].at \in {"held", "read"} /\ ~call[c].leases
  /\ locker' = Nobody
  /\ call' = [call EXCEPT ![c].ended = TRUE]
  /\ UNCHANGED <<row, there, expired, version, latest, lost, late>>

IsAsked(c) == IF call[c].leases THEN Keeps("assert of a lease") ELSE Asks = "always" \/ (Asks = "once ended" /\ call[c].ended)

(* Locks the row, and waits for whoever has. *)
Finds(c) ==
  \/ locker = c
  \/ there /\ IF Keeps("owner in the question") THEN Holds(row, call[c].lease) ELSE row.epoch = call[c].lease.epoch

Check(c) ==
  /\ At(c, "read")
  /\ IF ~IsAsked(c)
     THEN /\ call' = [call EXCEPT ![c].at = "checked"]
          /\ UNCHANGED <<row, there, expired, locker, version, latest, lost, late>>
     ELSE /\ locker \in {Nobody, c}
          /\ IF Finds(c)
             THEN /\ call' = [call EXCEPT ![c].at = "checked"] /\ locker' = c
                  /\ UNCHANGED <<row, there, expired, version, latest, lost, late>>
             ELSE Over(c)

(* Those whose transactions, as far as they have read, may still be committed. *)
Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (locker = c \/ (there /\ row = call[c].lease))}

(* A lease is released by it, too; LockRow has releases after it. *)
Commit(c) ==
  /\ At(c, "checked")
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ late' = (late \/ latest > call[c].lease.epoch \/ \E d \in Readers : call[d].lease.epoch > call[c].lease.epoch)
  /\ latest' = (IF latest > call[c].lease.epoch THEN latest ELSE call[c].lease.epoch)
  /\ row' = (IF call[c].leases THEN IF row = call[c].lease THEN [row EXCEPT !.owner = Free] ELSE row
             ELSE IF locker = c THEN call[c].lease ELSE row)
  /\ expired' = (row' # row \/ expired)
  /\ call' = [call EXCEPT ![c] = Idle] /\ Unlocked(c) /\ UNCHANGED there

(* The body, or the end of the process or of the session. A lease stays until it runs out. *)
Fail(c) == ~At(c, "idle") /\ Over(c)

Next == Expire \/ Purge \/ Insert
        \/ \E c \in Calls : \/ Begin(c) \/ LockRow(c) \/ Grant(c) \/ Read(c) \/ Victim(c) \/ CommitInner(c) \/ RollBackInner(c)
                            \/ Check(c) \/ Commit(c) \/ Fail(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost
NoCommitBySuperseded == ~late
OneWriter == Cardinality({c \in Calls : At(c, "checked")}) <= 1

(* One at most has the row locked, or a lease that has not run out. *)
OneHolder == Cardinality({c \in Calls : locker = c \/ (~expired /\ row = call[c].lease)}) <= 1

EpochsNeverFall == [][row'.epoch >= row.epoch]_row

Symmetry == Alike(Calls)
=============================================================================
