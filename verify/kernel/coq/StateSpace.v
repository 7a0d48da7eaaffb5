(** Diagonal state space models: in each layer h' = a h + b, number by number. The letter
    says b, and a if it chooses it; a table of the letter and of h says the letter of the
    next layer.

    The forward pass is that of docs/model-format.md, "State space models". *)
From Coq Require Import Reals ZArith List.
From Krohn Require Import Machine Arithmetic Recurrent.
Import ListNotations.
Open Scope R_scope.

Record affine_map := { fan_in : nat; fan_out : nat; factors : tensor; shifts : tensor }.
Record ssm_level := {
  reads : nat; coordinates : nat; initial : tensor; selective : bool; decay : tensor;
  addend : tensor; decoders : list affine_map; table_inner : affine_map; table_outer : affine_map }.
Record state_space := { levels : list ssm_level; logit_count : nat }.

Section Network.
Variables (A : arithmetic) (n : state_space).

(** y may be computed as x W + b, or as its positive parts. *)
Definition maps (f : affine_map) (positive : bool) (x y : nat -> R) : Prop :=
  forall j, (j < fan_out f)%nat -> exists z,
    sum A (dots (fan_in f) x (factors f) j ++ [Number (entry (shifts f) 0 j)]) z
    /\ y j = if positive then Rmax z 0 else z.

Fixpoint decodes (l : list affine_map) (h s : nat -> R) : Prop :=
  match l with
  | [] => s = h
  | f :: l' => exists y, maps f true h y /\ decodes l' y s
  end.

(** A level may say y where it reads x and holds h; it may hold h' then, which is stored. *)
Definition says (l : ssm_level) (x h y : nat -> R) : Prop :=
  exists s u, decodes (decoders l) h s
    /\ maps (table_inner l) true (fun i => if (i <? reads l)%nat then x i else s (i - reads l)%nat) u
    /\ maps (table_outer l) false u y.
Definition steps (l : ssm_level) (x h h' : nat -> R) : Prop :=
  forall k, (k < coordinates l)%nat -> exists a b y,
    (if selective l then sum A (dots (reads l) x (decay l) k) a else a = entry (decay l) 0 k)
    /\ sum A (dots (reads l) x (addend l) k) b
    /\ sum A [Product a (h k); Number b] y /\ rounded (stored A) y (h' k).

(** Levels that hold hs and read x may hold ks then, and the last one may say z. *)
Fixpoint passes (ls : list ssm_level) (x : nat -> R) (hs ks : list (nat -> R)) (z : nat -> R) :=
  match ls, hs, ks with
  | [], [], [] => z = x
  | l :: ls', h :: hs', k :: ks' =>
      exists y, says l x h y /\ steps l x h k /\ passes ls' y hs' ks' z
  | _, _, _ => False
  end.
Definition letter (a i : nat) : R := if (i =? a)%nat then 1 else 0.

(** [remembers w hs]: the levels may hold hs after the word w. *)
Inductive remembers : list nat -> list (nat -> R) -> Prop :=
| at_start hs :
    Forall2 (fun l h => forall k, (k < coordinates l)%nat -> h k = entry (initial l) 0 k)
      (levels n) hs -> remembers [] hs
| after w a hs ks z : remembers w hs -> passes (levels n) (letter a) hs ks z ->
    remembers (w ++ [a]) ks.

(** The logits after the word w and the letter a may be z. *)
Definition logits (w : list nat) (a : nat) (z : nat -> R) : Prop :=
  exists hs ks, remembers w hs /\ passes (levels n) (letter a) hs ks z.

(** After every word of one letter or more, not longer than the longest one if there is one,
    the logit of what the machine shows is above all others, however sums are computed. *)
Definition correct (m : machine) (longest : option nat) : Prop :=
  forall w a z c, word m (w ++ [a]) ->
    match longest with Some T => (length w < T)%nat | None => True end ->
    logits w a z -> ends m (w ++ [a]) c ->
    (c < logit_count n)%nat /\ forall d, (d < logit_count n)%nat -> d <> c -> z d < z c.
End Network.
