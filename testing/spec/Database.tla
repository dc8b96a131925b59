------------------------------ MODULE Database ------------------------------
(* One row of holdfast_lock, the sessions that lock it, and the calls with their programs. The data under the lock has one version,
   so any two bodies conflict. A read is fresh until another call commits. Then it is stale. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Call1, Call2, Call3, Call4,    \* the program of each call, or "none"
  Above,                         \* the calls above READ COMMITTED
  Server,                        \* "PostgreSQL", "InnoDB" (MariaDB, MySQL) or "H2"
  Faults,                        \* the faults that happen at any moment, beside leases that run out
  Purges, Evictions,             \* how many of them there are
  Without                        \* the sentence that a broken twin leaves out; "nothing" in the rule

VARIABLES
  row,       \* as it is committed
  lock,      \* the session that has locked the row, and the row that its COMMIT writes
  flight,    \* statements without an answer: the database executes them later, or never
  call,      \* the position of each call in its program, its grant, its transaction and its reads
  store,     \* another store: the last epoch that it has granted, and the holder
  grant,     \* the grant that the threads of one JVM hand over
  left,      \* purges and evictions that are left
  top,       \* the greatest epoch that the row ever had
  lost       \* a COMMIT has overwritten one that its call has not seen

vars == <<row, lock, flight, call, store, grant, left, top, lost>>

Keeps(sentence) == Without # sentence
Happens(fault) == fault \in Faults
Max(a, b) == IF a > b THEN a ELSE b

Names == <<Call1, Call2, Call3, Call4>>
Calls == {c \in 1..4 : Names[c] # "none"}

(* Above READ COMMITTED, the first statement takes the snapshot; on InnoDB, the first plain read does. *)
SnapshotFirst(c) == c \in Above /\ Server # "InnoDB"

(* A deadlock rolls all of a transaction back, and its session goes on. *)
GoesOn == Server # "PostgreSQL"

(* T: the method is the transaction. L: a lease of jdbc. O: optimistic. R: another store. I: with an inner REQUIRES_NEW.
   H and J: a thread whose grant, of another store or of jdbc, is handed over. *)
Programs == [
  T   |-> IF Keeps("TAKE first") THEN <<"take", "read", "check", "commit">> ELSE <<"begin", "read", "take", "commit">>,
  TI  |-> <<"take", "iread", "icheck", "icommit", "end">>,
  TII |-> <<"take", "iread", "icheck", "icommit", "iread", "icheck", "icommit", "end">>,
  TT  |-> <<"take", "read", "check", "commit", "take again", "read", "check", "commit">>,
  TS  |-> <<"take", "read", "nested", "check", "commit">>,
  L   |-> <<"lease", "read", "renew", "check", "commit", "renew", "check", "commit", "release">>,
  L1  |-> <<"lease", "renew", "read", "check", "commit", "release">>,
  L2  |-> <<"lease", "renew", "read", "check", "commit", "renew", "read", "renew", "check", "commit", "release">>,
  LI  |-> <<"lease", "renew", "iread", "icheck", "icommit", "end", "release">>,
  O   |-> <<"find", "read", "advance", "commit">>,
  OT  |-> <<"begin", "find", "read", "advance", "commit">>,
  R1  |-> <<"grant", "fence", "read", "check", "commit", "give back">>,
  RI  |-> <<"grant", "fence", "iread", "icheck", "icommit", "end", "give back">>,
  RM  |-> <<"grant", "install", "read", "fence", "check", "commit", "fence", "check", "commit", "give back">>,
  RM1 |-> <<"grant", "install", "fence", "read", "check", "commit", "give back">>,
  RM2 |-> <<"grant", "install", "fence", "read", "check", "commit", "fence", "read", "check", "commit", "give back">>,
  RMI |-> <<"grant", "install", "fence", "iread", "icheck", "icommit", "end", "give back">>,
  H1  |-> <<"turn", "fence", "read", "check", "commit", "end of turn">>,
  HM  |-> <<"turn", "install", "read", "fence", "check", "commit", "fence", "check", "commit", "end of turn">>,
  J1  |-> <<"turn", "renew", "read", "check", "commit", "end of turn">>,
  JM  |-> <<"turn", "read", "renew", "check", "commit", "renew", "check", "commit", "end of turn">>]

(* No call waits for another one inside of its snapshot. *)
Waiting == {"T", "TI", "R1", "RI"}
Leased == [T |-> "L1", TI |-> "LI", R1 |-> "RM1", RI |-> "RMI"]
Program == [c \in Calls |-> IF SnapshotFirst(c) /\ Keeps("a lease above READ COMMITTED") /\ Names[c] \in Waiting
                            THEN Programs[Leased[Names[c]]] ELSE Programs[Names[c]]]
Uses(c, step) == \E k \in 1..Len(Program[c]) : Program[c][k] = step
IsTransactionLock == [c \in Calls |-> Program[c][1] = "take"]

(* The position of the release, or 0: the call is over. *)
ToRelease == [c \in Calls |-> LET last == Len(Program[c]) IN
                                IF Program[c][last] \in {"release", "give back", "end of turn"} THEN last ELSE 0]


Nobody == 0
NoRow == [epoch |-> -1, owner |-> Nobody, lease |-> "none"]
FreeRow(epoch) == [epoch |-> epoch, owner |-> Nobody, lease |-> "none"]
Unlocked == [by |-> Nobody, row |-> NoRow, wrote |-> FALSE]
NoSnapshot == [taken |-> FALSE, stale |-> FALSE, changed |-> FALSE, row |-> NoRow]
NoGrant == [epoch |-> 0, own |-> Nobody, installed |-> FALSE, turn |-> Nobody]
Nothing == 0
Fresh == 1
Stale == 2
Over == [pc |-> 0, epoch |-> 0, own |-> Nobody, seen |-> Nothing, tx |-> "none", snapshot |-> NoSnapshot, installed |-> FALSE,
         again |-> FALSE, unsure |-> FALSE, closed |-> FALSE]

Init ==
  /\ row = FreeRow(1) /\ lock = Unlocked /\ flight = {} /\ grant = NoGrant
  /\ call = [c \in Calls |-> [Over EXCEPT !.pc = 1, !.own = 2 * c]]
  /\ store = [granted |-> 1, holder |-> Nobody]
  /\ left = [purges |-> Purges, evictions |-> Evictions] /\ top = 1 /\ lost = FALSE

At(c, step) == call[c].pc # 0 /\ Program[c][call[c].pc] = step
AtOneOf(c, steps) == call[c].pc # 0 /\ Program[c][call[c].pc] \in steps

(* The next position. There is no CHECK before COMMIT on PostgreSQL. *)
Asks == GoesOn /\ Keeps("CHECK before COMMIT")
After(c) ==
  LET next == call[c].pc + 1 IN
    IF next > Len(Program[c]) THEN 0 ELSE IF Program[c][next] = "check" /\ ~Asks THEN next + 1 ELSE next
Stepped(c) == IF After(c) = 0 THEN Over ELSE [call[c] EXCEPT !.pc = After(c)]

(* The positions after a rollback: the body ends, or it catches the exception and goes on after this transaction. *)
AfterRollback(c) ==
  LET ends == {k \in call[c].pc..Len(Program[c]) : Program[c][k] \in {"commit", "end"}}
      next == (CHOOSE k \in ends : \A other \in ends : k <= other) + 1
  IN {ToRelease[c]} \union (IF ends = {} THEN {} ELSE {IF next > Len(Program[c]) THEN 0 ELSE next})
RolledBack(c, pc) == IF pc = 0 THEN Over ELSE [call[c] EXCEPT !.pc = pc, !.tx = "none", !.snapshot = NoSnapshot]
BeginsAgain(c) == [call[c] EXCEPT !.tx = "none", !.snapshot = NoSnapshot]

(* A statement that finds a row which was changed after its snapshot fails: 40001. *)
RowChanged(calls) ==
  IF Server = "InnoDB" THEN calls
  ELSE [c \in Calls |-> IF calls[c].snapshot.taken THEN [calls[c] EXCEPT !.snapshot.changed = TRUE] ELSE calls[c]]

DataChanged(calls, by) ==
  [c \in Calls |-> [calls[c] EXCEPT !.seen = IF c # by /\ @ = Fresh THEN Stale ELSE @,
                                    !.snapshot.stale = @ \/ calls[c].snapshot.taken]]

DataChangedOf(statements, by) ==
  {IF f.kind = "COMMIT" /\ f.call # by /\ f.seen = Fresh THEN [f EXCEPT !.seen = Stale] ELSE f : f \in statements}

Statement(kind, c) == [kind |-> kind, call |-> c, own |-> call[c].own, session |-> Nobody, seen |-> Nothing, writes |-> FALSE]
IsOnItsWay(kind, c) == \E f \in flight : f.kind = kind /\ f.call = c

RowIs(r) == row' = r /\ top' = Max(top, r.epoch)
SameRow == UNCHANGED <<row, top>>
FreedBy(c) == lock' = IF lock.by = c THEN Unlocked ELSE lock

(* A statement in auto-commit mode. *)
CommitsAtOnce(c, r, next) == RowIs(r) /\ call' = [RowChanged(call) EXCEPT ![c] = next]

(* The result of an UPDATE or a locking read: "row", "no row", "40001", or it waits. InnoDB waits before it compares. The others
   compare the committed row, or the row of the snapshot, then wait, and compare once more. *)
Mine(c) == IF lock.by = c THEN lock.row ELSE row
Finds(c, Where(_)) ==
  CASE lock.by = c -> IF Where(lock.row) THEN "row" ELSE "no row"
    [] lock.by # c /\ SnapshotFirst(c) ->
         IF ~Where(call[c].snapshot.row) THEN "no row" ELSE IF lock.by # Nobody THEN "waits"
         ELSE IF call[c].snapshot.changed THEN "40001" ELSE "row"
    [] lock.by # c /\ ~SnapshotFirst(c) ->
         IF lock.by # Nobody /\ (Server = "InnoDB" \/ Where(row)) THEN "waits" ELSE IF Where(row) THEN "row" ELSE "no row"

Claims == {"take", "take again", "renew", "fence", "advance"}
NeedsSnapshot(c) ==
  /\ c \in Above /\ ~call[c].snapshot.taken
  /\ \/ call[c].tx = "open" /\ AtOneOf(c, {"read", "find"})
     \/ Server # "InnoDB" /\ call[c].tx = "open" /\ At(c, "check")
     \/ Server # "InnoDB" /\ call[c].tx # "ended" /\ AtOneOf(c, Claims)
TakesSnapshot(c) ==
  /\ NeedsSnapshot(c)
  /\ call' = [call EXCEPT ![c].tx = "open", ![c].snapshot = [taken |-> TRUE, stale |-> FALSE, changed |-> FALSE, row |-> row]]
  /\ UNCHANGED <<row, lock, flight, store, grant, left, top, lost>>
=============================================================================
