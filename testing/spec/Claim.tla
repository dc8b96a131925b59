------------------------------- MODULE Claim -------------------------------
(* One key and calls of one transaction each. Some install their lease before it and assert it at its commit, others claim it as
   the first statement of the transaction. The lease of each may end at any moment. *)
EXTENDS Fence

CONSTANTS
  Calls, Epochs,
  FreshReads,    \* what a transaction reads is not older than its first statement (SqlDialect.andReadsAreFresh)
  GoesOn,        \* the database rolls a transaction back, as a victim of a deadlock, and lets its session go on (all but PostgreSQL)
  Evicts,        \* an operator may take the lock away from a holder, at any moment
  Asks           \* when CommitCheck asks the database for the claim of its own transaction: "always", "unless valid", "never"

VARIABLES
  granted,    \* the last epoch of the store
  holder,     \* whose lease the store has not ended yet
  call,       \* what each call is about to do, with its lease and what it has read
  row,        \* of the fence table, as it is committed
  claimant,   \* the call whose transaction has the row locked by its claim
  sharers,    \* the calls whose transactions have it locked by their assert
  version,    \* of the data: the number of commits
  latest,     \* the largest epoch that has committed
  lost,       \* a commit has overwritten another one that it had not seen
  late,       \* a commit came after a later holder had read
  disobeyed   \* a commit came after its holder had been evicted

vars == <<granted, holder, call, row, claimant, sharers, version, latest, lost, late, disobeyed>>

Nobody == "nobody"
Idle == [at |-> "idle", claims |-> FALSE, lease |-> NoRow, snapshot |-> 0, seen |-> 0, evicted |-> FALSE]

Init ==
  /\ granted = 1 /\ holder = Nobody /\ call = [c \in Calls |-> Idle]
  /\ row = [epoch |-> 1, owner |-> "earlier"] /\ claimant = Nobody /\ sharers = {}
  /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE
  /\ disobeyed = FALSE

At(c, step) == call[c].at = step
Snapshot == IF FreshReads THEN 0 ELSE version
IsLocked == claimant # Nobody \/ sharers # {}

(* The transaction has ended without a commit, or there was none. *)
RolledBack(c) ==
  /\ call' = [call EXCEPT ![c] = Idle]
  /\ claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}
  /\ UNCHANGED <<granted, row, version, latest, lost, late, disobeyed>>

GivenBack(c) == holder' = (IF holder = c THEN Nobody ELSE holder)

(* The store grants the lease; a call that will claim begins its transaction. *)
Grant(c) ==
  /\ At(c, "idle") /\ holder = Nobody /\ granted < Epochs
  /\ granted' = granted + 1 /\ holder' = c
  /\ \E claims \in BOOLEAN : call' = [call EXCEPT ![c] =
       [at |-> "granted", claims |-> claims, lease |-> [epoch |-> granted + 1, owner |-> c], snapshot |-> Snapshot,
        seen |-> IF Keeps("nothing read before") THEN 0 ELSE version, evicted |-> FALSE]]
  /\ UNCHANGED <<row, claimant, sharers, version, latest, lost, late, disobeyed>>

(* Also while its holder works on. *)
Expire ==
  /\ holder # Nobody /\ holder' = Nobody
  /\ UNCHANGED <<granted, call, row, claimant, sharers, version, latest, lost, late, disobeyed>>

Begun(c) == IF Keeps("nothing read before") THEN [call EXCEPT ![c].at = "begun", ![c].snapshot = Snapshot]
            ELSE [call EXCEPT ![c].at = "read"]

(* FenceTable.install: a transaction of its own. While the row is locked, it is tried again. *)
Install(c) ==
  /\ At(c, "granted") /\ ~call[c].claims
  /\ Keeps("install skips locked rows") => ~IsLocked
  /\ IF Installs(row, call[c].lease) \/ ~Keeps("install over earlier epochs only") \/ ~Keeps("install")
     THEN /\ row' = (IF Keeps("install") THEN call[c].lease ELSE row)
          /\ call' = Begun(c)
          /\ UNCHANGED <<granted, holder, claimant, sharers, version, latest, lost, late, disobeyed>>
     ELSE RolledBack(c) /\ GivenBack(c)

(* FenceClaims.claim: never waits. A call that was refused acquires again, and then installs. *)
Claim(c) ==
  /\ At(c, "granted") /\ call[c].claims
  /\ IF /\ Keeps("claim skips locked rows") => ~IsLocked
        /\ Keeps("claim over earlier epochs only") => Claims(row, call[c].lease)
        /\ Keeps("claim with fresh reads") => FreshReads
     THEN /\ claimant' = (IF Keeps("claim locked to the commit") THEN c ELSE claimant)
          /\ row' = (IF Keeps("claim locked to the commit") THEN row ELSE call[c].lease)
          /\ call' = [call EXCEPT ![c].at = IF Keeps("nothing read before") THEN "begun" ELSE "read"]
          /\ UNCHANGED <<granted, holder, sharers, version, latest, lost, late, disobeyed>>
     ELSE RolledBack(c) /\ GivenBack(c)

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = IF FreshReads THEN version ELSE call[c].snapshot]
  /\ UNCHANGED <<granted, holder, row, claimant, sharers, version, latest, lost, late, disobeyed>>

(* The body catches the exception, and goes on in what is now another transaction of its session. *)
Victim(c) ==
  /\ GoesOn /\ claimant = c /\ call[c].at \in {"begun", "read"}
  /\ claimant' = Nobody
  /\ UNCHANGED <<granted, holder, call, row, sharers, version, latest, lost, late, disobeyed>>

(* CommitCheck.isClaimHeld *)
IsClaimHeld(c) ==
  \/ Asks = "never"
  \/ Asks = "unless valid" /\ holder = c
  \/ claimant = c
  \/ ~Keeps("claim locked to the commit")

(* RowFence.holds: waits for the transaction of a claim. *)
AssertHolds(c) ==
  \/ ~Keeps("assert")
  \/ IF Keeps("install") THEN Holds(row, call[c].lease) ELSE row.epoch <= call[c].lease.epoch

Check(c) ==
  /\ At(c, "read")
  /\ IF call[c].claims THEN /\ IF IsClaimHeld(c) THEN call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, sharers>>
                               ELSE RolledBack(c) /\ GivenBack(c)
     ELSE /\ Keeps("assert") => claimant = Nobody
          /\ IF AssertHolds(c)
             THEN /\ call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED holder
                  /\ sharers' = IF Keeps("assert") /\ Keeps("assert locked to the commit") THEN sharers \union {c} ELSE sharers
             ELSE RolledBack(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, row, claimant, version, latest, lost, late, disobeyed>>

(* Those whose transactions, as far as they have read, may still be committed. *)
Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (call[c].claims => claimant = c)}

Commit(c) ==
  /\ At(c, "checked")
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ disobeyed' = (disobeyed \/ call[c].evicted)
  /\ late' = (late \/ latest > call[c].lease.epoch \/ \E d \in Readers : call[d].lease.epoch > call[c].lease.epoch)
  /\ latest' = (IF latest > call[c].lease.epoch THEN latest ELSE call[c].lease.epoch)
  /\ row' = (IF claimant = c \/ ~Keeps("install") THEN call[c].lease ELSE row)
  /\ call' = [call EXCEPT ![c] = Idle]
  /\ claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}
  /\ GivenBack(c) /\ UNCHANGED granted

(* FencedLockBackend.evict: whatever the store says, as its answer may be old. The row gets the epoch of the holder, so that it
   cannot claim any more, and names nobody. *)
Evict(c) ==
  /\ Evicts /\ ~At(c, "idle") /\ ~call[c].evicted
  /\ Keeps("eviction from an unlocked row") => ~IsLocked
  /\ row' = (IF Keeps("row of an eviction") /\ (Claims(row, call[c].lease) \/ ~Keeps("eviction over earlier epochs only"))
             THEN [epoch |-> call[c].lease.epoch, owner |-> Nobody] ELSE row)
  /\ call' = [call EXCEPT ![c].evicted = TRUE]
  /\ GivenBack(c) /\ UNCHANGED <<granted, claimant, sharers, version, latest, lost, late, disobeyed>>

(* An exception of the body, the end of its process or of its session: at any moment. *)
Fail(c) == ~At(c, "idle") /\ RolledBack(c) /\ UNCHANGED holder

Next == Expire \/ \E c \in Calls : Grant(c) \/ Install(c) \/ Claim(c) \/ Read(c) \/ Victim(c) \/ Check(c) \/ Commit(c) \/ Fail(c) \/ Evict(c)

Spec == Init /\ [][Next]_vars

(* No commit overwrites another one that its transaction has not seen. *)
NoLostUpdate == ~lost

(* Nothing is committed after a later holder has read, unless what that one has read is rolled back. *)
NoCommitBySuperseded == ~late

(* Nothing is committed by a holder whose lock was taken away. *)
EvictedNeverCommits == ~disobeyed

(* One transaction at most is between its check, or its claim, and its COMMIT. *)
OneWriter == Cardinality({c \in Calls : At(c, "checked") \/ claimant = c}) <= 1

EpochsNeverFall == [][row'.epoch >= row.epoch]_row

Symmetry == Alike(Calls)
=============================================================================
