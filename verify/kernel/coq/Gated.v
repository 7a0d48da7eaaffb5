(** Elman networks with hyperbolic tangents, LSTMs and GRUs, as torch has them.

    The forward pass is that of docs/model-format.md, "Elman networks, LSTMs and GRUs".
    Assumption A14 of docs/soundness.md is [gate]. *)
From Coq Require Import Reals ZArith List.
From Krohn Require Import Machine Arithmetic Recurrent Tanh.
Import ListNotations.
Open Scope R_scope.

Inductive kind := Elman | Lstm | Gru.

(** Weights have outputs as rows: those of the gates of all units, gate by gate. Letters are
    unit vectors, or rows of an embedding of so many numbers. *)
Record gated := {
  cell_kind : kind; hidden : nat; outcomes : nat; letter_table : option (nat * tensor);
  start_hidden : tensor; start_cell : tensor;
  weight_ih : tensor; weight_hh : tensor; bias_ih : tensor; bias_hh : tensor;
  read_weight : tensor; read_bias : tensor }.

(** A number, or what is stored of it. *)
Definition kept (A : arithmetic) (x y : R) : Prop := y = x \/ rounded (stored A) x y.

(** y may be what is computed as f x. *)
Definition gate (A : arithmetic) (f : R -> R) (x y : R) : Prop :=
  exists z, Rabs (z - f x) <= 8 * pow (- digits (accumulator A)) /\ kept A z y.

Section Network.
Variables (A : arithmetic) (n : gated).

(** What is added up for row j of the gates: by the letter a, and where units hold h. *)
Definition by_letter (a j : nat) : list term :=
  Number (entry (bias_ih n) 0 j) ::
  match letter_table n with
  | None => [Number (entry (weight_ih n) j a)]
  | Some (d, t) => map (fun i => Product (entry t a i) (entry (weight_ih n) j i)) (seq 0 d)
  end.
Definition by_past (h : nat -> R) (j : nat) : list term :=
  Number (entry (bias_hh n) 0 j) ::
  map (fun i => Product (h i) (entry (weight_hh n) j i)) (seq 0 (hidden n)).

(** Unit u may hold h' (in an LSTM with the cell c') after the letter a, where units hold h
    (and cells c). *)
Definition step (h c : nat -> R) (a u : nat) (h' c' : R) : Prop :=
  let row g := (g * hidden n + u)%nat in
  let gated g f y :=
    exists x, sum A (by_letter a (row g) ++ by_past h (row g)) x /\ gate A f x y in
  match cell_kind n with
  | Elman => gated 0%nat tanh h'
  | Lstm => exists i f g o x t, gated 0%nat sigma i /\ gated 1%nat sigma f
      /\ gated 2%nat tanh g /\ gated 3%nat sigma o
      /\ sum A [Product f (c u); Product i g] x /\ kept A x c' /\ gate A tanh x t
      /\ sum A [Product o t] h'
  | Gru => exists r z p x m, gated 0%nat sigma r /\ gated 1%nat sigma z
      /\ sum A (by_past h (row 2%nat)) p /\ sum A (Product r p :: by_letter a (row 2%nat)) x
      /\ gate A tanh x m
      /\ ((exists w, sum A [Number 1; Number (- z)] w
                     /\ sum A [Product w m; Product z (h u)] h')
          \/ exists d, sum A [Number (h u); Number (- m)] d
                       /\ sum A [Number m; Product z d] h')
  end.

(** [remembers w h c]: units may hold h, and cells c, after the word w. *)
Inductive remembers : list nat -> (nat -> R) -> (nat -> R) -> Prop :=
| at_start h c :
    (forall u, (u < hidden n)%nat -> h u = entry (start_hidden n) 0 u
                                   /\ c u = entry (start_cell n) 0 u) ->
    remembers [] h c
| after w a h c h' c' : remembers w h c ->
    (forall u, (u < hidden n)%nat -> step h c a u (h' u) (c' u)) ->
    remembers (w ++ [a]) h' c'.

Definition reading (h : nat -> R) (k : nat) : list term :=
  Number (entry (read_bias n) 0 k) ::
  map (fun i => Product (h i) (entry (read_weight n) i k)) (seq 0 (hidden n)).

(** The logits after the word w may be z. *)
Definition logits (w : list nat) (z : nat -> R) : Prop :=
  exists h c, remembers w h c /\ forall k, (k < outcomes n)%nat -> sum A (reading h k) (z k).

(** After every word of one letter or more the logit of what the machine shows is above
    all others, however the sums are computed. *)
Definition correct (m : machine) : Prop :=
  forall w z k, word m w -> w <> [] -> logits w z -> ends m w k ->
    (k < outcomes n)%nat /\ forall d, (d < outcomes n)%nat -> d <> k -> z d < z k.
End Network.
