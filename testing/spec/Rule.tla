-------------------------------- MODULE Rule --------------------------------
(* The rule: every transaction that begins under a lock first locks the row of the lock, and its COMMIT frees the row. This module
   has transaction locks, leases of jdbc, optimistic calls, inner transactions and faults. *)
EXTENDS Database

Others == UNCHANGED <<store, grant, left>>
Runs(c) == call[c].tx # "ended" /\ ~NeedsSnapshot(c) /\ ~(call[c].closed /\ call[c].tx = "none")

(* ---- the row *)

Insert(c) ==
  /\ row = NoRow /\ lock.by = Nobody /\ Runs(c)
  /\ \/ AtOneOf(c, {"take", "take again", "lease", "find", "install"})
     \/ At(c, "fence") /\ (~call[c].installed \/ ~Keeps("an installed grant only checks"))
  /\ CommitsAtOnce(c, FreeRow(IF Uses(c, "fence") \/ ~Keeps("INSERT above all epochs") THEN 0 ELSE top + 1), BeginsAgain(c))
  /\ UNCHANGED <<lock, flight, lost>> /\ Others

Expire(c) ==
  /\ row.lease = "over" /\ lock.by = Nobody /\ AtOneOf(c, {"take", "take again", "find"}) /\ Runs(c)
  /\ LET expired == [row EXCEPT !.owner = IF Keeps("EXPIRE clears the owner") THEN Nobody ELSE @, !.lease = "none"]
     IN CommitsAtOnce(c, expired, BeginsAgain(c))
  /\ UNCHANGED <<lock, flight, lost>> /\ Others

LeaseRunsOut ==
  /\ row.lease = "runs" /\ row' = [row EXCEPT !.lease = "over"]
  /\ UNCHANGED <<lock, flight, call, top, lost>> /\ Others

Purge ==
  /\ left.purges > 0 /\ row # NoRow /\ lock.by = Nobody
  /\ row.lease = "runs" => ~Keeps("PURGE spares leases")
  /\ row' = NoRow /\ call' = RowChanged(call) /\ left' = [left EXCEPT !.purges = @ - 1]
  /\ UNCHANGED <<lock, flight, store, grant, top, lost>>

(* ---- a transaction lock *)

IsTakeable(r) ==
  /\ r # NoRow
  /\ \/ r.lease = "none"
     \/ r.lease = "over" /\ ~Keeps("EXPIRE before TAKE")
     \/ r.lease = "runs" /\ ~Keeps("TAKE waits for a lease")

Taken(c) == [epoch |-> IF Keeps("TAKE raises the epoch") THEN row.epoch + 1 ELSE row.epoch, owner |-> call[c].own, lease |-> "none"]

Take(c) ==
  /\ At(c, "take") \/ (At(c, "take again") /\ Keeps("the lock ends at COMMIT"))
  /\ Runs(c)
  /\ LET found == Finds(c, IsTakeable)
         next == [Stepped(c) EXCEPT !.tx = "open", !.epoch = row.epoch + 1]
     IN CASE found = "row" /\ Keeps("TAKE until COMMIT") ->
               /\ lock' = [by |-> c, row |-> Taken(c), wrote |-> TRUE] /\ call' = [call EXCEPT ![c] = next] /\ SameRow
          [] found = "row" /\ ~Keeps("TAKE until COMMIT") ->
               CommitsAtOnce(c, Taken(c), next) /\ UNCHANGED lock
          [] found \in {"no row", "40001"} -> call' = [call EXCEPT ![c] = BeginsAgain(c)] /\ SameRow /\ UNCHANGED lock
          [] OTHER -> FALSE
  /\ UNCHANGED <<flight, lost>> /\ Others

(* A listener makes a locked call after COMMIT. If the call counts the lock as held, its transaction claims nothing. *)
TakeNothing(c) ==
  /\ At(c, "take again") /\ ~Keeps("the lock ends at COMMIT")
  /\ call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.tx = "open"]]
  /\ UNCHANGED <<row, lock, flight, top, lost>> /\ Others

(* A second manager on the same connection. *)
Nest(c) ==
  /\ At(c, "nested") /\ Runs(c)
  /\ IF Keeps("one manager for a connection") \/ lock.by # c
     THEN call' = [call EXCEPT ![c] = RolledBack(c, 0)] /\ SameRow
     ELSE CommitsAtOnce(c, lock.row, Stepped(c))
  /\ FreedBy(c) /\ UNCHANGED <<flight, lost>> /\ Others

(* ---- a lease of jdbc *)

Lease(c) ==
  /\ At(c, "lease") /\ lock.by = Nobody /\ row # NoRow /\ row.lease # "runs"
  /\ LET epoch == row.epoch + 1
     IN CommitsAtOnce(c, [epoch |-> epoch, owner |-> call[c].own, lease |-> "runs"], [Stepped(c) EXCEPT !.epoch = epoch])
  /\ UNCHANGED <<lock, flight, lost>> /\ Others

(* The answer is lost. The call sends TAKE again, or gives up and sends RELEASE. *)
LoseLease(c) ==
  /\ Happens("TAKE unanswered") /\ At(c, "lease") /\ ~call[c].again
  /\ \/ /\ flight' = flight \union {Statement("TAKE", c)}
        /\ call' = [call EXCEPT ![c].again = TRUE, ![c].own = IF Keeps("a new owner for each TAKE") THEN @ + 1 ELSE @]
     \/ /\ flight' = flight \union {Statement("TAKE", c), Statement("RELEASE", c)}
        /\ call' = [call EXCEPT ![c] = Over]
  /\ UNCHANGED <<row, lock, top, lost>> /\ Others

Refused(c) ==
  IF Keeps("a failed claim ends the transaction")
  THEN FreedBy(c) /\ \E pc \in AfterRollback(c) : call' = [call EXCEPT ![c] = RolledBack(c, pc)]
  ELSE call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.tx = "open"]] /\ UNCHANGED lock

Renew(c) ==
  /\ At(c, "renew") /\ Runs(c)
  /\ LET IsOwn(r) == r # NoRow /\ (r.owner = call[c].own \/ ~Keeps("RENEW by owner"))
         found == Finds(c, IsOwn)
         next == [Stepped(c) EXCEPT !.tx = "open"]
         renewed == [Mine(c) EXCEPT !.lease = "runs"]
     IN CASE ~Keeps("RENEW first") -> call' = [call EXCEPT ![c] = next] /\ SameRow /\ UNCHANGED lock
          [] Keeps("RENEW first") /\ found = "row" /\ Keeps("RENEW until COMMIT") ->
               lock' = [by |-> c, row |-> renewed, wrote |-> TRUE] /\ call' = [call EXCEPT ![c] = next] /\ SameRow
          [] Keeps("RENEW first") /\ found = "row" /\ ~Keeps("RENEW until COMMIT") ->
               CommitsAtOnce(c, renewed, next) /\ UNCHANGED lock
          [] Keeps("RENEW first") /\ found \in {"no row", "40001"} -> Refused(c) /\ SameRow
          [] OTHER -> FALSE
  /\ UNCHANGED <<flight, lost>> /\ Others

(* The watchdog, while no transaction of its grant is open. *)
Watch(c) ==
  /\ Happens("late statement") /\ Uses(c, "lease") /\ call[c].pc # 0 /\ call[c].epoch # 0 /\ call[c].tx = "none"
  /\ ~At(c, "release") /\ ~IsOnItsWay("RENEW", c)
  /\ flight' = flight \union {Statement("RENEW", c)}
  /\ UNCHANGED <<row, lock, call, top, lost>> /\ Others

Releases(r, own) ==
  IF r = NoRow \/ (r.owner # own /\ Keeps("RELEASE by owner")) THEN r
  ELSE [r EXCEPT !.owner = IF Keeps("RELEASE clears the owner") THEN Nobody ELSE @, !.lease = "none"]

Release(c) ==
  /\ At(c, "release")
  /\ \/ lock.by = Nobody /\ CommitsAtOnce(c, Releases(row, call[c].own), Over) /\ UNCHANGED flight
     \/ /\ Happens("late statement") /\ flight' = flight \union {Statement("RELEASE", c)}
        /\ call' = [call EXCEPT ![c] = Over] /\ SameRow
  /\ UNCHANGED <<lock, lost>> /\ Others

(* ---- an optimistic call *)

Find(c) ==
  LET seen == IF call[c].snapshot.taken THEN call[c].snapshot.row ELSE row IN
    /\ At(c, "find") /\ Runs(c) /\ seen # NoRow /\ (seen.lease = "none" \/ ~Keeps("FIND without a lease only"))
    /\ call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.epoch = seen.epoch]]
    /\ UNCHANGED <<row, lock, flight, top, lost>> /\ Others

Advance(c) ==
  /\ At(c, "advance") /\ Runs(c)
  /\ LET IsSeen(r) == r # NoRow /\ (r.epoch = call[c].epoch \/ ~Keeps("ADVANCE by epoch"))
         found == Finds(c, IsSeen)
     IN CASE found = "row" -> /\ lock' = [by |-> c, row |-> [row EXCEPT !.epoch = @ + 1], wrote |-> TRUE]
                              /\ call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.tx = "open"]]
          [] found \in {"no row", "40001"} -> call' = [call EXCEPT ![c] = Over] /\ UNCHANGED lock
          [] OTHER -> FALSE
  /\ SameRow /\ UNCHANGED <<flight, lost>> /\ Others

(* ---- any transaction *)

Begin(c) ==
  /\ At(c, "begin") /\ call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.tx = "open"]]
  /\ UNCHANGED <<row, lock, flight, top, lost>> /\ Others

Read(c) ==
  /\ AtOneOf(c, {"read", "iread"}) /\ (At(c, "read") => Runs(c))
  /\ LET now == IF At(c, "read") /\ call[c].snapshot.stale THEN Stale ELSE Fresh
     IN call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.seen = Max(@, now)]]
  /\ UNCHANGED <<row, lock, flight, top, lost>> /\ Others

(* CHECK writes nothing, except inside of a snapshot. If its COMMIT stays unanswered, the next transaction of the call waits for the
   row, and must fail with 40001 then. *)
WritesToCheck(c) == SnapshotFirst(c) /\ Keeps("CHECK writes inside of a snapshot")

(* CHECK locks the row. For a transaction lock, a plain SELECT is enough: only its own COMMIT commits its owner. *)
CheckRow(c) ==
  LET locks == ~IsTransactionLock[c] /\ Keeps("CHECK locks")
      IsOwn(r) == r # NoRow /\ IF Keeps("CHECK by owner") THEN r.owner = call[c].own ELSE r.epoch = call[c].epoch
      seen == IF lock.by = c THEN lock.row ELSE IF call[c].snapshot.taken THEN call[c].snapshot.row ELSE row
      found == IF locks THEN Finds(c, IsOwn) ELSE IF IsOwn(seen) THEN "row" ELSE "no row"
  IN CASE found = "row" -> /\ lock' = (IF locks /\ lock.by # c THEN [by |-> c, row |-> row, wrote |-> WritesToCheck(c)] ELSE lock)
                           /\ call' = [call EXCEPT ![c] = Stepped(c)]
       [] found \in {"no row", "40001"} -> FreedBy(c) /\ call' = [call EXCEPT ![c] = RolledBack(c, ToRelease[c])]
       [] OTHER -> FALSE

Check(c) == At(c, "check") /\ Runs(c) /\ CheckRow(c) /\ UNCHANGED <<row, flight, top, lost>> /\ Others

(* On the outer connection, before an inner COMMIT. *)
CheckOuter(c) ==
  /\ At(c, "icheck")
  /\ CASE ~Keeps("CHECK before an inner COMMIT") -> call' = [call EXCEPT ![c] = Stepped(c)] /\ UNCHANGED lock
       [] OTHER -> IF call[c].tx = "ended" THEN call' = [call EXCEPT ![c] = RolledBack(c, ToRelease[c])] /\ UNCHANGED lock
                   ELSE IF GoesOn THEN CheckRow(c) ELSE call' = [call EXCEPT ![c] = Stepped(c)] /\ UNCHANGED lock
  /\ UNCHANGED <<row, flight, top, lost>> /\ Others

(* A COMMIT by a session, of a call that has read. *)
Commits(session, c, seen, writes, calls, statements) ==
  LET writesRow == lock.by = session /\ lock.wrote
      written == IF writesRow THEN RowChanged(calls) ELSE calls
      writesData == writes /\ seen # Nothing
  IN /\ RowIs(IF writesRow THEN lock.row ELSE row) /\ FreedBy(session)
     /\ lost' = (lost \/ (writes /\ seen = Stale))
     /\ call' = (IF writesData THEN DataChanged(written, c) ELSE written)
     /\ flight' = (IF writesData THEN DataChangedOf(statements, c) ELSE statements)

Commit(c) ==
  /\ AtOneOf(c, {"commit", "end"}) /\ call[c].tx = "open"
  /\ LET writes == At(c, "commit")
         next == IF After(c) = 0 THEN Over
                 ELSE [Stepped(c) EXCEPT !.tx = "none", !.snapshot = NoSnapshot,
                                         !.seen = IF writes /\ @ # Nothing THEN Fresh ELSE @,
                                         !.installed = @ \/ (lock.by = c /\ Uses(c, "fence"))]
     IN Commits(c, c, call[c].seen, writes, [call EXCEPT ![c] = next], flight)
  /\ Others

CommitInner(c) ==
  /\ At(c, "icommit")
  /\ lost' = (lost \/ call[c].seen = Stale)
  /\ call' = [DataChanged(call, c) EXCEPT ![c].pc = After(c), ![c].seen = Fresh]
  /\ flight' = DataChangedOf(flight, c)
  /\ SameRow /\ UNCHANGED lock /\ Others

(* ---- faults *)

MayEnd(c) ==
  /\ At(c, "icommit") => Happens("session ends before the inner COMMIT")
  /\ At(c, "end") => Happens("outer one rolled back after the inner COMMIT")

Die(c) ==
  /\ Happens("process dies") /\ call[c].pc # 0 /\ (call[c].pc > 1 \/ call[c].tx # "none") /\ ~Uses(c, "turn")
  /\ At(c, "end") => Happens("outer one rolled back after the inner COMMIT")
  /\ call' = [call EXCEPT ![c] = Over] /\ FreedBy(c)
  /\ SameRow /\ UNCHANGED <<flight, lost>> /\ Others

EndSession(c) ==
  /\ Happens("session ends") /\ call[c].tx = "open" /\ MayEnd(c)
  /\ call' = [call EXCEPT ![c].tx = "ended", ![c].snapshot = NoSnapshot] /\ FreedBy(c)
  /\ SameRow /\ UNCHANGED <<flight, lost>> /\ Others

LearnEnd(c) ==
  /\ call[c].tx = "ended" /\ ~AtOneOf(c, {"iread", "icheck", "icommit"})
  /\ \E pc \in AfterRollback(c) : call' = [call EXCEPT ![c] = RolledBack(c, pc)]
  /\ UNCHANGED <<row, lock, flight, top, lost>> /\ Others

(* A deadlock: the database rolls back all of the transaction, and the body goes on. *)
RollBackVictim(c) ==
  /\ Happens("deadlock") /\ GoesOn /\ lock.by = c /\ call[c].tx = "open" /\ AtOneOf(c, {"read", "check", "iread"})
  /\ lock' = Unlocked /\ call' = [call EXCEPT ![c].snapshot = NoSnapshot]
  /\ SameRow /\ UNCHANGED <<flight, lost>> /\ Others

RollBack(c) ==
  /\ Happens("rollback") /\ call[c].tx # "none" /\ ~AtOneOf(c, {"begin", "take"})
  /\ At(c, "end") => Happens("outer one rolled back after the inner COMMIT")
  /\ FreedBy(c) /\ \E pc \in AfterRollback(c) : call' = [call EXCEPT ![c] = RolledBack(c, pc)]
  /\ SameRow /\ UNCHANGED <<flight, lost>> /\ Others

(* The answer to a COMMIT is lost. The session of the transaction lives until the COMMIT takes place, or never does. *)
LoseAnswer(c) ==
  /\ Happens("COMMIT unanswered") /\ AtOneOf(c, {"commit", "end"}) /\ call[c].tx = "open" /\ ~IsOnItsWay("COMMIT", c)
  /\ At(c, "end") => Happens("outer one rolled back after the inner COMMIT")
  /\ flight' = flight \union {[Statement("COMMIT", c) EXCEPT !.session = -c, !.seen = call[c].seen, !.writes = At(c, "commit")]}
  /\ lock' = (IF lock.by = c THEN [lock EXCEPT !.by = -c] ELSE lock)
  /\ \E pc \in AfterRollback(c) :
       call' = [call EXCEPT ![c] = IF pc = 0 THEN Over ELSE [RolledBack(c, pc) EXCEPT !.unsure = Uses(c, "turn")]]
  /\ SameRow /\ UNCHANGED lost /\ Others

LoseInnerAnswer(c) ==
  /\ Happens("inner COMMIT unanswered") /\ At(c, "icommit")
  /\ flight' = flight \union {[Statement("COMMIT", c) EXCEPT !.session = -100, !.seen = call[c].seen, !.writes = TRUE]}
  /\ call' = [call EXCEPT ![c].pc = After(c)]
  /\ SameRow /\ UNCHANGED <<lock, lost>> /\ Others

CommitLate(f) ==
  /\ f.kind = "COMMIT"
  /\ Commits(f.session, f.call, f.seen, f.writes, call, flight \ {f}) /\ Others

CommitNever(f) ==
  /\ f.kind = "COMMIT" /\ FreedBy(f.session) /\ flight' = flight \ {f}
  /\ SameRow /\ UNCHANGED <<call, lost>> /\ Others

ExecuteLate(f) ==
  /\ f.kind # "COMMIT" /\ lock.by = Nobody
  /\ LET r == CASE f.kind = "RENEW" /\ row # NoRow /\ (row.owner = f.own \/ ~Keeps("RENEW by owner")) ->
                     [row EXCEPT !.lease = "runs"]
                [] f.kind = "RELEASE" -> Releases(row, f.own)
                [] f.kind = "TAKE" /\ row # NoRow /\ row.lease # "runs" ->
                     [epoch |-> row.epoch + 1, owner |-> f.own, lease |-> "runs"]
                [] OTHER -> row
     IN RowIs(r) /\ call' = IF r = row THEN call ELSE RowChanged(call)
  /\ flight' = flight \ {f} /\ UNCHANGED <<lock, lost>> /\ Others

(* An operator frees the row. For another store, the epoch also rises. *)
Evict ==
  /\ left.evictions > 0 /\ row # NoRow /\ lock.by = Nobody
  /\ LET fenced == \E c \in Calls : Uses(c, "fence")
         epoch == IF fenced THEN store.granted + 1 ELSE row.epoch
     IN /\ RowIs(FreeRow(epoch))
        /\ store' = [granted |-> IF fenced THEN epoch ELSE store.granted, holder |-> Nobody]
  /\ call' = RowChanged(call) /\ left' = [left EXCEPT !.evictions = @ - 1]
  /\ UNCHANGED <<lock, flight, grant, lost>>

Transaction(c) ==
  \/ TakesSnapshot(c) \/ Insert(c) \/ Begin(c) \/ Read(c) \/ Check(c) \/ CheckOuter(c) \/ Commit(c) \/ CommitInner(c)
  \/ Die(c) \/ EndSession(c) \/ LearnEnd(c) \/ RollBackVictim(c) \/ RollBack(c) \/ LoseAnswer(c) \/ LoseInnerAnswer(c)

OfJdbc(c) ==
  \/ Expire(c) \/ Take(c) \/ TakeNothing(c) \/ Nest(c) \/ Lease(c) \/ LoseLease(c) \/ Renew(c) \/ Watch(c) \/ Release(c)
  \/ Find(c) \/ Advance(c)

OfServer == LeaseRunsOut \/ Purge \/ Evict \/ \E f \in flight : CommitLate(f) \/ CommitNever(f) \/ ExecuteLate(f)

Next == OfServer \/ \E c \in Calls : Transaction(c) \/ OfJdbc(c)

Spec == Init /\ [][Next]_vars

(* No COMMIT overwrites one that its call has not seen. *)
NoLostUpdate == ~lost

(* A lease that runs is ended by a RELEASE of its owner, or by an operator, only. *)
IsReleased(own) ==
  \/ left'.evictions < left.evictions
  \/ \E c \in Calls : call[c].own = own /\ At(c, "release")
  \/ \E f \in flight : f.kind = "RELEASE" /\ f.own = own /\ f \notin flight'
LeaseEndsByOwner == [][row.lease = "runs" /\ (row'.owner # row.owner \/ row'.lease = "none") => IsReleased(row.owner)]_row

(* The token of jdbc rises, even after a purge. *)
EpochsRise == [][row' # NoRow => row'.epoch >= top]_row

(* A free row is leased to a new owner only. *)
ReleaseIsFinal == [][row.lease = "none" /\ row'.lease = "runs" => row'.owner # row.owner]_row
=============================================================================
