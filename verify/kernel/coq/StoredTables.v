(** The bounds of heads in formats of 16 bits, as the checker computes them. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Program Invariant Domains Arithmetic Recurrent Rounding Softmax
  Collected Attended Tops StoredHeads Stored Transformer Bounds Lists Affine Mean TransformerCheck
  TablesSound.
Import ListNotations.
Open Scope R_scope.

(** * What heads return, which is stored, or not *)
Section Kept.
Variables (A : arithmetic) (g : Z).

Lemma found_kept u X : forall l k, all (kept_value A g) l = Some k -> found u l = Some X ->
  exists Y, rounding A g (single X) = Some Y /\ found u k = Some Y.
Proof.
  induction l as [|(a, x) l IH]; intros k E F; [discriminate|]. cbn [all] in E.
  destruct (kept_value A g (a, x)) as [b|] eqn:Q; [|discriminate E].
  destruct (all _ l) as [k'|]; [|discriminate E]. assert (k = b :: k') by congruence. subst k.
  unfold kept_value in Q. cbn [fst snd] in Q.
  destruct (rounding A g (single x)) as [y|] eqn:R; [|discriminate Q].
  assert (b = (a, y)) by congruence. subst b. cbn [found] in *.
  destruct (a =? u)%nat; [|apply IH; auto].
  assert (x = X) by congruence. subst x. exists y. auto.
Qed.

Lemma stored_inside X Y y o : rounding A g (single X) = Some Y -> inside g X y -> store A y o ->
  inside g Y o.
Proof.
  intros R I S. eapply rounding_sound; [exact R|apply number_counted, I|].
  unfold store in S. destruct S as [->|(_ & S)]; [constructor|]. eapply sum_store; [constructor|exact S].
Qed.

Lemma same_stores x y : same_format (accumulator A) (stored A) = true -> store A x y -> y = x.
Proof.
  intros E [->|(NA & _)]; [reflexivity|]. apply same_format_sound in E. unfold narrow in NA.
  rewrite E in NA. lia.
Qed.

Lemma kept_sound c l F u X x y : kept A g c l = Some F -> found u l = Some X -> inside g X x ->
  store A x y -> channel F = c /\ exists Y, found u (table F) = Some Y /\ inside g Y y.
Proof.
  unfold kept. destruct (same_format (accumulator A) (stored A)) eqn:E.
  - intros K F0 I S. inversion K; subst F. split; [reflexivity|]. exists X. cbn [table].
    rewrite (same_stores x y E S). auto.
  - destruct (all _ l) as [k|] eqn:K; [|discriminate]. intros H F0 I S. inversion H; subst F.
    destruct (found_kept u X l k K F0) as (Y & R & F1). split; [reflexivity|]. exists Y.
    split; [exact F1|]. eapply stored_inside; eauto.
Qed.

End Kept.

Section Stored.
Variables (A : arithmetic) (g : Z) (longest t : nat).
Hypothesis fine : (0 <= g)%Z.
Hypothesis within : (t <= longest)%nat.
Let f := accumulator A.
Let N := INR (S t).
Let M := Z.of_nat (1 + longest).

Lemma within_real : N <= IZR M.
Proof. unfold N, M. rewrite <- INR_IZR_INZ. apply le_INR. lia. Qed.

Lemma units : pow (- g) * pow g = 1.
Proof. rewrite <- bpow_plus. replace (- g + g)%Z with 0%Z by lia. reflexivity. Qed.

Lemma wandering_bound top :
  astray_stored f (IZR top * pow (- g)) N * pow g <= IZR (wandering A g longest top).
Proof.
  unfold astray_stored, wandering, roundoff. fold f M. rewrite plus_IZR.
  assert (B1 := up_above (- digits f) (9 * top)). assert (B2 := up_above (g - 24) (257 * (M + 32))).
  rewrite mult_IZR in B1. rewrite mult_IZR, plus_IZR in B2. change (-24)%Z with (- (24))%Z in *.
  replace (pow (g - 24)) with (pow g * pow (- (24))) in B2 by (rewrite <- bpow_plus; reflexivity).
  assert (W := within_real). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  assert (P24 := bpow_gt_0 radix2 (- (24))).
  replace ((pow (- digits f) * (9 * (IZR top * pow (- g))) + 257 * (N + 32) * pow (- (24))) * pow g)
    with (9 * IZR top * pow (- digits f) * (pow (- g) * pow g)
          + 257 * (N + 32) * (pow g * pow (- (24)))) by ring.
  rewrite U, Rmult_1_r.
  assert (257 * (N + 32) * (pow g * pow (- (24))) <= 257 * (IZR M + 32) * (pow g * pow (- (24)))).
  { apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
  lra.
Qed.

Lemma settling_sound top : settling A g longest top = true ->
  storing A = true /\ astray_stored f (IZR top * pow (- g)) N <= / 8.
Proof.
  unfold settling. rewrite andb_true_iff, Z.leb_le. intros (S & C). split; [exact S|].
  assert (W := wandering_bound top). apply IZR_le in C.
  rewrite mult_IZR, (IZR_Zpower radix2) in C by exact fine. assert (P := bpow_gt_0 radix2 g).
  apply Rmult_le_reg_r with (pow g); [exact P|]. lra.
Qed.

Lemma heaviness_bound e :
  heavy f (IZR (most e) * pow (- g)) * pow g <= IZR (heaviness A g e).
Proof.
  unfold heaviness, heavy, roundoff. fold f. rewrite plus_IZR.
  assert (B1 := up_above (g - 16) 9). assert (B2 := up_above (- digits f) (4 * most e)).
  rewrite mult_IZR in B2. replace (pow (g - 16)) with (pow g * pow (- (16))) in B1
    by (rewrite <- bpow_plus; reflexivity).
  change (pow (- (16))) with (/ 65536) in B1. change (pow (-14)) with (/ 16384).
  replace ((9 / 4 * / 16384 + 4 * (pow (- digits f) * (IZR (most e) * pow (- g)))) * pow g)
    with (9 * (pow g * / 65536) + 4 * IZR (most e) * pow (- digits f) * (pow (- g) * pow g)) by field.
  rewrite units. lra.
Qed.

Lemma store_bound_right e : store_off A (IZR (most e) * pow (- g)) N (pow (1 - Z.of_nat (gap e)))
  * pow g <= IZR (store_bound A g longest e).
Proof.
  assert (P := bpow_gt_0 radix2 g). unfold store_off, store_bound. fold f M.
  set (x := roundoff (stored A)). set (y := share_off _ _ _ _).
  assert (X := Rmin_l x y). assert (Y := Rmin_r x y).
  apply Rmult_le_compat_r with (r := pow g) in X; [|lra].
  apply Rmult_le_compat_r with (r := pow g) in Y; [|lra].
  destruct (Z.min_spec (up (g - digits (stored A)) 1) (heaviness A g e
    + up (g - digits f) (4 * (M + 1)) + up (g + 1 - Z.of_nat (gap e)) (2 * M)))
    as [(_ & ->)|(_ & ->)].
  - eapply Rle_trans; [exact X|]. unfold x, roundoff. assert (B := up_above (g - digits (stored A)) 1).
    replace (pow (- digits (stored A)) * pow g) with (1 * pow (g - digits (stored A)));
      [exact B|]. rewrite Rmult_1_l, <- bpow_plus. f_equal. lia.
  - eapply Rle_trans; [exact Y|]. unfold y, share_off, roundoff. rewrite !plus_IZR. assert (H := heaviness_bound e).
    assert (B1 := up_above (g - digits f) (4 * (M + 1))). rewrite mult_IZR, plus_IZR in B1.
    assert (B2 := up_above (g + 1 - Z.of_nat (gap e)) (2 * M)). rewrite mult_IZR in B2.
    replace (pow (g - digits f)) with (pow (- digits f) * pow g) in B1
      by (rewrite <- bpow_plus; f_equal; lia).
    replace (pow (g + 1 - Z.of_nat (gap e))) with (pow (1 - Z.of_nat (gap e)) * pow g) in B2
      by (rewrite <- bpow_plus; f_equal; lia).
    assert (W := within_real). set (a := pow (- digits f)) in *.
    set (c := pow (1 - Z.of_nat (gap e))) in *.
    assert (a0 : 0 <= a * pow g) by (apply Rmult_le_pos; [apply bpow_ge_0|lra]).
    assert (c0 : 0 <= c * pow g) by (apply Rmult_le_pos; [apply bpow_ge_0|lra]).
    assert (N * (a * pow g) <= IZR M * (a * pow g)) by (apply Rmult_le_compat_r; lra).
    assert (N * (c * pow g) <= IZR M * (c * pow g)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma slack_stored_bound e V : (0 <= V)%Z ->
  let lam := pow (1 - Z.of_nat (gap e)) in let L := IZR (most e) * pow (- g) in
  (IZR V * pow (- g) * (5 * (N + 1) * roundoff f + heavy f L + 131 / 128 * store_off A L N lam
      + 3 * INR t * lam)
   + (16 * N * tiny f * (1 + IZR V * pow (- g)) + 2 * N * speck (stored A) * (IZR V * pow (- g))))
  * pow g <= IZR (slack_stored A g longest e V).
Proof.
  intros V0 lam L. unfold slack_stored. fold f M. set (s := stored A).
  assert (HB := heaviness_bound e). assert (SB := store_bound_right e). fold L lam in HB, SB.
  set (h := heavy f L) in *. set (q := store_off A L N lam) in *.
  set (H := heaviness A g e) in *. set (Q := store_bound A g longest e) in *.
  assert (B1 := up_above (- digits f) (5 * (M + 1) * V)).
  assert (B3 := up_above (- g - 7) ((128 * H + 131 * Q) * V)).
  assert (B4 := up_above (1 - Z.of_nat (gap e)) (3 * M * V)). fold lam in B4.
  assert (B5 := up_above (least f + digits f - 1) (16 * M * (2 ^ g + V))).
  assert (B6 := up_above (least s) (M * V)). rewrite !plus_IZR.
  repeat rewrite ?mult_IZR, ?plus_IZR in B1. repeat rewrite ?mult_IZR, ?plus_IZR in B3.
  repeat rewrite ?mult_IZR, ?plus_IZR in B4. repeat rewrite ?mult_IZR, ?plus_IZR in B5.
  rewrite mult_IZR in B6. rewrite (IZR_Zpower radix2) in B5 by exact fine. apply IZR_le in V0.
  assert (W := within_real). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  assert (P' := bpow_gt_0 radix2 (- g)).
  assert (N1 : 1 <= N) by (unfold N; rewrite S_INR; assert (q' := pos_INR t); lra).
  assert (T1 : INR t <= N) by (unfold N; rewrite S_INR; lra). assert (T0 := pos_INR t).
  unfold roundoff, tiny. set (a := pow (- digits f)) in *.
  set (d := pow (least f + digits f - 1)) in *. assert (a0 : 0 <= a) by apply bpow_ge_0.
  assert (c0 : 0 <= lam) by apply bpow_ge_0. assert (d0 : 0 <= d) by apply bpow_ge_0.
  replace (pow (- g - 7)) with (pow (- g) / 128) in B3
    by (unfold Rdiv; rewrite <- (bpow_plus radix2 _ (-7)); f_equal; lia).
  assert (E6 : pow (least s) = 2 * speck s).
  { unfold speck. replace (least s) with (1 + (least s - 1))%Z at 1 by lia. rewrite bpow_plus.
    reflexivity. }
  rewrite E6 in B6. assert (s0 : 0 < speck s) by apply bpow_gt_0.
  set (v := IZR V) in *. set (m := IZR M) in *.
  replace ((v * pow (- g) * (5 * (N + 1) * a + h + 131 / 128 * q + 3 * INR t * lam)
    + (16 * N * d * (1 + v * pow (- g)) + 2 * N * speck s * (v * pow (- g)))) * pow g)
    with (5 * (N + 1) * (v * a) * (pow (- g) * pow g)
      + (v * pow (- g)) * (h * pow g + 131 / 128 * (q * pow g))
      + 3 * INR t * (v * lam) * (pow (- g) * pow g)
      + (16 * N * d * (pow g + v * (pow (- g) * pow g))
         + N * (v * (2 * speck s)) * (pow (- g) * pow g))) by ring.
  rewrite U, !Rmult_1_r. assert (vg : 0 <= v * pow (- g)) by (apply Rmult_le_pos; lra).
  assert (C1 : 5 * (N + 1) * (v * a) <= 5 * (m + 1) * (v * a))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C3 : v * pow (- g) * (h * pow g + 131 / 128 * (q * pow g))
    <= v * pow (- g) * ((128 * IZR H + 131 * IZR Q) / 128)).
  { apply Rmult_le_compat_l; [exact vg|].
    lra. }
  assert (C4 : 3 * INR t * (v * lam) <= 3 * m * (v * lam))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C5 : 16 * N * (d * (pow g + v)) <= 16 * m * (d * (pow g + v)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C6 : N * (v * (2 * speck s)) <= m * (v * (2 * speck s)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  lra.
Qed.

(** * Sums *)

(** What both kinds of formats have in common. *)
Lemma skew_common e rest : (0 <= loose e)%Z ->
  rest * pow g <= IZR (skew A g longest e)
    - IZR (up (- digits f) (5 * (M + 1) * 2 ^ g) + up (g - 64) (2 * loose e) + up (g - 40) M) ->
  5 * (N + 1) * roundoff f + 2 * (IZR (loose e) * pow (-64)) + N * pow (-40) + rest
    <= IZR (skew A g longest e) * pow (- g).
Proof.
  intros L0 R. rewrite !plus_IZR in R.
  assert (B1 := up_above (- digits f) (5 * (M + 1) * 2 ^ g)).
  assert (B2 := up_above (g - 64) (2 * loose e)). assert (B3 := up_above (g - 40) M).
  rewrite !mult_IZR, plus_IZR, (IZR_Zpower radix2) in B1 by exact fine. rewrite mult_IZR in B2.
  replace (pow (g - 64)) with (pow (-64) * pow g) in B2 by (rewrite <- bpow_plus; f_equal; lia).
  replace (pow (g - 40)) with (pow (-40) * pow g) in B3 by (rewrite <- bpow_plus; f_equal; lia).
  assert (W := within_real). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  assert (P40 := bpow_gt_0 radix2 (-40)). unfold roundoff. set (a := pow (- digits f)) in *.
  assert (a0 : 0 <= a) by apply bpow_ge_0. apply Rmult_le_reg_r with (pow g); [exact P|].
  rewrite (Rmult_assoc _ (pow (- g))), U, Rmult_1_r.
  assert (N * (a * pow g) <= IZR M * (a * pow g))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact W]).
  assert (N * (pow (-40) * pow g) <= IZR M * (pow (-40) * pow g))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact W]). lra.
Qed.

Lemma beyond_common tb rest :
  rest * pow g <= IZR (beyond A g longest tb)
    - IZR (2 * stray g tb + up (-40) (8 * M * largest tb)
           + up (least f + digits f - 1) (16 * M * (2 ^ g + largest tb))) ->
  2 * (IZR (stray g tb) * pow (- g)) + 8 * N * pow (-40) * (IZR (largest tb) * pow (- g))
    + 16 * N * tiny f * (1 + IZR (largest tb) * pow (- g)) + rest
    <= IZR (beyond A g longest tb) * pow (- g).
Proof.
  intros R. rewrite !plus_IZR, mult_IZR in R.
  assert (B1 := up_above (-40) (8 * M * largest tb)). rewrite !mult_IZR in B1.
  assert (B2 := up_above (least f + digits f - 1) (16 * M * (2 ^ g + largest tb))).
  rewrite !mult_IZR, plus_IZR, (IZR_Zpower radix2) in B2 by exact fine.
  assert (W := within_real). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  assert (P40 := bpow_gt_0 radix2 (-40)). unfold tiny.
  set (a := pow (least f + digits f - 1)) in *. assert (a0 : 0 <= a) by apply bpow_ge_0.
  assert (V0 := largest_positive tb). apply IZR_le in V0. set (V := IZR (largest tb)) in *.
  apply Rmult_le_reg_r with (pow g); [exact P|]. rewrite (Rmult_assoc _ (pow (- g)) (pow g)), U, Rmult_1_r.
  replace ((2 * (IZR (stray g tb) * pow (- g)) + 8 * N * pow (-40) * (V * pow (- g))
      + 16 * N * a * (1 + V * pow (- g)) + rest) * pow g)
    with (2 * IZR (stray g tb) * (pow (- g) * pow g)
      + 8 * (N * (pow (-40) * V)) * (pow (- g) * pow g)
      + 16 * (N * (a * (pow g + V * (pow (- g) * pow g)))) + rest * pow g) by ring.
  rewrite U, !Rmult_1_r.
  assert (N * (a * (pow g + V)) <= IZR M * (a * (pow g + V)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact W]).
  assert (N * (pow (-40) * V) <= IZR M * (pow (-40) * V))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact W]). lra.
Qed.

(** What a head that adds up returns: a mean, up to a part of it and what is beyond. *)
Theorem share_returned e tb s v o x h shares_of :
  sound_weights g longest f (most e) = true -> bounded A g longest (most e) = true ->
  (2 <= longest)%nat -> (0 <= loose e)%Z -> (skew A g longest e < 2 ^ g)%Z ->
  softmax A t s v o -> among t s 3 ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= IZR (most e) * pow (- g)
     /\ Rabs (v j) <= IZR (largest tb) * pow (- g)) ->
  16 * INR (S t) * (1 + IZR (largest tb) * pow (- g)) <= pow (top f) -> 1 <= shares_of ->
  (forall j, (j <= t)%nat ->
     (h j = 0 /\ exp (s j) <= pow (-40) /\ x j = 0)
     \/ (h j * (1 - IZR (loose e) * pow (-64)) <= exp (s j) <= h j * (1 + IZR (loose e) * pow (-64))
         /\ 0 <= x j /\ Rabs (v j - x j) <= IZR (stray g tb) * pow (- g)
         /\ (x j <> 0 -> h j = 1))) ->
  sum_f_R0 h t = shares_of ->
  let th := IZR (skew A g longest e) * pow (- g) in
  let b := IZR (beyond A g longest tb) * pow (- g) in
  exists y, store A y o
    /\ sum_f_R0 x t / shares_of * (1 - th) - b <= y <= sum_f_R0 x t / shares_of / (1 - th) + b.
Proof.
  intros SW BO TW L0 K AO AM B ROOM N1 H HN th b.
  assert (TH1 : th < 1).
  { apply IZR_lt in K. rewrite (IZR_Zpower radix2) in K by exact fine. unfold th.
    apply Rlt_le_trans with (pow g * pow (- g)); [|rewrite Rmult_comm, units; lra].
    apply Rmult_lt_compat_r; [apply bpow_gt_0|exact K]. }
  assert (D0 : 0 <= IZR (loose e) * pow (-64))
    by (apply Rmult_le_pos; [apply IZR_le, L0|apply bpow_ge_0]).
  assert (ETA : 0 <= IZR (stray g tb) * pow (- g))
    by (apply Rmult_le_pos; [apply IZR_le, stray_positive|apply bpow_ge_0]).
  assert (P40 := bpow_ge_0 radix2 (-40)). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  unfold bounded in BO. apply andb_true_iff in BO. destruct BO as (USUAL & BO). fold f in BO.
  destruct (weights_sound (most e) t SW ltac:(lia)) as (W1 & _ & _).
  destruct (same_format f (stored A)) eqn:SF.
  - destruct (weights_sound (most e) 2 SW TW) as (_ & W2 & _).
    apply (softmax_attended A t s v o (same_format_sound _ _ SF) USUAL) in AO.
    exists o. split; [left; reflexivity|].
    assert (Z := attended_share f t s v o x h (IZR (loose e) * pow (-64))
      (IZR (stray g tb) * pow (- g)) (pow (-40)) shares_of (IZR (most e) * pow (- g))
      (IZR (largest tb) * pow (- g)) 3 th AO AM B W1 W2 ROOM D0 N1 P40 ETA).
    assert (TH : 5 * (INR (S t) + 1) * roundoff f + 2 * (IZR (loose e) * pow (-64))
      + 2 * astray f (IZR (most e) * pow (- g)) (INR 3) + INR (S t) * pow (-40) <= th).
    { assert (Q := skew_common e (2 * astray f (IZR (most e) * pow (- g)) (INR 3)) L0).
      fold N. apply Rle_trans with (5 * (N + 1) * roundoff f + 2 * (IZR (loose e) * pow (-64))
        + N * pow (-40) + 2 * astray f (IZR (most e) * pow (- g)) (INR 3)); [lra|]. apply Q.
      unfold skew. fold f M. rewrite SF, !plus_IZR.
      assert (C := up_above (- digits f) (2 * (9 * most e + 42 * 3 * 2 ^ g))).
      rewrite mult_IZR, plus_IZR, !mult_IZR, (IZR_Zpower radix2) in C by exact fine.
      unfold astray, roundoff. replace (INR 3) with 3 by (simpl; ring).
      replace (2 * (pow (- digits f) * (9 * (IZR (most e) * pow (- g)) + 42 * 3)) * pow g)
        with (2 * (9 * IZR (most e) * (pow (- g) * pow g) + 42 * 3 * pow g) * pow (- digits f))
        by ring. rewrite U. lra. }
    specialize (Z (conj TH TH1) H HN). cbv zeta in Z.
    assert (E : 2 * (IZR (stray g tb) * pow (- g)) + 8 * N * pow (-40) * (IZR (largest tb) * pow (- g))
      + 16 * N * tiny f * (1 + IZR (largest tb) * pow (- g)) + 0 <= b).
    { apply beyond_common. unfold beyond. fold f M. rewrite SF, !plus_IZR, mult_IZR. lra. }
    unfold tiny in E. fold N in Z. lra.
  - assert (BO' : settling A g longest (most e) = true) by exact BO.
    destruct (settling_sound (most e) BO') as (STO & ST).
        assert (Z := stored_share A t s v o x h (IZR (loose e) * pow (-64))
      (IZR (stray g tb) * pow (- g)) (pow (-40)) shares_of (IZR (most e) * pow (- g))
      (IZR (largest tb) * pow (- g)) th USUAL STO AO B W1 ST ROOM D0 N1 P40 ETA).
    fold f N in Z. set (wa := astray_stored f (IZR (most e) * pow (- g)) N) in *.
    assert (TH : uneven A (IZR (most e) * pow (- g)) N + 2 * (IZR (loose e) * pow (-64))
      + 2 * wa + N * pow (-40) <= th).
    { assert (Q := skew_common e (1.005 * roundoff (stored A) + 5 * wa) L0).
      unfold uneven. fold f N wa.
      apply Rle_trans with (5 * (N + 1) * roundoff f + 2 * (IZR (loose e) * pow (-64))
        + N * pow (-40) + (1.005 * roundoff (stored A) + 5 * wa)); [lra|]. apply Q.
      unfold skew. fold f M. rewrite SF, !plus_IZR, mult_IZR.
      assert (C := up_above (- digits (stored A) - 7) (129 * 2 ^ g)).
      rewrite mult_IZR, (IZR_Zpower radix2) in C by exact fine.
      assert (WB := wandering_bound (most e)). fold wa in WB. unfold roundoff.
      set (us := pow (- digits (stored A))) in *. assert (us0 : 0 <= us) by apply bpow_ge_0.
      replace (pow (- digits (stored A) - 7)) with (us / 128) in C
        by (unfold us, Rdiv; rewrite <- (bpow_plus radix2 _ (-7)); f_equal; lia).
      assert (0 <= us * pow g) by (apply Rmult_le_pos; lra). lra. }
    specialize (Z (conj TH TH1) H HN). cbv zeta in Z.
    assert (E : 2 * (IZR (stray g tb) * pow (- g)) + 8 * N * pow (-40) * (IZR (largest tb) * pow (- g))
      + 16 * N * tiny f * (1 + IZR (largest tb) * pow (- g))
      + 2 * N * speck (stored A) * (IZR (largest tb) * pow (- g)) <= b).
    { apply beyond_common. unfold beyond. fold f M. rewrite SF, !plus_IZR, mult_IZR.
      assert (C := up_above (least (stored A)) (M * largest tb)). rewrite mult_IZR in C.
      assert (V0 := largest_positive tb). apply IZR_le in V0. set (V := IZR (largest tb)) in *.
      replace (pow (least (stored A))) with (2 * speck (stored A)) in C
        by (unfold speck; change 2 with (pow 1); rewrite <- bpow_plus; f_equal; lia).
      assert (s0 : 0 < speck (stored A)) by apply bpow_gt_0.
      replace (2 * N * speck (stored A) * (V * pow (- g)) * pow g)
        with (N * (V * (2 * speck (stored A))) * (pow (- g) * pow g)) by ring.
      rewrite U, Rmult_1_r. assert (W := within_real).
      assert (N * (V * (2 * speck (stored A))) <= IZR M * (V * (2 * speck (stored A))))
        by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact W]). lra. }
    destruct Z as (y & SO & Z). exists y. split; [exact SO|]. lra.
Qed.
End Stored.
