(** A head whose right score leads copies a value in formats of 16 bits, too. *)
From Coq Require Import Reals ZArith List Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding Softmax Collected Weights Attended Tops.
Open Scope R_scope.

(** A mean with weights a over a sum of weights b, of which those of r are nearly the same, and
    outweigh each other one by 1/lam. *)
Lemma means_near t r a b c v V k lam : (r <= t)%nat -> 0 <= lam -> 0 <= k ->
  (forall j, (j <= t)%nat -> 0 < a j /\ 0 < b j /\ Rabs (v j) <= V /\ Rabs (c j) <= 1.5) ->
  Rabs (c r * a r - b r) <= k * b r ->
  (forall j, (j <= t)%nat -> j <> r -> a j <= lam * b r /\ b j <= lam * b r) ->
  Rabs (sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t - v r) <= V * (k + 3 * INR t * lam).
Proof.
  intros L P K H E W. destruct (H r L) as (AR & BR & VR & _).
  assert (O := sum_one r b t L (fun j l => Rlt_le _ _ (proj1 (proj2 (H j l))))).
  set (S := sum_f_R0 b t) in *.
  assert (D := sum_apart (fun j => c j * a j * v j) b (fun j => c j * a j * v j - v r * b j) (v r) t
    ltac:(intros; cbv beta; ring)). fold S in D.
  assert (V0 : 0 <= V) by (assert (q := Rabs_pos (v r)); lra). assert (T0 := pos_INR t).
  assert (B : Rabs (sum_f_R0 (fun j => c j * a j * v j - v r * b j) t)
              <= b r * (V * (k + 3 * INR t * lam))).
  { eapply Rle_trans; [apply sum_abs with (g := fun j => Rabs (c j * a j * v j - v r * b j));
                       intros; lra|].
    replace (b r * (V * (k + 3 * INR t * lam)))
      with (k * b r * V + INR t * (3 * V * (lam * b r))) by ring.
    apply sum_bound with (r := r); auto.
    - apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
    - intros j J NE. destruct (H j J) as (AJ & BJ & VJ & CJ).
      destruct (W j J NE) as (W1 & W2).
      assert (LB : 0 <= lam * b r) by (apply Rmult_le_pos; lra).
      assert (Q1 : Rabs (c j * a j * v j) <= 1.5 * (lam * b r) * V).
      { rewrite !Rabs_mult, (Rabs_pos_eq (a j)) by lra.
        apply Rmult_le_compat; [apply Rmult_le_pos; [apply Rabs_pos|lra]|apply Rabs_pos| |exact VJ].
        apply Rmult_le_compat; [apply Rabs_pos|lra|exact CJ|exact W1]. }
      assert (Q2 : Rabs (v r * b j) <= 1 * (lam * b r) * V).
      { rewrite Rabs_mult, (Rabs_pos_eq (b j)), Rmult_comm by lra.
        apply Rmult_le_compat; [lra|apply Rabs_pos|lra|exact VR]. }
      unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
      assert (0 <= lam * b r * V) by (apply Rmult_le_pos; lra). lra.
    - replace (c r * a r * v r - v r * b r) with ((c r * a r - b r) * v r) by ring.
      rewrite Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos. }
  rewrite <- D in B.
  replace (sum_f_R0 (fun j => c j * a j * v j) t / S - v r)
    with ((sum_f_R0 (fun j => c j * a j * v j) t - v r * S) / S) by (field; lra).
  unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq S) by lra.
  apply Rmult_le_reg_r with S; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  eapply Rle_trans; [exact B|]. rewrite Rmult_comm. apply Rmult_le_compat_l; [|exact O].
  apply Rmult_le_pos; auto. assert (0 <= INR t * lam) by (apply Rmult_le_pos; lra). lra.
Qed.

(** Theorem (Theorem 12, with what is stored). The result is stored, or not. *)
Theorem stored_right A t s v o r g L V : let f := accumulator A in let n := INR (S t) in
  let lam := pow (1 - Z.of_nat g) in
  softmax A t s v o -> ordinary f = true -> storing A = true ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V) ->
  n * roundoff f <= pow (-11) -> astray_stored f L n <= / 8 ->
  16 * n * (1 + V) <= pow (top f) -> (r <= t)%nat ->
  (forall j, (j <= t)%nat -> j <> r -> s j + INR g <= s r) ->
  exists y, store A y o /\ Rabs (y - v r)
    <= V * (5 * (n + 1) * roundoff f + heavy f L + 131 / 128 * store_off A L n lam
            + 3 * INR t * lam)
       + (16 * n * tiny f * (1 + V) + 2 * n * speck (stored A) * V).
Proof.
  intros f n lam AO USUAL SA B F ST TOP R G.
  assert (SC : forall j, (j <= t)%nat -> Rabs (s j) <= L) by (intros j J; apply B, J).
  destruct (sizes A t s L r g USUAL SC F ST R) as (U & T & N1 & NU & UL & LP).
  fold f n lam in U, T, N1, NU, UL, LP. set (u := roundoff f) in *. set (tau := tiny f) in *.
  destruct (storing_bounds A SA) as (_ & US & _).
  set (q := store_off A L n lam).
  assert (NL : 0 <= n * lam) by (apply Rmult_le_pos; lra).
  assert (P14 : pow (-14) = / 16384) by reflexivity.
  assert (Q : 0 <= q <= / 256).
  { unfold q, store_off. split; [|eapply Rle_trans; [apply Rmin_l|apply US]].
    apply Rmin_glb; [lra|]. unfold share_off, heavy. fold f u.
    assert (0 <= (n + 1) * u) by (apply Rmult_le_pos; lra). rewrite P14. lra. }
  set (us := fun j => if (j =? r)%nat then 1.01 * q else roundoff (stored A)).
  assert (UB : forall j, 0 <= us j <= / 200).
  { intros j. unfold us. destruct (j =? r)%nat; lra. }
  destruct (softmax_stored A t s v o L V us USUAL SA B F ST TOP UB
    (fun m j x y H X S => top_stores A t s L r g USUAL SA SC F ST R G m j x y H X S) AO)
    as (m & a & b & c & y & WA & WB & C & D & SO).
  exists y. split; [exact SO|]. fold f n u tau in C, D.
  destruct (top_weight A t s L r g USUAL SA SC F ST R G m a WA) as (_ & A1).
  destruct (top_weight A t s L r g USUAL SA SC F ST R G m b WB) as (_ & B1).
  fold f u tau in A1, B1. set (off := 1.01 * pow (-14) + 1.62 * (u * L) + 12 * tau) in *.
  assert (OFF : off <= 0.023) by (unfold off; rewrite P14; lra).
  assert (A1' := A1). assert (B1' := B1). apply Rabs_le_inv in A1', B1'.
  assert (OTHER : forall j, (j <= t)%nat -> j <> r -> 0 < a j <= 0.58 * lam /\ 0 < b j <= 0.58 * lam).
  { intros j J I. split; [apply (other_weight A t s L r g USUAL SA SC F ST R G m a j WA J I)
                         |apply (other_weight A t s L r g USUAL SA SC F ST R G m b j WB J I)]. }
  assert (NU1 : 0 <= (n + 1) * u <= / 1024) by (split; [apply Rmult_le_pos|]; lra).
  set (k := 5 * (n + 1) * u + heavy f L + 131 / 128 * q).
  assert (K : 0 <= k) by (unfold k, heavy; fold u; rewrite P14; lra).
  assert (CR := C r R). unfold us in CR. rewrite Nat.eqb_refl in CR.
  assert (M := means_near t r a b c v V k lam R ltac:(lra) K).
  replace (y - v r) with (y - sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t
    + (sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t - v r)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_compat; [|exact D].
  apply M; clear M D.
  - intros j J. destruct (B j J) as (_ & VJ). specialize (C j J). assert (UJ := UB j).
    assert (CJ : Rabs (c j) <= 1.5).
    { replace (c j) with (1 + (c j - 1)) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_R1. lra. }
    destruct (Nat.eq_dec j r) as [->|I]; [repeat split; auto; lra|].
    destruct (OTHER j J I) as (Q1 & Q2). repeat split; auto; lra.
  - replace (c r * a r - b r) with ((c r - 1) * a r + (a r - 1 + - (b r - 1))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (a r)) by lra.
    assert (S2 := Rabs_triang (a r - 1) (- (b r - 1))). rewrite Rabs_Ropp in S2.
    set (C0 := 5 * (n + 1) * u + 1.005 * (1.01 * q)) in *.
    assert (S1 : Rabs (c r - 1) * a r <= C0 * (1 + off)).
    { apply Rmult_le_compat; try lra. apply Rabs_pos. }
    assert (S3 : k * (1 - off) <= k * b r) by (apply Rmult_le_compat_l; lra).
    assert (O0 : 0 <= off) by (unfold off; rewrite P14; lra).
    assert (KC : k + C0 <= 0.075) by (unfold k, C0, heavy; fold u; rewrite P14; lra).
    assert (S4 : (k + C0) * off <= 0.075 * off) by (apply Rmult_le_compat_r; lra).
    assert (S5 : 2.075 * off <= heavy f L)
      by (unfold off, heavy; fold u; rewrite P14; lra).
    unfold k, C0 in *. lra.
  - intros j J I. destruct (OTHER j J I) as (Q1 & Q2).
    assert (lam * 0.977 <= lam * b r) by (apply Rmult_le_compat_l; lra). lra.
Qed.
