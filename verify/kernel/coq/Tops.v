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
Hypothesis close : u * L <= / 72.

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
    assert (UM : u * Rabs m <= / 72).
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

Theorem top_factors m r l : (r <= t)%nat -> factors A t s m r l -> m <= s r ->
  exists e x, l = [e] /\ exponential A x e /\ Rabs x <= 1.01 * (u * Rabs m) + 6 * tau.
Proof.
  intros R (e & l' & i & two & -> & I & RI & _ & E) M.
  replace (r <=? t)%nat with true in E by (symmetry; apply Nat.leb_le, R).
  destruct E as (SI & x & E & D). destruct (risen_none two (s i) l' m RI ltac:(lra)) as (-> & SM).
  assert (SR : s r = m) by lra. exists e, x. split; [reflexivity|]. split; [exact E|].
  apply top_exponent; [rewrite <- SM; apply scores, I|]. rewrite SR, SM in D. exact D.
Qed.

(** What 2^-14 is of: the exponential of an exponent near 0, in formats of 16 bits. *)
Theorem top_exponential x e : narrow A -> exponential A x e -> Rabs x <= pow (-11) ->
  Rabs (e - 1) <= 1.01 * pow (-14) + 1.01 * Rabs x.
Proof.
  intros NW E X. assert (U := u_small A usual). assert (T := tau_small A usual).
  fold f in U, T. assert (DG := usual_digits A usual). fold f in DG.
  change (pow (-11)) with (/ 2048) in X. change (pow (-14)) with (/ 16384).
  assert (XB := X). apply Rabs_le_inv in XB. destruct ln_2_bounds as (L1 & L2).
  assert (I := exp_ineq1_le x). assert (I' := exp_ineq1_le (- x)). rewrite exp_Ropp in I'.
  assert (P := exp_pos x).
  assert (Q : exp x * (1 - x) <= 1).
  { apply Rle_trans with (exp x * / exp x); [apply Rmult_le_compat_l; lra|]. right. field. lra. }
  assert (EX : exp x <= 1.001) by nra.
  assert (EX' : Rabs (exp x - 1) <= 1.01 * Rabs x).
  { unfold Rabs at 2. destruct (Rcase_abs x); apply Rabs_le; split; nra. }
  unfold exponential in E. fold f in E.
  assert (TOP : exp x < pow (top f - 1)).
  { apply Rle_lt_trans with 1.001; [exact EX|]. apply Rlt_le_trans with (pow 1); [simpl; lra|].
    apply bpow_le. lia. }
  destruct (E TOP) as (_ & C). destruct (C NW) as (_ & C').
  assert (NEAR : Rabs x <= pow (-10) * ln 2) by (change (pow (-10)) with (/ 1024); lra).
  destruct (C' NEAR) as [C2|(C2 & _)].
  - change (pow (-14)) with (/ 16384) in C2.
    replace (e - 1) with (e - exp x + (exp x - 1)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
  - exfalso. change (pow (-14)) with (/ 16384) in C2. lra.
Qed.
End Tops.
