------------------------------ MODULE Renewal ------------------------------
(* The gate of one grant of jdbc, between its watchdog and the claims of its transactions. Both lock the row of the lease. *)
CONSTANT Without    \* the sentence that a broken twin leaves out; "nothing" in the rule

VARIABLES
  claim,      \* "none", "noted", "sent" or "locked"
  renewal     \* "none", "decided", "sent" or "locked"

vars == <<claim, renewal>>
Keeps(sentence) == Without # sentence
Init == claim = "none" /\ renewal = "none"

Note == claim = "none" /\ claim' = "noted" /\ UNCHANGED renewal

SendClaim ==
  /\ claim = "noted" /\ (Keeps("a claim waits for a renewal") => renewal = "none")
  /\ claim' = "sent" /\ UNCHANGED renewal

LockByClaim == claim = "sent" /\ renewal # "locked" /\ claim' = "locked" /\ UNCHANGED renewal

EndTransaction == claim # "none" /\ claim' = "none" /\ UNCHANGED renewal

Decide ==
  /\ renewal = "none"
  /\ Keeps("no renewal beside a claim") =>
       claim \in (IF Keeps("a claim is noted before it is sent") THEN {"none"} ELSE {"none", "noted", "sent"})
  /\ renewal' = "decided" /\ UNCHANGED claim

SendRenewal == renewal = "decided" /\ renewal' = "sent" /\ UNCHANGED claim

LockByRenewal == renewal = "sent" /\ claim # "locked" /\ renewal' = "locked" /\ UNCHANGED claim

EndRenewal == renewal = "locked" /\ renewal' = "none" /\ UNCHANGED claim

Next == Note \/ SendClaim \/ LockByClaim \/ EndTransaction \/ Decide \/ SendRenewal \/ LockByRenewal \/ EndRenewal

Spec == Init /\ [][Next]_vars

(* The watchdog does not wait for a transaction of the same grant. *)
NoWaitForItself == ~(renewal = "sent" /\ claim = "locked")
=============================================================================
