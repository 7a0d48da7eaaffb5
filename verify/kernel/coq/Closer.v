(** How far a computed sum is off, closer: products are off by a part of themselves, and of n
    numbers only n - 1 sums are made (Lemma 5 of docs/proofs/arithmetic.md, with units in the
    last place for the sums). *)
From Coq Require Import Reals ZArith List Permutation Lia Lra.
From Flocq Require Import Core Relative.
From Krohn Require Import Arithmetic Rounding.
Import ListNotations.
Open Scope R_scope.

Section Sums.
Variables (A : arithmetic) (f : format) (K : Z).
Hypothesis accumulated : accumulator A = f.
Hypothesis kept : stored A = f.
Hypothesis some : (0 < digits f)%Z.
Hypothesis normal : (least f + 2 * digits f <= K)%Z.
Hypothesis finite : (K < top f)%Z.

(** What a sum is off by, and what a number is: a part of itself, or what may be flushed. *)
Let e := pow (K - digits f - 1).
Let u := pow (- digits f).
Let h := pow (least f + digits f - 1).
Let cost (l : list term) : R := terms l * (e + h) + size l * u.

Let e_positive : 0 < e := bpow_gt_0 radix2 (K - digits f - 1).
Let u_positive : 0 < u := bpow_gt_0 radix2 (- digits f).
Let h_positive : 0 < h := bpow_gt_0 radix2 (least f + digits f - 1).

Lemma terms_split l : (terms l = 0 /\ size l = 0 /\ total l = 0) \/ 1 <= terms l.
Proof.
  destruct (terms_some l) as [(T & S)|T]; [left|right; exact T].
  assert (H := total_size l). rewrite S in H. apply Rabs_le_inv in H. repeat split; auto; lra.
Qed.

Lemma cost_some l : (terms l = 0 /\ size l = 0 /\ total l = 0 /\ cost l = 0)
  \/ (1 <= terms l /\ e + h + size l * u <= cost l).
Proof.
  destruct (terms_split l) as [(T & S & O)|T]; [left|right].
  - unfold cost. rewrite T, S. repeat split; auto; ring.
  - split; [exact T|]. unfold cost. apply Rplus_le_compat_r.
    rewrite <- (Rmult_1_l (e + h)) at 1. apply Rmult_le_compat_r; lra.
Qed.

Lemma costs_app l m : cost (l ++ m) = cost l + cost m.
Proof. unfold cost. rewrite terms_app, size_app. ring. Qed.

(** As it is rounded once; or not yet, and then exact. *)
Definition close (l : list term) (y : R) : Prop :=
  (terms l = 0 /\ y = 0)
  \/ (1 <= terms l /\ held f y /\ Rabs (y - total l) <= cost l - e)
  \/ (1 <= terms l /\ y = total l).

Lemma close_bound l y : close l y -> (terms l = 0 /\ y = 0 /\ total l = 0)
  \/ (1 <= terms l /\ Rabs (y - total l) <= cost l - e).
Proof.
  intros N. destruct (cost_some l) as [(T & S & O & C)|(T & C)].
  - left. destruct N as [(_ & Y)|[(Z & _)|(Z & _)]]; [auto|lra|lra].
  - right. split; [exact T|]. destruct N as [(Z & _)|[(_ & _ & D)|(_ & ->)]]; [lra|exact D|].
    assert (0 <= size l * u) by (apply Rmult_le_pos; [apply size_positive|lra]).
    rewrite Rminus_eq_0, Rabs_R0. lra.
Qed.

Lemma close_small l y : close l y -> size l + cost l <= pow K -> Rabs y <= pow K.
Proof.
  intros N S. assert (T := total_size l). assert (E := bpow_ge_0 radix2 K).
  destruct (close_bound l y N) as [(_ & -> & _)|(_ & D)]; [rewrite Rabs_R0; lra|].
  replace y with (y - total l + total l) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma rounded_close x y : Rabs x <= pow K -> rounded f x y ->
  held f y /\ Rabs (y - x) <= e /\ Rabs (y - x) <= Rabs x * u + h.
Proof.
  intros B R. destruct (rounded_near f K some normal finite x y B R) as (H & D & E).
  split; [exact H|]. split; [exact D|]. rewrite E. unfold nearest.
  destruct (error_N_FLT radix2 (least f) (digits f) some (fun z => negb (Z.even z)) x)
    as (eps & eta & P & Q & _ & ->).
  replace (x * (1 + eps) + eta - x) with (x * eps + eta) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply Rabs_pos|]. eapply Rle_trans; [exact P|].
    change (/ 2) with (pow (-1)). rewrite <- bpow_plus. apply bpow_le. lia.
  - eapply Rle_trans; [exact Q|]. change (/ 2) with (pow (-1)). rewrite <- bpow_plus.
    apply bpow_le. lia.
Qed.

Lemma multiplied_close x y : Rabs x <= pow K -> multiplied f x y ->
  held f y /\ Rabs (y - x) <= Rabs x * u + h.
Proof.
  intros B [R|[F ->]].
  - destruct (rounded_close x y B R); tauto.
  - split; [apply zero_held|]. rewrite Rminus_0_l, Rabs_Ropp.
    assert (0 <= Rabs x * u) by (apply Rmult_le_pos; [apply Rabs_pos|lra]). unfold h. lra.
Qed.

Lemma close_again l x y : size l + cost l <= pow K -> close l x -> rounded f x y -> close l y.
Proof.
  intros S N R. assert (B := close_small l x N S).
  destruct N as [(T & ->)|[(T & H & D)|(T & ->)]].
  - left. split; [exact T|]. destruct (rounded_near f K some normal finite 0 y B R) as (_ & _ & ->).
    apply nearest_same, zero_held; auto.
  - right; left. destruct (rounded_near f K some normal finite x y B R) as (_ & _ & ->).
    rewrite (nearest_same f x H). auto.
  - right; left. destruct (rounded_close _ y B R) as (H & _ & D).
    split; [exact T|]. split; [exact H|]. eapply Rle_trans; [exact D|].
    destruct (cost_some l) as [(T' & _)|(_ & C)]; [lra|]. assert (L := total_size l).
    assert (Rabs (total l) * u <= size l * u) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma close_skip l m y : terms l = 0 -> close m y -> close (l ++ m) y.
Proof.
  intros Z N. destruct (cost_some l) as [(T & S & O & C)|(T & _)]; [|lra]. unfold close in *.
  rewrite terms_app, total_app, costs_app, T, O, C, !Rplus_0_l. exact N.
Qed.

Lemma close_order l m y : Permutation l m -> close l y -> close m y.
Proof.
  intros P. unfold close, cost. rewrite (terms_order l m P), (total_order l m P), (size_order l m P).
  auto.
Qed.

(** Two sums, or a product that is not rounded, and a sum. *)
Lemma close_add l m x y z : size (l ++ m) + cost (l ++ m) <= pow K ->
  1 <= terms l -> 1 <= terms m -> Rabs (x - total l) <= cost l - e ->
  Rabs (y - total m) <= cost m - e -> rounded f (x + y) z -> close (l ++ m) z.
Proof.
  intros S T T' D D' R. rewrite size_app, costs_app in S.
  assert (L := total_size l). assert (M := total_size m).
  assert (B : Rabs (x + y) <= pow K).
  { apply Rabs_le. apply Rabs_le_inv in D, D', L, M. lra. }
  destruct (rounded_close _ z B R) as (H & Q & _). right; left.
  rewrite terms_app, total_app, costs_app. split; [lra|]. split; [exact H|].
  apply Rabs_le. apply Rabs_le_inv in D, D', Q. lra.
Qed.

Lemma total_product a b : total [Product a b] = a * b.
Proof. unfold total. simpl. ring. Qed.

Theorem sum_near_closer l y : sum A l y -> size l + cost l <= pow K -> close l y.
Proof.
  assert (E := e_positive). assert (U := u_positive). assert (H := h_positive).
  induction 1 as [ |x|a b y M|l m x y z D IH D' IH' R|a b l x z D IH R|a b l x Z D IH
                  |l m x P D IH|l x y D IH R]; intros S; rewrite ?accumulated, ?kept in *.
  - left. split; reflexivity.
  - destruct (cost_some [Number x]) as [(T & _ & O & _)|(T & _)].
    + left. split; [exact T|]. unfold total in O. simpl in O. lra.
    + right; right. split; [exact T|]. unfold total. simpl. ring.
  - assert (O := total_product a b). assert (Q : size [Product a b] = Rabs (a * b))
      by (unfold size; simpl; ring).
    assert (B : Rabs (a * b) <= pow K).
    { destruct (cost_some [Product a b]) as [(_ & _ & _ & C)|(_ & C)]; [lra|].
      assert (0 <= size [Product a b] * u) by (apply Rmult_le_pos; [apply size_positive|lra]). lra. }
    destruct (multiplied_close _ y B M) as (G & N).
    destruct (cost_some [Product a b]) as [(T & Z & O' & _)|(T & C)].
    + left. split; [exact T|]. rewrite O in O'. rewrite O' in M. destruct M as [R|[_ R]]; [|exact R].
      assert (B0 : Rabs 0 <= pow K) by (rewrite Rabs_R0; apply bpow_ge_0).
      destruct (rounded_near f K some normal finite 0 y B0 R) as (_ & _ & ->).
      apply nearest_same, zero_held; auto.
    + right; left. split; [exact T|]. split; [exact G|]. rewrite O. rewrite Q in C. lra.
  - assert (S' := S). rewrite size_app, costs_app in S'.
    assert (P := size_positive l). assert (P' := size_positive m).
    assert (C : 0 <= cost l /\ 0 <= cost m).
    { unfold cost. split; (apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [|lra]|
        apply Rmult_le_pos; [apply size_positive|lra]]);
      [destruct (terms_some l)|destruct (terms_some m)]; lra. }
    assert (N := IH ltac:(lra)). assert (N' := IH' ltac:(lra)).
    destruct (close_bound l x N) as [(T & -> & O)|(T & B)].
    + rewrite Rplus_0_l in R. apply close_skip; [exact T|].
      eapply close_again; [|exact N'|exact R]. lra.
    + destruct (close_bound m y N') as [(T' & -> & O)|(T' & B')].
      * rewrite Rplus_0_r in R. apply (close_order (m ++ l)); [apply Permutation_app_comm|].
        apply close_skip; [exact T'|]. eapply close_again; [|exact N|exact R]. lra.
      * eapply close_add; eauto.
  - assert (O := total_product a b). change (Product a b :: l) with ([Product a b] ++ l) in *.
    assert (S' := S). rewrite size_app, costs_app in S'.
    assert (P := size_positive [Product a b]). assert (P' := size_positive l).
    assert (Q : size [Product a b] = Rabs (a * b)) by (unfold size; simpl; ring).
    destruct (cost_some [Product a b]) as [(T & Z & O' & C)|(T & C)].
    + apply close_skip; [exact T|]. rewrite O in O'. rewrite O', Rplus_0_l in R.
      assert (N := IH ltac:(lra)). eapply close_again; [|exact N|exact R]. lra.
    + assert (C1 : 0 <= size [Product a b] * u) by (apply Rmult_le_pos; [exact P|lra]).
      assert (N := IH ltac:(lra)). destruct (close_bound l x N) as [(T' & -> & O')|(T' & B)].
      * apply (close_order (l ++ [Product a b])); [apply Permutation_app_comm|].
        apply close_skip; [exact T'|]. rewrite Rplus_0_r in R.
        assert (B : Rabs (a * b) <= pow K).
        { destruct (cost_some l) as [(_ & _ & _ & X)|(X & _)]; lra. }
        destruct (rounded_close _ z B R) as (G & _ & D'). right; left. split; [exact T|].
        split; [exact G|]. rewrite O. rewrite Q in C. lra.
      * eapply close_add; [exact S|exact T|exact T'| |exact B|exact R].
        rewrite O, Rminus_eq_0, Rabs_R0. lra.
  - assert (T : terms [Product a b] = 0).
    { unfold terms, dear. simpl. destruct Req_EM_T as [_|N]; [ring|].
      destruct N, Z as [-> | ->]; ring. }
    change (Product a b :: l) with ([Product a b] ++ l) in *. rewrite size_app, costs_app in S.
    assert (P := size_positive [Product a b]).
    destruct (cost_some [Product a b]) as [(_ & _ & _ & C)|(C & _)]; [|lra].
    apply close_skip; [exact T|]. apply IH. lra.
  - apply (close_order l); [exact P|]. apply IH. unfold cost.
    rewrite (size_order l m P), (terms_order l m P). exact S.
  - eapply close_again; [exact S|apply IH; exact S|exact R].
Qed.

Corollary sum_closer l y : sum A l y -> size l + cost l <= pow K ->
  (total l = y) \/ Rabs (y - total l) <= cost l - e.
Proof.
  intros D S. destruct (close_bound l y (sum_near_closer l y D S)) as [(_ & -> & ->)|(_ & B)]; auto.
Qed.
End Sums.
