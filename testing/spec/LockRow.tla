------------------------------ MODULE LockRow ------------------------------
(* The backend jdbc: the row of the lock table is itself what commits are checked against, so that a grant is also the install.
   A commit may free the row in its own transaction. *)
EXTENDS Fence

CONSTANTS
  Calls, Epochs,
  Evicts,          \* an operator may take the lock away from a holder, at any moment
  FreesAtCommit    \* the check at the commit frees the row, instead of a transaction after it

VARIABLES
  row,        \* epoch and owner; without an owner it is free
  expired,    \* the lease of the owner has run out, by the database's clock
  call, writer, version, latest, lost, late, disobeyed

vars == <<row, expired, call, writer, version, latest, lost, late, disobeyed>>

Free == "nobody"
Nobody == "nobody"
Idle == [at |-> "idle", lease |-> NoRow, seen |-> 0, evicted |-> FALSE]

Init ==
  /\ row = [epoch |-> 1, owner |-> Free] /\ expired = FALSE /\ call = [c \in Calls |-> Idle] /\ writer = Nobody
  /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE /\ disobeyed = FALSE

At(c, step) == call[c].at = step

(* LockTable.takeFree and takeExpired: the transaction of an earlier holder may have the row locked, and is not waited for. *)
Acquire(c) ==
  /\ At(c, "idle") /\ row.epoch < Epochs
  /\ row.owner = Free \/ expired \/ ~Keeps("grant after the end of a lease")
  /\ Keeps("grant skips locked rows") => writer = Nobody
  /\ row' = [epoch |-> row.epoch + 1, owner |-> c] /\ expired' = FALSE
  /\ call' = [call EXCEPT ![c] = [at |-> "begun", lease |-> row', seen |-> 0, evicted |-> FALSE]]
  /\ UNCHANGED <<writer, version, latest, lost, late, disobeyed>>

Expire ==
  /\ row.owner # Free /\ ~expired /\ expired' = TRUE
  /\ UNCHANGED <<row, call, writer, version, latest, lost, late, disobeyed>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<row, expired, writer, version, latest, lost, late, disobeyed>>

(* RowFence.holds *)
Check(c) ==
  /\ At(c, "read")
  /\ IF Holds(row, call[c].lease) \/ ~Keeps("assert")
     THEN /\ call' = [call EXCEPT ![c].at = "checked"]
          /\ writer' = (IF Keeps("assert locked to the commit") /\ writer = Nobody THEN c ELSE writer)
     ELSE call' = [call EXCEPT ![c] = Idle] /\ UNCHANGED writer
  /\ UNCHANGED <<row, expired, version, latest, lost, late, disobeyed>>

(* LockTable.release, by the owner. One that is sent before the commit is a mistake. *)
Release(c) ==
  /\ At(c, "committed") \/ (~Keeps("release after the commit") /\ At(c, "read"))
  /\ writer = Nobody
  /\ row' = (IF row.owner = c \/ ~Keeps("release by its owner") THEN [row EXCEPT !.owner = Free] ELSE row)
  /\ expired' = (IF row'.owner = Free THEN FALSE ELSE expired)
  /\ call' = [call EXCEPT ![c].at = IF At(c, "committed") THEN "released" ELSE "checked"]
  /\ UNCHANGED <<writer, version, latest, lost, late, disobeyed>>

Over(c) ==
  /\ At(c, "released") /\ call' = [call EXCEPT ![c] = Idle]
  /\ UNCHANGED <<row, expired, writer, version, latest, lost, late, disobeyed>>

Readers == {c \in Calls : call[c].at \in {"read", "checked"}}

Commit(c) ==
  /\ At(c, "checked")
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ disobeyed' = (disobeyed \/ call[c].evicted)
  /\ late' = (late \/ latest > call[c].lease.epoch \/ \E d \in Readers : call[d].lease.epoch > call[c].lease.epoch)
  /\ latest' = (IF latest > call[c].lease.epoch THEN latest ELSE call[c].lease.epoch)
  /\ writer' = (IF writer = c THEN Nobody ELSE writer)
  /\ row' = (IF FreesAtCommit /\ row = call[c].lease THEN [row EXCEPT !.owner = Free] ELSE row)
  /\ expired' = (IF row'.owner = Free THEN FALSE ELSE expired)
  /\ call' = [call EXCEPT ![c].at = IF FreesAtCommit THEN "released" ELSE "committed"]

(* JdbcLockBackend.evict: frees the row, so that its holder cannot commit. *)
Evict(c) ==
  /\ Evicts /\ call[c].at \in {"begun", "read", "checked"} /\ row = call[c].lease
  /\ Keeps("eviction from an unlocked row") => writer = Nobody
  /\ row' = [row EXCEPT !.owner = Free] /\ expired' = FALSE
  /\ call' = [call EXCEPT ![c].evicted = TRUE]
  /\ UNCHANGED <<writer, version, latest, lost, late, disobeyed>>

Fail(c) ==
  /\ ~At(c, "idle") /\ call' = [call EXCEPT ![c] = Idle] /\ writer' = (IF writer = c THEN Nobody ELSE writer)
  /\ UNCHANGED <<row, expired, version, latest, lost, late, disobeyed>>

Next == Expire \/ \E c \in Calls : Acquire(c) \/ Read(c) \/ Check(c) \/ Commit(c) \/ Release(c) \/ Over(c) \/ Fail(c) \/ Evict(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost
NoCommitBySuperseded == ~late
EvictedNeverCommits == ~disobeyed
OneWriter == Cardinality({c \in Calls : At(c, "checked")}) <= 1

(* A lease ends by its owner, or when it has run out. *)
LeaseEndsByOwner == [][(row.owner # Free /\ row'.owner # row.owner /\ ~expired) =>
                         \E c \in Calls : c = row.owner /\ call[c].lease = row /\ call'[c] # call[c]]_<<row, expired>>

Symmetry == Alike(Calls)
=============================================================================
