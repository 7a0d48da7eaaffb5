(** What [softmax] allows is within the bounds of [attended], in float32 and float64
    (Theorem 12a of docs/proofs/attention.md). *)
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

Section Attended.
Variables (A : arithmetic) (t : nat) (s v : nat -> R) (L V : R) (many : nat).
Let f := accumulator A.
Let u := roundoff f.
Let tau := tiny f.
Let N := INR (S t).
Hypothesis same : stored A = f.
Hypothesis usual : ordinary f = true.
Hypothesis bounds : forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V.
Hypothesis few : N * u <= pow (-11).
Hypothesis differ : among t s many.
Hypothesis steady : astray f L (INR many) <= / 8.
Hypothesis room : 16 * N * (1 + V) <= pow (top f).

Lemma wide : ~ narrow A.
Proof. unfold narrow. rewrite same. unfold f. lia. Qed.

Lemma N_one : 1 <= N.
Proof. unfold N. rewrite S_INR. assert (q := pos_INR t). lra. Qed.

Lemma L_positive : 0 <= L.
Proof. destruct (bounds 0%nat ltac:(lia)) as (H & _). assert (q := Rabs_pos (s 0%nat)). lra. Qed.
Lemma V_positive : 0 <= V.
Proof. destruct (bounds 0%nat ltac:(lia)) as (_ & H). assert (q := Rabs_pos (v 0%nat)). lra. Qed.

Lemma close_L : u * L <= / 72.
Proof.
  assert (H := steady). unfold astray in H. fold u in H. assert (q := pos_INR many).
  assert (U := u_small A usual). fold f u in U.
  assert (0 <= u * INR many) by (apply Rmult_le_pos; lra). lra.
Qed.

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

Lemma step_fits : 0 < xi_log A + 6 * tau /\ xi_log A + 7 * tau <= 42 * u.
Proof.
  assert (U := u_bounds). destruct tau_bounds as (T & T' & _). assert (X := X_small A usual).
  assert (P := xi_small A usual). assert (E : xi A = 40 * u).
  { unfold xi. rewrite same. fold f. rewrite Z.ltb_irrefl. reflexivity. }
  split; [lra|].
  assert (u * u / 2 <= / 4096 * u) by (unfold Rdiv; assert (u * u <= / 2048 * u)
    by (apply Rmult_le_compat_r; lra); lra). lra.
Qed.

Lemma astray_fits n : (n <= many)%nat -> astray_by A L n <= astray f L (INR many).
Proof.
  intros H. assert (M := astray_more A L usual n many H).
  eapply Rle_trans; [exact M|]. unfold astray_by, astray. fold f u tau.
  destruct step_fits as (_ & S). assert (U := u_bounds). assert (q := pos_INR many).
  assert (INR many * (xi_log A + 7 * tau) <= INR many * (42 * u)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= u * L) by (apply Rmult_le_pos; [lra|apply L_positive]). lra.
Qed.

Let rho := exp (xi_log A + 6 * tau).

Lemma rho_bounds : 1 <= rho /\ rho ^ S t <= 8 / 7 /\ rho ^ t <= 8 / 7.
Proof.
  assert (R := rho_one A usual). fold f tau rho in R. split; [exact R|].
  assert (P : rho ^ S t <= 8 / 7).
  { unfold rho, tau, f. rewrite (rho_power A). apply exp_eighth. fold f tau N.
    destruct step_fits as (P & S). assert (B := Nu_small). destruct tau_bounds as (T & _).
    assert (q := N_one).
    assert (N * (xi_log A + 6 * tau) <= N * (42 * u)) by (apply Rmult_le_compat_l; lra). lra. }
  split; [exact P|]. eapply Rle_trans; [|exact P]. apply Rle_pow; [exact R|lia].
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

Section Weighed.
Variables (m : R) (h : nat -> list R).
Hypothesis weighed : forall k, factors A t s m k (h k).

Lemma all_factors k : exists e l', h k = e :: l' /\ (length l' < S t)%nat
  /\ Forall (fun r => Rabs r <= rho) l'
  /\ Rabs e <= (if (k <=? t)%nat then 2 else 2 * tau)
  /\ ((k <= t)%nat -> exists a,
        exp (s k - m - astray f L (INR many)) <= a <= exp (s k - m + astray f L (INR many))
        /\ Rabs (prod (h k) - a) <= 2 * tau).
Proof.
  assert (W := weighed k).
  assert (F : (length (h k) <= many)%nat).
  { destruct W as (e & l' & i & two & -> & I & R & _).
    assert (Q := rises_among A t s two many differ l' i m I R). simpl. lia. }
  assert (B := astray_fits (length (h k)) F).
  destruct (factors_near A t s L usual scores close_L m k (h k) W ltac:(assert (q := steady); lra))
    as (e & l' & E & LN & _ & R & _ & EB & H).
  exists e, l'. split; [exact E|]. split; [lia|]. split; [exact R|]. split; [exact EB|].
  intros K. destruct (H K) as (a & (A1 & A2) & A3). exists a. split; [|exact A3].
  split; [eapply Rle_trans; [apply exp_less|exact A1]|eapply Rle_trans;
    [exact A2|apply exp_less]]; lra.
Qed.

Lemma ideal : exists a, forall j, (j <= t)%nat ->
  exp (s j - m - astray f L (INR many)) <= a j <= exp (s j - m + astray f L (INR many))
  /\ Rabs (prod (h j) - a j) <= 2 * tau.
Proof.
  assert (H : forall k, (k <= S t)%nat -> exists a, forall j, (j < k)%nat ->
    exp (s j - m - astray f L (INR many)) <= a j <= exp (s j - m + astray f L (INR many))
    /\ Rabs (prod (h j) - a j) <= 2 * tau).
  { induction k as [|k IH]; intros K; [exists (fun _ => 0); lia|].
    destruct (IH ltac:(lia)) as (a & Q). destruct (all_factors k) as (_ & _ & _ & _ & _ & _ & W).
    destruct (W ltac:(lia)) as (b & B). exists (fun j => if (j =? k)%nat then b else a j).
    intros j J. destruct (j =? k)%nat eqn:E; [apply Nat.eqb_eq in E; subst; exact B|].
    apply Nat.eqb_neq in E. apply Q. lia. }
  destruct (H (S t) (le_n _)) as (a & Q). exists a. intros j J. apply Q. lia.
Qed.

(** Sums of keys of which p are positions. *)
Lemma collected_many x X ks y : (forall k, Rabs (x k) <= X) -> 0 <= X -> 8 * N * (1 + X) <= pow
  (top f - 1) ->
  (length ks <= 2 * S t)%nat -> collected f h x false ks [] y ->
  let real := fun k => (k <=? t)%nat in
  let F := fun k => if real k then prod (h k) * x k else 0 in
  Rabs (y - over F ks) <= ((1 + u) ^ (reals real ks + t) - 1) * over (fun k => Rabs (F k)) ks
    + 1.15 * (1.003 * tau * INR (length ks) + 4 * tau * X * INR (hidden real ks)).
Proof.
  intros XB X0 FIT LK C real F. assert (RB := rho_bounds). assert (U := u_bounds).
  destruct tau_bounds as (T & T' & SP). assert (B := Nu_small). assert (q := N_one).
  assert (UM := u_powers (2 * S t + S t) ltac:(lia)).
  assert (NT := Ntau_small).
  assert (TS : speck f * (N + 2) <= 0.0015 * tau).
  { rewrite SP. replace (tau * u * (N + 2)) with (tau * (N * u + 2 * u)) by ring.
    rewrite (Rmult_comm 0.0015). apply Rmult_le_compat_l; lra. }
  assert (TX : 0 <= tau * X) by (apply Rmult_le_pos; lra).
  assert (G := collected_close f h x real (S t) (2 * S t) rho 2 X (fun _ => True)).
  specialize (G ltac:(assert (D := digits_of); lia) ltac:(assert (D := digits_of); lia)
    ltac:(apply RB) ltac:(lra) X0).
  assert (NB : forall k, True -> exists e l, h k = e :: l /\ (length l < S t)%nat
    /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if real k then 2 else 2 * tiny f)
    /\ Rabs (x k) <= X).
  { intros k _. destruct (all_factors k) as (e & l & E & LN & Q & EB & _). exists e, l. auto. }
  specialize (G NB).
  assert (FF : rho ^ S t * (1 + roundoff f) ^ (2 * S t + S t) * (INR (2 * S t) * (2 * X) +
    (tiny f * INR (2 * S t) + 2 * (2 * tiny f * X * INR (2 * S t)
     + speck f * (INR (2 * S t) * (INR (S t) + 2))))) <= pow (top f - 1)).
  { fold u tau N. rewrite mult_INR. fold N. simpl (INR 2).
    apply Rle_trans with (8 / 7 * 1.002 * (4 * N * X + N * (1 + X))); [|].
    - apply Rmult_le_compat.
      + apply Rmult_le_pos; [|lra]. apply pow_le. lra.
      + assert (0 <= N * X) by (apply Rmult_le_pos; lra).
        assert (0 <= tau * N) by (apply Rmult_le_pos; lra).
        assert (0 <= tau * X * N) by (apply Rmult_le_pos; lra).
        assert (0 <= speck f * (2 * N * (N + 2))).
        { apply Rmult_le_pos; [left; apply bpow_gt_0|]. apply Rmult_le_pos; lra. } lra.
      + apply Rmult_le_compat; try lra. apply pow_le. lra.
      + assert (S1 : speck f * (2 * N * (N + 2)) <= 0.003 * (N * tau)).
        { replace (speck f * (2 * N * (N + 2))) with (2 * N * (speck f * (N + 2))) by ring.
          replace (0.003 * (N * tau)) with (2 * N * (0.0015 * tau)) by lra.
          apply Rmult_le_compat_l; lra. }
        assert (S2 : N * tau * X <= 0.001 * X) by (apply Rmult_le_compat_r; lra).
        assert (1 * X <= N * X) by (apply Rmult_le_compat_r; lra). lra.
    - assert (0 <= N * X) by (apply Rmult_le_pos; lra). lra. }
  specialize (G FF ks y C ltac:(apply Forall_forall; auto) LK). cbv zeta in G. fold F in G.
  fold u tau N in G. replace (S t - 1)%nat with t in G by lia.
  eapply Rle_trans; [exact G|]. apply Rplus_le_compat_l.
  assert (LN : 0 <= INR (length ks)) by apply pos_INR.
  assert (HN : 0 <= INR (hidden real ks)) by apply pos_INR.
  assert (UK := u_powers (length ks + t) ltac:(lia)).
  assert (S3 : speck f * (INR (length ks) * (N + 2)) <= 0.0015 * tau * INR (length ks)).
  { replace (speck f * (INR (length ks) * (N + 2))) with (speck f * (N + 2) * INR (length ks))
      by ring.
    apply Rmult_le_compat_r; lra. }
  assert (T1 : 0 <= tau * INR (length ks)) by (apply Rmult_le_pos; lra).
  assert (T2 : 0 <= tau * X * INR (hidden real ks)) by (apply Rmult_le_pos; lra).
  apply Rmult_le_compat.
  - apply Rmult_le_pos; [apply pow_le|]; lra.
  - assert (0 <= speck f * (INR (length ks) * (N + 2))).
    { apply Rmult_le_pos; [left; apply bpow_gt_0|]. apply Rmult_le_pos; lra. } lra.
  - apply Rle_trans with (8 / 7 * 1.002); [|lra]. apply Rmult_le_compat; try lra. apply pow_le. lra.
  - lra.
Qed.
End Weighed.

Section Ideal.
Variables (m : R) (h : nat -> list R) (a : nat -> R).
Hypothesis weighed : forall k, factors A t s m k (h k).
Hypothesis near : forall j, (j <= t)%nat ->
  exp (s j - m - astray f L (INR many)) <= a j <= exp (s j - m + astray f L (INR many))
  /\ Rabs (prod (h j) - a j) <= 2 * tau.

Lemma a_positive j : (j <= t)%nat -> 0 < a j.
Proof. intros J. destruct (near j J) as ((H & _) & _).
assert (q := exp_pos (s j - m - astray f L (INR many))). lra. Qed.

Lemma sum_sizes (F : nat -> R) : Rabs (sum_f_R0 F t) <= sum_f_R0 (fun j => Rabs (F j)) t.
Proof. apply sum_abs. intros. lra. Qed.

Lemma sum_constant c n : sum_f_R0 (fun _ => c) n = INR (S n) * c.
Proof. rewrite sum_cte. ring. Qed.

(** Products that are not ideal. *)
Lemma ideal_sums (x : nat -> R) X : (forall j, (j <= t)%nat -> Rabs (x j) <= X) -> 0 <= X ->
  Rabs (sum_f_R0 (fun j => prod (h j) * x j) t - sum_f_R0 (fun j => a j * x j) t) <= N *
    (2 * tau * X)
  /\ sum_f_R0 (fun j => Rabs (prod (h j) * x j)) t
     <= sum_f_R0 (fun j => a j * Rabs (x j)) t + N * (2 * tau * X).
Proof.
  intros XB X0. unfold N. rewrite <- (sum_constant (2 * tau * X) t). split.
  - rewrite <- minus_sum. apply sum_abs. intros j J. destruct (near j J) as (_ & D).
    rewrite <- Rmult_minus_distr_r, Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos.
  - rewrite <- plus_sum. apply sum_Rle. intros j J. destruct (near j J) as (_ & D).
    assert (P := a_positive j J). rewrite Rabs_mult.
    assert (B : Rabs (prod (h j)) <= a j + 2 * tau).
    { replace (prod (h j)) with (prod (h j) - a j + a j) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)); lra. }
    apply Rle_trans with ((a j + 2 * tau) * Rabs (x j));
      [apply Rmult_le_compat_r; auto; apply Rabs_pos|].
    assert (2 * tau * Rabs (x j) <= 2 * tau * X).
    { apply Rmult_le_compat_l; auto. destruct tau_bounds. lra. } lra.
Qed.

Lemma kappa_bound k : (k <= 3 * S t)%nat -> (1 + u) ^ k - 1 <= 1.002 * (INR k * u).
Proof.
  intros K. assert (B := Nu_small). assert (U := u_bounds). apply power_near; [lra|].
  apply le_INR in K. rewrite mult_INR in K. fold N in K. simpl (INR 3) in K.
  assert (INR k * u <= 3 * N * u) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma collected_once x X ks y : (forall k, Rabs (x k) <= X) -> 0 <= X ->
  8 * N * (1 + X) <= pow (top f - 1) -> once t ks -> collected f h x false ks [] y ->
  Rabs (y - sum_f_R0 (fun j => a j * x j) t)
    <= 1.002 * ((2 * N - 1) * u) * sum_f_R0 (fun j => a j * Rabs (x j)) t + N * tau * (3 + 7 * X).
Proof.
  intros XB X0 FIT O C. destruct (once_reals t ks O) as (P & LK & HK).
  assert (G := collected_many m h weighed x X ks y XB X0 FIT LK C). cbv zeta in G.
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
  { apply sum_positive. intros j J. apply Rmult_le_pos; [left; apply a_positive, J|apply Rabs_pos].
    }
  destruct tau_bounds as (TP & _). assert (q := N_one). assert (U := u_bounds).
  assert (NT : 0 < N * tau) by (apply Rmult_lt_0_compat; lra).
  assert (NTX : 0 <= N * tau * X) by (apply Rmult_le_pos; lra).
  assert (B1 : kap * T' <= 1.002 * ((2 * N - 1) * u) * T + 0.002 * (N * (2 * tau * X))).
  { apply Rle_trans with (kap * (T + N * (2 * tau * X))); [apply Rmult_le_compat_l; lra|].
    assert (kap * T <= 1.002 * ((2 * N - 1) * u) * T) by (apply Rmult_le_compat_r; lra).
    assert (kap * (N * (2 * tau * X)) <= 0.002 * (N * (2 * tau * X)))
      by (apply Rmult_le_compat_r; lra).
    lra. }
  apply le_INR in LK, HK. rewrite mult_INR in LK. fold N in LK, HK. simpl (INR 2) in LK.
  assert (B2 : 1.003 * tau * INR (length ks) <= 1.003 * tau * (2 * N))
    by (apply Rmult_le_compat_l; lra).
  assert (B3 : 4 * tau * X * INR (hidden (fun k => (k <=? t)%nat) ks) <= 4 * tau * X * N).
  { apply Rmult_le_compat_l; [|exact HK]. assert (0 <= tau * X) by (apply Rmult_le_pos; lra). lra. }
  replace (y - Y) with (y - Y' + (Y' - Y)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma collected_alone j y : (j <= t)%nat -> collected f h (fun _ => 1) false [j] [] y ->
  Rabs (y - a j) <= 1.002 * (N * u) * a j + 4 * tau.
Proof.
  intros J C. assert (NR := N_room). assert (q := N_one).
  assert (G := collected_many m h weighed (fun _ => 1) 1 [j] y
    ltac:(intros; cbv beta; rewrite Rabs_R1; lra) ltac:(lra) ltac:(lra) ltac:(simpl; lia) C).
  cbv zeta in G. unfold reals, hidden, over in G. simpl in G.
  assert (E : (j <=? t)%nat = true) by (apply Nat.leb_le, J). rewrite E in G. simpl in G.
  destruct (near j J) as (_ & D). assert (P := a_positive j J).
  assert (K := kappa_bound (S t) ltac:(lia)). assert (KP := u_powers (S t) ltac:(lia)). fold N in K.
  simpl in K, KP. destruct tau_bounds as (TP & _).
  assert (KP' : 0 <= (1 + u) * (1 + u) ^ t - 1 <= 0.002) by lra.
  rewrite !Rmult_1_r, !Rplus_0_r in G. set (kap := (1 + u) * (1 + u) ^ t - 1) in *.
  assert (PB : Rabs (prod (h j)) <= a j + 2 * tau).
  { replace (prod (h j)) with (prod (h j) - a j + a j) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)); lra. }
  assert (B1 : kap * Rabs (prod (h j)) <= 1.002 * (N * u) * a j + 0.004 * tau).
  { apply Rle_trans with (kap * (a j + 2 * tau)); [apply Rmult_le_compat_l; lra|].
    assert (kap * a j <= 1.002 * (N * u) * a j) by (apply Rmult_le_compat_r; lra).
    assert (kap * (2 * tau) <= 0.002 * (2 * tau)) by (apply Rmult_le_compat_r; lra). lra. }
  replace (y - a j) with (y - prod (h j) + (prod (h j) - a j)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** The normaliser. *)
Lemma normaliser ks z : once t ks -> collected f h (fun _ => 1) false ks [] z ->
  (exists j, (j <= t)%nat /\ m = s j) ->
  7 / 8 <= sum_f_R0 a t
  /\ Rabs (z - sum_f_R0 a t) <= (2.004 * N - 0.9) * u * sum_f_R0 a t.
Proof.
  intros O C (r & R & M). set (Z := sum_f_R0 a t).
  assert (ZB : 7 / 8 <= Z).
  { assert (Q := sum_one r a t R (fun j J => Rlt_le _ _ (a_positive j J))). fold Z in Q.
    destruct (near r R) as ((H & _) & _). rewrite M, Rminus_eq_0 in H.
    assert (I := exp_ineq1_le (0 - astray f L (INR many))). assert (q := steady). lra. }
  split; [exact ZB|]. assert (NR := N_room). assert (q := N_one).
  assert (G := collected_once (fun _ => 1) 1 ks z
    ltac:(intros; cbv beta; rewrite Rabs_R1; lra) ltac:(lra) ltac:(lra) O C).
  rewrite (sum_eq (fun j => a j * 1) a) in G by (intros; ring).
  rewrite (sum_eq (fun j => a j * Rabs 1) a) in G by (intros; rewrite Rabs_R1; ring). fold Z in G.
  assert (NT := Ntau_small). assert (U := u_bounds).
  assert (B : N * tau * (3 + 7 * 1) <= 0.003 * u * Z).
  { apply Rle_trans with (u / 4096 * 10); [apply Rmult_le_compat; lra|].
    assert (0.003 * u * (7 / 8) <= 0.003 * u * Z) by (apply Rmult_le_compat_l; lra). lra. }
  assert (0 < u * Z) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
End Ideal.

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
  intros P W C. assert (U := u_bounds). destruct tau_bounds as (T & T' & SP).
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
    /\ Forall (fun r => Rabs r <= 1) l /\ Rabs e <= (if true then 2 else 2 * tiny f)
    /\ Rabs (v k) <= V).
  { intros k K. exists (w k), []. split; [reflexivity|]. split; [simpl; lia|].
    split; [constructor|]. split; [apply W, K|apply bounds, K]. }
  specialize (G NB). fold u tau N in G.
  assert (TV : N * tau * V <= 0.001 * V) by (apply Rmult_le_compat_r; lra).
  assert (NS : N * speck f <= 0.0005 * (N * tau)).
  { replace (0.0005 * (N * tau)) with (N * (0.0005 * tau)) by ring. apply Rmult_le_compat_l; lra. }
  assert (NV : 0 <= N * V) by (apply Rmult_le_pos; lra).
  assert (NTV : 0 <= N * tau * V) by (apply Rmult_le_pos; lra).
  assert (NSP : 0 < N * speck f) by (apply Rmult_lt_0_compat; lra).
  assert (FF : 1 ^ 1 * (1 + u) ^ (S t + 1) * (N * (2 * V) + (tau * N + 2 * (2 * tau * V * N
     + speck f * (N * (INR 1 + 2))))) <= pow (top f - 1)).
  { simpl (INR 1). rewrite pow1, Rmult_1_l. eapply Rle_trans; [|exact RH].
    apply Rle_trans with (1.002 * (N * (2 * V) + (tau * N + 2 * (2 * tau * V * N
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

(** Theorem. What [softmax] allows is a mean with factors of weights that are near e^s. *)
Theorem averaged o : softmax A t s v o -> exists m a c,
  (forall j, (j <= t)%nat ->
     exp (s j - m - astray f L (INR many)) <= a j <= exp (s j - m + astray f L (INR many))
     /\ Rabs (c j - 1) <= 5 * (N + 1) * u)
  /\ Rabs (o - sum_f_R0 (fun j => c j * a j * v j) t / sum_f_R0 a t)
     <= 16 * N * tau * (1 + V).
Proof.
  intros (m & h & h' & ks & js & z & y & _ & W & _ & SAME & O & CZ & WAY & ST).
  assert (NW := wide). destruct SAME as [->|B]; [|destruct NW; exact B].
  destruct ST as [E|(B & _)]; [subst y|destruct NW; exact B]. fold f in CZ, WAY.
  destruct (ideal m h W) as (a & NA). assert (U := u_bounds).
  destruct tau_bounds as (TP & _). assert (q := N_one). assert (V0 := V_positive).
  assert (RH := room_half). assert (NT := Ntau_small). assert (NU := Nu_small).
  assert (TOP : exists j, (j <= t)%nat /\ m = s j).
  { destruct (W 0%nat) as (_ & l & i & two & _ & I & R & _). eapply risen_score; eauto. }
  destruct (normaliser m h a W NA ks z O CZ TOP) as (ZB & NZ).
  assert (AP : forall j, (j <= t)%nat -> 0 < a j) by (intros; apply (a_positive m h a NA); auto).
  set (Z := sum_f_R0 a t) in *. set (Y := sum_f_R0 (fun j => a j * v j) t).
  set (T := sum_f_R0 (fun j => a j * Rabs (v j)) t).
  assert (T0 : 0 <= T).
  { apply sum_positive. intros j J. apply Rmult_le_pos; [left; auto|apply Rabs_pos]. }
  assert (YT : Rabs Y <= T).
  { apply sum_abs. intros j J. rewrite Rabs_mult, (Rabs_pos_eq (a j)) by (left; auto). lra. }
  assert (TV : T <= V * Z).
  { unfold T, Z. rewrite scal_sum. apply sum_Rle. intros j J.
    apply Rmult_le_compat_l; [left; auto|].
    apply bounds, J. }
  assert (AZ : forall j, (j <= t)%nat -> a j <= Z).
  { intros j J. apply (sum_one j a t J). intros i I. left. auto. }
  assert (PT : 8 * (1 + V) <= pow (top f - 1)).
  { assert (1 * (1 + V) <= N * (1 + V)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (VZ : V * (7 / 8) <= V * Z) by (apply Rmult_le_compat_l; lra).
  assert (ZT : Z * (8 * (1 + V)) <= Z * pow (top f - 1)) by (apply Rmult_le_compat_l; lra).
  assert (NTV : 0 <= N * tau * V) by (apply Rmult_le_pos; lra).
  assert (NTV' : N * tau * V <= 0.001 * V) by (apply Rmult_le_compat_r; lra).
  set (k2 := (2.004 * N - 0.9) * u) in *.
  assert (K2 : 0 <= k2 <= / 900).
  { unfold k2. split; [apply Rmult_le_pos; lra|]. lra. }
  assert (UT : 0 <= u * T) by (apply Rmult_le_pos; lra).
  assert (NUT : 0 <= N * u * T) by (apply Rmult_le_pos; lra).
  assert (TZ : 0 <= tau * Z) by (apply Rmult_le_pos; lra).
  assert (TN : 1 * tau <= N * tau) by (apply Rmult_le_compat_r; lra).
  assert (NTZ : tau * Z <= N * tau * Z) by (apply Rmult_le_compat_r; lra).
  assert (NTZV : 0 <= N * tau * V * Z) by (apply Rmult_le_pos; lra).
  assert (MAIN : Rabs (o * Z - Y) <= 5 * (N + 1) * u * T + 16 * N * tau * (1 + V) * Z).
  { destruct WAY as [(g & x & OJ & GH & CX & QU)|(p & q' & w & PJ & PW & CY)].
    - assert (GE : forall k, g k = h k).
      { intros k. destruct (GH k) as (e & e' & l & H1 & H2 & [->|(B & _)]); [congruence|].
        destruct NW. exact B. }
      assert (CX' : collected f h (fun k => v (k mod S t)) false js [] x).
      { clear - CX GE. induction CX as [k e l H|ks r l y C IH|ks l y z C IH M|raw ks js l y z w C
          IH C' IH' R].
        - apply (collected_one f h (fun k => v (k mod S t))). rewrite <- GE. exact H.
        - apply collected_times, IH.
        - eapply collected_rounded; eauto.
        - eapply collected_sum; eauto. }
      assert (VB : forall k, Rabs (v (k mod S t)) <= V).
      { intros k. apply bounds. assert (M := Nat.mod_upper_bound k (S t) ltac:(lia)). lia. }
      assert (G := collected_once m h a W NA (fun k => v (k mod S t)) V js x VB V0 RH OJ CX').
      rewrite (sum_eq _ (fun j => a j * v j)) in G
        by (intros j J; rewrite Nat.mod_small by lia; reflexivity).
      rewrite (sum_eq (fun j => a j * Rabs _) (fun j => a j * Rabs (v j))) in G
        by (intros j J; rewrite Nat.mod_small by lia; reflexivity).
      fold Y T in G.
      assert (R := quotient_near f x z o Y Z T (1.002 * ((2 * N - 1) * u)) (N * tau *
        (3 + 7 * V)) k2
        QU U ltac:(split; [assert (0 <= (2 * N - 1) * u) by (apply Rmult_le_pos; lra); lra|lra])
        K2 ltac:(lra) ltac:(lra) YT G NZ ltac:(lra)).
      fold u tau in R. eapply Rle_trans; [exact R|]. unfold k2.
      assert (N * tau * (7 / 8) <= N * tau * Z) by (apply Rmult_le_compat_l; lra).
      assert (N * tau * V * (7 / 8) <= N * tau * V * Z) by (apply Rmult_le_compat_l; lra). lra.
    - set (kw := (3.2 + 3.02 * N) * u).
      assert (EW : forall j, (j <= t)%nat -> Rabs (w j * Z - a j) <= kw * a j + 6 * tau * Z).
      { intros j J. destruct (PW j J) as (CP & QU & [EW|(B & _)]); [|destruct NW; exact B].
        rewrite EW. assert (G := collected_alone m h a W NA j (p j) J CP). assert (P := AP j J).
        assert (AJ := AZ j J).
        assert (R := quotient_near f (p j) z (q' j) (a j) Z (a j) (1.002 * (N * u)) (4 * tau) k2
          QU U ltac:(lra) K2 ltac:(lra) ltac:(lra)
          ltac:(rewrite Rabs_pos_eq; lra) G NZ ltac:(lra)).
        fold u tau in R. eapply Rle_trans; [exact R|]. unfold kw, k2.
        assert (0 < u * a j) by (apply Rmult_lt_0_compat; lra).
        assert (0 < N * u * a j) by (apply Rmult_lt_0_compat; lra).
        assert (tau * (7 / 8) <= tau * Z) by (apply Rmult_le_compat_l; lra). lra. }
      assert (KW : 0 <= kw <= 0.005).
      { unfold kw. split; [apply Rmult_le_pos; lra|lra]. }
      assert (W2 : forall j, (j <= t)%nat -> Rabs (w j) <= 2).
      { intros j J. specialize (EW j J). assert (P := AP j J). assert (AJ := AZ j J).
        assert (B : Rabs (w j) * Z <= 2 * Z).
        { rewrite <- (Rabs_pos_eq Z) at 1 by lra. rewrite <- Rabs_mult.
          replace (w j * Z) with (w j * Z - a j + a j) by ring.
          eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)) by lra.
          assert (kw * a j <= 0.005 * a j) by (apply Rmult_le_compat_r; lra).
          assert (tau * Z <= 0.1 * Z); [|lra]. apply Rmult_le_compat_r; [lra|].
          assert (1 * tau <= N * tau) by (apply Rmult_le_compat_r; lra). lra. }
        apply Rmult_le_reg_r with Z; [lra|exact B]. }
      assert (G := divided_before w js o PJ W2 CY).
      set (S0 := sum_f_R0 (fun j => w j * v j) t) in *.
      assert (D1 : Rabs (S0 * Z - Y) <= kw * T + N * (6 * tau * V) * Z).
      { unfold S0, Y. rewrite Rmult_comm, scal_sum, <- minus_sum.
        apply Rle_trans with (sum_f_R0 (fun j => kw * (a j * Rabs (v j)) + 6 * tau * V * Z) t).
        - apply sum_abs. intros j J. specialize (EW j J). destruct (bounds j J) as (_ & VJ).
          replace (w j * v j * Z - a j * v j) with ((w j * Z - a j) * v j) by ring.
          rewrite Rabs_mult.
          apply Rle_trans with ((kw * a j + 6 * tau * Z) * Rabs (v j));
            [apply Rmult_le_compat_r; [apply Rabs_pos|exact EW]|].
          assert (tau * Z * Rabs (v j) <= tau * Z * V) by (apply Rmult_le_compat_l; lra). lra.
        - rewrite plus_sum, sum_constant. unfold T.
          rewrite (sum_eq (fun j => kw * _) (fun j => a j * Rabs (v j) * kw)) by (intros; ring).
          rewrite <- scal_sum. fold N. lra. }
      set (T1 := sum_f_R0 (fun j => Rabs (w j * v j)) t) in *.
      assert (D2 : T1 * Z <= 1.005 * T + N * (6 * tau * V) * Z).
      { unfold T1. rewrite Rmult_comm, scal_sum.
        apply Rle_trans with (sum_f_R0 (fun j => 1.005 * (a j * Rabs (v j)) + 6 * tau * V * Z) t).
        - apply sum_Rle. intros j J. specialize (EW j J). destruct (bounds j J) as (_ & VJ).
          assert (P := AP j J).
          assert (B : Rabs (w j) * Z <= 1.005 * a j + 6 * tau * Z).
          { rewrite <- (Rabs_pos_eq Z) at 1 by lra. rewrite <- Rabs_mult.
            replace (w j * Z) with (w j * Z - a j + a j) by ring.
            eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_pos_eq (a j)) by lra.
            assert (kw * a j <= 0.005 * a j) by (apply Rmult_le_compat_r; lra). lra. }
          rewrite Rabs_mult.
          replace (Rabs (w j) * Rabs (v j) * Z) with (Rabs (w j) * Z * Rabs (v j)) by ring.
          apply Rle_trans with ((1.005 * a j + 6 * tau * Z) * Rabs (v j));
            [apply Rmult_le_compat_r; [apply Rabs_pos|exact B]|].
          assert (tau * Z * Rabs (v j) <= tau * Z * V) by (apply Rmult_le_compat_l; lra). lra.
        - rewrite plus_sum, sum_constant. unfold T.
          rewrite (sum_eq (fun j => 1.005 * _) (fun j => a j * Rabs (v j) * 1.005))
            by (intros; ring).
          rewrite <- scal_sum. fold N. lra. }
      replace (o * Z - Y) with ((o - S0) * Z + (S0 * Z - Y)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq Z) by lra.
      assert (D3 : Rabs (o - S0) * Z <= 1.002 * (N * u) * (T1 * Z) + 1.01 * N * tau * Z).
      { replace (1.002 * (N * u) * (T1 * Z) + 1.01 * N * tau * Z)
          with ((1.002 * (N * u) * T1 + 1.01 * N * tau) * Z) by ring.
        apply Rmult_le_compat_r; lra. }
      assert (D4 : 1.002 * (N * u) * (T1 * Z)
        <= 1.002 * (N * u) * (1.005 * T) + 0.001 * (N * (6 * tau * V) * Z)).
      { apply Rle_trans with (1.002 * (N * u) * (1.005 * T + N * (6 * tau * V) * Z)).
        - apply Rmult_le_compat_l; lra.
        - assert (1.002 * (N * u) * (N * (6 * tau * V) * Z) <= 0.001 * (N * (6 * tau * V) * Z))
            by (apply Rmult_le_compat_r; lra). lra. }
      unfold kw in D1. lra. }
  destruct (shared_out (5 * (N + 1) * u) T (16 * N * tau * (1 + V) * Z) (o * Z - Y))
    as (th & TH & D); auto; try lra.
  destruct (factored t a v th) as (c & CB & CS). exists m, a, c. split.
  - intros j J. split; [apply NA, J|]. eapply Rle_trans; [apply CB|exact TH].
  - rewrite CS. fold Y T Z.
    replace (o - (Y + th * T) / Z) with ((o * Z - Y - th * T) / Z) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq Z) by lra.
    apply Rmult_le_reg_r with Z; [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra.
Qed.
End Attended.

Theorem softmax_attended A t s v o : stored A = accumulator A ->
  ordinary (accumulator A) = true -> softmax A t s v o -> attended (accumulator A) t s v o.
Proof.
  intros E U H. unfold attended. cbv zeta. intros L V r B D F ST R.
  exact (averaged A t s v L V r E U B F D ST R o H).
Qed.
