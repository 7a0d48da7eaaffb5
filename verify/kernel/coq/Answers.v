(** That one answer of a Transformer is above the others: by differences, in which what the
    read-out reads is off once and not twice. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Program Invariant Domains Arithmetic Recurrent Rounding Transformer
  Bounds Lists Affine.
Import ListNotations.
Open Scope R_scope.

Fixpoint less (a b : list Z) : list Z :=
  match a, b with
  | x :: a', y :: b' => (x - y)%Z :: less a' b' | [], _ => map Z.opp b | _, [] => a end.

Section Answers.
Variables (A : arithmetic) (g : Z).

(** How far a computed sum is from the exact one, by either bound. *)
Definition error (a : tally) : option Z :=
  match settled A g a, slip A g a with
  | Some m, Some e => Some (Z.min e (m + moving a * farthest a))
  | Some m, None => Some (m + moving a * farthest a)%Z
  | None, x => x
  end.

(** An answer: the unit, where it lies, and how far it is from the exact one. *)
Definition answer : Type := ((Z * list Z) * interval) * (interval * Z).
Definition answer_of (xs : list interval) (u : (Z * list Z) * interval) : option answer :=
  match fired A g xs u, error (read_by xs u) with
  | Some x, Some e => Some (u, (x, e)) | _, _ => None end.
Definition above (xs : list interval) (x y : answer) : bool :=
  let (u, p) := x in let (v, q) := y in
  ((snd (fst q) <? fst (fst p)) ||
   (snd p + snd q + snd (snd v)
    <? fst (sums (coarse (fst (fst u)) (weighed (less (snd (fst u)) (snd (fst v))) xs)))
       + fst (snd u)))%Z.
Definition ahead (c : nat) (xs : list interval) (units : list ((Z * list Z) * interval)) : bool :=
  match all (answer_of xs) units with
  | None => false
  | Some zs =>
      match nth_error zs c with
      | None => false
      | Some z => forallb (fun y : nat * answer => (fst y =? c)%nat || above xs z (snd y))
                    (combine (seq 0 (length zs)) zs)
      end
  end.

Lemma nth_less : forall a b i, nth i (less a b) 0%Z = (nth i a 0 - nth i b 0)%Z.
Proof.
  assert (O : forall b i, nth i (map Z.opp b) 0%Z = (- nth i b 0)%Z).
  { intros b i. change 0%Z with (- 0)%Z at 1. apply map_nth. }
  assert (N : forall i, nth i (@nil Z) 0%Z = 0%Z) by (intros []; reflexivity).
  induction a as [|x a IH]; intros b i.
  - replace (less [] b) with (map Z.opp b) by (destruct b; reflexivity). rewrite O, N. lia.
  - destruct b as [|y b]; [cbn [less]; rewrite (N i); lia|]. cbn [less].
    destruct i as [|i]; cbn [nth]; [lia|apply IH].
Qed.

Lemma error_sound a l e y : error a = Some e -> counted (- g) l a -> sum A l y ->
  Rabs (y - total l) * pow g <= IZR e.
Proof.
  intros E C D. unfold error in E. destruct (settled A g a) as [m|] eqn:M.
  - destruct (settled_sound g A l a m y M C D) as (_ & B).
    destruct (slip A g a) as [e'|] eqn:Q; [|congruence].
    assert (B' := slip_sound g A l a e' y Q C D).
    assert (e = Z.min e' (m + moving a * farthest a)) by congruence. subst e.
    destruct (Z.min_spec e' (m + moving a * farthest a)) as [(_ & ->)|(_ & ->)]; auto.
  - eapply slip_sound; eauto.
Qed.

Theorem ahead_sound c xs wt bt n h d z :
  ahead c xs (map (unit_of g wt bt) (seq 0 n)) = true -> insides g xs h -> length xs = d ->
  (forall j, (j < n)%nat -> sum A (dots d h wt j ++ [Number (entry bt 0 j)]) (z j)) ->
  (c < n)%nat /\ forall e, (e < n)%nat -> e <> c -> z e < z c.
Proof.
  intros R I L Z. unfold ahead in R. destruct (all _ _) as [zs|] eqn:ZS; [|discriminate].
  assert (ZL : length zs = n).
  { apply all_length in ZS. rewrite map_length, seq_length in ZS. exact ZS. }
  assert (ONE : forall j x, nth_error zs j = Some x -> (j < n)%nat /\ fst x = unit_of g wt bt j
    /\ inside g (fst (snd x)) (z j)
    /\ Rabs (z j - total (dots d h wt j ++ [Number (entry bt 0 j)])) * pow g <= IZR (snd (snd x))).
  { intros j x N. assert (J : (j < n)%nat) by (rewrite <- ZL; apply nth_error_Some; congruence).
    split; [exact J|]. destruct (all_nth _ _ _ ZS j x N) as (u & NU & FU).
    rewrite nth_error_map in NU. destruct (nth_error (seq 0 n) j) as [k|] eqn:S; [|discriminate].
    apply nth_seq in S. destruct S as (-> & _). inversion NU; subst u. simpl plus in FU.
    unfold answer_of in FU. destruct (fired A g xs _) as [y|] eqn:FI; [|discriminate].
    destruct (error _) as [e|] eqn:E; [|discriminate]. inversion FU; subst x. cbn [fst snd].
    split; [reflexivity|]. split; [eapply fired_sound; eauto|].
    eapply error_sound; [exact E|apply read_counted; auto|auto]. }
  destruct (nth_error zs c) as [x|] eqn:NC; [|discriminate].
  destruct (ONE c x NC) as (C & XU & XI & XE). split; [exact C|]. intros e EL NE.
  destruct (nth_error zs e) as [y|] eqn:NY; [|apply nth_error_None in NY; lia].
  destruct (ONE e y NY) as (_ & YU & YI & YE). rewrite forallb_forall in R.
  specialize (R (e, y) (nth_error_In _ e (numbered_nth zs 0 (length zs) e y ltac:(lia) NY))).
  cbn [fst snd] in R. apply orb_true_iff in R. destruct R as [R|R];
    [apply Nat.eqb_eq in R; congruence|].
  destruct x as (u, p), y as (v, q). cbn [fst snd] in *. subst u v. unfold above in R.
  assert (P := bpow_gt_0 radix2 g). assert (Q := bpow_gt_0 radix2 (- g)).
  apply Rmult_lt_reg_r with (pow g); [exact P|].
  apply orb_true_iff in R. destruct R as [R|R]; apply Z.ltb_lt, IZR_lt in R.
  { destruct XI as (XI & _), YI as (_ & YI). lra. }
  cbn [unit_of dotted fst snd] in R. rewrite !plus_IZR in R.
  assert (B1 := exactly_inside g bt 0 c). assert (B2 := exactly_inside g bt 0 e).
  destruct B1 as (B1 & _), B2 as (_ & B2).
  assert (W := counted_coarse (- g) (unit wt) _ _
    (weighed_counted g (unit wt) (less (column wt c) (column wt e)) xs h I)).
  destruct W as ((_ & _ & W & _) & _).
  rewrite !total_app in XE, YE. set (S := fst (sums _)) in *.
  assert (T : total (dots d h wt c) - total (dots d h wt e)
    = total (map (fun i => Product (h i)
        (IZR (nth i (less (column wt c) (column wt e)) 0%Z) * pow (unit wt))) (seq 0 (length xs)))).
  { subst d. unfold dots. generalize (length xs). intros k. generalize 0%nat.
    induction k as [|k IH]; intros m; [cbn [seq map]; unfold total; cbn [map fold_right]; ring|].
    cbn [seq map]. specialize (IH (Datatypes.S m)). unfold total in *. cbn [map fold_right value].
    rewrite nth_less, minus_IZR, !nth_column in *. unfold entry in *. rewrite <- IH. ring. }
  rewrite <- T in W.
  assert (G : pow (- g) * pow g = 1)
    by (rewrite <- bpow_plus; replace (- g + g)%Z with 0%Z by lia; reflexivity).
  apply Rmult_le_compat_r with (r := pow g) in W; [|lra]. rewrite Rmult_assoc, G in W.
  set (tc := total (dots d h wt c)) in *. set (te := total (dots d h wt e)) in *.
  assert (N1 : total [Number (entry bt 0 c)] = entry bt 0 c) by (unfold total; simpl; ring).
  assert (N2 : total [Number (entry bt 0 e)] = entry bt 0 e) by (unfold total; simpl; ring).
  rewrite N1 in XE. rewrite N2 in YE.
  assert (X2 : - IZR (snd p) <= (z c - (tc + entry bt 0 c)) * pow g).
  { rewrite <- (Rabs_pos_eq (pow g)) in XE by lra. rewrite <- Rabs_mult in XE.
    apply Rabs_le_inv in XE. lra. }
  assert (Y2 : (z e - (te + entry bt 0 e)) * pow g <= IZR (snd q)).
  { rewrite <- (Rabs_pos_eq (pow g)) in YE by lra. rewrite <- Rabs_mult in YE.
    apply Rabs_le_inv in YE. lra. }
  lra.
Qed.
End Answers.
