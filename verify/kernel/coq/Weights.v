(** The weights of a softmax head: exponentials and what rescales them (Lemma 11b of
    docs/proofs/attention.md). *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding Softmax Collected.
Import ListNotations.
Open Scope R_scope.

(** How far an exponential is off, and the logarithm of one. *)
Definition xi (A : arithmetic) : R :=
  if (digits (stored A) <? digits (accumulator A))%Z then pow (-12)
  else 40 * roundoff (accumulator A).
Definition xi_log (A : arithmetic) : R := xi A / (1 - xi A).

Lemma exp_less x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; apply exp_increasing, H|subst; lra]. Qed.

Lemma ln_less x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros P [H|H]; [left; apply ln_increasing; auto|subst; lra]. Qed.

Section Weights.
Variables (A : arithmetic) (t : nat) (s : nat -> R) (L : R).
Let f := accumulator A.
Let u := roundoff f.
Let tau := tiny f.
Let X := xi_log A.
Hypothesis usual : ordinary f = true.
Hypothesis scores : forall j, (j <= t)%nat -> Rabs (s j) <= L.
Hypothesis close : u * L <= / 40.

Lemma usual_digits : (11 <= digits f /\ digits f + 2 <= top f /\ least f + 3 * digits f <= 0)%Z.
Proof. unfold ordinary in usual. rewrite !andb_true_iff, !Z.leb_le in usual. lia. Qed.
Let some : (0 < digits f)%Z.
Proof. assert (H := usual_digits). lia. Qed.
Let finite : (least f < top f)%Z.
Proof. assert (H := usual_digits). lia. Qed.

Lemma u_small : 0 < u <= / 2048.
Proof.
  split; [apply bpow_gt_0|]. change (/ 2048) with (pow (-11)). apply bpow_le.
  assert (H := usual_digits). lia.
Qed.

Lemma tau_small : 0 < tau <= u / 4096.
Proof.
  split; [apply bpow_gt_0|]. replace (u / 4096) with (pow (- digits f - 12)).
  - apply bpow_le. assert (H := usual_digits). lia.
  - replace (- digits f - 12)%Z with (- digits f + -12)%Z by lia. rewrite bpow_plus. reflexivity.
Qed.

Lemma speck_small : 0 < speck f <= tau.
Proof. split; [apply bpow_gt_0|]. apply bpow_le. assert (H := usual_digits). lia. Qed.

Lemma not_large x : u * Rabs x <= 1 -> Rabs x <= pow (top f - 1).
Proof.
  intros H. apply Rle_trans with (pow (digits f)).
  - apply Rmult_le_reg_l with u; [apply u_small|]. eapply Rle_trans; [exact H|]. right.
    unfold u, roundoff. rewrite <- bpow_plus. replace (- digits f + digits f)%Z with 0%Z by lia.
    reflexivity.
  - apply bpow_le. assert (D := usual_digits). lia.
Qed.

Lemma rounded_tau x y : u * Rabs x <= 1 -> rounded f x y -> Rabs (y - x) <= u * Rabs x + tau.
Proof.
  intros H R. destruct (rounded_off f some finite x y (not_large x H) R) as (_ & Q).
  assert (P := speck_small). unfold u. lra.
Qed.

Lemma multiplied_tau x y : u * Rabs x <= 1 -> multiplied f x y -> Rabs (y - x) <= u * Rabs x + tau.
Proof.
  intros H [R|(F & ->)]; [apply rounded_tau; auto|].
  rewrite Rminus_0_l, Rabs_Ropp. fold (tiny f) in F. fold tau in F.
  assert (0 <= u * Rabs x) by (apply Rmult_le_pos; [left; apply u_small|apply Rabs_pos]). lra.
Qed.

Lemma ln_2_bounds : / 2 < ln 2 < 1.
Proof.
  split; [apply ln_lt_2|]. apply exp_lt_inv. rewrite exp_ln by lra.
  assert (H := exp_ineq1 1 ltac:(lra)). lra.
Qed.

(** log2(e) as a number, times ln 2. *)
Let kc := log2e f * ln 2.
Lemma kc_one : Rabs (kc - 1) <= 1.001 * u.
Proof.
  destruct ln_2_bounds as (L1 & L2). assert (N := nearest_off f some (/ ln 2)).
  replace (kc - 1) with ((log2e f - / ln 2) * ln 2) by (unfold kc; field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) by lra. fold (log2e f) in N.
  assert (P : 0 < / ln 2) by (apply Rinv_0_lt_compat; lra).
  rewrite (Rabs_pos_eq (/ ln 2)) in N by lra. fold u in N.
  apply Rle_trans with ((u * / ln 2 + speck f) * ln 2); [apply Rmult_le_compat_r; lra|].
  replace ((u * / ln 2 + speck f) * ln 2) with (u + speck f * ln 2) by (field; lra).
  assert (Q := speck_small). assert (T := tau_small).
  assert (speck f * ln 2 <= speck f * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma kc_bounds : 0.999 <= kc <= 1.001.
Proof. assert (K := kc_one). assert (U := u_small). apply Rabs_le_inv in K. lra. Qed.

Lemma log2e_bounds : 0 < log2e f <= 2.01.
Proof.
  assert (K := kc_bounds). destruct ln_2_bounds as (L1 & L2). unfold kc in K. split.
  - apply Rmult_lt_reg_r with (ln 2); lra.
  - apply Rmult_le_reg_r with (ln 2); nra.
Qed.

(** What a difference of scores may be, as an exponent. *)
Lemma difference_near a m x : Rabs a <= L -> Rabs m <= L -> a <= m -> difference f a m x ->
  Rabs (x - (a - m)) <= 3.01 * u * (m - a) + 3 * tau.
Proof.
  intros BA BM AM D. assert (U := u_small). assert (T := tau_small).
  assert (E : Rabs (a - m) = m - a) by (rewrite Rabs_left1; lra).
  apply Rabs_le_inv in BA, BM. assert (DL : u * (m - a) <= / 20) by nra.
  assert (D0 : 0 <= u * (m - a)) by (apply Rmult_le_pos; lra).
  destruct D as [R|(y & z & R & M & ->)].
  - assert (N := rounded_tau _ _ ltac:(rewrite E; lra) R). rewrite E in N. lra.
  - assert (N := rounded_tau _ _ ltac:(rewrite E; lra) R). rewrite E in N.
    assert (KC := kc_one). assert (KB := kc_bounds). assert (LB := log2e_bounds).
    destruct ln_2_bounds as (L1 & L2).
    assert (Y : Rabs y <= (1 + u) * (m - a) + tau).
    { replace y with (y - (a - m) + (a - m)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (UY : u * Rabs y <= 1.001 * (u * (m - a)) + 0.001 * tau) by nra.
    assert (YC : u * Rabs (y * log2e f) <= 1).
    { rewrite Rabs_mult, (Rabs_pos_eq (log2e f)) by lra. rewrite <- Rmult_assoc.
      apply Rle_trans with (/ 10 * 2.01); [|lra]. apply Rmult_le_compat; try lra.
      apply Rmult_le_pos; [lra|apply Rabs_pos]. }
    assert (M' := multiplied_tau _ _ YC M).
    assert (V : Rabs (z * ln 2 - y * kc) <= 1.001 * (u * Rabs y) + tau).
    { replace (z * ln 2 - y * kc) with ((z - y * log2e f) * ln 2) by (unfold kc; ring).
      rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) by lra.
      apply Rle_trans with ((u * Rabs (y * log2e f) + tau) * ln 2); [apply Rmult_le_compat_r; lra|].
      rewrite Rabs_mult, (Rabs_pos_eq (log2e f)) by lra.
      replace ((u * (Rabs y * log2e f) + tau) * ln 2) with (u * Rabs y * kc + tau * ln 2)
        by (unfold kc; ring).
      assert (0 <= u * Rabs y) by (apply Rmult_le_pos; [lra|apply Rabs_pos]). nra. }
    assert (W : Rabs (y * kc - y) <= 1.001 * (u * Rabs y)).
    { replace (y * kc - y) with (y * (kc - 1)) by ring. rewrite Rabs_mult.
      replace (1.001 * (u * Rabs y)) with (Rabs y * (1.001 * u)) by ring.
      apply Rmult_le_compat_l; [apply Rabs_pos|exact KC]. }
    replace (z * ln 2 - (a - m)) with (z * ln 2 - y * kc + (y * kc - y) + (y - (a - m))) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (TR := Rabs_triang (z * ln 2 - y * kc) (y * kc - y)).
    lra.
Qed.

Lemma multiple_near fused a p : Rabs a <= L -> multiple f fused a p ->
  Rabs (p * ln 2 - kc * a) <= 1.001 * u * Rabs a + tau.
Proof.
  intros BA M. assert (U := u_small). assert (T := tau_small). assert (KB := kc_bounds).
  assert (LB := log2e_bounds). destruct ln_2_bounds as (L1 & L2). assert (A0 := Rabs_pos a).
  replace (p * ln 2 - kc * a) with ((p - a * log2e f) * ln 2) by (unfold kc; ring).
  rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) by lra.
  assert (E : Rabs (a * log2e f) * ln 2 = Rabs a * kc)
    by (rewrite Rabs_mult, (Rabs_pos_eq (log2e f)) by lra; unfold kc; ring).
  assert (UA : 0 <= u * Rabs a <= / 40).
  { split; [apply Rmult_le_pos; lra|]. eapply Rle_trans; [|exact close].
    apply Rmult_le_compat_l; lra. }
  destruct M as [M|(_ & ->)].
  - assert (Q : u * Rabs (a * log2e f) <= 1).
    { rewrite Rabs_mult, (Rabs_pos_eq (log2e f)) by lra. nra. }
    assert (N := multiplied_tau _ _ Q M).
    apply Rle_trans with ((u * Rabs (a * log2e f) + tau) * ln 2); [apply Rmult_le_compat_r; lra|].
    replace ((u * Rabs (a * log2e f) + tau) * ln 2)
      with (u * (Rabs (a * log2e f) * ln 2) + tau * ln 2)
      by ring. rewrite E. nra.
  - rewrite Rminus_eq_0, Rabs_R0, Rmult_0_l. lra.
Qed.

Lemma products_near a m x : Rabs a <= L -> Rabs m <= L -> a <= m ->
  difference_of_products f true a m x ->
  Rabs (x - (a - m)) <= 2.01 * u * (m - a) + 2.01 * u * L + 4 * tau.
Proof.
  intros BA BM AM (p & q & z & P & Q & R & ->). assert (U := u_small). assert (T := tau_small).
  assert (KC := kc_one). assert (KB := kc_bounds). destruct ln_2_bounds as (L1 & L2).
  assert (NP := multiple_near true a p BA P). assert (NQ := multiple_near true m q BM Q).
  assert (L0 : 0 <= L) by (assert (Z := Rabs_pos a); lra).
  assert (UA : u * Rabs a <= u * L) by (apply Rmult_le_compat_l; lra).
  assert (UM : u * Rabs m <= u * L) by (apply Rmult_le_compat_l; lra).
  apply Rabs_le_inv in BA, BM. assert (UL : 0 <= u * L) by (apply Rmult_le_pos; lra).
  assert (D0 : 0 <= u * (m - a) <= 2 * (u * L)) by (split; nra).
  assert (W : Rabs ((p - q) * ln 2 - (a - m)) <= 1.001 * (u * (m - a)) + 2.002 * (u * L) + 2 * tau).
  { replace ((p - q) * ln 2 - (a - m))
      with (p * ln 2 - kc * a + - (q * ln 2 - kc * m) + (kc - 1) * (a - m)) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (TR := Rabs_triang (p * ln 2 - kc * a) (- (q * ln 2 - kc * m))). rewrite Rabs_Ropp in TR.
    rewrite Rabs_mult, (Rabs_left1 (a - m)) by lra.
    assert (Rabs (kc - 1) * - (a - m) <= 1.001 * u * - (a - m)) by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (PQ : Rabs ((p - q) * ln 2) <= 1.001 * (m - a) + 2.002 * (u * L) + 2 * tau).
  { apply Rabs_le_inv in W. apply Rabs_le. assert (u * (m - a) <= 0.0009 * (m - a)).
    { apply Rmult_le_compat_r; lra. } lra. }
  assert (UPQ : u * Rabs (p - q) <= 1).
  { rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) in PQ by lra.
    assert (Rabs (p - q) <= 2 * (Rabs (p - q) * ln 2)) by (assert (Z := Rabs_pos (p - q)); nra).
    apply Rle_trans with (u * (2 * (1.001 * (m - a) + 2.002 * (u * L) + 2 * tau)));
      [apply Rmult_le_compat_l; lra|]. nra. }
  assert (N := rounded_tau _ _ UPQ R).
  assert (V : Rabs (z * ln 2 - (p - q) * ln 2) <= u * Rabs ((p - q) * ln 2) + tau).
  { rewrite <- Rmult_minus_distr_r, !Rabs_mult, (Rabs_pos_eq (ln 2)) by lra.
    apply Rle_trans with ((u * Rabs (p - q) + tau) * ln 2); [apply Rmult_le_compat_r; lra|]. nra. }
  assert (UW : u * Rabs ((p - q) * ln 2) <= 1.001 * (u * (m - a)) + 0.002 * (u * L) + 0.002 * tau).
  { apply Rle_trans with (u * (1.001 * (m - a) + 2.002 * (u * L) + 2 * tau));
      [apply Rmult_le_compat_l; lra|].
    assert (u * (u * L) <= 0.0005 * (u * L)) by (apply Rmult_le_compat_r; lra).
    assert (u * tau <= 0.0005 * tau) by (apply Rmult_le_compat_r; lra). lra. }
  replace (z * ln 2 - (a - m)) with (z * ln 2 - (p - q) * ln 2 + ((p - q) * ln 2 - (a - m)))
    by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** A step of a score, or of a maximum, in any of the forms. *)
Lemma step_near a m x : Rabs a <= L -> Rabs m <= L -> a <= m ->
  difference f a m x \/ difference_of_products f true a m x ->
  Rabs (x - (a - m)) <= 2.01 * u * (m - a) + 2.01 * u * L + 4 * tau.
Proof.
  intros BA BM AM [D|D]; [|apply products_near; auto].
  assert (0 <= u * L).
  { apply Rmult_le_pos; [left; apply u_small|]. assert (Z := Rabs_pos a). lra. }
  eapply Rle_trans; [apply difference_near; auto|]. apply Rabs_le_inv in BA, BM.
  assert (U := u_small). assert (T := tau_small).
  assert (u * (m - a) <= u * (2 * L)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma not_fused a m x : difference_of_products f false a m x -> difference_of_products f true a m x.
Proof.
  intros (p & q & z & P & Q & R & E). exists p, q, z. repeat split; auto.
  - destruct P as [P|(P & _)]; [left; exact P|discriminate].
  - destruct Q as [Q|(Q & _)]; [left; exact Q|discriminate].
Qed.

(** The products of scores with log2(e), and their differences. *)
Let P (a : R) : R := nearest f (a * log2e f) * ln 2.

Lemma P_less a m : a <= m -> P a <= P m.
Proof.
  intros H. destruct ln_2_bounds. unfold P. apply Rmult_le_compat_r; [lra|]. unfold nearest.
  apply round_le; [apply FLT_exp_valid, some|apply valid_rnd_N|]. assert (LB := log2e_bounds).
  apply Rmult_le_compat_r; lra.
Qed.

Lemma P_near a : Rabs a <= L -> Rabs (P a - kc * a) <= 1.001 * u * L + tau.
Proof.
  intros B. eapply Rle_trans; [apply (multiple_near false a); auto|].
  - left. left. intros _. reflexivity.
  - assert (U := u_small). assert (1.001 * u * Rabs a <= 1.001 * u * L)
      by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma multiple_P a p : Rabs a <= L -> multiple f false a p -> Rabs (p * ln 2 - P a) <= 2 * tau.
Proof.
  intros B M. destruct M as [M|(M & _)]; [|discriminate]. destruct ln_2_bounds as (L1 & L2).
  assert (U := u_small). assert (T := tau_small). unfold P.
  rewrite <- Rmult_minus_distr_r, Rabs_mult.
  rewrite (Rabs_pos_eq (ln 2)) by lra.
  assert (Rabs (p - nearest f (a * log2e f)) <= 2 * tau);
    [|assert (Q := Rabs_pos (p - nearest f (a * log2e f))); nra].
  destruct M as [M|(F & ->)].
  - rewrite (rounded_nearest f some finite (a * log2e f) p);
      [rewrite Rminus_eq_0, Rabs_R0; lra| |exact M].
    apply not_large. assert (LB := log2e_bounds). rewrite Rabs_mult, (Rabs_pos_eq (log2e f)) by lra.
    assert (u * Rabs a <= u * L) by (apply Rmult_le_compat_l; lra).
    assert (0 <= u * Rabs a) by (apply Rmult_le_pos; [lra|apply Rabs_pos]).
    assert (u * Rabs a * log2e f <= u * Rabs a * 2.01) by (apply Rmult_le_compat_l; lra). lra.
  - fold (tiny f) in F. fold tau in F. assert (N := nearest_off f some (a * log2e f)).
    assert (S := speck_small). rewrite Rminus_0_l, Rabs_Ropp.
    replace (nearest f (a * log2e f)) with (nearest f (a * log2e f) - a * log2e f + a * log2e f)
      by ring.
    eapply Rle_trans; [apply Rabs_triang|]. fold u in N.
    assert (SU : speck f <= / 2 * tau).
    { unfold speck, tau, tiny. change (/ 2) with (pow (-1)). rewrite <- bpow_plus. apply bpow_le.
      assert (D := usual_digits). lia. }
    assert (u * Rabs (a * log2e f) <= / 2048 * tau)
      by (apply Rmult_le_compat; try lra; apply Rabs_pos).
    lra.
Qed.

Lemma products_step a m x : Rabs a <= L -> Rabs m <= L -> a <= m ->
  difference_of_products f false a m x -> Rabs (x - (P a - P m)) <= u * (P m - P a) + 6 * tau.
Proof.
  intros BA BM AM D. assert (U := u_small). assert (T := tau_small).
  assert (PL := P_less a m AM). destruct ln_2_bounds as (L1 & L2).
  destruct D as (p & q & z & MP & MQ & R & ->).
  assert (NP := multiple_P a p BA MP). assert (NQ := multiple_P m q BM MQ).
  assert (PA := P_near a BA). assert (PM := P_near m BM). assert (KB := kc_bounds).
  assert (W : Rabs ((p - q) * ln 2) <= P m - P a + 4 * tau).
  { apply Rabs_le_inv in NP, NQ. apply Rabs_le. lra. }
  assert (L0 : 0 <= L) by (assert (Z := Rabs_pos a); lra).
  assert (UL : 0 <= u * L) by (apply Rmult_le_pos; lra).
  assert (PB : u * (P m - P a) <= / 10).
  { apply Rabs_le_inv in PA, PM, BA, BM.
    assert (kc * (m - a) <= 1.001 * (2 * L)) by (apply Rmult_le_compat; lra).
    assert (P m - P a <= 1.001 * (2 * L) + 2 * (1.001 * u * L + tau)) by lra.
    assert (u * (P m - P a) <= u * (1.001 * (2 * L) + 2 * (1.001 * u * L + tau)))
      by (apply Rmult_le_compat_l; lra).
    assert (u * (1.001 * u * L + tau) <= / 2048 * (1.001 * u * L + tau))
      by (apply Rmult_le_compat_r; lra). lra. }
  assert (UPQ : u * Rabs (p - q) <= 1).
  { rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) in W by lra.
    assert (Rabs (p - q) <= 2 * (Rabs (p - q) * ln 2)) by (assert (Z := Rabs_pos (p - q)); nra).
    apply Rle_trans with (u * (2 * (P m - P a + 4 * tau))); [apply Rmult_le_compat_l; lra|].
    assert (u * tau <= / 2048 * tau) by (apply Rmult_le_compat_r; lra). lra. }
  assert (N := rounded_tau _ _ UPQ R).
  assert (V : Rabs (z * ln 2 - (p - q) * ln 2) <= u * Rabs ((p - q) * ln 2) + tau).
  { rewrite <- Rmult_minus_distr_r, !Rabs_mult, (Rabs_pos_eq (ln 2)) by lra.
    apply Rle_trans with ((u * Rabs (p - q) + tau) * ln 2); [apply Rmult_le_compat_r; lra|]. nra. }
  assert (u * Rabs ((p - q) * ln 2) <= u * (P m - P a + 4 * tau)) by (apply Rmult_le_compat_l; lra).
  assert (u * tau <= / 2048 * tau) by (apply Rmult_le_compat_r; lra).
  replace (z * ln 2 - (P a - P m))
    with (z * ln 2 - (p - q) * ln 2 + (p * ln 2 - P a + - (q * ln 2 - P m))) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (TR := Rabs_triang (p * ln 2 - P a) (- (q * ln 2 - P m))). rewrite Rabs_Ropp in TR. lra.
Qed.

(** * Exponentials *)

Lemma xi_small : 0 < xi A <= / 50.
Proof.
  unfold xi. fold f. assert (U := u_small). destruct (_ <? _)%Z.
  - change (pow (-12)) with (/ 4096). lra.
  - fold u. lra.
Qed.

Lemma X_small : xi A <= X <= 1.03 * xi A.
Proof.
  unfold X, xi_log. assert (S := xi_small). split.
  - apply Rmult_le_reg_r with (1 - xi A); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    nra.
  - apply Rmult_le_reg_r with (1 - xi A); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    nra.
Qed.

Lemma exponential_cases x e : x <= 1 -> exponential A x e ->
  (exists y, e = exp y /\ Rabs (y - x) <= X)
  \/ ((1 - xi A) * exp x < tau /\ 0 <= e <= 1.01 * tau).
Proof.
  intros B E. assert (S := xi_small). assert (XS := X_small). assert (EP := exp_pos x).
  assert (C : Rabs (e - exp x) <= xi A * exp x
    \/ ((1 - xi A) * exp x < tau /\ 0 <= e <= (1 + pow (-16)) * tau)).
  { unfold exponential in E. fold f in E.
    assert (Q : exp x < pow (top f - 1)).
    { apply Rle_lt_trans with (exp 1); [apply exp_less, B|].
      apply Rle_lt_trans with 3; [apply exp_le_3|]. apply Rlt_le_trans with (pow 2); [simpl; lra|].
      apply bpow_le. assert (D := usual_digits). lia. }
    destruct (E Q) as (W & N). unfold xi, narrow in *. fold f in W, N |- *.
    destruct (digits (stored A) <? digits f)%Z eqn:D.
    - apply Z.ltb_lt in D. apply N, D.
    - apply Z.ltb_ge in D. apply W. lia. }
  destruct C as [C|(C & D)].
  - left. apply Rabs_le_inv in C. exists (ln e).
    assert (P0 : 0 < (1 - xi A) * exp x) by (apply Rmult_lt_0_compat; lra).
    split; [rewrite exp_ln; lra|]. apply Rabs_le. split.
    + apply Rplus_le_reg_l with x. replace (x + (ln e - x)) with (ln e) by ring.
      rewrite <- (ln_exp (x + - X)). apply ln_less; [apply exp_pos|]. rewrite exp_plus, exp_Ropp.
      apply Rle_trans with (exp x * (1 - xi A)); [|lra]. apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_reg_r with (exp X); [apply exp_pos|].
      rewrite Rinv_l by (assert (Q := exp_pos X); lra).
      assert (I := exp_ineq1_le X). apply Rle_trans with ((1 - xi A) * (1 + X)).
      * unfold X, xi_log. right. field. lra.
      * apply Rmult_le_compat_l; lra.
    + apply Rplus_le_reg_l with x. replace (x + (ln e - x)) with (ln e) by ring.
      rewrite <- (ln_exp (x + X)). apply ln_less; [lra|]. rewrite exp_plus.
      apply Rle_trans with (exp x * (1 + xi A)); [lra|]. apply Rmult_le_compat_l; [lra|].
      assert (I := exp_ineq1_le X). lra.
  - right. split; [exact C|]. change (pow (-16)) with (/ 65536) in D. assert (T := tau_small). lra.
Qed.

(** What one number and what it stands for can be. *)
Let rho := exp (X + 6 * tau).

Lemma rho_one : 1 <= rho.
Proof.
  unfold rho. assert (T := tau_small). assert (XS := X_small). assert (S := xi_small).
  assert (I := exp_ineq1_le (X + 6 * tau)). lra.
Qed.

Lemma number_bounds x e : x <= 6 * tau -> exponential A x e -> 0 <= e <= rho.
Proof.
  intros B E. assert (T := tau_small). assert (U := u_small). assert (R := rho_one).
  destruct (exponential_cases x e ltac:(lra) E) as [(y & -> & N)|(_ & N)].
  - split; [left; apply exp_pos|]. apply exp_less. apply Rabs_le_inv in N. lra.
  - lra.
Qed.

Lemma flushed a m x : Rabs a <= L -> Rabs m <= L -> a <= m ->
  Rabs (x - (a - m)) <= 2.01 * u * (m - a) + 2.01 * u * L + 4 * tau ->
  (1 - xi A) * exp x < tau -> exp (a - m) <= 1.25 * tau.
Proof.
  intros BA BM AM N F. assert (T := tau_small). assert (U := u_small). assert (S := xi_small).
  apply Rabs_le_inv in BA, BM.
  assert (M : u * (m - a) <= u * (2 * L)) by (apply Rmult_le_compat_l; lra).
  apply Rabs_le_inv in N. apply Rle_trans with (exp x * exp (/ 6)).
  - rewrite <- exp_plus. apply exp_less. lra.
  - assert (E : exp (/ 6) <= 1.2).
    { replace (/ 6) with (- - / 6) by ring. rewrite exp_Ropp.
      assert (I := exp_ineq1_le (- / 6)). apply Rle_trans with (/ (5 / 6)); [|lra].
      apply Rinv_le_contravar; lra. }
    assert (EP := exp_pos x). assert (exp x <= 1.03 * tau) by nra. nra.
Qed.

Lemma rises two : forall l a m, Rabs a <= L -> risen A t s two a l m ->
  a <= m /\ Rabs m <= L /\ Forall (fun r => 0 <= r <= rho) l
  /\ ((exists y, prod l = exp y
        /\ Rabs (y - (a - m)) <= 2.01 * u * (m - a) + 2.01 * u * L + 3 * tau
                                 + INR (length l) * (X + 6 * tau))
      \/ (prod l <= 1.01 * tau * rho ^ length l /\ exp (a - m) <= 1.25 * tau)).
Proof.
  assert (T := tau_small). assert (U := u_small). assert (XS := X_small). assert (XP := xi_small).
  assert (R := rho_one). assert (KC := kc_one).
  (* Errors of sums of exponents, as sums of differences of V. *)
  set (V := fun a => if two then P a else a).
  set (k := if two then u else 3.01 * u).
  assert (H : forall l a m, Rabs a <= L -> risen A t s two a l m ->
    a <= m /\ Rabs m <= L /\ V a <= V m /\ Forall (fun r => 0 <= r <= rho) l
    /\ ((exists y, prod l = exp y
          /\ Rabs (y - (V a - V m)) <= k * (V m - V a) + INR (length l) * (X + 6 * tau))
        \/ (prod l <= 1.01 * tau * rho ^ length l /\ exp (a - m) <= 1.25 * tau))).
  { induction l as [|r l IH]; intros a m B H; simpl in H.
    - subst m. split; [lra|]. split; [exact B|]. split; [lra|]. split; [constructor|]. left.
      exists 0.
      split; [unfold prod; simpl; rewrite exp_0; reflexivity|].
      rewrite !Rminus_eq_0, Rabs_R0, Rmult_0_r. simpl. lra.
    - destruct H as (i & x & I & AI & D & E & H). assert (BI := scores i I).
      destruct (IH (s i) m BI H) as (M1 & M2 & M3 & M4 & M5).
      assert (VX : V a <= V (s i) /\ Rabs (x - (V a - V (s i))) <= k * (V (s i) - V a) + 6 * tau).
      { unfold V, k. destruct two.
        - split; [apply P_less; lra|]. apply products_step; auto; lra.
        - split; [lra|]. assert (N := difference_near a (s i) x B BI ltac:(lra) D). lra. }
      destruct VX as (VX & N). assert (K0 : 0 <= k <= / 2).
      { unfold k. destruct two; lra. }
      assert (XB : x <= 6 * tau).
      { apply Rabs_le_inv in N. assert (k * (V (s i) - V a) <= / 2 * (V (s i) - V a))
          by (apply Rmult_le_compat_r; lra). lra. }
      assert (NB := number_bounds x r XB E).
      split; [lra|]. split; [exact M2|]. split; [lra|]. split; [constructor; auto|].
      change (prod (r :: l)) with (r * prod l). cbn [length]. rewrite S_INR.
      assert (PB : 0 <= prod l <= rho ^ length l).
      { clear - M4. unfold prod. induction M4 as [|r l Q _ IH]; simpl; [lra|].
        destruct IH. split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
      destruct (exponential_cases x r ltac:(lra) E) as [(y & -> & NY)|(FL & NR)].
      + destruct M5 as [(y' & EY & NY')|(F1 & F2)].
        * left. exists (y + y'). rewrite exp_plus, EY. split; [reflexivity|].
          replace (y + y' - (V a - V m))
            with (y - x + (x - (V a - V (s i))) + (y' - (V (s i) - V m))) by ring.
          eapply Rle_trans; [apply Rabs_triang|].
          assert (TR := Rabs_triang (y - x) (x - (V a - V (s i)))). lra.
        * right. split.
          -- simpl. replace (1.01 * tau * (rho * rho ^ length l))
               with (rho * (1.01 * tau * rho ^ length l)) by ring.
             apply Rmult_le_compat; lra.
          -- eapply Rle_trans; [apply exp_less|exact F2]. lra.
      + right. split.
        * simpl. apply Rle_trans with (1.01 * tau * rho ^ length l); [apply Rmult_le_compat; lra|].
          assert (Q := power_one rho (length l) R). set (z := rho ^ length l) in *.
          assert (0 <= 1.01 * tau * z) by (apply Rmult_le_pos; lra).
          replace (1.01 * tau * (rho * z)) with (1.01 * tau * z * rho) by ring.
          rewrite <- (Rmult_1_r (1.01 * tau * z)) at 1. apply Rmult_le_compat_l; lra.
        * apply Rle_trans with (exp (a - s i)); [apply exp_less; lra|].
          apply (flushed a (s i) x); auto; try lra. apply step_near; auto; [lra|].
          destruct two; [right; apply not_fused, D|left; exact D]. }
  intros l a m B Q. destruct (H l a m B Q) as (M1 & M2 & M3 & M4 & M5).
  split; [exact M1|]. split; [exact M2|]. split; [exact M4|].
  destruct M5 as [(y & E & N)|F]; [left|right; exact F]. exists y. split; [exact E|].
  assert (L0 : 0 <= L) by (assert (Z := Rabs_pos a); lra).
  assert (UL : 0 <= u * L) by (apply Rmult_le_pos; lra).
  assert (BA := B). assert (BM := M2). apply Rabs_le_inv in BA, BM.
  assert (UM : 0 <= u * (m - a) <= u * (2 * L))
    by (split; [apply Rmult_le_pos|apply Rmult_le_compat_l]; lra).
  unfold V, k in N. destruct two; [|lra].
  assert (PA := P_near a B). assert (PM := P_near m M2).
  assert (W : Rabs (P a - P m - (a - m)) <= 1.001 * (u * (m - a)) + 2.002 * (u * L) + 2 * tau).
  { replace (P a - P m - (a - m))
      with (P a - kc * a + - (P m - kc * m) + (kc - 1) * (a - m)) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (TR := Rabs_triang (P a - kc * a) (- (P m - kc * m))). rewrite Rabs_Ropp in TR.
    rewrite Rabs_mult, (Rabs_left1 (a - m)) by lra.
    assert (Rabs (kc - 1) * - (a - m) <= 1.001 * u * - (a - m)) by (apply Rmult_le_compat_r; lra).
    lra. }
  assert (UP : u * (P m - P a) <= 1.001 * (u * (m - a)) + 0.002 * (u * L) + 0.002 * tau).
  { apply Rle_trans with (u * ((m - a) + (1.001 * (u * (m - a)) + 2.002 * (u * L) + 2 * tau))).
    - apply Rmult_le_compat_l; [lra|]. apply Rabs_le_inv in W. lra.
    - assert (u * (u * (m - a)) <= / 2048 * (u * (m - a))) by (apply Rmult_le_compat_r; lra).
      assert (u * (u * L) <= / 2048 * (u * L)) by (apply Rmult_le_compat_r; lra).
      assert (u * tau <= / 2048 * tau) by (apply Rmult_le_compat_r; lra). lra. }
  replace (y - (a - m)) with (y - (P a - P m) + (P a - P m - (a - m))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** Maxima that rise are different scores: they are at most as many as there are. *)
Lemma rises_few two : forall l i m, (i <= t)%nat -> risen A t s two (s i) l m ->
  (length l <= t)%nat.
Proof.
  assert (H : forall l a m, risen A t s two a l m -> exists ms, length ms = length l
    /\ Forall (fun z => a < z) ms /\ NoDup ms /\ incl ms (map s (seq 0 (S t)))).
  { induction l as [|r l IH]; intros a m R; simpl in R.
    - exists []. repeat split; auto; [constructor|]. intros z [].
    - destruct R as (i & x & I & AI & _ & _ & R). destruct (IH _ _ R) as (ms & N & F & D & C).
      exists (s i :: ms). split; [simpl; auto|]. split; [|split].
      + constructor; auto. eapply Forall_impl; [|exact F]. cbv beta. intros z Q. lra.
      + constructor; auto. intros Q. rewrite Forall_forall in F. specialize (F _ Q). lra.
      + intros z [<-|Q]; [|apply C, Q]. apply in_map, in_seq. lia. }
  intros l i m I R. destruct (H _ _ _ R) as (ms & N & F & D & C).
  assert (Q : (length (s i :: ms) <= length (map s (seq 0 (S t))))%nat).
  { apply NoDup_incl_length.
    - constructor; auto. intros Q. rewrite Forall_forall in F. specialize (F _ Q). lra.
    - intros z [<-|Q]; [|apply C, Q]. apply in_map, in_seq. lia. }
  rewrite map_length, seq_length in Q. simpl in Q. lia.
Qed.

Lemma rises_among two r : among t s r -> forall l i m, (i <= t)%nat ->
  risen A t s two (s i) l m -> (length l < r)%nat.
Proof.
  intros (ss & LS & IN).
  assert (H : forall l a m, risen A t s two a l m -> exists ms, length ms = length l
    /\ Forall (fun z => a < z) ms /\ NoDup ms /\ incl ms ss).
  { induction l as [|x l IH]; intros a m R; simpl in R.
    - exists []. repeat split; auto; [constructor|]. intros z [].
    - destruct R as (i & y & I & AI & _ & _ & R). destruct (IH _ _ R) as (ms & N & F & D & C).
      exists (s i :: ms). split; [simpl; auto|]. split; [|split].
      + constructor; auto. eapply Forall_impl; [|exact F]. cbv beta. intros z Q. lra.
      + constructor; auto. intros Q. rewrite Forall_forall in F. specialize (F _ Q). lra.
      + intros z [<-|Q]; [apply IN, I|apply C, Q]. }
  intros l i m I R. destruct (H _ _ _ R) as (ms & N & F & D & C).
  assert (Q : (length (s i :: ms) <= length ss)%nat).
  { apply NoDup_incl_length.
    - constructor; auto. intros Q. rewrite Forall_forall in F. specialize (F _ Q). lra.
    - intros z [<-|Q]; [apply IN, I|apply C, Q]. }
  simpl in Q. lia.
Qed.

Lemma exp_near w : w <= 9 / 40 -> exp w <= 40 / 31.
Proof.
  intros H. apply Rle_trans with (exp (9 / 40)); [apply exp_less, H|].
  replace (9 / 40) with (- - (9 / 40)) by ring. rewrite exp_Ropp. assert (I := exp_ineq1_le (- (9 / 40))).
  apply Rle_trans with (/ (31 / 40)); [|lra]. apply Rinv_le_contravar; lra.
Qed.

Lemma rho_power n : rho ^ n = exp (INR n * (X + 6 * tau)).
Proof.
  induction n; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|]. rewrite S_INR. simpl. rewrite IHn.
  unfold rho. rewrite <- exp_plus. f_equal. ring.
Qed.

(** Theorem (Lemma 11b): the numbers that multiply a value, and their product. *)
Definition astray_by (n : nat) : R := 8.04 * u * L + INR n * (X + 7 * tau).

Lemma astray_more m n : (m <= n)%nat -> astray_by m <= astray_by n.
Proof.
  intros H. apply le_INR in H. unfold astray_by. assert (T := tau_small). assert (S := xi_small).
  assert (Q := X_small). assert (INR m * (X + 7 * tau) <= INR n * (X + 7 * tau))
    by (apply Rmult_le_compat_r; lra). lra.
Qed.

Theorem factors_near m k l : factors A t s m k l -> astray_by (length l) <= 9 / 40 ->
  exists e l', l = e :: l' /\ (length l' <= t)%nat
  /\ (narrow A -> (length l' <= S t / 16 + 1)%nat)
  /\ Forall (fun r => Rabs r <= rho) l' /\ Rabs m <= L
  /\ Rabs e <= (if (k <=? t)%nat then 40 / 31 else 1.01 * tau)
  /\ ((k <= t)%nat -> exists a,
        exp (s k - m - astray_by (length l)) <= a <= exp (s k - m + astray_by (length l))
        /\ Rabs (prod l - a) <= 2 * tau).
Proof.
  intros (e & l' & i & two & -> & I & R & NA & E) W. assert (T := tau_small). assert (U := u_small).
  assert (XS := X_small). assert (XP := xi_small). assert (RO := rho_one).
  assert (BI := scores i I). assert (F := rises_few two l' i m I R).
  destruct (rises two l' (s i) m BI R) as (IM & BM & FA & C).
  exists e, l'. split; [reflexivity|]. split; [exact F|]. split; [exact NA|].
  assert (PB : 0 <= prod l' <= rho ^ length l').
  { clear - FA. unfold prod. induction FA as [|r l Q _ IH]; simpl; [lra|].
    destruct IH. split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
  split; [eapply Forall_impl; [|exact FA]; cbv beta; intros r Q; rewrite Rabs_pos_eq; lra|].
  split; [exact BM|]. fold f tau in E.
  assert (L0 : 0 <= L) by (assert (Z := Rabs_pos (s i)); lra).
  assert (UL : 0 <= u * L) by (apply Rmult_le_pos; lra).
  destruct (k <=? t)%nat eqn:K.
  2:{ apply Nat.leb_gt in K. change (pow (-16)) with (/ 65536) in E.
      split; [rewrite Rabs_pos_eq; lra|]. intros; lia. }
  apply Nat.leb_le in K. destruct E as (KI & x & E & D). assert (BK := scores k K).
  assert (N := step_near (s k) (s i) x BK BI KI D).
  assert (B1 := BK). assert (B2 := BI). assert (B3 := BM). apply Rabs_le_inv in B1, B2, B3.
  assert (U1 : 0 <= u * (s i - s k) <= 2 * (u * L)).
  { split; [apply Rmult_le_pos; lra|]. replace (2 * (u * L)) with (u * (2 * L)) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (U2 : u * (m - s k) <= 2 * (u * L)).
  { replace (2 * (u * L)) with (u * (2 * L)) by ring. apply Rmult_le_compat_l; lra. }
  assert (XB : x <= 2.01 * u * L + 4 * tau).
  { apply Rabs_le_inv in N. assert (u * (s i - s k) <= / 2048 * (s i - s k))
      by (apply Rmult_le_compat_r; lra). lra. }
  unfold astray_by in *. cbn [length] in *. rewrite S_INR in *.
  assert (LN := pos_INR (length l')). set (n := INR (length l')) in *.
  assert (NX : 0 <= n * tau) by (apply Rmult_le_pos; lra).
  assert (NT : 0 <= n * (X + 6 * tau)) by (apply Rmult_le_pos; lra).
  assert (RP := rho_power (length l')). fold n in RP.
  assert (RW : rho ^ length l' <= 40 / 31) by (rewrite RP; apply exp_near; lra).
  change (prod (e :: l')) with (e * prod l').
  assert (FLUSH : 0 <= e * prod l' <= 2 * tau -> exp (s k - m) <= 1.25 * tau -> exists a,
    exp (s k - m - (8.04 * u * L + (n + 1) * (X + 7 * tau))) <= a
      <= exp (s k - m + (8.04 * u * L + (n + 1) * (X + 7 * tau)))
    /\ Rabs (e * prod l' - a) <= 2 * tau).
  { intros Q Q'. exists (exp (s k - m)). assert (P0 := exp_pos (s k - m)).
    split; [split; apply exp_less; lra|]. apply Rabs_le. lra. }
  destruct (exponential_cases x e ltac:(lra) E) as [(y & EY & NY)|(FL & NE)].
  - apply Rabs_le_inv in NY.
    assert (E1 : exp (x + X) <= 40 / 31) by (apply exp_near; lra).
    assert (E2 : 0 < e <= exp (x + X)).
    { rewrite EY. split; [apply exp_pos|apply exp_less; lra]. }
    split; [rewrite Rabs_pos_eq; lra|]. intros _. destruct C as [(y' & EY' & NY')|(F1 & F2)].
    + exists (exp (y + y')). rewrite EY', EY, <- exp_plus.
      split; [|rewrite Rminus_eq_0, Rabs_R0; lra].
      apply Rabs_le_inv in NY', N. split; apply exp_less; lra.
    + apply FLUSH; [|eapply Rle_trans; [apply exp_less|exact F2]; lra].
      split; [apply Rmult_le_pos; lra|].
      apply Rle_trans with (40 / 31 * (1.01 * tau * (40 / 31))); [|lra].
      apply Rmult_le_compat; try lra. eapply Rle_trans; [exact F1|]. apply Rmult_le_compat_l; lra.
  - split; [rewrite Rabs_pos_eq; lra|]. intros _. apply FLUSH.
    + split; [apply Rmult_le_pos; lra|]. apply Rle_trans with (1.01 * tau * (40 / 31)); [|lra].
      apply Rmult_le_compat; lra.
    + apply Rle_trans with (exp (s k - s i)); [apply exp_less; lra|].
      apply (flushed (s k) (s i) x); auto.
Qed.
End Weights.
