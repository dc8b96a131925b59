------------------------------ MODULE Handover ------------------------------
(* The threads of one JVM have a grant one after the other. Epoch and owner stay the same for each turn. *)
EXTENDS Stores

IsThread(c) == Uses(c, "turn")
OnJdbc(c) == Uses(c, "renew")
Jvm == 90    \* the holder in the store
Threads == {c \in Calls : IsThread(c)}

HasTurn(c) == grant.epoch # 0 /\ grant.turn = c
Begun(c, g) == [Stepped(c) EXCEPT !.epoch = g.epoch, !.own = g.own, !.installed = g.installed]
NewGrant(epoch, c) == [epoch |-> epoch, own |-> 100 + epoch, installed |-> OnJdbc(c), turn |-> c]

TakeOver(c) ==
  /\ At(c, "turn") /\ grant.epoch # 0 /\ grant.turn = Nobody
  /\ grant' = [grant EXCEPT !.turn = c] /\ call' = [call EXCEPT ![c] = Begun(c, grant)]
  /\ UNCHANGED <<row, lock, flight, store, left, top, lost>>

AskFor(c) ==
  /\ At(c, "turn") /\ grant.epoch = 0
  /\ IF OnJdbc(c)
     THEN /\ lock.by = Nobody /\ row.lease # "runs"
          /\ grant' = NewGrant(row.epoch + 1, c)
          /\ CommitsAtOnce(c, [epoch |-> grant'.epoch, owner |-> grant'.own, lease |-> "runs"], Begun(c, grant'))
          /\ UNCHANGED store
     ELSE /\ store.holder = Nobody /\ store' = [granted |-> store.granted + 1, holder |-> Jvm]
          /\ grant' = NewGrant(store.granted + 1, c) /\ call' = [call EXCEPT ![c] = Begun(c, grant')] /\ SameRow
  /\ UNCHANGED <<lock, flight, left, lost>>

(* The grant goes back to its store. *)
GivesBack(jdbc) ==
  /\ grant' = NoGrant
  /\ LET release == [kind |-> "RELEASE", call |-> 0, own |-> grant.own, session |-> Nobody, seen |-> Nothing, writes |-> FALSE]
     IN flight' = IF jdbc THEN flight \union {release} ELSE flight
  /\ store' = IF store = [granted |-> grant.epoch, holder |-> Jvm] THEN [store EXCEPT !.holder = Nobody] ELSE store

GiveBackUnused ==
  /\ grant.epoch # 0 /\ grant.turn = Nobody
  /\ GivesBack(\E c \in Threads : OnJdbc(c)) /\ UNCHANGED <<row, lock, call, left, top, lost>>

LeavesToNext(c) == grant' = [grant EXCEPT !.turn = Nobody, !.installed = call[c].installed] /\ UNCHANGED <<flight, store>>

EndTurn(c) ==
  /\ At(c, "end of turn") /\ call' = [call EXCEPT ![c] = Over]
  /\ \/ ~HasTurn(c) /\ UNCHANGED <<grant, flight, store>>
     \/ HasTurn(c) /\ GivesBack(OnJdbc(c))
     \/ HasTurn(c) /\ (call[c].unsure => ~Keeps("handover after an answer to each COMMIT")) /\ LeavesToNext(c)
  /\ UNCHANGED <<row, lock, left, top, lost>>

(* The scope of a lock is closed before its method ends. *)
Close(c) ==
  /\ Happens("scope closed early") /\ IsThread(c) /\ call[c].pc > 1 /\ ~At(c, "end of turn") /\ HasTurn(c)
  /\ \/ GivesBack(OnJdbc(c))
     \/ call[c].tx # "none" /\ ~call[c].unsure /\ ~Keeps("handover without an open transaction") /\ LeavesToNext(c)
     \/ ~call[c].unsure /\ ~Keeps("handover by the thread of the call") /\ LeavesToNext(c)
  /\ call' = [call EXCEPT ![c].closed = TRUE]
  /\ UNCHANGED <<row, lock, left, top, lost>>

(* A call whose lock was given back begins no transaction. *)
LearnClose(c) ==
  /\ call[c].closed /\ call[c].tx = "none" /\ AtOneOf(c, Claims) /\ call' = [call EXCEPT ![c] = Over]
  /\ UNCHANGED <<row, lock, flight, store, grant, left, top, lost>>

DieTogether ==
  /\ Happens("process dies") /\ \E c \in Threads : call[c].pc > 1
  /\ call' = [c \in Calls |-> IF c \in Threads THEN Over ELSE call[c]] /\ grant' = NoGrant
  /\ lock' = (IF lock.by \in Threads THEN Unlocked ELSE lock)
  /\ UNCHANGED <<row, flight, store, left, top, lost>>

OfThread(c) == TakeOver(c) \/ AskFor(c) \/ EndTurn(c) \/ Close(c) \/ LearnClose(c)

HandoverNext == StoresNext \/ GiveBackUnused \/ DieTogether \/ \E c \in Threads : OfThread(c)

HandoverSpec == Init /\ [][HandoverNext]_vars
=============================================================================
