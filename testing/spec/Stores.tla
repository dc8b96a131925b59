------------------------------- MODULE Stores -------------------------------
(* The rule for leases of another store: Redis, Redisson, ZooKeeper, etcd. The row has the epoch and the owner of the last grant
   that was installed. *)
EXTENDS Rule

(* After a failover, the store may grant an epoch again, or it counts from the start. *)
Granted == {store.granted + 1} \union (IF Happens("store goes back") THEN 1..store.granted ELSE {})

Grant(c) ==
  /\ At(c, "grant") /\ store.holder = Nobody
  /\ \E epoch \in Granted :
       /\ store' = [granted |-> epoch, holder |-> c]
       /\ call' = [call EXCEPT ![c] = [Stepped(c) EXCEPT !.epoch = epoch]]
  /\ UNCHANGED <<row, lock, flight, grant, left, top, lost>>

StoreLeaseRunsOut ==
  /\ store.holder # Nobody /\ store' = [store EXCEPT !.holder = Nobody]
  /\ UNCHANGED <<row, lock, flight, call, grant, left, top, lost>>

Token(c) == [epoch |-> call[c].epoch, owner |-> call[c].own, lease |-> "none"]
IsToken(r, c) == r.epoch = call[c].epoch /\ (r.owner = call[c].own \/ ~Keeps("FENCE by owner"))
IsFenced(r, c) == r # NoRow /\ (r.epoch < call[c].epoch \/ IsToken(r, c) \/ ~Keeps("FENCE over earlier epochs only"))

(* FENCE, committed by itself. *)
Install(c) ==
  /\ At(c, "install") /\ call[c].tx = "none"
  /\ CASE ~Keeps("install") \/ call[c].installed -> call' = [call EXCEPT ![c] = Stepped(c)] /\ SameRow
       [] Keeps("install") /\ ~call[c].installed /\ row # NoRow /\ lock.by = Nobody ->
            IF IsFenced(row, c) THEN CommitsAtOnce(c, Token(c), [Stepped(c) EXCEPT !.installed = TRUE])
            ELSE call' = [call EXCEPT ![c] = RolledBack(c, ToRelease[c])] /\ SameRow
       [] Keeps("install") /\ ~call[c].installed /\ row # NoRow /\ lock.by # Nobody /\ ~Keeps("install waits") ->
            IsFenced(row, c) /\ call' = [call EXCEPT ![c] = Stepped(c)] /\ SameRow
       [] OTHER -> FALSE
  /\ UNCHANGED <<lock, flight, store, grant, left, lost>>

(* FENCE as the first statement of a transaction, and CHECK once the grant is installed. *)
Fence(c) ==
  /\ At(c, "fence") /\ Runs(c)
  /\ LET checks == call[c].installed /\ Keeps("an installed grant only checks")
         IsClaimable(r) == IF checks THEN r # NoRow /\ IsToken(r, c) ELSE IsFenced(r, c)
         found == Finds(c, IsClaimable)
         writes == ~checks \/ WritesToCheck(c)
         next == [Stepped(c) EXCEPT !.tx = "open"]
     IN CASE ~Keeps("FENCE first") -> call' = [call EXCEPT ![c] = next] /\ SameRow /\ UNCHANGED lock
          [] Keeps("FENCE first") /\ found = "row" /\ Keeps("FENCE until COMMIT") ->
               /\ lock' = [by |-> c, row |-> IF checks THEN Mine(c) ELSE Token(c), wrote |-> writes]
               /\ call' = [call EXCEPT ![c] = next] /\ SameRow
          [] Keeps("FENCE first") /\ found = "row" /\ ~Keeps("FENCE until COMMIT") ->
               CommitsAtOnce(c, Token(c), next) /\ UNCHANGED lock
          [] Keeps("FENCE first") /\ found \in {"no row", "40001"} -> Refused(c) /\ SameRow
          [] OTHER -> FALSE
  /\ UNCHANGED <<flight, store, grant, left, lost>>

GiveBack(c) ==
  /\ At(c, "give back")
  /\ store' = (IF store.holder = c THEN [store EXCEPT !.holder = Nobody] ELSE store) /\ call' = [call EXCEPT ![c] = Over]
  /\ UNCHANGED <<row, lock, flight, grant, left, top, lost>>

OfStores(c) == Grant(c) \/ Install(c) \/ Fence(c) \/ GiveBack(c)

StoresNext == Next \/ StoreLeaseRunsOut \/ \E c \in Calls : OfStores(c)

(* No earlier holder replaces a later one. *)
EpochsNeverFall == [][row' # NoRow => row'.epoch >= row.epoch]_row

StoresSpec == Init /\ [][StoresNext]_vars
=============================================================================
