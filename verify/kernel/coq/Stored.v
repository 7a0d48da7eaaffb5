(** Heads that add up, in formats of 16 bits (Theorem 13 of docs/proofs/attention.md). *)
From Coq Require Import Reals ZArith List Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Softmax Collected Attended Mean.
Open Scope R_scope.

(** How far a factor of a weight is from 1, beside the weights of the normaliser. *)
Definition uneven (A : arithmetic) (L n : R) : R :=
  5 * (n + 1) * roundoff (accumulator A) + 1.005 * roundoff (stored A)
  + 3 * astray_stored (accumulator A) L n.

Lemma exp_double x : 0 <= x <= / 8 -> exp (2 * x) <= 1 + 8 / 3 * x.
Proof.
  intros X. assert (I := exp_ineq1_le (- (2 * x))). rewrite exp_Ropp in I.
  assert (P := exp_pos (2 * x)).
  assert (Q : exp (2 * x) * (1 - 2 * x) <= 1).
  { apply Rle_trans with (exp (2 * x) * / exp (2 * x)); [apply Rmult_le_compat_l; lra|].
    right. field. lra. }
  nra.
Qed.

(** Weights of the values are those of the normaliser, up to factors. *)
Theorem stored_mean A t s v o L V : ordinary (accumulator A) = true -> storing A = true ->
  softmax A t s v o ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V) ->
  INR (S t) * roundoff (accumulator A) <= pow (-11) ->
  astray_stored (accumulator A) L (INR (S t)) <= / 8 ->
  16 * INR (S t) * (1 + V) <= pow (top (accumulator A)) ->
  exists m b c y, (forall j, (j <= t)%nat ->
      exp (s j - m - astray_stored (accumulator A) L (INR (S t))) <= b j
        <= exp (s j - m + astray_stored (accumulator A) L (INR (S t)))
      /\ Rabs (c j - 1) <= uneven A L (INR (S t)))
    /\ Rabs (y - sum_f_R0 (fun j => c j * b j * v j) t / sum_f_R0 b t)
       <= 16 * INR (S t) * tiny (accumulator A) * (1 + V) + 2 * INR (S t) * speck (stored A) * V
    /\ store A y o.
Proof.
  intros USUAL SA D B F ST R. destruct (storing_bounds A SA) as (_ & SB & STO).
  destruct (softmax_stored A t s v o L V (fun _ => roundoff (stored A)) USUAL SA B F ST R
    ltac:(intros; cbv beta; lra) (fun _ _ x y _ => STO x y) D) as (m & a & b & c & y & WA & WB & W & Y & SO).
  set (f := accumulator A) in *. set (n := INR (S t)) in *. set (x := astray_stored f L n) in *.
  assert (U := bpow_gt_0 radix2 (- digits f)). fold (roundoff f) in U.
  assert (US := bpow_gt_0 radix2 (- digits (stored A))). fold (roundoff (stored A)) in US.
  assert (N1 : 1 <= n) by (unfold n; rewrite S_INR; assert (q := pos_INR t); lra).
  assert (X0 : 0 <= x).
  { unfold x, astray_stored. destruct (B 0%nat ltac:(lia)) as (Q & _).
    assert (q := Rabs_pos (s 0%nat)).
    assert (0 <= roundoff f * (9 * L)) by (apply Rmult_le_pos; lra).
    assert (0 <= 257 * (n + 32) * pow (-24)) by (apply Rmult_le_pos; [lra|apply bpow_ge_0]). lra. }
  assert (E2 := exp_double x (conj X0 ST)).
  exists m, b, (fun j => c j * (a j / b j)), y.
  assert (BP : forall j, (j <= t)%nat -> 0 < b j).
  { intros j J. destruct (WB j J) as ((W2 & _) & _). assert (q := exp_pos (s j - m - x)). lra. }
  split; [|split; [|exact SO]].
  - intros j J. destruct (WA j J) as ((A1 & A2) & _). destruct (WB j J) as ((B1 & B2) & _).
    assert (C := W j J). split; [auto|].
    assert (P := BP j J). set (r := a j / b j).
    assert (AR : a j = r * b j) by (unfold r; field; lra).
    assert (R1 : r <= exp (2 * x)).
    { apply Rmult_le_reg_r with (b j); [exact P|]. rewrite <- AR. eapply Rle_trans; [exact A2|].
      replace (s j - m + x) with (2 * x + (s j - m - x)) by ring. rewrite exp_plus.
      apply Rmult_le_compat_l; [left; apply exp_pos|exact B1]. }
    assert (R2 : exp (- (2 * x)) <= r).
    { apply Rmult_le_reg_r with (b j); [exact P|]. rewrite <- AR. eapply Rle_trans; [|exact A1].
      replace (s j - m - x) with (- (2 * x) + (s j - m + x)) by ring. rewrite exp_plus.
      apply Rmult_le_compat_l; [left; apply exp_pos|exact B2]. }
    assert (I := exp_ineq1_le (- (2 * x))).
    assert (RR : Rabs (r - 1) <= 8 / 3 * x) by (apply Rabs_le; lra).
    assert (C0 : Rabs (c j - 1) <= / 10).
    { eapply Rle_trans; [exact C|]. change (pow (-11)) with (/ 2048) in F.
      assert (1 * roundoff f <= n * roundoff f) by (apply Rmult_le_compat_r; lra). lra. }
    unfold uneven. fold f x.
    replace (c j * r - 1) with (c j - 1 + (c j - 1) * (r - 1) + (r - 1)) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (Q := Rabs_triang (c j - 1) ((c j - 1) * (r - 1))). rewrite Rabs_mult in Q.
    assert (Rabs (c j - 1) * Rabs (r - 1) <= / 10 * (8 / 3 * x))
      by (apply Rmult_le_compat; try apply Rabs_pos; auto). lra.
  - rewrite (sum_eq _ (fun j => c j * a j * v j)); [exact Y|].
    intros j J. assert (P := BP j J). field. lra.
Qed.

(** Theorem (Theorem 13, with weights, roundings and stores as they come). *)
Theorem stored_share A t s v o x h d eta lam N L V th :
  ordinary (accumulator A) = true -> storing A = true -> softmax A t s v o ->
  (forall j, (j <= t)%nat -> Rabs (s j) <= L /\ Rabs (v j) <= V) ->
  INR (S t) * roundoff (accumulator A) <= pow (-11) ->
  astray_stored (accumulator A) L (INR (S t)) <= / 8 ->
  16 * INR (S t) * (1 + V) <= pow (top (accumulator A)) ->
  0 <= d -> 1 <= N -> 0 <= lam -> 0 <= eta ->
  uneven A L (INR (S t)) + 2 * d + 2 * astray_stored (accumulator A) L (INR (S t))
    + INR (S t) * lam <= th < 1 ->
  (forall j, (j <= t)%nat ->
     (h j = 0 /\ exp (s j) <= lam /\ x j = 0)
     \/ (h j * (1 - d) <= exp (s j) <= h j * (1 + d)
         /\ 0 <= x j /\ Rabs (v j - x j) <= eta /\ (x j <> 0 -> h j = 1))) ->
  sum_f_R0 h t = N ->
  let e := 2 * eta + 8 * INR (S t) * lam * V + 16 * INR (S t) * tiny (accumulator A) * (1 + V)
           + 2 * INR (S t) * speck (stored A) * V in
  exists y, store A y o
    /\ sum_f_R0 x t / N * (1 - th) - e <= y <= sum_f_R0 x t / N / (1 - th) + e.
Proof.
  intros USUAL SA D B F ST R D0 NP LAM ETA TH H HN e.
  destruct (stored_mean A t s v o L V USUAL SA D B F ST R) as (m & b & c & y & W & Y & SO).
  exists y. split; [exact SO|]. set (f := accumulator A) in *. set (n := INR (S t)) in *.
  set (r := astray_stored f L n) in *. set (k := uneven A L n) in *.
  assert (n0 : 1 <= n) by (unfold n; rewrite S_INR; assert (q := pos_INR t); lra).
  assert (nl : 0 <= n * lam) by (apply Rmult_le_pos; lra).
  assert (R0 : 0 <= r).
  { unfold r, astray_stored. destruct (B 0%nat ltac:(lia)) as (Q & _).
    assert (q := Rabs_pos (s 0%nat)).
    assert (0 <= roundoff f * (9 * L)) by (apply Rmult_le_pos; [apply bpow_ge_0|lra]).
    assert (0 <= 257 * (n + 32) * pow (-24)) by (apply Rmult_le_pos; [lra|apply bpow_ge_0]). lra. }
  assert (K0 : 0 <= k).
  { destruct (W 0%nat ltac:(lia)) as (_ & Q). assert (q := Rabs_pos (c 0%nat - 1)). lra. }
  assert (ST' : r <= 9 / 40) by (apply Rle_trans with (/ 8); [exact ST|lra]).
  assert (Z := mean_marked t s v x h b c m r d k eta lam V N (conj R0 ST') D0
    ltac:(split; lra) NP LAM ltac:(lra)
    ltac:(intros j J; destruct (W j J) as (W1 & W2); destruct (B j J) as (_ & W3);
      split; [exact W1|]; split; [exact W2|]; split; [exact W3|exact (H j J)]) HN ETA).
  cbv zeta in Z. fold n in Z. specialize (Z ltac:(lra)).
  set (y' := sum_f_R0 (fun j => c j * b j * v j) t / sum_f_R0 b t) in *.
  set (X := sum_f_R0 x t / N) in *. set (th' := k + 2 * d + 2 * r + n * lam) in *.
  assert (X0 : 0 <= X).
  { unfold X, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
    apply sum_positive. intros j J. destruct (H j J) as [(_ & _ & ->)|(_ & Q & _)]; lra. }
  apply Rabs_le_inv in Y. unfold e. destruct Z as (Z1 & Z2).
  assert (X * (1 - th) <= X * (1 - th')) by (apply Rmult_le_compat_l; lra).
  assert (X / (1 - th') <= X / (1 - th)).
  { unfold Rdiv. apply Rmult_le_compat_l; [exact X0|]. apply Rinv_le_contravar; lra. }
  lra.
Qed.
