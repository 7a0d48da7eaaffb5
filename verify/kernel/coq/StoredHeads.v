(** A head whose right score leads copies a value in formats of 16 bits, too. *)
From Coq Require Import Reals ZArith List Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding Softmax Collected Weights Attended.
Open Scope R_scope.

Lemma exp_short z : 0 <= z <= / 4 -> exp z <= 1 + 4 / 3 * z /\ 1 - z <= exp (- z).
Proof.
  intros Z. assert (I := exp_ineq1_le (- z)). split; [|lra].
  assert (P := exp_pos z). rewrite exp_Ropp in I.
  assert (Q : exp z * (1 - z) <= 1).
  { apply Rle_trans with (exp z * / exp z); [apply Rmult_le_compat_l; lra|].
    right. field. lra. }
  assert (exp z <= 4 / 3).
  { assert (exp z * (3 / 4) <= exp z * (1 - z)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (exp z * z <= 4 / 3 * z) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** A mean with weights a over a sum of weights b, which are nearly the same, and one of which
    outweighs each other one by 1/lam. *)
Lemma means_near t r a b c v V k z lam : (r <= t)%nat -> 0 <= lam -> 0 <= k <= / 80 ->
  0 <= z <= / 4 -> (forall j, (j <= t)%nat -> 0 < a j /\ 0 < b j) ->
  (forall j, (j <= t)%nat -> Rabs (v j) <= V /\ Rabs (c j - 1) <= k) ->
  exp (- z) * b r <= a r <= exp z * b r ->
  (forall j, (j <= t)%nat -> j <> r -> a j <= lam * b r /\ b j <= lam * b r) ->
  Rabs (sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t - v r)
    <= V * (k + 1.35 * z + 3 * INR t * lam).
Proof.
  intros L P K Z AB H E W. destruct (AB r L) as (AR & BR).
  assert (O := sum_one r b t L (fun j l => Rlt_le _ _ (proj2 (AB j l)))).
  set (S := sum_f_R0 b t) in *.
  assert (D := sum_apart (fun j => c j * a j * v j) b (fun j => c j * a j * v j - v r * b j) (v r) t
    ltac:(intros; cbv beta; ring)). fold S in D.
  destruct (H r L) as (VR & CR). assert (V0 : 0 <= V) by (assert (q := Rabs_pos (v r)); lra).
  destruct (exp_short z Z) as (E1 & E2). assert (T0 := pos_INR t).
  assert (ONE : Rabs (c r * a r * v r - v r * b r) <= b r * (V * (k + 1.35 * z))).
  { replace (c r * a r * v r - v r * b r) with ((c r * a r - b r) * v r) by ring.
    rewrite Rabs_mult. replace (b r * (V * (k + 1.35 * z))) with (b r * (k + 1.35 * z) * V) by ring.
    apply Rmult_le_compat; auto; try apply Rabs_pos. apply Rabs_le_inv in CR.
    assert (A1 : a r <= (1 + 4 / 3 * z) * b r)
      by (eapply Rle_trans; [apply E|apply Rmult_le_compat_r; lra]).
    assert (A2 : (1 - z) * b r <= a r)
      by (eapply Rle_trans; [apply Rmult_le_compat_r; [lra|exact E2]|apply E]).
    assert (BZ : 0 <= b r * z) by (apply Rmult_le_pos; lra).
    assert (BK : 0 <= b r * k) by (apply Rmult_le_pos; lra).
    assert (KZ : 0 <= k * (b r * z) <= / 80 * (b r * z))
      by (split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_r; lra]).
    assert (C1 : c r * a r <= (1 + k) * a r) by (apply Rmult_le_compat_r; lra).
    assert (C2 : (1 - k) * a r <= c r * a r) by (apply Rmult_le_compat_r; lra).
    assert (C3 : (1 + k) * a r <= (1 + k) * ((1 + 4 / 3 * z) * b r))
      by (apply Rmult_le_compat_l; lra).
    assert (C4 : (1 - k) * ((1 - z) * b r) <= (1 - k) * a r) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le. lra. }
  assert (B : Rabs (sum_f_R0 (fun j => c j * a j * v j - v r * b j) t)
              <= b r * (V * (k + 1.35 * z + 3 * INR t * lam))).
  { eapply Rle_trans; [apply sum_abs with (g := fun j => Rabs (c j * a j * v j - v r * b j));
                       intros; lra|].
    replace (b r * (V * (k + 1.35 * z + 3 * INR t * lam)))
      with (b r * (V * (k + 1.35 * z)) + INR t * (3 * V * (lam * b r))) by ring.
    apply sum_bound with (r := r); auto.
    - apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
    - intros j J NE. destruct (H j J) as (VJ & CJ). destruct (AB j J) as (AJ & BJ).
      destruct (W j J NE) as (W1 & W2). apply Rabs_le_inv in CJ.
      assert (LB : 0 <= lam * b r) by (apply Rmult_le_pos; lra).
      assert (Q1 : Rabs (c j * a j * v j) <= 1.5 * (lam * b r) * V).
      { rewrite !Rabs_mult, (Rabs_pos_eq (a j)), (Rabs_pos_eq (c j)) by lra.
        apply Rmult_le_compat; [apply Rmult_le_pos; lra|apply Rabs_pos| |exact VJ].
        apply Rle_trans with (1.5 * a j); [apply Rmult_le_compat_r; lra|lra]. }
      assert (Q2 : Rabs (v r * b j) <= 1 * (lam * b r) * V).
      { rewrite Rabs_mult, (Rabs_pos_eq (b j)), Rmult_comm by lra.
        apply Rmult_le_compat; [lra|apply Rabs_pos|lra|exact VR]. }
      unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
      assert (0 <= lam * b r * V) by (apply Rmult_le_pos; lra). lra. }
  rewrite <- D in B.
  replace (sum_f_R0 (fun j => c j * a j * v j) t / S - v r)
    with ((sum_f_R0 (fun j => c j * a j * v j) t - v r * S) / S) by (field; lra).
  unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq S) by lra.
  apply Rmult_le_reg_r with S; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [exact B|]. rewrite Rmult_comm. apply Rmult_le_compat_l; [|exact O].
  apply Rmult_le_pos; auto. assert (0 <= INR t * lam) by (apply Rmult_le_pos; lra). lra.
Qed.

(** Theorem (Theorem 12, with what is stored). The result is stored, or not. *)
Theorem stored_right A t s v o r g L V : attended_stored A t s v o -> (8 <= digits (stored A))%Z ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V) ->
  INR (S t) * roundoff (accumulator A) <= pow (-11) ->
  astray_stored (accumulator A) L (INR (S t)) <= / 8 ->
  16 * INR (S t) * (1 + V) <= pow (top (accumulator A)) -> (r <= t)%nat ->
  (forall j, (j <= t)%nat -> j <> r -> s j + INR g <= s r) ->
  exists y, store A y o /\ Rabs (y - v r)
    <= V * (5 * (INR (S t) + 1) * roundoff (accumulator A) + 1.005 * roundoff (stored A)
            + 2.7 * astray_stored (accumulator A) L (INR (S t))
            + 3 * INR t * pow (1 - Z.of_nat g))
       + (16 * INR (S t) * tiny (accumulator A) * (1 + V)
          + 2 * INR (S t) * speck (stored A) * V).
Proof.
  intros D DS B F ST TOP R G. specialize (D L V B F ST TOP). cbv zeta in D.
  destruct D as (m & a & b & c & y & W & D & SO). exists y. split; [exact SO|].
  set (n := INR (S t)) in *. set (x := astray_stored (accumulator A) L n) in *.
  set (u := roundoff (accumulator A)) in *. set (us := roundoff (stored A)) in *.
  assert (U : 0 < u) by apply bpow_gt_0. assert (US0 : 0 < us) by apply bpow_gt_0.
  assert (US : us <= / 256) by (change (/ 256) with (pow (-8)); apply bpow_le; lia).
  assert (N1 : 1 <= n) by (unfold n; rewrite S_INR; assert (q := pos_INR t); lra).
  assert (NU : n * u <= / 2048) by exact F.
  assert (NU0 : 1 * u <= n * u) by (apply Rmult_le_compat_r; lra).
  assert (X : 0 <= x).
  { unfold x, astray_stored. assert (P := bpow_gt_0 radix2 (-24)). fold u.
    assert (L0 : 0 <= L) by (destruct (B r R) as (h & _); assert (q := Rabs_pos (s r)); lra).
    assert (0 <= u * (9 * L)) by (apply Rmult_le_pos; lra).
    assert (0 <= 257 * (n + 32) * pow (-24)) by (apply Rmult_le_pos; lra). lra. }
  assert (AB : forall j, (j <= t)%nat -> 0 < a j /\ 0 < b j).
  { intros j J. destruct (W j J) as ((h & _) & (h' & _) & _). assert (q := exp_pos (s j - m - x)). lra. }
  set (k := 5 * (n + 1) * u + 1.005 * us) in *.
  destruct (W r R) as ((A1 & A2) & (B1 & B2) & _).
  assert (Q := means_near t r a b c v V k (2 * x) (pow (1 - Z.of_nat g)) R (bpow_ge_0 _ _)
    ltac:(unfold k; lra) ltac:(lra) AB
    ltac:(intros j J; destruct (W j J) as (_ & _ & C); destruct (B j J); auto)).
  assert (E : exp (- (2 * x)) * b r <= a r <= exp (2 * x) * b r).
  { split.
    - apply Rle_trans with (exp (- (2 * x)) * exp (s r - m + x));
        [apply Rmult_le_compat_l; [left; apply exp_pos|exact B2]|].
      rewrite <- exp_plus. replace (- (2 * x) + (s r - m + x)) with (s r - m - x) by ring. exact A1.
    - apply Rle_trans with (exp (2 * x) * exp (s r - m - x));
        [|apply Rmult_le_compat_l; [left; apply exp_pos|exact B1]].
      rewrite <- exp_plus. replace (2 * x + (s r - m - x)) with (s r - m + x) by ring. exact A2. }
  specialize (Q E).
  assert (LAM : forall j, (j <= t)%nat -> j <> r -> exp (s j - m + x) <= pow (1 - Z.of_nat g) * b r).
  { intros j J I. apply Rle_trans with (pow (1 - Z.of_nat g) * exp (s r - m - x));
      [|apply Rmult_le_compat_l; [apply bpow_ge_0|exact B1]].
    replace (1 - Z.of_nat g)%Z with (1 + - Z.of_nat g)%Z by lia. rewrite bpow_plus.
    apply Rle_trans with (exp (/ 4) * exp (- INR g) * exp (s r - m - x)).
    + rewrite <- !exp_plus. specialize (G j J I). apply exp_less. lra.
    + apply Rmult_le_compat_r; [left; apply exp_pos|]. change (pow 1) with 2.
      apply Rmult_le_compat; try (left; apply exp_pos); [apply exp_quarter | apply exp_power]. }
  specialize (Q ltac:(intros j J I; destruct (W j J) as ((_ & h) & (_ & h') & _);
    assert (z := LAM j J I); lra)).
  replace (y - v r) with (y - sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t
    + (sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t - v r)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_compat; [|exact D].
  eapply Rle_trans; [exact Q|]. apply Rmult_le_compat_l; [|lra].
  destruct (B r R) as (_ & VR). assert (q := Rabs_pos (v r)). lra.
Qed.
