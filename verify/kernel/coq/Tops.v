(** The largest score of a head is never rescaled, and its weight is near 1: in formats of 16
    bits as near as 2^-14, beside how far its exponent is from 0 (Lemma 11b of
    docs/proofs/attention.md, for Theorem 12 there). *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding Softmax Collected Weights Attended.
Import ListNotations.
Open Scope R_scope.

Section Tops.
Variables (A : arithmetic) (t : nat) (s : nat -> R) (L : R).
Let f := accumulator A.
Let u := roundoff f.
Let tau := tiny f.
Hypothesis usual : ordinary f = true.
Hypothesis scores : forall j, (j <= t)%nat -> Rabs (s j) <= L.
Hypothesis close : u * L <= / 40.

Lemma risen_up two : forall l a m, risen A t s two a l m -> a <= m.
Proof.
  induction l as [|r l IH]; simpl; intros a m R; [lra|].
  destruct R as (i & x & _ & AI & _ & _ & R). apply IH in R. lra.
Qed.

Lemma risen_none two a l m : risen A t s two a l m -> m <= a -> l = [] /\ a = m.
Proof.
  destruct l as [|r l]; simpl; intros R M; [auto|].
  destruct R as (i & x & _ & AI & _ & _ & R). apply risen_up in R. lra.
Qed.

Lemma top_exponent m x : Rabs m <= L ->
  difference f m m x \/ difference_of_products f true m m x ->
  Rabs x <= 1.01 * (u * Rabs m) + 6 * tau.
Proof.
  intros B D. assert (U := u_small A usual). assert (T := tau_small A usual).
  fold f in U, T. fold u in U, T. fold tau in T. assert (DG := usual_digits A usual).
  fold f in DG. assert (m0 := Rabs_pos m).
  assert (NN : 0 <= u * Rabs m) by (apply Rmult_le_pos; lra).
  assert (Z : forall z, rounded f 0 z -> z = 0)
    by (intros z; apply rounded_none; lia).
  destruct D as [[R|(y & z & R & M & ->)]|D].
  - rewrite Rminus_eq_0 in R. rewrite (Z x R), Rabs_R0. lra.
  - rewrite Rminus_eq_0 in R. rewrite (Z y R), Rmult_0_l in M.
    assert (z = 0) as -> by (destruct M as [M|(_ & M)]; auto). rewrite Rmult_0_l, Rabs_R0. lra.
  - destruct D as (p & q & z & P & Q & R & ->). destruct ln_2_bounds as (L1 & L2).
    assert (UM : u * Rabs m <= / 40).
    { eapply Rle_trans; [|exact close]. apply Rmult_le_compat_l; lra. }
    (* Both products are rounded, or one of them, or none. *)
    assert (PQ : Rabs ((p - q) * ln 2) <= 1.001 * u * Rabs m + 4 * tau).
    { assert (E : 0 <= 1.001 * u * Rabs m) by lra.
      destruct P as [P|(_ & ->)], Q as [Q|(_ & ->)].
      - assert (HP := multiple_P A L usual close m p B (or_introl P)).
        assert (HQ := multiple_P A L usual close m q B (or_introl Q)).
        cbv zeta beta in HP, HQ. apply Rabs_le_inv in HP, HQ. fold f tau in HP, HQ.
        apply Rabs_le. rewrite Rmult_minus_distr_r. lra.
      - assert (HP := multiple_near A L usual close true m p B (or_introl P)).
        fold f u tau in HP.
        replace ((p - m * log2e f) * ln 2) with (p * ln 2 - log2e f * ln 2 * m) by ring. lra.
      - assert (HQ := multiple_near A L usual close true m q B (or_introl Q)).
        fold f u tau in HQ.
        replace ((m * log2e f - q) * ln 2) with (- (q * ln 2 - log2e f * ln 2 * m)) by ring.
        rewrite Rabs_Ropp. lra.
      - rewrite Rminus_eq_0, Rmult_0_l, Rabs_R0. lra. }
    assert (PQ' : Rabs (p - q) * ln 2 <= 1.001 * u * Rabs m + 4 * tau)
      by (rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) in PQ by lra; exact PQ).
    assert (P2 : Rabs (p - q) <= 2 * (Rabs (p - q) * ln 2))
      by (assert (Q' := Rabs_pos (p - q)); nra).
    assert (UPQ : u * Rabs (p - q) <= / 2048 * Rabs (p - q))
      by (apply Rmult_le_compat_r; [apply Rabs_pos|lra]).
    assert (N := rounded_tau A usual (p - q) z ltac:(fold f u; lra) R). fold f u tau in N.
    assert (V : Rabs (z - (p - q)) * ln 2 <= / 2048 * (Rabs (p - q) * ln 2) + tau).
    { apply Rle_trans with ((/ 2048 * Rabs (p - q) + tau) * ln 2);
        [apply Rmult_le_compat_r; lra|]. nra. }
    replace (z * ln 2) with ((z - (p - q)) * ln 2 + (p - q) * ln 2) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (ln 2)) by lra. lra.
Qed.

Theorem top_factors m r l : (r <= t)%nat -> factors A t s m r l ->
  (forall j, (j <= t)%nat -> s j <= s r) -> m = s r
  /\ exists e x, l = [e] /\ exponential A x e /\ Rabs x <= 1.01 * (u * L) + 6 * tau.
Proof.
  intros R (e & l' & i & two & -> & I & RI & _ & E) TOP.
  destruct (risen_score A t s two l' i m I RI) as (k & K & M).
  assert (MR : m <= s r) by (rewrite M; apply TOP, K).
  replace (r <=? t)%nat with true in E by (symmetry; apply Nat.leb_le, R).
  destruct E as (SI & x & E & D). destruct (risen_none two (s i) l' m RI ltac:(lra)) as (-> & SM).
  assert (SR : s r = m) by lra. split; [auto|]. exists e, x. split; [reflexivity|].
  split; [exact E|]. assert (B : Rabs m <= L) by (rewrite <- SR; apply scores, R).
  eapply Rle_trans; [apply (top_exponent m x B)|].
  - rewrite SR, SM in D. exact D.
  - assert (U := u_small A usual). fold f u in U.
    assert (u * Rabs m <= u * L) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** What 2^-14 is of: the exponential of an exponent near 0, in formats of 16 bits. *)
Theorem top_exponential x e : narrow A -> exponential A x e -> Rabs x <= / 64 ->
  Rabs (e - 1) <= 1.01 * pow (-14) + 1.6 * Rabs x.
Proof.
  intros NW E X. assert (U := u_small A usual). assert (T := tau_small A usual).
  fold f in U, T. assert (DG := usual_digits A usual). fold f in DG.
  change (pow (-14)) with (/ 16384). assert (x0 := Rabs_pos x).
  assert (XB := X). apply Rabs_le_inv in XB. destruct ln_2_bounds as (L1 & L2).
  assert (I := exp_ineq1_le x). assert (I' := exp_ineq1_le (- x)). rewrite exp_Ropp in I'.
  assert (P := exp_pos x).
  assert (Q : exp x * (1 - x) <= 1).
  { apply Rle_trans with (exp x * / exp x); [apply Rmult_le_compat_l; lra|]. right. field. lra. }
  assert (EX : exp x <= 1.016) by nra.
  assert (EX' : Rabs (exp x - 1) <= 1.02 * Rabs x).
  { unfold Rabs at 2. destruct (Rcase_abs x); apply Rabs_le; split; nra. }
  unfold exponential in E. fold f in E.
  assert (TOP : exp x < pow (top f - 1)).
  { apply Rle_lt_trans with 1.016; [exact EX|]. apply Rlt_le_trans with (pow 1); [simpl; lra|].
    apply bpow_le. lia. }
  destruct (E TOP) as (_ & C). destruct (C NW) as (C1 & C2). change (pow (-12)) with (/ 4096) in C1.
  change (pow (-14)) with (/ 16384) in C2. change (pow (-10)) with (/ 1024) in C2.
  assert (NEAR : Rabs (e - exp x) <= 1.01 * / 16384 + 0.55 * Rabs x).
  { destruct (Rle_lt_dec (Rabs x) (/ 2048)) as [S|S].
    - destruct (C2 ltac:(lra)) as [D|(D & _)]; [|exfalso; lra].
      apply Rabs_le_inv in EX'. lra.
    - destruct C1 as [D|(D & _)]; [|exfalso; lra]. lra. }
  replace (e - 1) with (e - exp x + (exp x - 1)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End Tops.

(** How far the weights of a score that leads are from 1; how far a share of 1 is, by what
    others weigh: lam; and by which part of it a store moves it, as 1 needs no rounding. *)
Definition heavy (f : format) (L : R) : R := 9 / 4 * pow (-14) + 4 * (roundoff f * L).
Definition share_off (f : format) (L n lam : R) : R :=
  heavy f L + 4 * (n + 1) * roundoff f + 2 * n * lam.
Definition store_off (A : arithmetic) (L n lam : R) : R :=
  Rmin (roundoff (stored A)) (share_off (accumulator A) L n lam).

Section Leading.
Variables (A : arithmetic) (t : nat) (s : nat -> R) (L : R) (r g : nat).
Let f := accumulator A.
Let u := roundoff f.
Let tau := tiny f.
Let N := INR (S t).
Let W := astray_stored f L N.
Let lam := pow (1 - Z.of_nat g).
Hypothesis usual : ordinary f = true.
Hypothesis stored_short : storing A = true.
Hypothesis scores : forall j, (j <= t)%nat -> Rabs (s j) <= L.
Hypothesis few : N * u <= pow (-11).
Hypothesis steady : W <= / 8.
Hypothesis here : (r <= t)%nat.
Hypothesis lead : forall j, (j <= t)%nat -> j <> r -> s j + INR g <= s r.

Lemma sizes : 0 < u <= / 2048 /\ 0 < tau <= / 8388608 /\ 1 <= N /\ N * u <= / 2048
  /\ 0 <= u * L <= / 72 /\ 0 < lam.
Proof.
  assert (U := u_small A usual). assert (T := tau_small A usual). fold f in U, T. fold u in U, T.
  fold tau in T. assert (N1 : 1 <= N) by (unfold N; rewrite S_INR; assert (q := pos_INR t); lra).
  assert (L0 : 0 <= L) by (assert (q := scores r here); assert (q' := Rabs_pos (s r)); lra).
  assert (UL : 0 <= u * L) by (apply Rmult_le_pos; lra).
  assert (P := bpow_gt_0 radix2 (-24)).
  assert (S := steady). unfold W, astray_stored in S. fold u in S.
  assert (0 <= 257 * (N + 32) * pow (-24)) by (apply Rmult_le_pos; lra).
  assert (F := few). change (pow (-11)) with (/ 2048) in F.
  repeat split; try lra. apply bpow_gt_0.
Qed.

Lemma leads_all j : (j <= t)%nat -> s j <= s r.
Proof.
  intros J. destruct (Nat.eq_dec j r) as [->|D]; [lra|]. specialize (lead j J D).
  assert (q := pos_INR g). lra.
Qed.

(** How far a weight is from 1. *)
Let off := 1.01 * pow (-14) + 1.62 * (u * L) + 12 * tau.

Lemma top_number m l : factors A t s m r l ->
  m = s r /\ exists e, l = [e] /\ Rabs (e - 1) <= off - 2 * tau.
Proof.
  intros F. destruct sizes as (U & T & N1 & NU & UL & _).
  destruct (top_factors A t s L usual scores ltac:(fold f u; lra) m r l here F leads_all)
    as (M & e & x & E & X & XB). fold f u tau in XB.
  split; [exact M|]. exists e. split; [exact E|]. destruct (storing_bounds A stored_short) as (NW & _).
  assert (Q := top_exponential A usual x e NW X ltac:(lra)). unfold off. lra.
Qed.

Lemma top_weight m a : weights_of A t s W m a -> m = s r /\ Rabs (a r - 1) <= off.
Proof.
  intros H. destruct (H r here) as (_ & l & F & D). destruct (top_number m l F) as (M & e & -> & E).
  split; [exact M|]. unfold prod in D. simpl in D. rewrite Rmult_1_r in D. fold f tau in D.
  replace (a r - 1) with (- (e - a r) + (e - 1)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.

Lemma other_weight m a j : weights_of A t s W m a -> (j <= t)%nat -> j <> r ->
  0 < a j <= 0.58 * lam.
Proof.
  intros H J D. destruct (H j J) as ((B1 & B2) & _). assert (P := exp_pos (s j - m - W)).
  destruct (top_weight m a H) as (M & _). split; [lra|]. eapply Rle_trans; [exact B2|].
  apply Rle_trans with (exp (/ 8 + - INR g)).
  { apply exp_less. specialize (lead j J D). assert (q := steady). lra. }
  rewrite exp_plus. unfold lam. replace (1 - Z.of_nat g)%Z with (1 + - Z.of_nat g)%Z by lia.
  rewrite bpow_plus. change (pow 1) with 2.
  replace (0.58 * (2 * pow (- Z.of_nat g))) with (1.16 * pow (- Z.of_nat g)) by lra.
  assert (E : exp (/ 8) <= 1.16).
  { replace (/ 8) with (- - / 8) by ring. rewrite exp_Ropp. assert (I := exp_ineq1_le (- / 8)).
    apply Rle_trans with (/ (7 / 8)); [apply Rinv_le_contravar|]; lra. }
  assert (E' := exp_power g).
  apply Rmult_le_compat; [left; apply exp_pos|left; apply exp_pos|lra|exact E'].
Qed.

Lemma beside_one x y : Rabs x <= 3 -> store A x y -> Rabs (y - x) <= Rabs (x - 1).
Proof.
  intros X [->|(_ & R)]; [rewrite Rminus_eq_0, Rabs_R0; apply Rabs_pos|].
  assert (SA := stored_short). unfold storing in SA. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in SA.
  assert (DG := usual_digits A usual).
  assert (H : held (stored A) 1).
  { change 1 with (pow 0). apply generic_format_bpow. unfold FLT_exp. lia. }
  assert (X' : Rabs x <= pow (top (stored A) - 1)).
  { apply Rle_trans with (pow 2); [simpl; lra|]. apply bpow_le. lia. }
  assert (Q := rounded_beside (stored A) ltac:(lia) ltac:(lia) 1 (x - 1) y H).
  replace (1 + (x - 1)) with x in Q by ring. auto.
Qed.

(** A share of the leading score is near 1. *)
Lemma share_near m x : share_of A t s W m r x -> Rabs (x - 1) <= share_off f L N lam.
Proof.
  destruct sizes as (U & T & N1 & NU & UL & LP). unfold share_off, heavy. fold u.
  assert (P14 : pow (-14) = / 16384) by reflexivity. rewrite P14.
  assert (NL : 0 <= N * lam) by (apply Rmult_le_pos; lra).
  assert (U0 : 0 <= (N + 1) * u) by (apply Rmult_le_pos; lra).
  intros [(l & F)|(_ & a & b & WA & WB & D)].
  - destruct (top_number m _ F) as (_ & e & E & B). assert (x = e) by congruence. subst e.
    unfold off in B. rewrite P14 in B. lra.
  - destruct (top_weight m a WA) as (_ & A1). destruct (top_weight m b WB) as (_ & B1).
    fold f u tau N in D. set (Z := sum_f_R0 b t) in *. assert (T0 := pos_INR t).
    assert (TN : INR t <= N) by (unfold N; rewrite S_INR; lra).
    assert (OFF : off <= 0.023) by (unfold off; rewrite P14; lra).
    apply Rabs_le_inv in A1, B1.
    assert (BP : forall j, (j <= t)%nat -> 0 <= b j).
    { intros j J. destruct (Nat.eq_dec j r) as [->|I]; [lra|].
      destruct (other_weight m b j WB J I). lra. }
    assert (Z1 : b r <= Z) by (apply sum_one; auto).
    assert (Z2 : Z <= b r + INR t * (0.58 * lam)).
    { apply sum_bound with (r := r); auto; [lra| |lra].
      intros j J I. apply (other_weight m b j WB J I). }
    assert (TL : INR t * (0.58 * lam) <= N * (0.58 * lam)) by (apply Rmult_le_compat_r; lra).
    assert (UA : (3.2 + 3.02 * N) * u * a r <= (3.2 + 3.02 * N) * u * 1.023)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra).
    assert (NU' : 0 <= N * u) by (apply Rmult_le_pos; lra).
    assert (M : Rabs (x * Z - Z) <= (3.2 + 3.02 * N) * u * 1.023 + 5.6 * tau * Z + (2 * off
      + N * (0.58 * lam))).
    { replace (x * Z - Z) with (x * Z - a r + (a r - Z)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [lra|]. apply Rabs_le. lra. }
    set (d := 9 / 4 * / 16384 + 4 * (u * L) + 4 * (N + 1) * u + 2 * N * lam).
    replace (x * Z - Z) with ((x - 1) * Z) in M by ring.
    rewrite Rabs_mult, (Rabs_pos_eq Z) in M by lra.
    apply Rmult_le_reg_r with Z; [lra|]. eapply Rle_trans; [exact M|].
    assert (d5 : 0 <= d - 5.6 * tau) by (unfold d; lra).
    assert (DZ : (d - 5.6 * tau) * 0.977 <= (d - 5.6 * tau) * Z) by (apply Rmult_le_compat_l; lra).
    assert (G : (3.2 + 3.02 * N) * u * 1.023 + (2 * off + N * (0.58 * lam)) <= (d - 5.6 * tau) * 0.977)
      by (unfold d, off; rewrite P14; lra). lra.
Qed.

Theorem top_stores m j x y : share_of A t s W m j x -> Rabs x <= 3 -> store A x y ->
  Rabs (y - x) <= (if (j =? r)%nat then 1.01 * store_off A L N lam else roundoff (stored A)) * Rabs x
                  + speck (stored A)
  /\ Rabs (y - x) <= Rabs x.
Proof.
  intros H X ST. destruct (storing_bounds A stored_short) as (_ & US & STO).
  destruct (STO x y X ST) as (S1 & S2). split; [|exact S2].
  destruct (j =? r)%nat eqn:E; [|exact S1]. apply Nat.eqb_eq in E. subst j.
  assert (x0 := Rabs_pos x). set (us := roundoff (stored A)) in *.
  assert (P := speck_positive (stored A)). assert (D := share_near m x H).
  assert (B := beside_one x y X ST). unfold store_off. fold f us.
  set (d := share_off f L N lam) in *. destruct (Rle_lt_dec us d) as [C|C].
  - rewrite Rmin_left by exact C. assert (0 <= us * Rabs x) by (apply Rmult_le_pos; lra). lra.
  - rewrite Rmin_right by lra. assert (d0 : 0 <= d) by (assert (q := Rabs_pos (x - 1)); lra).
    assert (X1 : 0.996 <= Rabs x).
    { apply Rabs_le_inv in D. rewrite Rabs_pos_eq; lra. }
    assert (d * 0.996 <= d * Rabs x) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Leading.
