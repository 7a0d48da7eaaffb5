(** Recurrent networks with ReLUs: h' = max(h W + b + x U, 0), logits h R + c.

    The forward pass is that of docs/model-format.md, "RNNs". *)
From Coq Require Import Reals ZArith List Bool Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Arithmetic.
Import ListNotations.
Open Scope R_scope.

(** A tensor: whole numbers, in units of 2^unit. A vector is one row. *)
Record tensor := { unit : Z; rows : list (list Z) }.
(** A row of mostly zeros: each pair is a number of zeros, and the entry after them. *)
Definition spread (l : list (Z * Z)) : list Z :=
  flat_map (fun x => repeat 0%Z (Z.to_nat (fst x)) ++ [snd x]) l.
Definition row (t : tensor) (i : nat) : list Z := nth i (rows t) [].
Definition entry (t : tensor) (i j : nat) : R := IZR (nth j (row t i) 0%Z) * pow (unit t).

Record network := {
  units : nat; letters : nat; classes : nat;
  hidden_start : tensor; hidden_weight : tensor; hidden_bias : tensor;
  input_weight : tensor; unembed_weight : tensor; unembed_bias : tensor }.

(** What is added up for unit u after letter a, where units hold h; and for class c. *)
Definition products (n : network) (h : nat -> R) (t : tensor) (j : nat) : list term :=
  map (fun i => Product (h i) (entry t i j)) (seq 0 (units n)).
Definition driving (n : network) (h : nat -> R) (a u : nat) : list term :=
  products n h (hidden_weight n) u
    ++ [Number (entry (hidden_bias n) 0 u); Number (entry (input_weight n) a u)].
Definition reading (n : network) (h : nat -> R) (c : nat) : list term :=
  products n h (unembed_weight n) c ++ [Number (entry (unembed_bias n) 0 c)].

(** [remembers A n w h]: the units may hold h after the word w. *)
Inductive remembers (A : arithmetic) (n : network) : list nat -> (nat -> R) -> Prop :=
| at_start h : (forall u, (u < units n)%nat -> h u = entry (hidden_start n) 0 u) ->
    remembers A n [] h
| after w a h k : remembers A n w h ->
    (forall u, (u < units n)%nat -> exists x, sum A (driving n h a u) x /\ k u = Rmax x 0) ->
    remembers A n (w ++ [a]) k.

(** The logits after the word w may be z. *)
Definition logits (A : arithmetic) (n : network) (w : list nat) (z : nat -> R) : Prop :=
  exists h, remembers A n w h /\
    forall c, (c < classes n)%nat -> sum A (reading n h c) (z c).

(** After every word of one letter or more the logit of what the machine shows is above
    all others, however the sums are computed. *)
Definition correct (A : arithmetic) (n : network) (m : machine) : Prop :=
  forall w z c, word m w -> w <> [] -> logits A n w z -> ends m w c ->
  (c < classes n)%nat /\ forall d, (d < classes n)%nat -> d <> c -> z d < z c.

(** * The checker: all that the network can remember, as finitely many vectors *)

(** A vector that units hold, in units of the start; the machine's state; and the number of
    the vector after each letter. *)
Record node := { vector : list Z; state : nat; next : list nat }.

Fixpoint add (x y : list Z) : list Z :=
  match x, y with
  | a :: x', b :: y' => (a + b)%Z :: add x' y'
  | [], _ => y
  | _, [] => x
  end.

Fixpoint weigh (v : list Z) (m : list (list Z)) : list Z :=
  match v, m with
  | a :: v', r :: m' =>
      if (a =? 0)%Z then weigh v' m' else add (map (Z.mul a) r) (weigh v' m')
  | _, _ => []
  end.

(** A matrix beside its absolute values, and what is added to the products. *)
Definition sums (v : list Z) (m : list (list Z)) (more : list Z) : list Z :=
  add (weigh v m) more.

Definition fits (f : format) (p g : Z) : bool :=
  ((0 <? digits f) && (p <=? digits f) && (least f + digits f - 1 <=? g)
    && (p + g <=? top f))%Z.
Definition precision (A : arithmetic) : Z :=
  Z.min (digits (accumulator A)) (digits (stored A)).
Definition fine (A : arithmetic) (g : Z) : bool :=
  fits (accumulator A) (precision A) g && fits (stored A) (precision A) g.
Definition small (A : arithmetic) (x : list Z) : bool :=
  forallb (fun s => s <? 2 ^ precision A)%Z x.

(** The positive parts of x are the entries of v, times a power of two. *)
Fixpoint reached (scale : Z) (x v : list Z) : bool :=
  match x, v with
  | a :: x', b :: v' => (Z.max a 0 =? b * scale)%Z && reached scale x' v'
  | [], _ => forallb (Z.eqb 0) v
  | _, [] => forallb (fun a => a <=? 0)%Z x
  end.

Fixpoint below (top : Z) (z : list Z) (c at_ : nat) : bool :=
  match z with
  | [] => true
  | a :: z' => ((at_ =? c)%nat || (a <? top)%Z) && below top z' c (S at_)
  end.

Definition magnitudes (m : list (list Z)) : list (list Z) := map (map Z.abs) m.

(** The read-out of a vector is right: class c is ahead. *)
Definition says (A : arithmetic) (n : network) (sizes : list (list Z)) (v : list Z)
    (c : nat) : bool :=
  let bias := row (unembed_bias n) 0 in
  let z := firstn (classes n) (sums v (rows (unembed_weight n)) bias) in
  (c <? classes n)%nat && (length z =? classes n)%nat
    && below (nth c z 0%Z) z c 0
    && small A (sums (map Z.abs v) sizes (map Z.abs bias)).

Definition moved (A : arithmetic) (n : network) (sizes : list (list Z)) (v : list Z)
    (a : nat) (w : list Z) : bool :=
  let bias := row (hidden_bias n) 0 in
  let letter := row (input_weight n) a in
  reached (2 ^ (- unit (hidden_weight n))) (sums v (rows (hidden_weight n)) (add bias letter)) w
    && small A (sums (map Z.abs v) sizes (add (map Z.abs bias) (map Z.abs letter))).

Definition edge (A : arithmetic) (n : network) (m : machine) (nodes : list node)
    (right : list bool) (sizes : list (list Z)) (x : node) (a : nat) : bool :=
  match nth_error (next x) a, nth_error (moves m) a with
  | Some k, Some r =>
      match nth_error nodes k, nth_error r (state x) with
      | Some y, Some q =>
          (q =? state y)%nat && nth k right false && moved A n sizes (vector x) a (vector y)
      | _, _ => false
      end
  | _, _ => false
  end.

Definition units_agree (A : arithmetic) (n : network) : bool :=
  let s := unit (hidden_start n) in
  let g := (s + unit (hidden_weight n))%Z in
  let r := (s + unit (unembed_weight n))%Z in
  ((unit (hidden_weight n) <=? 0) && (unit (hidden_bias n) =? g)
    && (unit (input_weight n) =? g) && (unit (unembed_bias n) =? r))%Z
    && fine A g && fine A r.

Definition check (A : arithmetic) (n : network) (m : machine) (nodes : list node) : bool :=
  let sizes := magnitudes (rows (hidden_weight n)) in
  let read := magnitudes (rows (unembed_weight n)) in
  let right := map (fun x => match nth_error (shows m) (state x) with
                             | Some c => says A n read (vector x) c
                             | None => false
                             end) nodes in
  units_agree A n
    && forallb (fun x => (length (vector x) <=? units n)%nat) nodes
    && match nodes with
       | [] => false
       | x :: _ => (state x =? start m)%nat
           && if list_eq_dec Z.eq_dec (vector x) (row (hidden_start n) 0) then true else false
       end
    && forallb (fun x => forallb (edge A n m nodes right sizes x)
                           (seq 0 (length (moves m)))) nodes.
