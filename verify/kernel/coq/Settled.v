(** Sums of numbers that lie near a grid stay near it, however they are computed and stored:
    where numbers are so large that a store would move them, it moves them to the grid
    (Lemma 9 of docs/proofs/arithmetic.md, for all partial sums). *)
From Coq Require Import Reals ZArith List Permutation Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding.
Import ListNotations.
Open Scope R_scope.

(** The format has digits and exponents for multiples of 2^c that are off by up to 2^b. *)
Definition roomy (f : format) (c b : Z) : Prop :=
  (0 < digits f /\ least f <= b /\ b + 2 <= c /\ least f + digits f <= c)%Z.

Lemma nearest_even M x : Rabs (x - IZR M) <= / 2 -> Z.even M = true -> ZnearestE x = M.
Proof.
  intros D E. destruct (Rlt_le_dec (Rabs (x - IZR M)) (/ 2)) as [L|L];
    [apply Znearest_imp, L|]. assert (Q : Rabs (x - IZR M) = / 2) by lra. clear D L.
  unfold Znearest. unfold Rabs in Q. destruct (Rcase_abs _) as [N|N].
  - assert (F : Zfloor x = (M - 1)%Z).
    { apply Zfloor_imp. rewrite plus_IZR, minus_IZR. lra. }
    rewrite F, minus_IZR, Rcompare_Eq by lra.
    replace (Z.even (M - 1)) with false
      by (rewrite Z.sub_1_r, Z.even_pred, <- Z.negb_even, E; reflexivity).
    simpl. apply Zceil_imp. rewrite minus_IZR. lra.
  - assert (F : Zfloor x = M) by (apply Zfloor_imp; rewrite plus_IZR; lra).
    rewrite F, Rcompare_Eq, E by lra. reflexivity.
Qed.

Lemma grid_finer c d x : (d <= c)%Z -> on_grid c x -> on_grid d x.
Proof.
  intros L (m & ->). exists (m * 2 ^ (c - d))%Z. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
  rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma grid_opp c x : on_grid c x -> on_grid c (- x).
Proof. intros (m & ->). exists (- m)%Z. rewrite opp_IZR. ring. Qed.

Lemma grid_pow c d : (c <= d)%Z -> on_grid c (pow d).
Proof. intros L. apply grid_finer with d; [exact L|]. exists 1%Z. ring. Qed.

Section Nearest.
Variables (f : format) (c b : Z).
Hypothesis room : roomy f c b.

#[local] Instance some_digits : Prec_gt_0 (digits f).
Proof. destruct room as (P & _). exact P. Qed.

Lemma grid_held x : on_grid b x -> Rabs x <= pow (digits f + b) -> held f x.
Proof.
  destruct room as (P & L & _). intros (m & ->) [S|S].
  - apply generic_format_FLT. exists (Float radix2 m b); simpl; [reflexivity| |exact L].
    rewrite Rabs_mult, (Rabs_pos_eq (pow b)), bpow_plus in S by apply bpow_ge_0.
    apply Rmult_lt_reg_r in S; [|apply bpow_gt_0]. apply lt_IZR. rewrite abs_IZR.
    rewrite (IZR_Zpower radix2) by lia. exact S.
  - assert (G : held f (pow (digits f + b))) by (apply generic_format_FLT_bpow; [exact P|lia]).
    destruct (Rle_lt_dec 0 (IZR m * pow b)) as [N|N].
    + rewrite Rabs_pos_eq in S by exact N. rewrite S. exact G.
    + rewrite Rabs_left in S by exact N. replace (IZR m * pow b) with (- pow (digits f + b)) by lra.
      apply generic_format_opp, G.
Qed.

Lemma nearest_settled v x : on_grid c v -> Rabs (x - v) <= pow b ->
  Rabs v + pow b < pow (digits f + c) -> Rabs (nearest f x - v) <= pow b.
Proof.
  destruct room as (P & L & C & LC). intros G D S.
  destruct (Req_dec x 0) as [->|NZ].
  { unfold nearest. rewrite round_0 by apply valid_rnd_N. exact D. }
  set (e := cexp radix2 (FLT_exp (least f) (digits f)) x).
  assert (X : Rabs x < pow (digits f + c)).
  { replace x with (x - v + v) by ring. eapply Rle_lt_trans; [apply Rabs_triang|]. lra. }
  destruct (Z_le_gt_dec e b) as [E|E].
  - assert (B : Rabs x <= pow (digits f + b)).
    { left. eapply Rlt_le_trans; [apply (bpow_mag_gt radix2)|]. apply bpow_le.
      unfold e, cexp, FLT_exp in E. lia. }
    assert (BP := bpow_gt_0 radix2 b). apply Rabs_le_inv in D, B.
    assert (Gb := grid_finer c b v ltac:(lia) G). assert (Pb := grid_pow b b ltac:(lia)).
    assert (Pt := grid_pow b (digits f + b) ltac:(lia)).
    assert (V : Valid_exp (FLT_exp (least f) (digits f))) by (apply FLT_exp_valid, P).
    assert (Pp := bpow_gt_0 radix2 (digits f + b)). unfold nearest. apply Rabs_le. split.
    + assert (Q : Rmax (v - pow b) (- pow (digits f + b))
          <= round radix2 (FLT_exp (least f) (digits f)) ZnearestE x).
      { apply round_ge_generic; [exact V|apply valid_rnd_N| |apply Rmax_lub; lra].
        apply grid_held; unfold Rmax; destruct Rle_dec as [l|l].
        - apply grid_opp, Pt.
        - apply on_grid_add; [exact Gb|apply grid_opp, Pb].
        - rewrite Rabs_Ropp, Rabs_pos_eq; lra.
        - apply Rabs_le. lra. }
      assert (M := Rmax_l (v - pow b) (- pow (digits f + b))). lra.
    + assert (Q : round radix2 (FLT_exp (least f) (digits f)) ZnearestE x
          <= Rmin (v + pow b) (pow (digits f + b))).
      { apply round_le_generic; [exact V|apply valid_rnd_N| |apply Rmin_glb; lra].
        apply grid_held; unfold Rmin; destruct Rle_dec as [l|l].
        - apply on_grid_add; [exact Gb|exact Pb].
        - exact Pt.
        - apply Rabs_le. lra.
        - rewrite Rabs_pos_eq; lra. }
      assert (M := Rmin_l (v + pow b) (pow (digits f + b))). lra.
  - assert (EC : (e <= c)%Z).
    { unfold e, cexp, FLT_exp.
      assert (mag radix2 x <= digits f + c)%Z by (apply mag_le_bpow; auto). lia. }
    destruct (grid_finer c e v EC G) as (m & M).
    assert (W : Rabs (x * pow (- e) - IZR m) <= pow (b - e)).
    { replace (x * pow (- e) - IZR m) with ((x - v) * pow (- e)).
      - rewrite Rabs_mult, (Rabs_pos_eq (pow (- e))) by apply bpow_ge_0.
        unfold Z.sub. rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|exact D].
      - rewrite M, Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus.
        replace (e + - e)%Z with 0%Z by lia. simpl. ring. }
    assert (I : ZnearestE (x * pow (- e)) = m).
    { destruct (Z.eq_dec e (b + 1)) as [Q|Q].
      - apply nearest_even.
        + rewrite Q in W at 2. replace (b - (b + 1))%Z with (-1)%Z in W by lia. exact W.
        + destruct (grid_finer c (e + 1) v ltac:(lia) G) as (k & K). rewrite K in M.
          rewrite bpow_plus in M. change (pow 1) with 2 in M.
          assert (Y : IZR m = IZR (k * 2)).
          { rewrite mult_IZR. apply Rmult_eq_reg_r with (pow e); [|apply Rgt_not_eq, bpow_gt_0].
            lra. }
          apply eq_IZR in Y. rewrite Y, Z.even_mul. apply Bool.orb_true_r.
      - apply Znearest_imp. eapply Rle_lt_trans; [exact W|].
        change (/ 2) with (pow (-1)). apply bpow_lt. lia. }
    unfold nearest, round, scaled_mantissa, F2R. cbn [Fnum Fexp]. fold e. rewrite I, <- M.
    rewrite Rminus_eq_0, Rabs_R0. apply bpow_ge_0.
Qed.
End Nearest.

(** * Sums *)

(** The multiple of 2^c next to a number. *)
Definition hub (c : Z) (x : R) : R := IZR (ZnearestE (x * pow (- c))) * pow c.

Lemma hub_grid c x : on_grid c (hub c x).
Proof. exists (ZnearestE (x * pow (- c))). reflexivity. Qed.

Lemma hub_near c v x : on_grid c v -> Rabs (x - v) < pow (c - 1) -> hub c x = v.
Proof.
  intros (m & ->) D. unfold hub. do 2 f_equal. apply Znearest_imp.
  replace (x * pow (- c) - IZR m) with ((x - IZR m * pow c) * pow (- c)).
  - rewrite Rabs_mult, (Rabs_pos_eq (pow (- c))) by apply bpow_ge_0.
    change (/ 2) with (pow (-1)). replace (-1)%Z with (c - 1 + - c)%Z by lia. rewrite bpow_plus.
    apply Rmult_lt_compat_r; [apply bpow_gt_0|exact D].
  - rewrite Rmult_minus_distr_r, Rmult_assoc, <- bpow_plus.
    replace (c + - c)%Z with 0%Z by lia. simpl. ring.
Qed.

Section Sums.
Variables (A : arithmetic) (c b : Z) (N : nat) (S : R).

Definition hubs (l : list term) : R := fold_right Rplus 0 (map (fun t => hub c (value t)) l).
Definition span (l : list term) : R :=
  fold_right Rplus 0 (map (fun t => Rabs (hub c (value t))) l).
Definition off (t : term) : nat := if Req_EM_T (value t) (hub c (value t)) then O else 1%nat.
Definition loose (l : list term) : nat := fold_right Nat.add O (map off l).
Definition beside (t : term) : Prop := Rabs (value t - hub c (value t)) <= pow b.

(** How far sums of n numbers that are off may be off: twice as far for each further one,
    as every partial sum may be moved up to the next power of two. *)
Definition margin (n : nat) : R :=
  match n with O => 0 | Datatypes.S k => pow (b + Z.of_nat k) end.

Definition fits (f : format) : Prop :=
  (0 < digits f /\ least f <= b /\ b + Z.of_nat N + 1 <= c /\ least f + digits f <= c)%Z
  /\ S + pow (b + Z.of_nat N) < pow (digits f + c) /\ S + pow (b + Z.of_nat N) < pow (top f).
Hypothesis accumulates : fits (accumulator A).
Hypothesis stores : fits (stored A).

Lemma hubs_one t : hubs [t] = hub c (value t).
Proof. unfold hubs. simpl. ring. Qed.
Lemma loose_one t : loose [t] = off t.
Proof. unfold loose. simpl. lia. Qed.
Lemma hubs_app l m : hubs (l ++ m) = hubs l + hubs m.
Proof. unfold hubs. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma span_app l m : span (l ++ m) = span l + span m.
Proof. unfold span. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma loose_app l m : loose (l ++ m) = (loose l + loose m)%nat.
Proof. unfold loose. induction l; simpl; [reflexivity|]. rewrite IHl. lia. Qed.
Lemma hubs_order l m : Permutation l m -> hubs l = hubs m.
Proof. unfold hubs. induction 1; simpl; lra. Qed.
Lemma span_order l m : Permutation l m -> span l = span m.
Proof. unfold span. induction 1; simpl; lra. Qed.
Lemma loose_order l m : Permutation l m -> loose l = loose m.
Proof. unfold loose. induction 1; simpl; lia. Qed.

Lemma span_positive l : 0 <= span l.
Proof.
  unfold span. induction l as [|t l IH]; simpl; [lra|].
  assert (P := Rabs_pos (hub c (value t))). lra.
Qed.

Lemma hubs_span l : Rabs (hubs l) <= span l.
Proof.
  unfold hubs, span. induction l as [|t l IH]; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma hubs_grid l : on_grid c (hubs l).
Proof.
  unfold hubs. induction l as [|t l IH]; simpl; [exists 0%Z; ring|].
  apply on_grid_add; [apply hub_grid|exact IH].
Qed.

Lemma margin_positive n : 0 <= margin n.
Proof. destruct n; simpl; [lra|apply bpow_ge_0]. Qed.

Lemma margin_add n m : margin n + margin m <= margin (n + m).
Proof.
  destruct n as [|n]; [simpl; lra|]. destruct m as [|m]; [rewrite Nat.add_0_r; simpl; lra|].
  simpl. set (k := Nat.max n m). assert (H : forall i, (i <= k)%nat ->
    pow (b + Z.of_nat i) <= pow (b + Z.of_nat k)) by (intros i I; apply bpow_le; lia).
  assert (H1 := H n ltac:(lia)). assert (H2 := H m ltac:(lia)).
  apply Rle_trans with (pow (b + Z.of_nat (Datatypes.S k))); [|apply bpow_le; lia].
  replace (b + Z.of_nat (Datatypes.S k))%Z with (b + Z.of_nat k + 1)%Z by lia.
  rewrite (bpow_plus radix2 (b + Z.of_nat k)). change (pow 1) with 2. lra.
Qed.

Lemma margin_most n : (n <= N)%nat -> margin n <= pow (b + Z.of_nat N).
Proof. intros L. destruct n; simpl; [apply bpow_ge_0|apply bpow_le; lia]. Qed.

Lemma rounded_settled f v n x y : fits f -> on_grid c v -> Rabs v <= S -> (n <= N)%nat ->
  Rabs (x - v) <= margin n -> rounded f x y -> Rabs (y - v) <= margin n.
Proof.
  intros ((P & L & C & LC) & F & T) G VS M D R. assert (Q := margin_most n M).
  assert (NE : Rabs (nearest f x - v) <= margin n).
  { destruct n as [|k].
    - simpl in *. assert (x = v) by (apply Rabs_le_inv in D; lra). subst x.
      rewrite (nearest_same f v).
      + rewrite Rminus_eq_0, Rabs_R0. lra.
      + apply (grid_held f (c + 2) c); [unfold roomy; lia|exact G|].
        assert (B := bpow_ge_0 radix2 (b + Z.of_nat N)). lra.
    - simpl in *. apply (nearest_settled f c); [unfold roomy; lia|exact G|exact D|].
      assert (B : pow (b + Z.of_nat k) <= pow (b + Z.of_nat N)) by (apply bpow_le; lia). lra. }
  rewrite R; [exact NE|]. replace (nearest f x) with (nearest f x - v + v) by ring.
  eapply Rle_lt_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma multiplied_settled f v n x y : fits f -> on_grid c v -> Rabs v <= S -> (n <= N)%nat ->
  Rabs (x - v) <= margin n -> multiplied f x y -> Rabs (y - v) <= margin n.
Proof.
  intros F G VS M D [R|[Z ->]]; [eapply rounded_settled; eauto|].
  destruct F as ((P & L & C & LC) & _). destruct G as (m & ->).
  destruct (Z.eq_dec m 0) as [->|NZ].
  { replace (0 - 0 * pow c) with 0 by ring. rewrite Rabs_R0. apply margin_positive. }
  exfalso. assert (Q := margin_most n M).
  assert (I : 1 <= Rabs (IZR m)) by (rewrite <- abs_IZR; apply IZR_le; lia).
  assert (B := bpow_gt_0 radix2 c).
  assert (V : pow c <= Rabs (IZR m * pow c))
    by (rewrite Rabs_mult, (Rabs_pos_eq (pow c)) by lra; nra).
  assert (W : Rabs (IZR m * pow c) <= Rabs x + Rabs (x - IZR m * pow c)).
  { replace (IZR m * pow c) with (x + - (x - IZR m * pow c)) at 1 by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  assert (U : pow (least f + digits f - 1) <= pow (c - 1)) by (apply bpow_le; lia).
  assert (X : pow (b + Z.of_nat N) <= pow (c - 1)) by (apply bpow_le; lia).
  replace c with (c - 1 + 1)%Z in V at 1 by lia. rewrite bpow_plus in V.
  change (pow 1) with 2 in V. lra.
Qed.

Lemma off_margin t : beside t -> Rabs (value t - hub c (value t)) <= margin (off t).
Proof.
  unfold beside, off. intros H. destruct Req_EM_T as [E|E]; simpl.
  - rewrite <- E, Rminus_eq_0, Rabs_R0. lra.
  - replace (b + 0)%Z with b by lia. exact H.
Qed.

Theorem sum_settled l y : sum A l y -> Forall beside l -> span l <= S -> (loose l <= N)%nat ->
  Rabs (y - hubs l) <= margin (loose l).
Proof.
  induction 1 as [ |x|p q y M|l m x y z D IH D' IH' R|p q l x z D IH R|p q l x Z D IH
                  |l m x P D IH|l x y D IH R]; intros B Q L.
  - unfold hubs; simpl. rewrite Rminus_eq_0, Rabs_R0. lra.
  - inversion B; subst. unfold hubs, loose. simpl. rewrite Nat.add_0_r, Rplus_0_r.
    apply (off_margin (Number x)); auto.
  - inversion B; subst. unfold hubs, span, loose in *. cbn [map fold_right] in *.
    rewrite Nat.add_0_r, ?Rplus_0_r in *.
    eapply multiplied_settled; [exact accumulates|apply hub_grid|exact Q|exact L| |exact M].
    apply (off_margin (Product p q)); auto.
  - apply Forall_app in B. destruct B as (B & B'). rewrite span_app in Q. rewrite loose_app in *.
    assert (P := span_positive l). assert (P' := span_positive m). rewrite hubs_app.
    specialize (IH B ltac:(lra) ltac:(lia)). specialize (IH' B' ltac:(lra) ltac:(lia)).
    eapply rounded_settled; [exact accumulates| | |exact L| |exact R].
    + apply on_grid_add; apply hubs_grid.
    + assert (U := hubs_span l). assert (U' := hubs_span m).
      eapply Rle_trans; [apply Rabs_triang|]. lra.
    + assert (U := margin_add (loose l) (loose m)).
      replace (x + y - (hubs l + hubs m)) with (x - hubs l + (y - hubs m)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. lra.
  - change (Product p q :: l) with ([Product p q] ++ l) in *.
    apply Forall_app in B. destruct B as (B & B'). rewrite span_app in Q. rewrite loose_app in *.
    assert (P := span_positive [Product p q]). assert (P' := span_positive l). rewrite hubs_app.
    specialize (IH B' ltac:(lra) ltac:(lia)). inversion B as [|? ? B1 _]; subst.
    assert (O := off_margin _ B1).
    eapply rounded_settled; [exact accumulates| | |exact L| |exact R].
    + apply on_grid_add; apply hubs_grid.
    + assert (U := hubs_span [Product p q]). assert (U' := hubs_span l).
      eapply Rle_trans; [apply Rabs_triang|]. lra.
    + assert (U := margin_add (loose [Product p q]) (loose l)).
      rewrite loose_one, hubs_one in *. cbn [value] in *.
      replace (p * q + x - (hub c (p * q) + hubs l))
        with (p * q - hub c (p * q) + (x - hubs l)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. lra.
  - change (Product p q :: l) with ([Product p q] ++ l) in *.
    apply Forall_app in B. destruct B as (B & B'). rewrite span_app in Q.
    rewrite loose_app, hubs_app in *. assert (P := span_positive [Product p q]).
    specialize (IH B' ltac:(lra) ltac:(lia)).
    assert (V : p * q = 0) by (destruct Z as [-> | ->]; ring).
    assert (H0 : hub c 0 = 0).
    { apply hub_near; [exists 0%Z; ring|]. rewrite Rminus_eq_0, Rabs_R0. apply bpow_gt_0. }
    assert (E : loose [Product p q] = O /\ hubs [Product p q] = 0).
    { unfold loose, hubs, off. cbn [map fold_right value]. rewrite V, H0.
      destruct Req_EM_T; [split; [reflexivity|ring]|lra]. }
    destruct E as (-> & ->). rewrite Rplus_0_l. exact IH.
  - rewrite <- (hubs_order l m P), <- (loose_order l m P) in *. rewrite <- (span_order l m P) in Q.
    apply IH; auto. eapply Permutation_Forall; [apply Permutation_sym; exact P|exact B].
  - eapply rounded_settled; [exact stores|apply hubs_grid| |exact L|apply IH; auto|exact R].
    assert (U := hubs_span l). lra.
Qed.
End Sums.
