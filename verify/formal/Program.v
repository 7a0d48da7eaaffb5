(** The meaning of the Program language (docs/soundness.md, section 1).

    Channels are named by their place in the list; inputs stand before. Position 0 is BOS,
    whose token is the number of letters. *)
From Coq Require Import List Arith Lia Bool.
From Krohn Require Import Machine.
Import ListNotations.

Definition stream := nat -> option nat.     (* position -> value *)

Inductive op :=
| Token
| Position (vs : list nat)
| Table (xs : list nat) (rows : list (list nat * nat))
| Select (i : nat) (xs : list nat)
| Sum (xs : list nat)
| Shift (x k : nat)
| Latest (x w : nat)
| LatestMatch (x key query : nat)
| SiblingLatest (x w level : nat)
| PrefixSum (x : nat)
| MarkedSum (x w : nat).

Definition program := list op.

Definition get (env : list stream) (x t : nat) : option nat :=
  match nth_error env x with Some s => s t | None => None end.

Fixpoint gets (env : list stream) (xs : list nat) (t : nat) : option (list nat) :=
  match xs with
  | [] => Some []
  | x :: r => match get env x t, gets env r t with
              | Some v, Some l => Some (v :: l) | _, _ => None end
  end.

Fixpoint leqb (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => (x =? y) && leqb a' b'
  | _, _ => false
  end.

Fixpoint lookup {B} (rows : list (list nat * B)) (k : list nat) : option B :=
  match rows with
  | [] => None
  | (a, b) :: r => if leqb a k then Some b else lookup r k
  end.

Definition is (v : nat) (o : option nat) : bool :=
  match o with Some u => u =? v | None => false end.

(** The greatest j with lo <= j <= t and p j. *)
Fixpoint last_where (p : nat -> bool) (lo t : nat) : option nat :=
  if t <? lo then None
  else if p t then Some t
  else match t with 0 => None | S t' => last_where p lo t' end.

Fixpoint total (f : nat -> option nat) (t : nat) : option nat :=
  match f t with
  | None => None
  | Some v => match t with
              | 0 => Some v
              | S t' => match total f t' with Some s => Some (s + v) | None => None end
              end
  end.

Definition osame (a b : option nat) : bool :=
  match a, b with Some u, Some v => u =? v | _, _ => false end.

Definition matched (env : list stream) (x key : nat) (v : nat) (t : nat) : option nat :=
  match last_where (fun j => is v (get env key j)) 1 t with
  | Some j => get env x j
  | None => get env x 0
  end.

(** The value of an operation at each position. *)
Definition sem (letters : nat) (w : list nat) (o : op) (env : list stream) : stream := fun t =>
  match o with
  | Token => match t with 0 => Some letters | S i => nth_error w i end
  | Position vs => nth_error vs t
  | Table xs rows => match gets env xs t with Some a => lookup rows a | None => None end
  | Select i xs =>
      match get env i t with
      | Some j => match nth_error xs j with Some x => get env x t | None => None end
      | None => None
      end
  | Sum xs => match gets env xs t with Some l => Some (list_sum l) | None => None end
  | Shift x k => get env x (t - k)
  | Latest x m =>
      match last_where (fun j => is 1 (get env m j)) 0 t with
      | Some j => get env x j | None => None end
  | LatestMatch x key q =>
      match get env q t with Some v => matched env x key v t | None => None end
  | SiblingLatest x m l =>
      let b := t / 2 ^ l in
      if Nat.odd b then
        match last_where (fun j => is 1 (get env m j)) ((b - 1) * 2 ^ l) (b * 2 ^ l - 1) with
        | Some j => get env x j | None => get env x 0 end
      else get env x 0
  | PrefixSum x => total (fun j => get env x j) t
  | MarkedSum x m =>
      total (fun j => match get env m j with
                      | Some 1 => get env x j | Some _ => Some 0 | None => None end) t
  end.

Fixpoint streams (letters : nat) (w : list nat) (p : program) (env : list stream) : list stream :=
  match p with
  | [] => env
  | o :: r => streams letters w r (env ++ [sem letters w o env])
  end.

Definition outputs_at (letters : nat) (p : program) (outs : list nat) (w : list nat) (t : nat) :=
  gets (streams letters w p []) outs t.

(** At every position of every word of up to [longest] letters the outputs are decoded to
    what the machine shows. *)
Definition computes (m : machine) (p : program) (outs : list nat)
    (decode : list (list nat * nat)) (longest : nat) : Prop :=
  forall w t c, word m w -> length w <= longest -> 1 <= t <= length w ->
  ends m (firstn t w) c ->
  exists vs, outputs_at (length (moves m)) p outs w t = Some vs /\ lookup decode vs = Some c.

(** * Lemmas *)

(** [last_where] is the greatest such position. *)
Lemma last_where_some p lo t j : last_where p lo t = Some j ->
  lo <= j <= t /\ p j = true /\ (forall i, j < i <= t -> p i = false).
Proof.
  induction t; simpl.
  - destruct (0 <? lo) eqn:E; [discriminate|]. destruct (p 0) eqn:P; [|discriminate].
    intros H; inversion H; subst. apply Nat.ltb_ge in E. repeat split; auto; intros; lia.
  - destruct (S t <? lo) eqn:E; [discriminate|]. apply Nat.ltb_ge in E. destruct (p (S t)) eqn:P.
    + intros H; inversion H; subst. repeat split; auto; intros; lia.
    + intros H. destruct (IHt H) as (A & B & C). repeat split; try lia; auto.
      intros i Hi. destruct (Nat.eq_dec i (S t)); [subst; auto|apply C; lia].
Qed.

Lemma last_where_none p lo t : last_where p lo t = None -> forall i, lo <= i <= t -> p i = false.
Proof.
  induction t; simpl.
  - destruct (0 <? lo) eqn:E. { apply Nat.ltb_lt in E; intros; lia. }
    destruct (p 0) eqn:P; [discriminate|]. intros _ i Hi; replace i with 0 by lia; auto.
  - destruct (S t <? lo) eqn:E. { apply Nat.ltb_lt in E; intros; lia. }
    destruct (p (S t)) eqn:P; [discriminate|]. intros H i Hi.
    destruct (Nat.eq_dec i (S t)); [subst; auto|apply IHt; auto; lia].
Qed.

(** Causality: values up to t depend on the first t letters only. *)
Lemma gets_ext env env' xs t t' : (forall x, get env x t = get env' x t') ->
  gets env xs t = gets env' xs t'.
Proof. intros H; induction xs; simpl; auto. rewrite H. destruct (get env' a t'); auto. rewrite IHxs; auto. Qed.

Lemma last_where_ext p p' lo t : (forall j, j <= t -> p j = p' j) ->
  last_where p lo t = last_where p' lo t.
Proof.
  induction t; simpl; intros H.
  - rewrite (H 0); auto.
  - rewrite (H (S t)), IHt; auto.
Qed.

Lemma total_ext f f' t : (forall j, j <= t -> f j = f' j) -> total f t = total f' t.
Proof. induction t; simpl; intros H; rewrite H; auto. rewrite IHt; auto. Qed.
