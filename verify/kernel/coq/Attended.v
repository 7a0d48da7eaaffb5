(** What [softmax] allows is within the bounds of [attended], in float32 and float64; in formats
    of 16 bits it is a mean, too, of which stores move the weights (Theorem 12a of
    docs/proofs/attention.md). *)
From Coq Require Import Reals ZArith List Bool Arith Permutation Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding Softmax Collected Weights.
Import ListNotations.
Open Scope R_scope.

Lemma risen_score A t s two : forall l i m, (i <= t)%nat -> risen A t s two (s i) l m ->
  exists j, (j <= t)%nat /\ m = s j.
Proof.
  induction l as [|r l IH]; simpl; intros i m I R; [eauto|].
  destruct R as (j & x & J & _ & _ & _ & R). eauto.
Qed.

(** All positions, once. *)
Lemma once_reals t ks : once t ks ->
  Permutation (filter (fun k => k <=? t)%nat ks) (seq 0 (S t)) /\ (length ks <= 2 * S t)%nat
  /\ (hidden (fun k => k <=? t)%nat ks <= S t)%nat.
Proof.
  intros (D & A & B). assert (P : Permutation (filter (fun k => k <=? t)%nat ks) (seq 0 (S t))).
  { apply NoDup_Permutation; [apply NoDup_filter, D|apply seq_NoDup|]. intros k.
    rewrite filter_In, in_seq, Nat.leb_le. split; [lia|]. intros K. split; [apply A|]; lia. }
  split; [exact P|]. assert (L : (length ks <= 2 * S t)%nat).
  { rewrite <- (seq_length (2 * S t) 0). apply NoDup_incl_length; [exact D|]. intros k K.
    apply in_seq. specialize (B k K). lia. }
  split; [exact L|]. apply Permutation_length in P. rewrite seq_length in P.
  assert (C := counted_all (fun k => k <=? t)%nat ks). unfold reals in C. lia.
Qed.

Lemma over_filter F (real : nat -> bool) ks :
  over (fun k => if real k then F k else 0) ks = over F (filter real ks).
Proof.
  unfold over. induction ks as [|k ks IH]; simpl; auto. destruct (real k); simpl; lra.
Qed.

Lemma over_positions F t ks : once t ks ->
  over (fun k => if (k <=? t)%nat then F k else 0) ks = sum_f_R0 F t.
Proof.
  intros O. rewrite over_filter, <- over_seq. apply over_order, (once_reals t ks O).
Qed.

Lemma power_near u k : 0 < u -> INR k * u <= / 600 -> (1 + u) ^ k - 1 <= 1.002 * (INR k * u).
Proof.
  intros U B. assert (K := pos_INR k). set (z := INR k * u) in *.
  assert (Z : 0 <= z) by (apply Rmult_le_pos; lra).
  assert (E : (1 + u) ^ k <= exp z).
  { unfold z. clear - U. induction k; [simpl; rewrite Rmult_0_l, exp_0; lra|].
    rewrite S_INR. simpl. replace ((INR k + 1) * u) with (u + INR k * u) by ring. rewrite exp_plus.
    apply Rmult_le_compat; [lra|apply pow_le; lra|apply exp_ineq1_le|exact IHk]. }
  assert (I := exp_ineq1_le (- z)). rewrite exp_Ropp in I. assert (P := exp_pos z).
  assert (Q : exp z * (1 - z) <= 1).
  { apply Rle_trans with (exp z * / exp z); [apply Rmult_le_compat_l; lra|]. right. field. lra. }
  nra.
Qed.

(** A quotient of what is near Y and near Z. *)
Lemma quotient_near f y z o Y Z T kappa D k2 : quotient f y z o ->
  0 < roundoff f <= / 2048 -> 0 <= kappa <= / 500 -> 0 <= k2 <= / 900 -> 0 <= D -> 0 < Z ->
  Rabs Y <= T -> Rabs (y - Y) <= kappa * T + D -> Rabs (z - Z) <= k2 * Z ->
  1.01 * (T + D) < Z * pow (top f - 1) ->
  Rabs (o * Z - Y) <= (4.02 * roundoff f + 1.003 * kappa + 1.003 * k2) * T + 1.01 * D
                      + 1.01 * tiny f * Z.
Proof.
  intros Q U K K2 D0 Z0 YT NY NZ F. set (u := roundoff f) in *.
  assert (T0 : 0 <= T) by (assert (q := Rabs_pos Y); lra).
  assert (ZB : (1 - k2) * Z <= z <= (1 + k2) * Z) by (apply Rabs_le_inv in NZ; lra).
  assert (Zn : k2 * Z <= / 900 * Z) by (apply Rmult_le_compat_r; lra).
  assert (z0 : 0 < z) by lra.
  assert (YB : Rabs y <= (1 + kappa) * T + D).
  { replace y with (y - Y + Y) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (KT : kappa * T <= / 500 * T) by (apply Rmult_le_compat_r; lra).
  assert (TP : 0 < tiny f) by apply bpow_gt_0. assert (PT := bpow_gt_0 radix2 (top f - 1)).
  assert (E : Rabs (y / z) = Rabs y / z).
  { unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq z); lra. }
  assert (q := Q ltac:(lra)). rewrite E in q. fold u in q.
  assert (G : Rabs (o - y / z) <= 4 * u * (Rabs y / z) + tiny f).
  { apply q. apply Rmult_lt_reg_r with z; [exact z0|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_lt_trans with (1.003 * (T + D)); [lra|].
    assert (0.998 * Z * pow (top f - 1) <= z * pow (top f - 1)) by (apply Rmult_le_compat_r; lra).
    assert (1.003 * (T + D) <= 0.994 * (1.01 * (T + D))) by lra. lra. }
  assert (OZ : Rabs (o * z - y) <= 4 * u * Rabs y + tiny f * z).
  { replace (o * z - y) with ((o - y / z) * z) by (field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq z) by lra.
    replace (4 * u * Rabs y + tiny f * z) with ((4 * u * (Rabs y / z) + tiny f) * z)
      by (field; lra).
    apply Rmult_le_compat_r; lra. }
  assert (UY : u * Rabs y <= 1.002 * (u * T) + / 2048 * D).
  { apply Rle_trans with (u * (1.002 * T + D)); [apply Rmult_le_compat_l; lra|].
    assert (u * D <= / 2048 * D) by (apply Rmult_le_compat_r; lra). lra. }
  assert (A1 : Rabs (o * z - Y) <= (4.01 * u + kappa) * T + 1.002 * D + tiny f * z).
  { replace (o * z - Y) with (o * z - y + (y - Y)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    assert (0 <= u * T) by (apply Rmult_le_pos; lra). lra. }
  assert (R : Rabs (Z / z - 1) <= 1.002 * k2).
  { replace (Z / z - 1) with ((Z - z) * / z) by (field; lra).
    rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq z), Rabs_minus_sym by lra.
    apply Rmult_le_reg_r with z; [exact z0|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (k2 * (0.998 * Z) <= k2 * z) by (apply Rmult_le_compat_l; lra).
    eapply Rle_trans; [exact NZ|]. assert (0 <= k2 * Z) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (1.002 * (k2 * z)); [|lra].
    assert (k2 * ((1 - / 900) * Z) <= k2 * z) by (apply Rmult_le_compat_l; lra). lra. }
  assert (RB : 0 <= Z / z <= 1.002).
  { apply Rabs_le_inv in R. split; [|lra].
    apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]. }
  replace (o * Z - Y) with ((o * z - Y) * (Z / z) + (Z / z - 1) * Y) by (field; lra).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq (Z / z)) by lra.
  assert (B1 : Rabs (Z / z - 1) * Rabs Y <= 1.002 * k2 * T)
    by (apply Rmult_le_compat; auto; apply Rabs_pos).
  assert (TZ : 0 <= tiny f * z) by (apply Rmult_le_pos; lra).
  assert (TZ' : tiny f * z * (Z / z) = tiny f * Z) by (field; lra).
  assert (TT : 0 <= (4.01 * u + kappa) * T + 1.002 * D) by
    (assert (0 <= (4.01 * u + kappa) * T) by (apply Rmult_le_pos; lra); lra).
  assert (B2 : Rabs (o * z - Y) * (Z / z)
    <= 1.002 * ((4.01 * u + kappa) * T + 1.002 * D) + tiny f * Z).
  { apply Rle_trans with (((4.01 * u + kappa) * T + 1.002 * D + tiny f * z) * (Z / z)).
    - apply Rmult_le_compat_r; lra.
    - rewrite Rmult_plus_distr_r, TZ'. apply Rplus_le_compat_r. rewrite Rmult_comm.
      apply Rmult_le_compat_r; lra. }
  assert (0 <= u * T) by (apply Rmult_le_pos; lra).
  assert (0 <= kappa * T) by (apply Rmult_le_pos; lra).
  assert (0 <= k2 * T) by (apply Rmult_le_pos; lra).
  assert (0 <= tiny f * Z) by (apply Rmult_le_pos; lra). lra.
Qed.

(** What is off in proportion to a sum is factors of its terms. *)
Lemma shared_out K T r d : 0 <= K -> 0 <= T -> 0 <= r -> Rabs d <= K * T + r ->
  exists th, Rabs th <= K /\ Rabs (d - th * T) <= r.
Proof.
  intros K0 T0 R0 H. destruct (Rle_lt_or_eq_dec 0 T T0) as [P|E].
  2:{ exists 0. rewrite Rabs_R0. split; [lra|]. subst T. rewrite Rmult_0_r in H.
      replace (d - 0 * 0) with d by ring. lra. }
  destruct (Rle_lt_dec (Rabs d) (K * T)) as [L|L].
  - exists (d / T). split.
    + unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq T) by lra.
      apply Rmult_le_reg_r with T; [exact P|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra.
    + replace (d - d / T * T) with 0 by (field; lra). rewrite Rabs_R0. exact R0.
  - unfold Rabs in L, H. destruct (Rcase_abs d) as [N|N].
    + exists (- K). rewrite Rabs_Ropp, (Rabs_pos_eq K) by lra. split; [lra|].
      apply Rabs_le. lra.
    + exists K. rewrite (Rabs_pos_eq K) by lra. split; [lra|]. apply Rabs_le. lra.
Qed.

Lemma factored t (a v : nat -> R) th : exists c, (forall j, Rabs (c j - 1) <= Rabs th)
  /\ sum_f_R0 (fun j => c j * a j * v j) t
     = sum_f_R0 (fun j => a j * v j) t + th * sum_f_R0 (fun j => a j * Rabs (v j)) t.
Proof.
  exists (fun j => 1 + th * (if Rcase_abs (v j) then -1 else 1)). split.
  - intros j. replace (1 + th * (if Rcase_abs (v j) then -1 else 1) - 1)
      with (th * (if Rcase_abs (v j) then -1 else 1)) by ring. rewrite Rabs_mult.
    destruct (Rcase_abs (v j)); rewrite ?Rabs_R1, ?(Rabs_left (-1)) by lra; lra.
  - rewrite scal_sum, <- plus_sum. apply sum_eq. intros j _. unfold Rabs.
    destruct (Rcase_abs (v j)); ring.
Qed.

(** Weights that go with the largest score m: products of their numbers, up to what is flushed;
    and their logarithms are off by W. *)
Definition weights_of (A : arithmetic) (t : nat) (s : nat -> R) (W m : R) (a : nat -> R) : Prop :=
  forall j, (j <= t)%nat -> exp (s j - m - W) <= a j <= exp (s j - m + W)
  /\ exists l, factors A t s m j l /\ Rabs (prod l - a j) <= 2 * tiny (accumulator A).

(** What is stored of the weight of position j: its exponential, or its quotient. *)
Definition share_of (A : arithmetic) (t : nat) (s : nat -> R) (W m : R) (j : nat) (x : R) : Prop :=
  (exists l, factors A t s m j (x :: l))
  \/ ((j <= t)%nat /\ exists a b, weights_of A t s W m a /\ weights_of A t s W m b
      /\ Rabs (x * sum_f_R0 b t - a j)
         <= (3.2 + 3.02 * INR (S t)) * roundoff (accumulator A) * a j
            + 5.6 * tiny (accumulator A) * sum_f_R0 b t).

Section Attended.
Variables (A : arithmetic) (t : nat) (s v : nat -> R) (L V W : R) (chain : nat).
Variables (us : nat -> R) (es : R).
Let f := accumulator A.
Let u := roundoff f.
Let tau := tiny f.
Let N := INR (S t).
Hypothesis usual : ordinary f = true.
Hypothesis bounds : forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V.
Hypothesis few : N * u <= pow (-11).
Hypothesis close_L : u * L <= / 40.
Hypothesis room : 16 * N * (1 + V) <= pow (top f).
(** Weights are made of so many numbers at most, and their logarithms are off by W. *)
Hypothesis short : (chain <= S t)%nat.
Hypothesis shorter : forall m k l, factors A t s m k l -> (length l <= chain)%nat.
Hypothesis astray_W : astray_by A L chain <= W.
Hypothesis steady : W <= 9 / 40.
(** What a store moves. *)
Hypothesis us_small : forall j, 0 <= us j <= / 200.
Hypothesis es_small : 0 <= es.
Hypothesis es_few : N * es <= / 10.
Hypothesis stores : forall m j x y, share_of A t s W m j x -> Rabs x <= 3 -> store A x y ->
  Rabs (y - x) <= us j * Rabs x + es /\ Rabs (y - x) <= Rabs x.

Lemma N_one : 1 <= N.
Proof. unfold N. rewrite S_INR. assert (q := pos_INR t). lra. Qed.

Lemma L_positive : 0 <= L.
Proof. destruct (bounds 0%nat ltac:(lia)) as (H & _). assert (q := Rabs_pos (s 0%nat)). lra. Qed.
Lemma V_positive : 0 <= V.
Proof. destruct (bounds 0%nat ltac:(lia)) as (_ & H). assert (q := Rabs_pos (v 0%nat)). lra. Qed.

Let scores j : (j <= t)%nat -> Rabs (s j) <= L := fun J => proj1 (bounds j J).

Lemma digits_of : (11 <= digits f /\ digits f + 2 <= top f /\ least f + 3 * digits f <= 0)%Z.
Proof. exact (usual_digits A usual). Qed.

Lemma u_bounds : 0 < u <= / 2048.
Proof. exact (u_small A usual). Qed.

(** Losses below the normal range are far below roundings. *)
Lemma tau_bounds : 0 < tau /\ tau <= u * u / 2 /\ speck f = tau * u.
Proof.
  assert (D := digits_of). split; [apply bpow_gt_0|]. split.
  - unfold Rdiv. change (/ 2) with (pow (-1)). unfold tau, tiny, u, roundoff.
    rewrite <- !bpow_plus. apply bpow_le. lia.
  - unfold speck, tau, tiny, u, roundoff. rewrite <- bpow_plus. f_equal. lia.
Qed.

Lemma Nu_small : 0 < N * u <= / 2048.
Proof.
  split; [apply Rmult_lt_0_compat; [assert (q := N_one); lra|apply u_bounds]|].
  change (/ 2048) with (pow (-11)). exact few.
Qed.

Lemma Ntau_small : 0 < N * tau <= u / 4096.
Proof.
  destruct tau_bounds as (T & T' & _). assert (U := u_bounds). assert (B := Nu_small).
  assert (q := N_one). split; [apply Rmult_lt_0_compat; lra|].
  apply Rle_trans with (N * u * (u / 2)); [replace (N * u * (u / 2)) with (N * (u * u / 2))
    by field;
    apply Rmult_le_compat_l; lra|].
  apply Rle_trans with (/ 2048 * (u / 2)); [apply Rmult_le_compat_r; lra|lra].
Qed.

Let rho := exp (xi_log A + 6 * tau).

Lemma rho_bounds : 1 <= rho /\ (forall n, (n <= chain)%nat -> rho ^ n <= 40 / 31).
Proof.
  assert (R := rho_one A usual). fold f tau rho in R. split; [exact R|]. intros n I.
  apply Rle_trans with (rho ^ chain); [apply Rle_pow; auto|].
  unfold rho, tau, f. rewrite (rho_power A). apply exp_near. fold f tau.
  assert (M := astray_W). unfold astray_by in M. fold f u tau in M. destruct tau_bounds as (T & _).
  assert (q := pos_INR chain). assert (0 <= INR chain * tau) by (apply Rmult_le_pos; lra).
  assert (0 <= u * L) by (apply Rmult_le_pos; [left; apply u_bounds|apply L_positive]).
  assert (q' := steady). lra.
Qed.

Lemma u_powers k : (k <= 3 * S t)%nat -> 1 <= (1 + u) ^ k <= 1.002.
Proof.
  intros K. assert (U := u_bounds). split; [apply power_one; lra|]. assert (B := Nu_small).
  apply le_INR in K. rewrite mult_INR in K. fold N in K. simpl (INR 3) in K.
  assert (INR k * u <= 3 * N * u) by (apply Rmult_le_compat_r; lra).
  assert (Q := power_near u k ltac:(lra) ltac:(lra)). lra.
Qed.

Lemma top_room : pow (top f) = 2 * pow (top f - 1).
Proof. replace (top f) with (1 + (top f - 1))%Z at 1 by lia. rewrite bpow_plus. reflexivity. Qed.

Lemma N_room : 16 * N <= pow (top f - 1).
Proof.
  assert (D := digits_of). assert (B := few). assert (U := u_bounds).
  apply Rle_trans with (pow (digits f - 7)); [|apply bpow_le; lia].
  replace (digits f - 7)%Z with (4 + (digits f + -11))%Z by lia. rewrite !bpow_plus.
  change (pow 4) with 16. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_reg_r with u; [lra|].
  replace (pow (digits f) * pow (-11) * u) with (pow (digits f) * u * pow (-11)) by ring.
  unfold u, roundoff. rewrite <- (bpow_plus radix2 (digits f)).
  replace (digits f + - digits f)%Z with 0%Z by lia. simpl (pow 0). rewrite Rmult_1_l. exact B.
Qed.


(** Numbers that multiply values, and their products. *)
Section Weighed.
Variables (h : nat -> list R) (a : nat -> R) (lam : R).
Hypothesis numbers : forall k, exists e l, h k = e :: l /\ (length l < chain)%nat
  /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if (k <=? t)%nat then 2.6 else 3 * tau).
Hypothesis positive : forall j, (j <= t)%nat -> 0 < a j.
Hypothesis near : forall j, (j <= t)%nat -> Rabs (prod (h j) - a j) <= lam.

Lemma lam_positive : 0 <= lam.
Proof. assert (H := near 0 ltac:(lia)). assert (q := Rabs_pos (prod (h 0%nat) - a 0%nat)). lra. Qed.

(** Sums of keys of which some are positions. *)
Lemma collected_many x X ks y : (forall k, Rabs (x k) <= X) -> 0 <= X ->
  8 * N * (1 + X) <= pow (top f - 1) ->
  (length ks <= 2 * S t)%nat -> collected f h x false ks [] y ->
  let real := fun k => (k <=? t)%nat in
  let F := fun k => if real k then prod (h k) * x k else 0 in
  Rabs (y - over F ks) <= ((1 + u) ^ (reals real ks + t) - 1) * over (fun k => Rabs (F k)) ks
    + 1.3 * (1.003 * tau * INR (length ks) + 6 * tau * X * INR (hidden real ks)).
Proof.
  intros XB X0 FIT LK C real F. destruct rho_bounds as (RB & RB'). assert (U := u_bounds).
  destruct tau_bounds as (T & T' & SP). assert (q := N_one). assert (CT := short).
  assert (CN : INR chain <= N) by (apply le_INR, CT).
  assert (UM := u_powers (2 * S t + chain) ltac:(lia)).
  assert (NT := Ntau_small). assert (C0 := pos_INR chain).
  assert (TS : speck f * (N + 2) <= 0.0015 * tau).
  { rewrite SP. replace (tau * u * (N + 2)) with (tau * (N * u + 2 * u)) by ring.
    assert (Q := Nu_small). rewrite (Rmult_comm 0.0015). apply Rmult_le_compat_l; lra. }
  assert (TX : 0 <= tau * X) by (apply Rmult_le_pos; lra).
  assert (P1 : 1 <= rho ^ chain) by (apply power_one; lra).
  assert (P2 : 1 <= rho ^ (chain - 1)) by (apply power_one; lra).
  assert (SPP : 0 < speck f) by apply bpow_gt_0.
  assert (G := collected_close f h x real chain (2 * S t) rho 2.6 X (fun _ => True)).
  specialize (G ltac:(assert (D := digits_of); lia) ltac:(assert (D := digits_of); lia)
    RB ltac:(lra) X0).
  assert (NB : forall k, True -> exists e l, h k = e :: l /\ (length l < chain)%nat
    /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if real k then 2.6 else 3 * tiny f)
    /\ Rabs (x k) <= X).
  { intros k _. destruct (numbers k) as (e & l & E & LN & Q & EB). exists e, l. auto. }
  specialize (G NB).
  assert (NC : forall n, 0 <= n -> speck f * (n * (INR chain + 2)) <= 0.0015 * tau * n).
  { intros n P. replace (speck f * (n * (INR chain + 2))) with (speck f * (INR chain + 2) * n)
      by ring.
    apply Rmult_le_compat_r; [exact P|].
    apply Rle_trans with (speck f * (N + 2)); [apply Rmult_le_compat_l; lra|exact TS]. }
  assert (NP : forall n, 0 <= n -> 0 <= speck f * (n * (INR chain + 2))).
  { intros n P. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
  assert (FF : rho ^ chain * (1 + roundoff f) ^ (2 * S t + chain) * (INR (2 * S t) * (2.6 * X) +
    (tiny f * INR (2 * S t) + 2 * (3 * tiny f * X * INR (2 * S t)
     + speck f * (INR (2 * S t) * (INR chain + 2))))) <= pow (top f - 1)).
  { fold u tau. rewrite mult_INR. fold N. simpl (INR 2).
    assert (S1 := NC (2 * N) ltac:(lra)). assert (S1' := NP (2 * N) ltac:(lra)).
    assert (S2 : N * tau * X <= 0.001 * X) by (apply Rmult_le_compat_r; lra).
    assert (S3 : 1 * X <= N * X) by (apply Rmult_le_compat_r; lra).
    assert (S4 : 0 <= N * tau * X) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (40 / 31 * 1.002 * (5.2 * N * X + 0.1 * N * (1 + X))); [|].
    - apply Rmult_le_compat.
      + apply Rmult_le_pos; lra.
      + assert (0 <= N * X) by (apply Rmult_le_pos; lra). lra.
      + assert (Q := RB' chain (le_n _)). apply Rmult_le_compat; lra.
      + lra.
    - assert (0 <= N * X) by (apply Rmult_le_pos; lra). lra. }
  specialize (G FF ks y C ltac:(apply Forall_forall; auto) LK). cbv zeta in G. fold F in G.
  fold u tau in G.
  assert (TK : 0 <= over (fun k => Rabs (F k)) ks).
  { apply Rle_trans with (Rabs (over F ks)); [apply Rabs_pos|]. apply over_abs. intros; lra. }
  assert (KK : (1 + u) ^ (reals real ks + (chain - 1)) <= (1 + u) ^ (reals real ks + t))
    by (apply Rle_pow; [lra|lia]).
  eapply Rle_trans; [exact G|]. apply Rplus_le_compat; [apply Rmult_le_compat_r; lra|].
  assert (LN : 0 <= INR (length ks)) by apply pos_INR.
  assert (HN : 0 <= INR (hidden real ks)) by apply pos_INR.
  assert (UK := u_powers (length ks + (chain - 1)) ltac:(lia)).
  assert (S3 := NC (INR (length ks)) LN). assert (S3' := NP (INR (length ks)) LN).
  assert (T1 : 0 <= tau * INR (length ks)) by (apply Rmult_le_pos; lra).
  assert (T2 : 0 <= tau * X * INR (hidden real ks)) by (apply Rmult_le_pos; lra).
  apply Rmult_le_compat.
  - apply Rmult_le_pos; lra.
  - lra.
  - assert (Q := RB' (chain - 1)%nat ltac:(lia)).
    apply Rle_trans with (40 / 31 * 1.002); [|lra]. apply Rmult_le_compat; lra.
  - lra.
Qed.

Lemma sum_constant c n : sum_f_R0 (fun _ => c) n = INR (S n) * c.
Proof. rewrite sum_cte. ring. Qed.

(** Products that are not ideal. *)
Lemma ideal_sums (x : nat -> R) X : (forall j, (j <= t)%nat -> Rabs (x j) <= X) -> 0 <= X ->
  Rabs (sum_f_R0 (fun j => prod (h j) * x j) t - sum_f_R0 (fun j => a j * x j) t)
    <= N * (lam * X)
  /\ sum_f_R0 (fun j => Rabs (prod (h j) * x j)) t
     <= sum_f_R0 (fun j => a j * Rabs (x j)) t + N * (lam * X).
Proof.
  intros XB X0. unfold N. rewrite <- (sum_constant (lam * X) t). split.
  - rewrite <- minus_sum. apply sum_abs. intros j J. assert (D := near j J).
    rewrite <- Rmult_minus_distr_r, Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos.
  - rewrite <- plus_sum. apply sum_Rle. intros j J. assert (D := near j J).
    assert (P := positive j J). rewrite Rabs_mult.
    assert (Q : Rabs (prod (h j)) <= a j + lam).
    { replace (prod (h j)) with (prod (h j) - a j + a j) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)); lra. }
    apply Rle_trans with ((a j + lam) * Rabs (x j));
      [apply Rmult_le_compat_r; auto; apply Rabs_pos|].
    assert (lam * Rabs (x j) <= lam * X)
      by (apply Rmult_le_compat_l; auto; apply lam_positive). lra.
Qed.

Lemma kappa_bound k : (k <= 3 * S t)%nat -> (1 + u) ^ k - 1 <= 1.002 * (INR k * u).
Proof.
  intros K. assert (Q := Nu_small). assert (U := u_bounds). apply power_near; [lra|].
  apply le_INR in K. rewrite mult_INR in K. fold N in K. simpl (INR 3) in K.
  assert (INR k * u <= 3 * N * u) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma collected_once x X ks y : (forall k, Rabs (x k) <= X) -> 0 <= X ->
  8 * N * (1 + X) <= pow (top f - 1) -> once t ks -> collected f h x false ks [] y ->
  Rabs (y - sum_f_R0 (fun j => a j * x j) t)
    <= 1.002 * ((2 * N - 1) * u) * sum_f_R0 (fun j => a j * Rabs (x j)) t
       + N * (tau * (2.7 + 8 * X) + 1.002 * lam * X).
Proof.
  intros XB X0 FIT O C. destruct (once_reals t ks O) as (P & LK & HK).
  assert (G := collected_many x X ks y XB X0 FIT LK C). cbv zeta in G.
  assert (RK : reals (fun k => (k <=? t)%nat) ks = S t).
  { unfold reals. apply Permutation_length in P. rewrite P, seq_length. reflexivity. }
  rewrite RK in G. rewrite (over_positions (fun k => prod (h k) * x k) t ks O) in G.
  rewrite (over_eq _ (fun k => if (k <=? t)%nat then Rabs (prod (h k) * x k) else 0)) in G.
  2:{ intros k _. destruct (k <=? t)%nat; [reflexivity|apply Rabs_R0]. }
  rewrite (over_positions (fun k => Rabs (prod (h k) * x k)) t ks O) in G.
  destruct (ideal_sums x X (fun j _ => XB j) X0) as (I1 & I2).
  set (Y := sum_f_R0 (fun j => a j * x j) t) in *.
  set (T := sum_f_R0 (fun j => a j * Rabs (x j)) t) in *.
  set (Y' := sum_f_R0 (fun j => prod (h j) * x j) t) in *.
  set (T' := sum_f_R0 (fun j => Rabs (prod (h j) * x j)) t) in *.
  assert (K := kappa_bound (S t + t) ltac:(lia)). assert (KP := u_powers (S t + t) ltac:(lia)).
  assert (E : INR (S t + t) = 2 * N - 1) by (unfold N; rewrite plus_INR, S_INR; ring).
  rewrite E in K. assert (KP' : 0 <= (1 + u) ^ (S t + t) - 1 <= 0.002) by lra.
  set (kap := (1 + u) ^ (S t + t) - 1) in *.
  assert (T0 : 0 <= T).
  { apply sum_positive. intros j J. apply Rmult_le_pos; [left; apply positive, J|apply Rabs_pos]. }
  destruct tau_bounds as (TP & _). assert (q := N_one). assert (U := u_bounds).
  assert (L0 := lam_positive). assert (LX : 0 <= lam * X) by (apply Rmult_le_pos; lra).
  assert (NT : 0 < N * tau) by (apply Rmult_lt_0_compat; lra).
  assert (NL : 0 <= N * (lam * X)) by (apply Rmult_le_pos; lra).
  assert (NTX : 0 <= N * tau * X) by (apply Rmult_le_pos; lra).
  assert (B1 : kap * T' <= 1.002 * ((2 * N - 1) * u) * T + 0.002 * (N * (lam * X))).
  { apply Rle_trans with (kap * (T + N * (lam * X))); [apply Rmult_le_compat_l; lra|].
    assert (kap * T <= 1.002 * ((2 * N - 1) * u) * T) by (apply Rmult_le_compat_r; lra).
    assert (kap * (N * (lam * X)) <= 0.002 * (N * (lam * X))) by (apply Rmult_le_compat_r; lra).
    lra. }
  apply le_INR in LK, HK. rewrite mult_INR in LK. fold N in LK, HK. simpl (INR 2) in LK.
  assert (B2 : 1.003 * tau * INR (length ks) <= 1.003 * tau * (2 * N))
    by (apply Rmult_le_compat_l; lra).
  assert (B3 : 6 * tau * X * INR (hidden (fun k => (k <=? t)%nat) ks) <= 6 * tau * X * N).
  { apply Rmult_le_compat_l; [|exact HK]. assert (0 <= tau * X) by (apply Rmult_le_pos; lra). lra. }
  replace (y - Y) with (y - Y' + (Y' - Y)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma collected_alone j y : (j <= t)%nat -> collected f h (fun _ => 1) false [j] [] y ->
  Rabs (y - a j) <= 1.002 * (N * u) * a j + 1.31 * tau + 1.002 * lam.
Proof.
  intros J C. assert (NR := N_room). assert (q := N_one).
  assert (G := collected_many (fun _ => 1) 1 [j] y
    ltac:(intros; cbv beta; rewrite Rabs_R1; lra) ltac:(lra) ltac:(lra) ltac:(simpl; lia) C).
  cbv zeta in G. unfold reals, hidden, over in G. simpl in G.
  assert (E : (j <=? t)%nat = true) by (apply Nat.leb_le, J). rewrite E in G. simpl in G.
  assert (D := near j J). assert (P := positive j J). assert (L0 := lam_positive).
  assert (K := kappa_bound (S t) ltac:(lia)). assert (KP := u_powers (S t) ltac:(lia)).
  fold N in K. simpl in K, KP. destruct tau_bounds as (TP & _).
  assert (KP' : 0 <= (1 + u) * (1 + u) ^ t - 1 <= 0.002) by lra.
  rewrite !Rmult_1_r, !Rplus_0_r in G. set (kap := (1 + u) * (1 + u) ^ t - 1) in *.
  assert (PB : Rabs (prod (h j)) <= a j + lam).
  { replace (prod (h j)) with (prod (h j) - a j + a j) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)); lra. }
  assert (B1 : kap * Rabs (prod (h j)) <= 1.002 * (N * u) * a j + 0.002 * lam).
  { apply Rle_trans with (kap * (a j + lam)); [apply Rmult_le_compat_l; lra|].
    assert (kap * a j <= 1.002 * (N * u) * a j) by (apply Rmult_le_compat_r; lra).
    assert (kap * lam <= 0.002 * lam) by (apply Rmult_le_compat_r; lra). lra. }
  replace (y - a j) with (y - prod (h j) + (prod (h j) - a j)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End Weighed.

(** What the factors of [softmax] are. *)
Lemma all_factors m h : (forall k, factors A t s m k (h k)) -> forall k,
  exists e l, h k = e :: l /\ (length l < chain)%nat
  /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if (k <=? t)%nat then 40 / 31 else 1.01 * tau)
  /\ ((k <= t)%nat -> exists a,
        exp (s k - m - W) <= a <= exp (s k - m + W) /\ Rabs (prod (h k) - a) <= 2 * tau).
Proof.
  intros weighed k. assert (F := shorter m k (h k) (weighed k)).
  assert (Q : astray_by A L (length (h k)) <= W)
    by (eapply Rle_trans; [apply (astray_more A L usual), F|exact astray_W]).
  destruct (factors_near A t s L usual scores close_L m k (h k) (weighed k)
    ltac:(assert (q := steady); lra)) as (e & l & E & _ & _ & R & _ & EB & H).
  exists e, l. split; [exact E|]. split; [rewrite E in F; simpl in F; lia|]. split; [exact R|].
  split; [exact EB|]. intros K. destruct (H K) as (a & (A1 & A2) & A3). exists a.
  split; [|exact A3].
  split; [eapply Rle_trans; [apply exp_less|exact A1]
         |eapply Rle_trans; [exact A2|apply exp_less]]; lra.
Qed.

Lemma ideal m h : (forall k, factors A t s m k (h k)) -> exists a, forall j, (j <= t)%nat ->
  exp (s j - m - W) <= a j <= exp (s j - m + W) /\ Rabs (prod (h j) - a j) <= 2 * tau.
Proof.
  intros weighed.
  assert (H : forall k, (k <= S t)%nat -> exists a, forall j, (j < k)%nat ->
    exp (s j - m - W) <= a j <= exp (s j - m + W) /\ Rabs (prod (h j) - a j) <= 2 * tau).
  { induction k as [|k IH]; intros K; [exists (fun _ => 0); lia|].
    destruct (IH ltac:(lia)) as (a & Q).
    destruct (all_factors m h weighed k) as (_ & _ & _ & _ & _ & _ & R).
    destruct (R ltac:(lia)) as (b & Q'). exists (fun j => if (j =? k)%nat then b else a j).
    intros j J. destruct (j =? k)%nat eqn:E; [apply Nat.eqb_eq in E; subst; exact Q'|].
    apply Nat.eqb_neq in E. apply Q. lia. }
  destruct (H (S t) (le_n _)) as (a & Q). exists a. intros j J. apply Q. lia.
Qed.

Lemma plain_numbers m h : (forall k, factors A t s m k (h k)) -> forall k,
  exists e l, h k = e :: l /\ (length l < chain)%nat
  /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if (k <=? t)%nat then 2.6 else 3 * tau).
Proof.
  intros weighed k. destruct (all_factors m h weighed k) as (e & l & E & LN & Q & EB & _).
  exists e, l. split; [exact E|]. split; [exact LN|]. split; [exact Q|].
  destruct tau_bounds as (T & _). destruct (k <=? t)%nat; lra.
Qed.

(** The normaliser. *)
Lemma normaliser m h b ks z : (forall k, factors A t s m k (h k)) ->
  (forall j, (j <= t)%nat ->
    exp (s j - m - W) <= b j <= exp (s j - m + W) /\ Rabs (prod (h j) - b j) <= 2 * tau) ->
  once t ks -> collected f h (fun _ => 1) false ks [] z ->
  31 / 40 <= sum_f_R0 b t /\ (forall j, (j <= t)%nat -> 0 < b j)
  /\ Rabs (z - sum_f_R0 b t) <= (2.004 * N - 0.9) * u * sum_f_R0 b t.
Proof.
  intros weighed near O C.
  assert (BP : forall j, (j <= t)%nat -> 0 < b j).
  { intros j J. destruct (near j J) as ((H & _) & _). assert (q := exp_pos (s j - m - W)). lra. }
  assert (TOP : exists j, (j <= t)%nat /\ m = s j).
  { destruct (weighed 0%nat) as (_ & l & i & two & _ & I & R & _). eapply risen_score; eauto. }
  destruct TOP as (r & R & M). set (Z := sum_f_R0 b t).
  assert (ZB : 31 / 40 <= Z).
  { assert (Q := sum_one r b t R (fun j J => Rlt_le _ _ (BP j J))). fold Z in Q.
    destruct (near r R) as ((H & _) & _). rewrite M, Rminus_eq_0 in H.
    assert (I := exp_ineq1_le (0 - W)). assert (q := steady). lra. }
  split; [exact ZB|]. split; [exact BP|]. assert (NR := N_room). assert (q := N_one).
  assert (G := collected_once h b (2 * tau) (plain_numbers m h weighed) BP
    (fun j J => proj2 (near j J)) (fun _ => 1) 1 ks z
    ltac:(intros; cbv beta; rewrite Rabs_R1; lra) ltac:(lra) ltac:(lra) O C).
  rewrite (sum_eq (fun j => b j * 1) b) in G by (intros; ring).
  rewrite (sum_eq (fun j => b j * Rabs 1) b) in G by (intros; rewrite Rabs_R1; ring). fold Z in G.
  assert (NT := Ntau_small). assert (U := u_bounds).
  assert (Q : N * (tau * (2.7 + 8 * 1) + 1.002 * (2 * tau) * 1) <= 0.1 * u * Z).
  { replace (N * (tau * (2.7 + 8 * 1) + 1.002 * (2 * tau) * 1)) with (N * tau * 12.704) by lra.
    apply Rle_trans with (u / 4096 * 12.704); [apply Rmult_le_compat_r; lra|].
    assert (0.1 * u * (31 / 40) <= 0.1 * u * Z) by (apply Rmult_le_compat_l; lra). lra. }
  assert (0 < u * Z) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma all_true ks : reals (fun _ => true) ks = length ks /\ hidden (fun _ => true) ks = 0%nat.
Proof.
  unfold reals, hidden. induction ks as [|k ks (IH & IH')]; simpl; auto.
Qed.

Lemma room_half : 8 * N * (1 + V) <= pow (top f - 1).
Proof. assert (R := room). rewrite top_room in R. lra. Qed.

(** Weights that are divided before they multiply the values. *)
Lemma divided_before (w : nat -> R) js y : Permutation js (seq 0 (S t)) ->
  (forall j, (j <= t)%nat -> Rabs (w j) <= 2) -> collected f (fun j => [w j]) v false js [] y ->
  Rabs (y - sum_f_R0 (fun j => w j * v j) t)
    <= 1.002 * (N * u) * sum_f_R0 (fun j => Rabs (w j * v j)) t + 1.01 * N * tau.
Proof.
  intros P W2 C. assert (U := u_bounds). destruct tau_bounds as (T & T' & SP).
  assert (V0 := V_positive). assert (q := N_one). assert (RH := room_half).
  assert (LJ : length js = S t)
    by (apply Permutation_length in P; rewrite seq_length in P; exact P).
  assert (U1 := u_powers (S t) ltac:(lia)). assert (U2 := u_powers (S t + 1) ltac:(lia)).
  assert (SB : speck f <= 0.0005 * tau).
  { rewrite SP, Rmult_comm. apply Rmult_le_compat_r; lra. }
  assert (SQ : 0 < speck f) by apply bpow_gt_0. assert (NT := Ntau_small).
  assert (G := collected_close f (fun j => [w j]) v (fun _ => true) 1 (S t) 1 2 V
    (fun j => (j <= t)%nat)).
  specialize (G ltac:(assert (D := digits_of); lia) ltac:(assert (D := digits_of); lia)
    ltac:(lra) ltac:(lra) V0).
  assert (NB : forall k, (k <= t)%nat -> exists e l, [w k] = e :: l /\ (length l < 1)%nat
    /\ Forall (fun r => Rabs r <= 1) l /\ Rabs e <= (if true then 2 else 3 * tiny f)
    /\ Rabs (v k) <= V).
  { intros k K. exists (w k), []. split; [reflexivity|]. split; [simpl; lia|].
    split; [constructor|]. split; [apply W2, K|apply bounds, K]. }
  specialize (G NB). fold u tau N in G.
  assert (TV : N * tau * V <= 0.001 * V) by (apply Rmult_le_compat_r; lra).
  assert (NS : N * speck f <= 0.0005 * (N * tau)).
  { replace (0.0005 * (N * tau)) with (N * (0.0005 * tau)) by ring. apply Rmult_le_compat_l; lra. }
  assert (NV : 0 <= N * V) by (apply Rmult_le_pos; lra).
  assert (NTV : 0 <= N * tau * V) by (apply Rmult_le_pos; lra).
  assert (NSP : 0 < N * speck f) by (apply Rmult_lt_0_compat; lra).
  assert (FF : 1 ^ 1 * (1 + u) ^ (S t + 1) * (N * (2 * V) + (tau * N + 2 * (3 * tau * V * N
     + speck f * (N * (INR 1 + 2))))) <= pow (top f - 1)).
  { simpl (INR 1). rewrite pow1, Rmult_1_l. eapply Rle_trans; [|exact RH].
    apply Rle_trans with (1.002 * (N * (2 * V) + (tau * N + 2 * (3 * tau * V * N
     + speck f * (N * (1 + 2)))))); [apply Rmult_le_compat_r; [lra|]; exact (proj2 U2)|].
    assert (1 * V <= N * V) by (apply Rmult_le_compat_r; lra). lra. }
  assert (GJ : Forall (fun j => (j <= t)%nat) js).
  { apply Forall_forall. intros j J. apply (Permutation_in _ P), in_seq in J. lia. }
  specialize (G FF js y C GJ ltac:(lia)). cbv zeta in G. destruct (all_true js) as (E1 & E2).
  rewrite E1, E2, LJ in G. simpl (1 - 1)%nat in G. rewrite Nat.add_0_r in G.
  rewrite (over_order _ js _ P), (over_order (fun k => Rabs _) js _ P), !over_seq in G.
  rewrite (sum_eq _ (fun j => w j * v j)) in G by (intros; unfold prod; simpl; ring).
  rewrite (sum_eq (fun k => Rabs _) (fun j => Rabs (w j * v j))) in G
    by (intros; unfold prod; simpl; f_equal; ring).
  fold N in G. assert (K := kappa_bound (S t) ltac:(lia)). fold N in K.
  set (T0 := sum_f_R0 (fun j => Rabs (w j * v j)) t) in *.
  assert (T00 : 0 <= T0) by (apply sum_positive; intros; apply Rabs_pos).
  eapply Rle_trans; [exact G|]. apply Rplus_le_compat; [apply Rmult_le_compat_r; lra|].
  simpl (1 ^ 0). simpl (INR 0). simpl (INR 1). rewrite Rmult_1_l.
  apply Rle_trans with (1.002 * (1.003 * (N * tau))); [|lra].
  apply Rmult_le_compat; lra.
Qed.

Lemma moved_by_store k x y : 0 <= k -> Rabs (y - x) <= k * Rabs x + es -> exists th,
  Rabs th <= k /\ Rabs (y - x * (1 + th)) <= es.
Proof.
  intros K H. destruct (shared_out k (Rabs x) es (y - x)) as (th & T & D); auto;
    [apply Rabs_pos|]. unfold Rabs in D at 2. destruct (Rcase_abs x).
  - exists (- th). rewrite Rabs_Ropp. split; [exact T|].
    replace (y - x * (1 + - th)) with (y - x - th * - x) by ring. exact D.
  - exists th. split; [exact T|]. replace (y - x * (1 + th)) with (y - x - th * x) by ring. exact D.
Qed.

Lemma chosen_at_each (P : nat -> R -> Prop) : (forall j, (j <= t)%nat -> exists x, P j x) ->
  exists g, forall j, (j <= t)%nat -> P j (g j).
Proof.
  intros H. assert (Q : forall k, (k <= S t)%nat -> exists g, forall j, (j < k)%nat -> P j (g j)).
  { induction k as [|k IH]; intros K; [exists (fun _ => 0); lia|].
    destruct (IH ltac:(lia)) as (g & G). destruct (H k ltac:(lia)) as (x & X).
    exists (fun j => if (j =? k)%nat then x else g j). intros j J.
    destruct (j =? k)%nat eqn:E; [apply Nat.eqb_eq in E; subst; exact X|].
    apply Nat.eqb_neq in E. apply G. lia. }
  destruct (Q (S t) (le_n _)) as (g & G). exists g. intros j J. apply G. lia.
Qed.

(** Theorem. What [softmax] allows is stored from a mean whose weights are near e^s: those of
    the normaliser b, and those of the values a, up to factors. *)
Theorem averaged o : softmax A t s v o -> exists m a b c y,
  weights_of A t s W m a /\ weights_of A t s W m b
  /\ (forall j, (j <= t)%nat -> Rabs (c j - 1) <= 5 * (N + 1) * u + 1.005 * us j)
  /\ (a = b \/ narrow A)
  /\ Rabs (y - sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t)
     <= 16 * N * tau * (1 + V) + 2 * N * es * V
  /\ store A y o.
Proof.
  intros (m & h & h' & ks & js & z & y & _ & WZ & WN & SAME & O & CZ & WAY & ST).
  fold f in CZ, WAY. destruct (ideal m h WZ) as (b & NB).
  assert (A' : exists a, (forall j, (j <= t)%nat ->
      exp (s j - m - W) <= a j <= exp (s j - m + W) /\ Rabs (prod (h' j) - a j) <= 2 * tau)
    /\ (a = b \/ narrow A)).
  { destruct SAME as [->|NW]; [exists b; auto|]. destruct (ideal m h' WN) as (a & NA). eauto. }
  destruct A' as (a & NA & AB).
  assert (OA : weights_of A t s W m a).
  { intros j J. destruct (NA j J) as (Q1 & Q2). split; [exact Q1|]. exists (h' j). auto. }
  assert (OB : weights_of A t s W m b).
  { intros j J. destruct (NB j J) as (Q1 & Q2). split; [exact Q1|]. exists (h j). auto. }
  assert (U := u_bounds). destruct tau_bounds as (TP & _). assert (q := N_one).
  assert (V0 := V_positive). assert (RH := room_half). assert (NT := Ntau_small).
  assert (NU := Nu_small). assert (ESS := es_small).
  assert (q' := steady).
  destruct (normaliser m h b ks z WZ NB O CZ) as (ZB & BP & NZ).
  assert (AP : forall j, (j <= t)%nat -> 0 < a j).
  { intros j J. destruct (NA j J) as ((H & _) & _). assert (Q := exp_pos (s j - m - W)). lra. }
  set (Z := sum_f_R0 b t) in *.
  assert (BZ : forall j, (j <= t)%nat -> b j <= Z).
  { intros j J. apply (sum_one j b t J). intros i I. left. auto. }
  assert (AB' : forall j, (j <= t)%nat -> a j <= 1.67 * b j).
  { intros j J. destruct (NA j J) as ((_ & H) & _). destruct (NB j J) as ((H' & _) & _).
    assert (E : exp (s j - m + W) = exp W * exp W * exp (s j - m - W))
      by (rewrite <- !exp_plus; f_equal; ring).
    assert (Q := exp_near W q'). assert (Q' := exp_pos W).
    assert (exp W * exp W <= 40 / 31 * (40 / 31)) by (apply Rmult_le_compat; lra).
    assert (exp W * exp W * exp (s j - m - W) <= 1.67 * exp (s j - m - W))
      by (apply Rmult_le_compat_r; [left; apply exp_pos|lra]). lra. }
  assert (AZ : forall j, (j <= t)%nat -> a j <= 1.67 * Z).
  { intros j J. specialize (AB' j J). specialize (BZ j J). lra. }
  assert (PT : 8 * (1 + V) <= pow (top f - 1)).
  { assert (1 * (1 + V) <= N * (1 + V)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (VZ : V * (31 / 40) <= V * Z) by (apply Rmult_le_compat_l; lra).
  assert (ZT : Z * (8 * (1 + V)) <= Z * pow (top f - 1)) by (apply Rmult_le_compat_l; lra).
  assert (NTV : 0 <= N * tau * V) by (apply Rmult_le_pos; lra).
  assert (NTV' : N * tau * V <= 0.001 * V) by (apply Rmult_le_compat_r; lra).
  set (k2 := (2.004 * N - 0.9) * u) in *.
  assert (K2 : 0 <= k2 <= / 900).
  { unfold k2. split; [apply Rmult_le_pos; lra|]. lra. }
  assert (TZ : 0 <= tau * Z) by (apply Rmult_le_pos; lra).
  assert (TN : 1 * tau <= N * tau) by (apply Rmult_le_compat_r; lra).
  assert (NTZ : tau * Z <= N * tau * Z) by (apply Rmult_le_compat_r; lra).
  assert (NTZV : 0 <= N * tau * V * Z) by (apply Rmult_le_pos; lra).
  assert (NEV : 0 <= N * es * V) by (repeat apply Rmult_le_pos; lra).
  assert (NEVZ : N * es * V * (31 / 40) <= N * es * V * Z) by (apply Rmult_le_compat_l; lra).
  (* The two ways: weights that are moved_by_store by a store. *)
  assert (MAIN : exists th, (forall j, (j <= t)%nat -> Rabs (th j) <= us j)
    /\ Rabs (y * Z - sum_f_R0 (fun j => a j * (1 + th j) * v j) t)
       <= 5 * (N + 1) * u * sum_f_R0 (fun j => a j * (1 + th j) * Rabs (v j)) t
          + (16 * N * tau * (1 + V) + 2 * N * es * V) * Z).
  { destruct WAY as [(g & x & OJ & GH & CX & QU)|(p & q0 & w & PJ & PW & CY)].
    - assert (TH : forall j, (j <= t)%nat -> exists th, Rabs th <= us j
        /\ Rabs (prod (g j) - a j * (1 + th)) <= 40 / 31 * es + 2.02 * tau).
      { intros j J. destruct (GH j) as (e & e' & l & H1 & H2 & H3).
        destruct (all_factors m h' WN j) as (e0 & l0 & E & LN & FR & EB & _).
        rewrite H1 in E. inversion E; subst e0 l0. apply Nat.leb_le in J. rewrite J in EB.
        apply Nat.leb_le in J. assert (USS := us_small j).
        destruct (stores m j e e' ltac:(left; exists l; rewrite <- H1; apply WN) ltac:(lra) H3)
          as (S1 & _).
        destruct (moved_by_store (us j) e e' (proj1 USS) S1) as (th & T & D).
        exists th. split; [exact T|].
        assert (PL : Rabs (prod l) <= 40 / 31).
        { destruct rho_bounds as (R1 & R2). apply Rle_trans with (rho ^ length l); [|apply R2; lia].
          clear - FR R1. unfold prod. induction FR; simpl; [rewrite Rabs_R1; lra|].
          rewrite Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos. }
        destruct (NA j J) as (_ & N2). rewrite H1 in N2. rewrite H2.
        change (prod (e :: l)) with (e * prod l) in N2. change (prod (e' :: l)) with (e' * prod l).
        replace (e' * prod l - a j * (1 + th))
          with ((e' - e * (1 + th)) * prod l + (1 + th) * (e * prod l - a j)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
        assert (B1 : Rabs (e' - e * (1 + th)) * Rabs (prod l) <= es * (40 / 31))
          by (apply Rmult_le_compat; auto; apply Rabs_pos).
        assert (B2 : Rabs (1 + th) <= 1.01) by (apply Rabs_le_inv in T; apply Rabs_le; lra).
        assert (B3 : Rabs (1 + th) * Rabs (e * prod l - a j) <= 1.01 * (2 * tau))
          by (apply Rmult_le_compat; auto; apply Rabs_pos). lra. }
      destruct (chosen_at_each _ TH) as (th & TH'). exists th. split; [intros j J; apply TH', J|].
      set (a' := fun j => a j * (1 + th j)).
      assert (AP' : forall j, (j <= t)%nat -> 0 < a' j).
      { intros j J. destruct (TH' j J) as (T & _). apply Rabs_le_inv in T. unfold a'.
        assert (USS := us_small j). apply Rmult_lt_0_compat; [auto|lra]. }
      assert (GN : forall k, exists e l, g k = e :: l /\ (length l < chain)%nat
        /\ Forall (fun r => Rabs r <= rho) l
        /\ Rabs e <= (if (k <=? t)%nat then 2.6 else 3 * tau)).
      { intros k. destruct (GH k) as (e & e' & l & H1 & H2 & H3).
        destruct (all_factors m h' WN k) as (e0 & l0 & E & LN & FR & EB & _).
        rewrite H1 in E. inversion E; subst e0 l0. exists e', l.
        split; [exact H2|]. split; [exact LN|]. split; [exact FR|].
        assert (E3 : Rabs e <= 3) by (destruct (k <=? t)%nat; lra).
        destruct (stores m k e e' ltac:(left; exists l; rewrite <- H1; apply WN) E3 H3) as (_ & S2).
        replace e' with (e' - e + e) by ring. eapply Rle_trans; [apply Rabs_triang|].
        destruct (k <=? t)%nat; lra. }
      assert (VB : forall k, Rabs (v (k mod S t)) <= V).
      { intros k. apply bounds. assert (M := Nat.mod_upper_bound k (S t) ltac:(lia)). lia. }
      assert (G := collected_once g a' (40 / 31 * es + 2.02 * tau) GN AP'
        (fun j J => proj2 (TH' j J)) (fun k => v (k mod S t)) V js x VB V0 RH OJ CX).
      rewrite (sum_eq _ (fun j => a' j * v j)) in G
        by (intros j J; rewrite Nat.mod_small by lia; reflexivity).
      rewrite (sum_eq (fun j => a' j * Rabs _) (fun j => a' j * Rabs (v j))) in G
        by (intros j J; rewrite Nat.mod_small by lia; reflexivity).
      change (sum_f_R0 (fun j => a j * (1 + th j) * v j) t) with (sum_f_R0 (fun j => a' j * v j) t).
      change (sum_f_R0 (fun j => a j * (1 + th j) * Rabs (v j)) t)
        with (sum_f_R0 (fun j => a' j * Rabs (v j)) t).
      set (Y := sum_f_R0 (fun j => a' j * v j) t) in *.
      set (T := sum_f_R0 (fun j => a' j * Rabs (v j)) t) in *.
      assert (YT : Rabs Y <= T).
      { apply sum_abs. intros j J. rewrite Rabs_mult, (Rabs_pos_eq (a' j)) by (left; auto). lra. }
      assert (T0 : 0 <= T) by (assert (Q := Rabs_pos Y); lra).
      assert (TV : T <= 1.68 * (V * Z)).
      { unfold T, Z. rewrite scal_sum, scal_sum. apply sum_Rle. intros j J.
        destruct (TH' j J) as (TB & _). apply Rabs_le_inv in TB. destruct (bounds j J) as (_ & VJ).
        assert (Q := AB' j J). assert (Q' := AP j J). assert (Q2 := BP j J).
        assert (USS := us_small j). assert (a' j <= 1.68 * b j).
        { unfold a'. apply Rle_trans with (a j * 1.005); [apply Rmult_le_compat_l; lra|lra]. }
        apply Rle_trans with (1.68 * b j * V); [|lra].
        apply Rmult_le_compat; auto; [left; apply AP', J|apply Rabs_pos]. }
      set (D := N * (tau * (2.7 + 8 * V) + 1.002 * (40 / 31 * es + 2.02 * tau) * V)) in *.
      assert (DE : D <= N * tau * (2.7 + 10.1 * V) + 1.3 * (N * es * V)).
      { unfold D. lra. }
      assert (NE : N * es * V <= / 10 * V) by (apply Rmult_le_compat_r; lra).
      assert (LP : 0 <= D) by (unfold D; apply Rmult_le_pos; [lra|];
        assert (0 <= tau * V) by (apply Rmult_le_pos; lra);
        assert (0 <= es * V) by (apply Rmult_le_pos; lra); lra).
      assert (R := quotient_near f x z y Y Z T (1.002 * ((2 * N - 1) * u)) D k2
        QU U ltac:(split; [assert (0 <= (2 * N - 1) * u) by (apply Rmult_le_pos; lra); lra|lra])
        K2 LP ltac:(lra) YT G NZ ltac:(lra)).
      fold u tau in R. eapply Rle_trans; [exact R|]. unfold k2.
      assert (UT : 0 <= u * T) by (apply Rmult_le_pos; lra).
      assert (NUT : 0 <= N * u * T) by (apply Rmult_le_pos; lra).
      assert (N * tau * (31 / 40) <= N * tau * Z) by (apply Rmult_le_compat_l; lra).
      assert (N * tau * V * (31 / 40) <= N * tau * V * Z) by (apply Rmult_le_compat_l; lra). lra.
    - set (kw := (3.2 + 3.02 * N) * u).
      assert (KW : 0 <= kw <= 0.005).
      { unfold kw. split; [apply Rmult_le_pos; lra|lra]. }
      assert (TH : forall j, (j <= t)%nat -> exists th, Rabs th <= us j
        /\ Rabs (w j * Z - a j * (1 + th))
           <= (3.24 + 3.06 * N) * u * (a j * (1 + th)) + (5.64 * tau + es) * Z).
      { intros j J. destruct (PW j J) as (CP & QU & EW). assert (P := AP j J).
        assert (AJ := AZ j J).
        assert (G := collected_alone h' a (2 * tau) (plain_numbers m h' WN) AP
          (fun j J => proj2 (NA j J)) j (p j) J CP).
        assert (R := quotient_near f (p j) z (q0 j) (a j) Z (a j) (1.002 * (N * u)) (3.4 * tau) k2
          QU U ltac:(lra) K2 ltac:(lra) ltac:(lra)
          ltac:(rewrite Rabs_pos_eq; lra) ltac:(lra) NZ ltac:(lra)).
        fold u tau in R.
        assert (UA : 0 < u * a j) by (apply Rmult_lt_0_compat; lra).
        assert (NUA : 0 < N * u * a j) by (apply Rmult_lt_0_compat; lra).
        assert (T7 : tau * (31 / 40) <= tau * Z) by (apply Rmult_le_compat_l; lra).
        assert (R' : Rabs (q0 j * Z - a j) <= kw * a j + 5.6 * tau * Z) by (unfold kw, k2 in *; lra).
        assert (KA : kw * a j <= 0.005 * a j) by (apply Rmult_le_compat_r; lra).
        assert (TZ' : tau * Z <= 0.001 * Z) by (apply Rmult_le_compat_r; lra).
        assert (Q3 : Rabs (q0 j) <= 3).
        { apply Rmult_le_reg_r with Z; [lra|]. rewrite <- (Rabs_pos_eq Z) at 1 by lra.
          rewrite <- Rabs_mult. replace (q0 j * Z) with (q0 j * Z - a j + a j) by ring.
          eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)) by lra. lra. }
        assert (USS := us_small j).
        destruct (stores m j (q0 j) (w j) ltac:(right; split; [exact J|]; exists a, b;
          split; [exact OA|]; split; [exact OB|exact R']) Q3 EW) as (S1 & _).
        destruct (moved_by_store (us j) _ _ (proj1 USS) S1) as (th & T & D).
        exists th. split; [exact T|].
        apply Rabs_le_inv in T.
        replace (w j * Z - a j * (1 + th))
          with ((w j - q0 j * (1 + th)) * Z + (1 + th) * (q0 j * Z - a j)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq Z) by lra.
        assert (B1 : Rabs (w j - q0 j * (1 + th)) * Z <= es * Z) by (apply Rmult_le_compat_r; lra).
        rewrite (Rabs_pos_eq (1 + th)) by lra.
        assert (B2 : (1 + th) * Rabs (q0 j * Z - a j) <= (1 + th) * (kw * a j + 5.6 * tau * Z))
          by (apply Rmult_le_compat_l; lra).
        assert (B3 : (1 + th) * (5.6 * tau * Z) <= 1.005 * (5.6 * tau * Z))
          by (apply Rmult_le_compat_r; lra).
        assert (B4 : 0 <= u * (a j * (1 + th)))
          by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra).
        assert (B5 : 0 <= N * u * (a j * (1 + th)))
          by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra).
        unfold kw in B2. lra. }
      destruct (chosen_at_each _ TH) as (th & TH'). exists th. split; [intros j J; apply TH', J|].
      set (a' := fun j => a j * (1 + th j)).
      assert (AP' : forall j, (j <= t)%nat -> 0 < a' j /\ a' j <= 1.68 * Z).
      { intros j J. destruct (TH' j J) as (T & _). apply Rabs_le_inv in T. unfold a'.
        assert (P := AP j J). assert (AJ := AZ j J). assert (USS := us_small j).
        assert (a j * (1 + th j) <= a j * 1.005) by (apply Rmult_le_compat_l; lra).
        split; [apply Rmult_lt_0_compat; lra|lra]. }
      change (sum_f_R0 (fun j => a j * (1 + th j) * v j) t) with (sum_f_R0 (fun j => a' j * v j) t).
      change (sum_f_R0 (fun j => a j * (1 + th j) * Rabs (v j)) t)
        with (sum_f_R0 (fun j => a' j * Rabs (v j)) t).
      set (kw' := (3.24 + 3.06 * N) * u).
      assert (KW' : 0 <= kw' <= 0.006).
      { unfold kw'. split; [apply Rmult_le_pos; lra|lra]. }
      assert (EW : forall j, (j <= t)%nat -> Rabs (w j * Z - a' j)
        <= kw' * a' j + (5.64 * tau + es) * Z) by (intros j J; apply TH', J).
      assert (WA : forall j, (j <= t)%nat -> Rabs (w j) * Z <= 1.006 * a' j +
        (5.64 * tau + es) * Z).
      { intros j J. specialize (EW j J). destruct (AP' j J) as (P & _).
        rewrite <- (Rabs_pos_eq Z) at 1 by lra. rewrite <- Rabs_mult.
        replace (w j * Z) with (w j * Z - a' j + a' j) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a' j)) by lra.
        assert (kw' * a' j <= 0.006 * a' j) by (apply Rmult_le_compat_r; lra). lra. }
      assert (E1 : 1 * es <= N * es) by (apply Rmult_le_compat_r; lra).
      assert (W2 : forall j, (j <= t)%nat -> Rabs (w j) <= 2).
      { intros j J. assert (R := WA j J). destruct (AP' j J) as (_ & P).
        assert ((5.64 * tau + es) * Z <= 0.2 * Z) by (apply Rmult_le_compat_r; lra).
        apply Rmult_le_reg_r with Z; lra. }
      assert (G := divided_before w js y PJ W2 CY).
      set (S0 := sum_f_R0 (fun j => w j * v j) t) in *.
      set (Y := sum_f_R0 (fun j => a' j * v j) t).
      set (T := sum_f_R0 (fun j => a' j * Rabs (v j)) t).
      assert (T0 : 0 <= T).
      { apply sum_positive. intros j J. apply Rmult_le_pos; [left; apply AP', J|apply Rabs_pos]. }
      set (lo := (5.64 * tau + es) * V * Z).
      assert (LZ : forall j, (j <= t)%nat -> (5.64 * tau + es) * Z * Rabs (v j) <= lo).
      { intros j J. destruct (bounds j J) as (_ & VJ). unfold lo.
        replace ((5.64 * tau + es) * V * Z) with ((5.64 * tau + es) * Z * V) by ring.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact VJ]. }
      assert (D1 : Rabs (S0 * Z - Y) <= kw' * T + N * lo).
      { unfold S0, Y. rewrite Rmult_comm, scal_sum, <- minus_sum.
        apply Rle_trans with (sum_f_R0 (fun j => a' j * Rabs (v j) * kw' + lo) t).
        - apply sum_abs. intros j J. specialize (EW j J). specialize (LZ j J).
          replace (w j * v j * Z - a' j * v j) with ((w j * Z - a' j) * v j) by ring.
          rewrite Rabs_mult.
          apply Rle_trans with ((kw' * a' j + (5.64 * tau + es) * Z) * Rabs (v j));
            [apply Rmult_le_compat_r; [apply Rabs_pos|exact EW]|]. lra.
        - rewrite plus_sum, sum_constant, <- scal_sum. fold N T. lra. }
      set (T1 := sum_f_R0 (fun j => Rabs (w j * v j)) t) in *.
      assert (D2 : T1 * Z <= 1.006 * T + N * lo).
      { unfold T1. rewrite Rmult_comm, scal_sum.
        apply Rle_trans with (sum_f_R0 (fun j => a' j * Rabs (v j) * 1.006 + lo) t).
        - apply sum_Rle. intros j J. specialize (WA j J). specialize (LZ j J). rewrite Rabs_mult.
          replace (Rabs (w j) * Rabs (v j) * Z) with (Rabs (w j) * Z * Rabs (v j)) by ring.
          apply Rle_trans with ((1.006 * a' j + (5.64 * tau + es) * Z) * Rabs (v j));
            [apply Rmult_le_compat_r; [apply Rabs_pos|exact WA]|]. lra.
        - rewrite plus_sum, sum_constant, <- scal_sum. fold N T. lra. }
      assert (LO : 0 <= N * lo).
      { unfold lo. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
      replace (y * Z - Y) with ((y - S0) * Z + (S0 * Z - Y)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq Z) by lra.
      assert (D3 : Rabs (y - S0) * Z <= 1.002 * (N * u) * (T1 * Z) + 1.01 * N * tau * Z).
      { replace (1.002 * (N * u) * (T1 * Z) + 1.01 * N * tau * Z)
          with ((1.002 * (N * u) * T1 + 1.01 * N * tau) * Z) by ring.
        apply Rmult_le_compat_r; lra. }
      assert (D4 : 1.002 * (N * u) * (T1 * Z) <= 1.002 * (N * u) * (1.006 * T) + 0.001 * (N * lo)).
      { apply Rle_trans with (1.002 * (N * u) * (1.006 * T + N * lo)).
        - apply Rmult_le_compat_l; lra.
        - assert (1.002 * (N * u) * (N * lo) <= 0.001 * (N * lo))
            by (apply Rmult_le_compat_r; lra). lra. }
      assert (LE : N * lo = 5.64 * (N * tau * V * Z) + N * es * V * Z) by (unfold lo; ring).
      assert (UT : 0 <= u * T) by (apply Rmult_le_pos; lra).
      assert (NUT : 0 <= N * u * T) by (apply Rmult_le_pos; lra).
      unfold kw' in D1. lra. }
  destruct MAIN as (th & TH & MAIN). set (a' := fun j => a j * (1 + th j)).
  change (sum_f_R0 (fun j => a j * (1 + th j) * v j) t)
    with (sum_f_R0 (fun j => a' j * v j) t) in MAIN.
  change (sum_f_R0 (fun j => a j * (1 + th j) * Rabs (v j)) t)
    with (sum_f_R0 (fun j => a' j * Rabs (v j)) t) in MAIN.
  set (Y := sum_f_R0 (fun j => a' j * v j) t) in *.
  set (T := sum_f_R0 (fun j => a' j * Rabs (v j)) t) in *.
  assert (T0 : 0 <= T).
  { apply sum_positive. intros j J. apply Rmult_le_pos; [|apply Rabs_pos]. unfold a'.
    specialize (TH j J). apply Rabs_le_inv in TH. assert (P := AP j J). assert (USS := us_small j).
    apply Rmult_le_pos; lra. }
  assert (LR : 0 <= (16 * N * tau * (1 + V) + 2 * N * es * V) * Z).
  { assert (0 <= N * tau * Z) by lra. assert (0 <= N * es * V * Z) by lra. lra. }
  destruct (shared_out (5 * (N + 1) * u) T _ (y * Z - Y) ltac:(lra) T0 LR MAIN) as (k & K & D).
  destruct (factored t a' v k) as (c & CB & CS).
  exists m, a, b, (fun j => c j * (1 + th j)), y. split; [exact OA|]. split; [exact OB|].
  split; [|split; [exact AB|split; [|exact ST]]].
  - intros j J. specialize (TH j J). assert (USS := us_small j). specialize (CB j). assert (CK : Rabs (c j - 1) <= 5 * (N + 1) * u) by lra.
    replace (c j * (1 + th j) - 1) with (c j - 1 + (c j - 1) * th j + th j) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (R := Rabs_triang (c j - 1) ((c j - 1) * th j)). rewrite Rabs_mult in R.
    assert (Rabs (c j - 1) * Rabs (th j) <= 0.005 * us j)
      by (apply Rmult_le_compat; try apply Rabs_pos; lra). lra.
  - rewrite (sum_eq _ (fun j => c j * a' j * v j)) by (intros; unfold a'; ring).
    rewrite CS. fold Y T Z.
    replace (y - (Y + k * T) / Z) with ((y * Z - Y - k * T) / Z) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq Z) by lra.
    apply Rmult_le_reg_r with Z; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact D.
Qed.
End Attended.

(** * Formats in which sums are stored as they are *)

Theorem softmax_attended A t s v o : stored A = accumulator A ->
  ordinary (accumulator A) = true -> softmax A t s v o -> attended (accumulator A) t s v o.
Proof.
  intros E USUAL H. unfold attended. cbv zeta. intros L V r B DI F ST R.
  set (f := accumulator A) in *. assert (NW : ~ narrow A) by (unfold narrow; rewrite E; fold f; lia).
  assert (U := u_small A USUAL). fold f in U. assert (T := tau_small A USUAL). fold f in T.
  assert (N1 : 1 <= INR (S t)) by (rewrite S_INR; assert (q := pos_INR t); lra).
  assert (r0 := pos_INR r).
  assert (L0 : 0 <= L).
  { destruct (B 0%nat ltac:(lia)) as (Q & _). assert (q := Rabs_pos (s 0%nat)). lra. }
  assert (UN : 0 <= roundoff f * INR r) by (apply Rmult_le_pos; lra).
  assert (CL : roundoff f * L <= / 40) by (unfold astray in ST; lra).
  assert (AW : astray_by A L (Nat.min (S t) r) <= astray f L (INR r)).
  { eapply Rle_trans; [apply (astray_more A L USUAL _ r); lia|].
    unfold astray_by, astray. fold f. assert (X := X_small A USUAL).
    assert (XE : xi A = 40 * roundoff f).
    { unfold xi. rewrite E. fold f. rewrite Z.ltb_irrefl. reflexivity. }
    assert (xi_log A + 7 * tiny f <= 42 * roundoff f) by lra.
    assert (INR r * (xi_log A + 7 * tiny f) <= INR r * (42 * roundoff f))
      by (apply Rmult_le_compat_l; lra).
    assert (0 <= roundoff f * L) by (apply Rmult_le_pos; lra). lra. }
  destruct (averaged A t s v L V (astray f L (INR r)) (Nat.min (S t) r) (fun _ => 0) 0
    USUAL B F CL R) with (o := o) as (m & a & b & c & y & _ & WB & W & AB & D & SO);
    auto; try (intros j; lra); try lra; try lia.
  - intros m k l (e & l' & i & two & -> & I & RI & _).
    assert (Q := rises_few A t s two l' i m I RI).
    assert (Q' := rises_among A t s two r DI l' i m I RI). simpl length. lia.
  - intros m j x y _ _ [->|(Q & _)]; [|contradiction]. rewrite Rminus_eq_0, Rabs_R0.
    assert (q := Rabs_pos x). lra.
  - destruct AB as [->|Q]; [|contradiction]. destruct SO as [->|(Q & _)]; [|contradiction].
    exists m, b, c. fold (tiny f). split.
    + intros j J. specialize (W j J). fold f in W. split; [apply WB, J|lra].
    + eapply Rle_trans; [exact D|]. fold f. lra.
Qed.

(** * Formats of 16 bits *)

(** Numbers are stored in fewer digits than they are added up in. *)
Definition storing (A : arithmetic) : bool :=
  ((8 <=? digits (stored A)) && (digits (stored A) <? digits (accumulator A))
   && (3 <=? top (stored A)) && (least (stored A) + digits (accumulator A) <=? 0))%Z.

(** How far the logarithm of a weight is off at most, which is rescaled n/16 + 1 times. *)
Definition astray_stored (f : format) (L n : R) : R :=
  roundoff f * (9 * L) + 257 * (n + 32) * pow (-24).

Lemma storing_bounds A : storing A = true -> narrow A /\ 0 < roundoff (stored A) <= / 256
  /\ (forall x y, Rabs x <= 3 -> store A x y ->
        Rabs (y - x) <= roundoff (stored A) * Rabs x + speck (stored A)
        /\ Rabs (y - x) <= Rabs x).
Proof.
  unfold storing, narrow. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt. intros (((D & W) & T) & LE).
  split; [exact W|]. split.
  { split; [apply bpow_gt_0|]. change (/ 256) with (pow (-8)). apply bpow_le. lia. }
  intros x y X [->|(_ & R)].
  { rewrite Rminus_eq_0, Rabs_R0. assert (q := Rabs_pos x).
    assert (P := speck_positive (stored A)). assert (Q := bpow_gt_0 radix2 (- digits (stored A))).
    assert (0 <= roundoff (stored A) * Rabs x) by (apply Rmult_le_pos; [left; exact Q|exact q]).
    lra. }
  assert (X' : Rabs x <= pow (top (stored A) - 1)).
  { apply Rle_trans with (pow 2); [simpl; lra|]. apply bpow_le. lia. }
  destruct (rounded_off (stored A) ltac:(lia) ltac:(lia) x y X' R) as (_ & O).
  split; [exact O|].
  assert (Q := rounded_beside (stored A) ltac:(lia) ltac:(lia) 0 x y).
  rewrite Rplus_0_l in Q. apply Q; auto. apply zero_held.
Qed.

(** A store moves the share of position j by a part us j of it. *)
Theorem softmax_stored A t s v o L V us : let f := accumulator A in let n := INR (S t) in
  ordinary f = true -> storing A = true ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V) ->
  n * roundoff f <= pow (-11) -> astray_stored f L n <= / 8 -> 16 * n * (1 + V) <= pow (top f) ->
  (forall j, 0 <= us j <= / 200) ->
  (forall m j x y, share_of A t s (astray_stored f L n) m j x -> Rabs x <= 3 -> store A x y ->
     Rabs (y - x) <= us j * Rabs x + speck (stored A) /\ Rabs (y - x) <= Rabs x) ->
  softmax A t s v o -> exists m a b c y,
    weights_of A t s (astray_stored f L n) m a /\ weights_of A t s (astray_stored f L n) m b
    /\ (forall j, (j <= t)%nat -> Rabs (c j - 1) <= 5 * (n + 1) * roundoff f + 1.005 * us j)
    /\ Rabs (y - sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 b t)
       <= 16 * n * tiny f * (1 + V) + 2 * n * speck (stored A) * V
    /\ store A y o.
Proof.
  cbv zeta. intros USUAL SA B F ST R UB STO H.
  destruct (storing_bounds A SA) as (NW & _). set (f := accumulator A) in *.
  assert (U := u_small A USUAL). fold f in U. assert (T := tau_small A USUAL). fold f in T.
  assert (DF := usual_digits A USUAL). fold f in DF.
  assert (N1 : 1 <= INR (S t)) by (rewrite S_INR; assert (q := pos_INR t); lra).
  assert (L0 : 0 <= L).
  { destruct (B 0%nat ltac:(lia)) as (Q & _). assert (q := Rabs_pos (s 0%nat)). lra. }
  assert (P24 : pow (-24) = / 16777216) by reflexivity.
  unfold astray_stored in *. rewrite P24 in *.
  assert (CL : roundoff f * L <= / 40) by lra.
  assert (UL : 0 <= roundoff f * L) by (apply Rmult_le_pos; lra).
  set (chain := Nat.min (S t) (S t / 16 + 2)).
  assert (CN : INR chain <= INR (S t) / 16 + 2).
  { apply Rle_trans with (INR (S t / 16 + 2)); [apply le_INR; unfold chain; lia|].
    rewrite plus_INR. simpl (INR 2). apply Rplus_le_compat_r.
    assert (Q := Nat.mul_div_le (S t) 16 ltac:(lia)). apply le_INR in Q. rewrite mult_INR in Q.
    simpl (INR 16) in Q. lra. }
  assert (XE : xi A = pow (-12)).
  { unfold xi. unfold narrow in NW. fold f in NW |- *. apply Z.ltb_lt in NW. rewrite NW.
    reflexivity. }
  assert (XL : xi_log A + 7 * tiny f <= 257 / 256 * pow (-12)).
  { unfold xi_log. rewrite XE. change (pow (-12)) with (/ 4096).
    assert (tiny f <= pow (-23)).
    { apply bpow_le. lia. }
    change (pow (-23)) with (/ 8388608) in *.
    replace (/ 4096 / (1 - / 4096)) with (/ 4095) by (field; lra). lra. }
  assert (AW : astray_by A L chain
    <= roundoff f * (9 * L) + 257 * (INR (S t) + 32) * / 16777216).
  { unfold astray_by. fold f.
    assert (INR chain * (xi_log A + 7 * tiny f) <= (INR (S t) / 16 + 2) * (257 / 256 * pow (-12))).
    { apply Rmult_le_compat; [apply pos_INR| |exact CN|exact XL].
      assert (Q := X_small A USUAL). assert (Q' := xi_small A USUAL). lra. }
    change (pow (-12)) with (/ 4096) in *. lra. }
  assert (ES : INR (S t) * speck (stored A) <= / 10).
  { unfold storing in SA. fold f in SA. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in SA.
    assert (Q : speck (stored A) <= roundoff f).
    { apply bpow_le. lia. }
    apply Rle_trans with (INR (S t) * roundoff f); [apply Rmult_le_compat_l; lra|].
    change (pow (-11)) with (/ 2048) in F. lra. }
  assert (EP := speck_positive (stored A)).
  destruct (averaged A t s v L V (roundoff f * (9 * L) + 257 * (INR (S t) + 32) * / 16777216) chain
    us (speck (stored A)) USUAL B F CL R)
    with (o := o) as (m & a & b & c & y & WA & WB & W & _ & D & SO); auto; try lra.
  - unfold chain. lia.
  - intros m k l (e & l' & i & two & -> & I & RI & NA & _). specialize (NA NW).
    assert (Q := rises_few A t s two l' i m I RI). unfold chain. simpl length. lia.
  - exists m, a, b, c, y. exact (conj WA (conj WB (conj W (conj D SO)))).
Qed.
