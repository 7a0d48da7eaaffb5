(** How far a computed sum is off, closer: products are off by a part of themselves, and of n
    numbers only n - 1 sums are made, each of which may be stored in a coarser format (Lemma 5
    of docs/proofs/arithmetic.md, with units in the last place for the sums). *)
From Coq Require Import Reals ZArith List Permutation Lia Lra.
From Flocq Require Import Core Relative.
From Krohn Require Import Arithmetic Rounding.
Import ListNotations.
Open Scope R_scope.

(** What the format has room for: numbers up to 2^K. *)
Definition wide (f : format) (K : Z) : Prop :=
  (0 < digits f /\ least f + 2 * digits f <= K /\ K < top f)%Z.
(** All numbers of one format are numbers of another one. *)
Definition finer (f s : format) : Prop := (digits s <= digits f /\ least f <= least s)%Z.

(** What a sum up to 2^K is off by, and what a number is: a part of itself, or what may be
    flushed; what is stored is not flushed. *)
Definition ulp_of (f : format) (K : Z) : R := pow (K - digits f - 1).
Definition part_of (f : format) : R := pow (- digits f).
Definition flushed (f : format) : R := pow (least f + digits f - 1).

Lemma finer_held f s x : finer f s -> (0 < digits s)%Z -> held s x -> held f x.
Proof.
  intros (D & L) P H. apply FLT_format_generic in H; [|exact P].
  destruct H as [m -> M E]. apply generic_format_FLT. exists m; [reflexivity| |lia].
  eapply Z.lt_le_trans; [exact M|]. apply Zpower_le. lia.
Qed.

Lemma rounded_by f K x y : wide f K -> Rabs x <= pow K -> rounded f x y ->
  held f y /\ Rabs (y - x) <= ulp_of f K /\ Rabs (y - x) <= Rabs x * part_of f + pow (least f)
  /\ (held f x -> y = x).
Proof.
  intros (P & N & F) B R. destruct (rounded_near f K P N F x y B R) as (H & D & E).
  split; [exact H|]. split; [exact D|]. split; [|intros X; rewrite E; apply nearest_same, X].
  rewrite E. unfold nearest.
  destruct (error_N_FLT radix2 (least f) (digits f) P (fun z => negb (Z.even z)) x)
    as (eps & eta & Q & T & _ & ->).
  replace (x * (1 + eps) + eta - x) with (x * eps + eta) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply Rabs_pos|]. eapply Rle_trans; [exact Q|].
    unfold part_of. change (/ 2) with (pow (-1)). rewrite <- bpow_plus. apply bpow_le. lia.
  - eapply Rle_trans; [exact T|]. change (/ 2) with (pow (-1)). rewrite <- bpow_plus.
    apply bpow_le. lia.
Qed.

Section Sums.
Variables (A : arithmetic) (K : Z).
Let f := accumulator A.
Let s := stored A.
Hypothesis accumulates : wide f K.
Hypothesis stores : wide s K.
Hypothesis inside : finer f s.

Let ea := ulp_of f K. Let ua := part_of f. Let ha := flushed f.
Let es := ulp_of s K. Let us := part_of s. Let hs := pow (least s).

(** All that, if sums are stored in the format in which they are made, and if not. *)
Variables e u h : R.
Definition two : Prop := e = ea + es /\ u = us + 2 * ua /\ h = hs + 2 * ha.
Hypothesis formats : (s = f /\ e = ea /\ u = ua /\ h = ha) \/ two.

Let cost (l : list term) : R := terms l * (e + h) + size l * u.

Let ea_positive : 0 < ea := bpow_gt_0 radix2 _.
Let ua_positive : 0 < ua := bpow_gt_0 radix2 _.
Let ha_positive : 0 < ha := bpow_gt_0 radix2 _.
Let es_positive : 0 < es := bpow_gt_0 radix2 _.
Let us_positive : 0 < us := bpow_gt_0 radix2 _.
Let hs_positive : 0 < hs := bpow_gt_0 radix2 _.

Lemma all_positive : 0 < e /\ 0 < u /\ 0 < h.
Proof. destruct formats as [(_ & -> & -> & ->)|(-> & -> & ->)]; repeat split; lra. Qed.

Lemma least_flushed g : (0 < digits g)%Z -> pow (least g) <= flushed g.
Proof. intros P. apply bpow_le. lia. Qed.

Lemma part_one g : (0 < digits g)%Z -> part_of g <= 1.
Proof. intros P. change 1 with (pow 0). apply bpow_le. lia. Qed.

Lemma terms_split l : (terms l = 0 /\ size l = 0 /\ total l = 0) \/ 1 <= terms l.
Proof.
  destruct (terms_some l) as [(T & S)|T]; [left|right; exact T].
  assert (H := total_size l). rewrite S in H. apply Rabs_le_inv in H. repeat split; auto; lra.
Qed.

Lemma cost_some l : (terms l = 0 /\ size l = 0 /\ total l = 0 /\ cost l = 0)
  \/ (1 <= terms l /\ e + h + size l * u <= cost l).
Proof.
  assert (P := all_positive). destruct (terms_split l) as [(T & S & O)|T]; [left|right].
  - unfold cost. rewrite T, S. repeat split; auto; ring.
  - split; [exact T|]. unfold cost. apply Rplus_le_compat_r.
    rewrite <- (Rmult_1_l (e + h)) at 1. apply Rmult_le_compat_r; lra.
Qed.

Lemma costs_app l m : cost (l ++ m) = cost l + cost m.
Proof. unfold cost. rewrite terms_app, size_app. ring. Qed.

Lemma size_part l : 0 <= size l * u /\ 0 <= size l * ua /\ 0 <= size l * us.
Proof.
  assert (P := all_positive). assert (Q := size_positive l).
  repeat split; apply Rmult_le_pos; lra.
Qed.

(** As it is stored; or exact; or as it is made, before it is stored. *)
Definition close (l : list term) (y : R) : Prop :=
  (terms l = 0 /\ y = 0)
  \/ (1 <= terms l /\ held s y /\ Rabs (y - total l) <= cost l - e)
  \/ (1 <= terms l /\ y = total l)
  \/ (two /\ 1 <= terms l /\ held f y
      /\ (Rabs (y - total l) <= size l * ua + ha \/ Rabs (y - total l) <= cost l - e - es)).

Lemma close_bound l y : close l y -> (terms l = 0 /\ y = 0 /\ total l = 0)
  \/ (1 <= terms l /\ Rabs (y - total l) <= cost l - e).
Proof.
  assert (P := all_positive). assert (Q := size_part l).
  intros N. destruct (cost_some l) as [(T & S & O & C)|(T & C)].
  - left. destruct N as [(_ & Y)|[(Z & _)|[(Z & _)|(_ & Z & _)]]]; [auto|lra|lra|lra].
  - right. split; [exact T|].
    destruct N as [(Z & _)|[(_ & _ & D)|[(_ & ->)|((E & U & H) & _ & _ & [D|D])]]];
      [lra|exact D| | |lra].
    + rewrite Rminus_eq_0, Rabs_R0. lra.
    + rewrite U, H in C. lra.
Qed.

Lemma close_small l y : close l y -> size l + cost l <= pow K -> Rabs y <= pow K.
Proof.
  assert (P := all_positive). intros N S. assert (T := total_size l).
  assert (E := bpow_ge_0 radix2 K).
  destruct (close_bound l y N) as [(_ & -> & _)|(_ & D)]; [rewrite Rabs_R0; lra|].
  replace y with (y - total l + total l) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma zero_again g y : wide g K -> rounded g 0 y -> y = 0.
Proof.
  intros W R. assert (B : Rabs 0 <= pow K) by (rewrite Rabs_R0; apply bpow_ge_0).
  destruct (rounded_by g K 0 y W B R) as (_ & _ & _ & E). apply E, generic_format_0.
Qed.

(** A number or a product, made by the accumulator. *)
Lemma close_one l y : 1 <= terms l -> held f y ->
  Rabs (y - total l) <= size l * ua + ha -> close l y.
Proof.
  intros T H D. destruct formats as [(E & E1 & E2 & E3)|E].
  - right; left. split; [exact T|]. rewrite E. split; [exact H|].
    destruct (cost_some l) as [(T' & _)|(_ & C)]; [lra|]. rewrite E2, E3 in C. lra.
  - right; right; right. auto.
Qed.

Lemma close_again l x y : size l + cost l <= pow K -> close l x -> rounded f x y -> close l y.
Proof.
  intros S N R. assert (B := close_small l x N S).
  destruct (rounded_by f K x y accumulates B R) as (H & _ & D & I).
  destruct N as [(T & ->)|[(T & HX & DX)|[(T & ->)|(E & T & HX & DX)]]].
  - left. split; [exact T|]. exact (zero_again f y accumulates R).
  - rewrite I by (eapply finer_held; [exact inside|apply stores|exact HX]). right; left; auto.
  - apply close_one; auto. assert (L := total_size l).
    assert (Rabs (total l) * ua <= size l * ua) by (apply Rmult_le_compat_r; lra).
    assert (Q := least_flushed f (proj1 accumulates)). fold ua in D. unfold ha. lra.
  - rewrite I by exact HX. right; right; right; auto.
Qed.

Lemma close_store l x y : size l + cost l <= pow K -> close l x -> rounded s x y -> close l y.
Proof.
  intros S N R. assert (B := close_small l x N S). assert (P := all_positive).
  destruct (rounded_by s K x y stores B R) as (H & DE & D & I). fold us hs in D. fold es in DE.
  assert (L := total_size l). assert (Q := size_part l).
  destruct (cost_some l) as [(T' & _ & _ & C)|(T' & C)].
  { destruct N as [(T & ->)|[(T & _)|[(T & _)|(_ & T & _)]]]; [|lra|lra|lra].
    left. split; [exact T|]. eapply zero_again; [exact stores|exact R]. }
  destruct N as [(T & ->)|[(T & HX & DX)|[(T & ->)|((E1 & E2 & E3) & T & HX & DX)]]].
  - lra.
  - rewrite I by exact HX. right; left; auto.
  - right; left. split; [exact T|]. split; [exact H|].
    assert (Rabs (total l) * us <= size l * us) by (apply Rmult_le_compat_r; lra).
    destruct formats as [(E & E1 & E2 & E3)|(E1 & E2 & E3)].
    + assert (W := least_flushed f (proj1 accumulates)). fold ha in W.
      assert (us = ua /\ hs = pow (least f)) as (Y1 & Y2) by (unfold us, hs; rewrite E; auto).
      rewrite E2, E3 in C. rewrite <- Y1, <- Y2 in *. lra.
    + rewrite E2, E3 in C. lra.
  - right; left. split; [exact T|]. split; [exact H|].
    assert (TR : Rabs (y - total l) <= Rabs (y - x) + Rabs (x - total l)).
    { replace (y - total l) with (y - x + (x - total l)) by ring. apply Rabs_triang. }
    destruct DX as [DX|DX]; [|lra].
    assert (XS : Rabs x <= size l + (size l * ua + ha)).
    { replace x with (x - total l + total l) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (O := part_one s (proj1 stores)). fold us in O.
    assert (M : Rabs x * us <= size l * us + (size l * ua + ha)).
    { apply Rle_trans with ((size l + (size l * ua + ha)) * us).
      - apply Rmult_le_compat_r; lra.
      - rewrite Rmult_plus_distr_r. apply Rplus_le_compat_l. rewrite <- Rmult_1_r.
        apply Rmult_le_compat_l; lra. }
    rewrite E2, E3 in C. lra.
Qed.

Lemma close_skip l m y : terms l = 0 -> close m y -> close (l ++ m) y.
Proof.
  intros Z N. assert (P := all_positive).
  destruct (cost_some l) as [(T & S & O & C)|(T & _)]; [|lra].
  unfold close in *. rewrite terms_app, total_app, costs_app, size_app, T, S, O, C, !Rplus_0_l.
  exact N.
Qed.

Lemma close_order l m y : Permutation l m -> close l y -> close m y.
Proof.
  intros P. unfold close, cost. rewrite (terms_order l m P), (total_order l m P),
    (size_order l m P). auto.
Qed.

(** Two sums, or a product that is not rounded, and a sum. *)
Lemma close_add l m x y z : size (l ++ m) + cost (l ++ m) <= pow K ->
  1 <= terms l -> 1 <= terms m -> Rabs (x - total l) <= cost l - e ->
  Rabs (y - total m) <= cost m - e -> rounded f (x + y) z -> close (l ++ m) z.
Proof.
  intros S T T' D D' R. rewrite size_app, costs_app in S. assert (P := all_positive).
  assert (L := total_size l). assert (M := total_size m).
  assert (B : Rabs (x + y) <= pow K).
  { apply Rabs_le. apply Rabs_le_inv in D, D', L, M. lra. }
  destruct (rounded_by f K _ z accumulates B R) as (H & Q & _). fold ea in Q.
  assert (X : Rabs (z - total (l ++ m)) <= cost (l ++ m) - 2 * e + ea).
  { rewrite total_app, costs_app. apply Rabs_le. apply Rabs_le_inv in D, D', Q. lra. }
  destruct formats as [(E & E1 & _)|E].
  - right; left. rewrite terms_app, E. split; [lra|]. split; [exact H|]. lra.
  - right; right; right. split; [exact E|]. rewrite terms_app. split; [lra|]. split; [exact H|].
    right. destruct E as (E1 & _). lra.
Qed.

Lemma total_product a b : total [Product a b] = a * b.
Proof. unfold total. simpl. ring. Qed.

Theorem sum_near_closer l y : sum A l y -> size l + cost l <= pow K -> close l y.
Proof.
  assert (AP := all_positive).
  induction 1 as [ |x|a b y M|l m x y z D IH D' IH' R|a b l x z D IH R|a b l x Z D IH
                  |l m x P D IH|l x y D IH R]; intros S.
  - left. split; reflexivity.
  - destruct (cost_some [Number x]) as [(T & _ & O & _)|(T & _)].
    + left. split; [exact T|]. unfold total in O. simpl in O. lra.
    + right; right; left. split; [exact T|]. unfold total. simpl. ring.
  - assert (O := total_product a b). assert (Q : size [Product a b] = Rabs (a * b))
      by (unfold size; simpl; ring). assert (SP := size_part [Product a b]).
    assert (W := least_flushed f (proj1 accumulates)). fold ha in W.
    assert (B : Rabs (a * b) <= pow K).
    { destruct (cost_some [Product a b]) as [(_ & _ & _ & C)|(_ & C)]; lra. }
    assert (MM : held f y /\ Rabs (y - a * b) <= Rabs (a * b) * ua + ha).
    { destruct M as [R|[F ->]].
      - destruct (rounded_by f K _ y accumulates B R) as (H & _ & D & _). fold ua in D.
        split; [exact H|lra].
      - split; [apply generic_format_0|]. rewrite Rminus_0_l, Rabs_Ropp. rewrite Q in SP.
        assert (F' : Rabs (a * b) < ha) by exact F. lra. }
    destruct MM as (G & N).
    destruct (cost_some [Product a b]) as [(T & Z & O' & _)|(T & C)].
    + left. split; [exact T|]. rewrite O in O'. rewrite O' in M.
      destruct M as [R|[_ R]]; [|exact R]. eapply zero_again; [exact accumulates|exact R].
    + apply close_one; auto. rewrite O, Q. exact N.
  - assert (S' := S). rewrite size_app, costs_app in S'.
    assert (P := size_positive l). assert (P' := size_positive m).
    assert (C : 0 <= cost l /\ 0 <= cost m).
    { split; [destruct (cost_some l)|destruct (cost_some m)]; assert (V := size_part l);
        assert (V' := size_part m); lra. }
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
    assert (SP := size_part [Product a b]). assert (SP' := size_part l).
    assert (Q : size [Product a b] = Rabs (a * b)) by (unfold size; simpl; ring).
    destruct (cost_some [Product a b]) as [(T & Z & O' & C)|(T & C)].
    + apply close_skip; [exact T|]. rewrite O in O'. rewrite O', Rplus_0_l in R.
      assert (N := IH ltac:(lra)). eapply close_again; [|exact N|exact R]. lra.
    + assert (N := IH ltac:(lra)). destruct (close_bound l x N) as [(T' & -> & O')|(T' & B)].
      * apply (close_order (l ++ [Product a b])); [apply Permutation_app_comm|].
        apply close_skip; [exact T'|]. rewrite Rplus_0_r in R.
        assert (B : Rabs (a * b) <= pow K).
        { destruct (cost_some l) as [(_ & _ & _ & X)|(X & _)]; lra. }
        assert (W := least_flushed f (proj1 accumulates)). fold ha in W.
        destruct (rounded_by f K _ z accumulates B R) as (G & _ & D' & _). fold ua in D'.
        apply close_one; auto. rewrite O, Q. lra.
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
  - eapply close_store; [exact S|apply IH; exact S|exact R].
Qed.

Corollary sum_closer l y : sum A l y -> size l + cost l <= pow K ->
  (total l = y) \/ Rabs (y - total l) <= cost l - e.
Proof.
  intros D S. destruct (close_bound l y (sum_near_closer l y D S)) as [(_ & -> & ->)|(_ & B)]; auto.
Qed.
End Sums.
