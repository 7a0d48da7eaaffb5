(** The bounds of heads in formats of 16 bits, as the checker computes them. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Program Invariant Domains Arithmetic Recurrent Rounding Softmax
  Collected Attended StoredHeads Transformer Bounds Lists Affine Mean TransformerCheck TablesSound.
Import ListNotations.
Open Scope R_scope.

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

Lemma slack_stored_bound e V : (0 <= V)%Z -> 0 <= astray_stored f (IZR (most e) * pow (- g)) N ->
  (IZR V * pow (- g) * (5 * (N + 1) * roundoff f + 1.005 * roundoff (stored A)
      + 2.7 * astray_stored f (IZR (most e) * pow (- g)) N + 3 * INR t * pow (1 - Z.of_nat (gap e)))
   + (16 * N * tiny f * (1 + IZR V * pow (- g)) + 2 * N * speck (stored A) * (IZR V * pow (- g))))
  * pow g <= IZR (slack_stored A g longest e V).
Proof.
  intros V0 X0. unfold slack_stored. fold f M. set (s := stored A).
  set (x := astray_stored f (IZR (most e) * pow (- g)) N) in *.
  assert (WX := wandering_bound (most e)). fold x in WX.
  assert (B1 := up_above (- digits f) (5 * (M + 1) * V)).
  assert (B2 := up_above (- digits s - 7) (129 * V)).
  assert (B3 := up_above (- g) (3 * wandering A g longest (most e) * V)).
  assert (B4 := up_above (1 - Z.of_nat (gap e)) (3 * M * V)).
  assert (B5 := up_above (least f + digits f - 1) (16 * M * (2 ^ g + V))).
  assert (B6 := up_above (least s) (M * V)).
  rewrite !plus_IZR. 
  repeat rewrite ?mult_IZR, ?plus_IZR in B1. rewrite mult_IZR in B2.
  repeat rewrite ?mult_IZR, ?plus_IZR in B3. repeat rewrite ?mult_IZR, ?plus_IZR in B4.
  repeat rewrite ?mult_IZR, ?plus_IZR in B5. rewrite mult_IZR in B6.
  rewrite (IZR_Zpower radix2) in B5 by exact fine. apply IZR_le in V0.
  assert (W := within_real). assert (U := units). assert (P := bpow_gt_0 radix2 g).
  assert (P' := bpow_gt_0 radix2 (- g)). assert (N1 : 1 <= N) by (unfold N; rewrite S_INR; assert (q := pos_INR t); lra).
  assert (T1 : INR t <= N) by (unfold N; rewrite S_INR; lra). assert (T0 := pos_INR t).
  unfold roundoff, tiny. set (a := pow (- digits f)) in *. set (b := pow (- digits s)) in *.
  set (c := pow (1 - Z.of_nat (gap e))) in *. set (d := pow (least f + digits f - 1)) in *.
  assert (a0 : 0 <= a) by apply bpow_ge_0. assert (b0 : 0 <= b) by apply bpow_ge_0.
  assert (c0 : 0 <= c) by apply bpow_ge_0. assert (d0 : 0 <= d) by apply bpow_ge_0.
  assert (E2 : pow (- digits s - 7) = b / 128).
  { replace (- digits s - 7)%Z with (- digits s + -7)%Z by lia. rewrite bpow_plus.
    unfold b, Rdiv. f_equal. }
  assert (E6 : pow (least s) = 2 * speck s).
  { unfold speck. replace (least s) with (1 + (least s - 1))%Z at 1 by lia. rewrite bpow_plus.
    reflexivity. }
  rewrite E2 in B2. rewrite E6 in B6. assert (s0 : 0 < speck s) by apply bpow_gt_0.
  set (v := IZR V) in *. set (m := IZR M) in *.
  replace ((v * pow (- g) * (5 * (N + 1) * a + 1.005 * b + 2.7 * x + 3 * INR t * c)
    + (16 * N * d * (1 + v * pow (- g)) + 2 * N * speck s * (v * pow (- g)))) * pow g)
    with (5 * (N + 1) * (v * a) * (pow (- g) * pow g) + 1.005 * (v * b) * (pow (- g) * pow g)
      + 2.7 * (v * (x * pow g)) * pow (- g) + 3 * INR t * (v * c) * (pow (- g) * pow g)
      + (16 * N * d * (pow g + v * (pow (- g) * pow g))
         + N * (v * (2 * speck s)) * (pow (- g) * pow g))) by ring.
  rewrite U, !Rmult_1_r.
  assert (C1 : 5 * (N + 1) * (v * a) <= 5 * (m + 1) * (v * a))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C2 : 0 <= v * b) by (apply Rmult_le_pos; lra).
  assert (C3 : v * (x * pow g) * pow (- g) <= v * IZR (wandering A g longest (most e)) * pow (- g)).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
  assert (C3' : 0 <= v * (x * pow g) * pow (- g)) by (repeat apply Rmult_le_pos; lra).
  assert (C4 : 3 * INR t * (v * c) <= 3 * m * (v * c))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C5 : 16 * N * (d * (pow g + v)) <= 16 * m * (d * (pow g + v)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (C6 : N * (v * (2 * speck s)) <= m * (v * (2 * speck s)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  lra.
Qed.

Lemma found_kept e V u X : forall l k, all (kept_value A g longest e V) l = Some k ->
  found u l = Some X ->
  exists Y, rounding A g (single (wider (slack_stored A g longest e V) X)) = Some Y
    /\ found u k = Some Y.
Proof.
  induction l as [|(a, x) l IH]; intros k E F; [discriminate|]. cbn [all] in E.
  destruct (kept_value A g longest e V (a, x)) as [b|] eqn:Q; [|discriminate E].
  destruct (all _ l) as [k'|]; [|discriminate E]. assert (k = b :: k') by congruence. subst k.
  unfold kept_value in Q. cbn [fst snd] in Q. 
  destruct (rounding A g (single (wider (slack_stored A g longest e V) x))) as [y|] eqn:R;
    [|discriminate Q].
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
End Stored.
