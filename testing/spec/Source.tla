------------------------------- MODULE Source -------------------------------
(* A store that loses its data and grants its epochs once more, and its repair by the row (FencedLockBackend): a call whose
   epoch the table has already, or a larger one, gives its lease back and asks for one above that row (minEpoch). Owners are
   never used twice. With several stores of one source, each grants the lock and counts by itself. *)
EXTENDS Fence

CONSTANTS Stores, Calls, Grants, Restarts

VARIABLES granted, holder, grants, restarts, call, row, claimant, sharers, version, latest, lost, late

vars == <<granted, holder, grants, restarts, call, row, claimant, sharers, version, latest, lost, late>>

Nobody == "nobody"
Idle == [at |-> "idle", lease |-> NoRow, claims |-> FALSE, seen |-> 0, minEpoch |-> 0, refusals |-> 0]

Init ==
  /\ granted = [s \in Stores |-> 1] /\ holder = [s \in Stores |-> Nobody] /\ grants = 0 /\ restarts = 0 /\ call = [c \in Calls |-> Idle]
  /\ row = [epoch |-> 1, owner |-> 0] /\ claimant = Nobody /\ sharers = {}
  /\ version = 0 /\ latest = 0 /\ lost = FALSE /\ late = FALSE

At(c, step) == call[c].at = step
IsLocked == claimant # Nobody \/ sharers # {}
Max(a, b) == IF a > b THEN a ELSE b
GivenBack(c) == holder' = [s \in Stores |-> IF holder[s] = c THEN Nobody ELSE holder[s]]
RowIsFree(c) == claimant' = (IF claimant = c THEN Nobody ELSE claimant) /\ sharers' = sharers \ {c}

Over(c) == call' = [call EXCEPT ![c] = Idle] /\ RowIsFree(c)

(* The row is another one, so a call may be refused once more. *)
RowWritten(calls) == [d \in Calls |-> [calls[d] EXCEPT !.refusals = 0]]

Grant(s, c) ==
  /\ At(c, "idle") /\ holder[s] = Nobody /\ grants < Grants
  /\ LET epoch == Max(granted[s] + 1, call[c].minEpoch) IN
       /\ granted' = [granted EXCEPT ![s] = epoch] /\ holder' = [holder EXCEPT ![s] = c] /\ grants' = grants + 1
       /\ \E claims \in {call[c].refusals = 0, FALSE} :
            call' = [call EXCEPT ![c].at = "granted", ![c].claims = claims, ![c].lease = [epoch |-> epoch, owner |-> grants + 1]]
  /\ UNCHANGED <<restarts, row, claimant, sharers, version, latest, lost, late>>

Expire(s) ==
  /\ holder[s] # Nobody /\ holder' = [holder EXCEPT ![s] = Nobody]
  /\ UNCHANGED <<granted, grants, restarts, call, row, claimant, sharers, version, latest, lost, late>>

Restart(s) ==
  /\ restarts < Restarts /\ restarts' = restarts + 1
  /\ granted' = [granted EXCEPT ![s] = 0] /\ holder' = [holder EXCEPT ![s] = Nobody]
  /\ UNCHANGED <<grants, call, row, claimant, sharers, version, latest, lost, late>>

MayInstall(lease) == Installs(row, lease) \/ ~Keeps("install over earlier epochs only")

Install(c) ==
  /\ At(c, "granted") /\ ~call[c].claims /\ ~IsLocked
  /\ IF MayInstall(call[c].lease)
     THEN /\ row' = call[c].lease
          /\ call' = RowWritten([call EXCEPT ![c] = [Idle EXCEPT !.at = "begun", !.lease = call[c].lease]])
          /\ UNCHANGED holder
     ELSE /\ call' = [call EXCEPT ![c] = [Idle EXCEPT !.refusals = call[c].refusals + 1,
                                          !.minEpoch = IF Keeps("repair of the source") THEN row.epoch + 1 ELSE 0]]
          /\ GivenBack(c) /\ UNCHANGED row
  /\ UNCHANGED <<granted, grants, restarts, claimant, sharers, version, latest, lost, late>>

MayClaim(lease) == IF Keeps("owner in the claim") THEN Claims(row, lease) ELSE row.epoch <= lease.epoch

Claim(c) ==
  /\ At(c, "granted") /\ call[c].claims
  /\ IF ~IsLocked /\ MayClaim(call[c].lease) /\ (Keeps("row for a claim") => row # NoRow)
     THEN /\ call' = [call EXCEPT ![c] = [Idle EXCEPT !.at = "begun", !.claims = TRUE, !.lease = call[c].lease]]
          /\ claimant' = (IF row = NoRow THEN claimant ELSE c) /\ UNCHANGED holder
     ELSE call' = [call EXCEPT ![c] = Idle] /\ GivenBack(c) /\ UNCHANGED claimant
  /\ UNCHANGED <<granted, grants, restarts, row, sharers, version, latest, lost, late>>

Read(c) ==
  /\ At(c, "begun")
  /\ call' = [call EXCEPT ![c].at = "read", ![c].seen = version]
  /\ UNCHANGED <<granted, holder, grants, restarts, row, claimant, sharers, version, latest, lost, late>>

HoldsRow(lease) == \/ IF Keeps("owner in the assert") THEN Holds(row, lease) ELSE row.epoch = lease.epoch
                   \/ (~Keeps("row for an assert") /\ row = NoRow)
                   \/ ~Keeps("assert")

Check(c) ==
  /\ At(c, "read") /\ (call[c].claims \/ claimant = Nobody)
  /\ IF call[c].claims \/ HoldsRow(call[c].lease)
     THEN /\ call' = [call EXCEPT ![c].at = "checked"] /\ UNCHANGED <<holder, claimant>>
          /\ sharers' = (IF call[c].claims \/ row = NoRow \/ ~Keeps("assert") THEN sharers ELSE sharers \union {c})
     ELSE Over(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, grants, restarts, row, version, latest, lost, late>>

Readers == {c \in Calls : call[c].at \in {"read", "checked"} /\ (call[c].claims => claimant = c)}

Commit(c) ==
  /\ At(c, "checked")
  /\ version' = version + 1
  /\ lost' = (lost \/ call[c].seen # version)
  /\ late' = (late \/ latest >= call[c].lease.epoch
                   \/ \E d \in Readers \ {c} : call[d].lease.epoch >= call[c].lease.epoch)
  /\ latest' = Max(latest, call[c].lease.epoch)
  /\ row' = (IF claimant = c THEN call[c].lease ELSE row)
  /\ call' = (IF claimant = c THEN RowWritten([call EXCEPT ![c] = Idle]) ELSE [call EXCEPT ![c] = Idle])
  /\ RowIsFree(c) /\ GivenBack(c)
  /\ UNCHANGED <<granted, grants, restarts>>

Fail(c) ==
  /\ ~At(c, "idle") /\ Over(c)
  /\ UNCHANGED <<granted, holder, grants, restarts, row, version, latest, lost, late>>

Next == \/ \E s \in Stores : Expire(s) \/ Restart(s) \/ \E c \in Calls : Grant(s, c)
        \/ \E c \in Calls : Install(c) \/ Claim(c) \/ Read(c) \/ Check(c) \/ Commit(c) \/ Fail(c)

Spec == Init /\ [][Next]_vars

NoLostUpdate == ~lost

(* As in Claim, and one with the same epoch is not an earlier one either. *)
NoCommitBySuperseded == ~late
OneWriter == Cardinality({c \in Calls : At(c, "checked") \/ claimant = c}) <= 1
EpochsNeverFall == [][row'.epoch >= row.epoch]_row

(* A call is refused once for what the row says, and then has an epoch above it. *)
RepairedAtOnce == \A c \in Calls : call[c].refusals <= 1

Symmetry == Alike(Calls)
=============================================================================
