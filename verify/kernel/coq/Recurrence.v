(** All ways to round a step a h + b (Lemma D7 of docs/proofs/state_space.md). *)
From Coq Require Import Reals ZArith List Permutation Bool Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding.
Import ListNotations.
Open Scope R_scope.

(** The whole number of 2^g that m such units are rounded to. *)
Definition round_at (f : format) (g m : Z) : Z :=
  (let k := Z.max (Z.log2 (Z.abs m) + 1 + g - digits f) (least f) - g in
  if k <=? 0 then m else
  let q := m / 2 ^ k in
  let twice := 2 * (m - q * 2 ^ k) in
  let up := (2 ^ k <? twice) || ((twice =? 2 ^ k) && negb (Z.even q)) in
  (if up then q + 1 else q) * 2 ^ k)%Z.

(** m units of 2^g are not too large. *)
Definition below_top (f : format) (g m : Z) : bool := (Z.abs m <? 2 ^ (top f - g))%Z.

(** x and b units of 2^g are stored as z once they are added up. *)
Definition ends_at (A : arithmetic) (g b z x : Z) : bool :=
  let y := round_at (accumulator A) g (x + b) in
  below_top (accumulator A) g y && (round_at (stored A) g y =? z)%Z.

(** A product of p units and b units are stored as z, in whatever way they are rounded. *)
Definition settles (A : arithmetic) (g p b z : Z) : bool :=
  let f := accumulator A in
  let s := stored A in
  let once := round_at f g p in
  let twice := round_at s g once in
  below_top f g once && below_top s g twice && below_top s g b && below_top s g z
  && (round_at s g b =? b)%Z
  && forallb (ends_at A g b z) [once; twice; p]
  && (if (Z.abs p <? 2 ^ (least f + digits f - 1 - g))%Z then ends_at A g b z 0 else true).

(** Whatever is stored is a number of the sums' format. *)
Definition coarser (A : arithmetic) : bool :=
  ((0 <? digits (stored A)) && (digits (stored A) <=? digits (accumulator A))
    && (least (accumulator A) <=? least (stored A))
    && (top (stored A) <=? top (accumulator A)))%Z.

(** * Roundings of whole numbers *)

Lemma magnitude_of m g : m <> 0%Z ->
  mag_val radix2 (IZR m * pow g) (mag radix2 (IZR m * pow g)) = (Z.log2 (Z.abs m) + 1 + g)%Z.
Proof.
  intros N. apply mag_unique. rewrite Rabs_mult, (Rabs_pos_eq (pow g)) by apply bpow_ge_0.
  rewrite <- abs_IZR.
  destruct (Z.log2_spec (Z.abs m)) as (L & U); [lia|]. set (e := Z.log2 (Z.abs m)) in *.
  assert (E : (0 <= e)%Z) by apply Z.log2_nonneg.
  replace (e + 1 + g - 1)%Z with (e + g)%Z by lia. rewrite !bpow_plus.
  assert (P := bpow_gt_0 radix2 g).
  split.
  - apply Rmult_le_compat_r; [lra|]. rewrite <- (IZR_Zpower radix2) by lia. apply IZR_le, L.
  - apply Rmult_lt_compat_r; [lra|]. rewrite <- bpow_plus, <- (IZR_Zpower radix2) by lia.
    apply IZR_lt. exact U.
Qed.

Lemma nearest_whole m k : (0 < k)%Z ->
  let q := (m / 2 ^ k)%Z in
  let twice := (2 * (m - q * 2 ^ k))%Z in
  ZnearestE (IZR m / IZR (2 ^ k)) =
    if ((2 ^ k <? twice) || ((twice =? 2 ^ k) && negb (Z.even q)))%Z then (q + 1)%Z else q.
Proof.
  intros K q twice. assert (B : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (B' : 0 < IZR (2 ^ k)) by (apply (IZR_lt 0), B).
  assert (F : Zfloor (IZR m / IZR (2 ^ k)) = q) by (apply Zfloor_div; lia).
  assert (D := Z.div_mod m (2 ^ k) ltac:(lia)). assert (M := Z.mod_pos_bound m (2 ^ k) B).
  fold q in D.
  assert (X : IZR m / IZR (2 ^ k) - IZR q = IZR twice / IZR (2 ^ k) * / 2).
  { unfold twice. rewrite mult_IZR, minus_IZR, mult_IZR. field. lra. }
  unfold Znearest. rewrite F, X.
  assert (C : forall x y, Rcompare (x / IZR (2 ^ k) * / 2) (/ 2) = y ->
                Rcompare x (IZR (2 ^ k)) = y).
  { intros x y <-. symmetry.
    rewrite <- (Rcompare_mult_r (2 * IZR (2 ^ k)) (x / IZR (2 ^ k) * / 2)) by lra.
    f_equal; field; lra. }
  assert (U : Zceil (IZR m / IZR (2 ^ k)) = (q + 1)%Z \/ twice = 0%Z).
  { destruct (Z.eq_dec twice 0); [auto|]. left. rewrite <- F. apply Zceil_floor_neq.
    rewrite F. intros E. apply n. assert (IZR twice / IZR (2 ^ k) * / 2 = 0) by lra.
    apply eq_IZR. apply (Rmult_eq_reg_r (/ IZR (2 ^ k) * / 2)); [|].
    - rewrite Rmult_0_l. lra.
    - apply Rmult_integral_contrapositive_currified; apply Rinv_neq_0_compat; lra. }
  destruct (Rcompare _ _) eqn:R; specialize (C _ _ R).
  - apply Rcompare_Eq_inv, eq_IZR in C. rewrite C, Z.ltb_irrefl, Z.eqb_refl. simpl.
    destruct (Z.even q); simpl; [reflexivity|]. destruct U as [U|U]; [exact U|lia].
  - apply Rcompare_Lt_inv, lt_IZR in C. rewrite (proj2 (Z.ltb_ge _ _)) by lia.
    rewrite (proj2 (Z.eqb_neq _ _)) by lia. reflexivity.
  - apply Rcompare_Gt_inv, lt_IZR in C. rewrite (proj2 (Z.ltb_lt _ _)) by lia. simpl.
    destruct U as [U|U]; [exact U|lia].
Qed.

Lemma nearest_at f g m : nearest f (IZR m * pow g) = IZR (round_at f g m) * pow g.
Proof.
  destruct (Z.eq_dec m 0) as [->|N].
  { rewrite Rmult_0_l. unfold nearest. rewrite round_0 by apply valid_rnd_N.
    replace (round_at f g 0) with 0%Z; [ring|]. unfold round_at.
    destruct (Z.leb_spec (Z.max (Z.log2 (Z.abs 0) + 1 + g - digits f) (least f) - g) 0) as [|K];
      [reflexivity|]. set (k := (_ - g)%Z) in *.
    assert (B : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia).
    rewrite Z.div_0_l by lia. rewrite (proj2 (Z.ltb_ge _ _)) by lia.
    rewrite (proj2 (Z.eqb_neq _ _)) by lia. reflexivity. }
  unfold nearest, round, scaled_mantissa, cexp, FLT_exp, F2R. cbn [Fnum Fexp].
  rewrite (magnitude_of m g N). unfold round_at.
  set (e := Z.max (Z.log2 (Z.abs m) + 1 + g - digits f) (least f)).
  destruct (Z.leb_spec (e - g) 0).
  - replace (IZR m * pow g * pow (- e)) with (IZR (m * 2 ^ (g - e))).
    + rewrite Zrnd_IZR by apply valid_rnd_N. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
      rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal; lia.
    + rewrite mult_IZR, (IZR_Zpower radix2) by lia. rewrite Rmult_assoc, <- bpow_plus.
      do 2 f_equal; lia.
  - replace (IZR m * pow g * pow (- e)) with (IZR m / IZR (2 ^ (e - g))).
    + rewrite nearest_whole by lia. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
      rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal; lia.
    + rewrite (IZR_Zpower radix2) by lia. unfold Rdiv. rewrite <- bpow_opp, Rmult_assoc, <- bpow_plus.
      do 2 f_equal; lia.
Qed.

(** * A product and a number *)

Section Step.
Variables (A : arithmetic) (a h b z : R).
Let f := accumulator A.
Let s := stored A.
Hypothesis coarse : coarser A = true.
Let p := nearest f (a * h).
Let q := nearest s p.
Definition ends_well (x : R) : Prop :=
  Rabs (nearest f (x + b)) < pow (top f) /\ nearest s (nearest f (x + b)) = z.
Definition vanishes : Prop := Rabs (a * h) < pow (least f + digits f - 1).
Hypothesis small_p : Rabs p < pow (top f).
Hypothesis small_q : Rabs q < pow (top s).
Hypothesis stored_b : nearest s b = b.
Hypothesis small_b : Rabs b < pow (top s).
Hypothesis small_z : Rabs z < pow (top s).
Hypothesis ends : ends_well p /\ ends_well q /\ ends_well (a * h).
Hypothesis ends_nothing : vanishes -> ends_well 0.

Let order : (0 < digits f)%Z /\ (0 < digits s)%Z /\ (digits s <= digits f)%Z
  /\ (least f <= least s)%Z /\ (top s <= top f)%Z.
Proof.
  unfold coarser in coarse. rewrite !andb_true_iff, Z.ltb_lt, !Z.leb_le in coarse.
  unfold f, s. lia.
Qed.
Let widens x : held s x -> held f x.
Proof.
  apply generic_inclusion_mag. intros _. unfold FLT_exp. destruct order. lia.
Qed.
Let below x : Rabs x < pow (top s) -> Rabs x < pow (top f).
Proof. intros H. eapply Rlt_le_trans; [exact H|]. apply bpow_le. apply order. Qed.

Definition product_is (y : R) : Prop := y = p \/ y = q \/ (vanishes /\ y = 0).
Definition result_is (y : R) : Prop :=
  held f y /\ Rabs y < pow (top f) /\ nearest s y = z.

Let zero_small g : Rabs 0 < pow g.
Proof. rewrite Rabs_R0. apply bpow_gt_0. Qed.

Lemma product_held y : product_is y -> held f y /\ Rabs y < pow (top f).
Proof.
  destruct order as (F & S & _). intros [->|[->|(V & ->)]].
  - split; [apply nearest_held, F|exact small_p].
  - split; [apply widens, nearest_held, S|apply below, small_q].
  - split; [apply generic_format_0|apply zero_small].
Qed.

Lemma result_held y : result_is y -> held f y /\ Rabs y < pow (top f).
Proof. unfold result_is. tauto. Qed.

Lemma rounded_held x y : held f x /\ Rabs x < pow (top f) -> rounded f x y -> y = x.
Proof.
  intros (H & S) R. unfold rounded in R. rewrite (nearest_same f x H) in R. auto.
Qed.

Lemma product_stored x y : product_is x -> rounded s x y -> product_is y.
Proof.
  destruct order as (F & S & _). intros P R. unfold rounded in R.
  destruct P as [->|[->|(V & ->)]].
  - right; left. apply R. exact small_q.
  - right; left. rewrite (nearest_same s q) in R by (apply nearest_held, S).
    apply R. exact small_q.
  - right; right. split; [exact V|].
    rewrite (nearest_same s 0) in R by apply generic_format_0. apply R, zero_small.
Qed.

Lemma result_stored x y : result_is x -> rounded s x y -> y = z.
Proof.
  intros (_ & _ & E) R. unfold rounded in R. rewrite E in R. auto.
Qed.

Lemma z_result : result_is z.
Proof.
  destruct order as (F & S & _). destruct ends as ((_ & E) & _).
  assert (H : held s z) by (rewrite <- E; apply nearest_held, S).
  split; [apply widens, H|]. split; [apply below, small_z|]. apply nearest_same, H.
Qed.

Lemma b_held : held f b /\ Rabs b < pow (top f).
Proof.
  destruct order as (F & S & _). split; [|apply below, small_b].
  apply widens. rewrite <- stored_b. apply nearest_held, S.
Qed.

Lemma ends_result x y : ends_well x -> rounded f (x + b) y -> result_is y.
Proof.
  destruct order as (F & _). intros (S & E) R. rewrite (R S).
  split; [apply nearest_held, F|]. auto.
Qed.

Lemma product_result x y : product_is x -> rounded f (x + b) y -> result_is y.
Proof.
  intros [->|[->|(V & ->)]]; apply ends_result; [apply ends|apply ends|auto].
Qed.

(** A product by 0 is left out: then b is z. *)
Lemma b_result : a = 0 \/ h = 0 -> result_is b.
Proof.
  intros Z. replace b with (0 + b) by ring.
  assert (E : a * h = 0) by (destruct Z as [-> | ->]; ring).
  apply (ends_result (a * h)); [apply ends|]. rewrite E. intros _.
  destruct b_held as (H & _). rewrite Rplus_0_l. symmetry. apply nearest_same, H.
Qed.

Lemma zero_product : a = 0 \/ h = 0 -> product_is 0.
Proof.
  intros Z. right; right. split; [|reflexivity]. unfold vanishes.
  replace (a * h) with 0 by (destruct Z as [-> | ->]; ring). apply zero_small.
Qed.

Definition kind_of (l : list term) (y : R) : Prop :=
  match l with
  | [] => y = 0
  | [Number x] => x = b -> y = b
  | [Product c d] => c = a -> d = h -> product_is y
  | [t; t'] => match t, t' with
               | Product c d, Number x | Number x, Product c d =>
                   c = a -> d = h -> x = b -> result_is y
               | _, _ => True
               end
  | _ => True
  end.

Lemma kind_order l m y : Permutation l m -> kind_of l y -> kind_of m y.
Proof.
  intros P. destruct m as [|t [|t' [|t'' m]]].
  - apply Permutation_sym, Permutation_nil in P. subst; auto.
  - apply Permutation_sym, Permutation_length_1_inv in P. subst; auto.
  - apply Permutation_sym, Permutation_length_2_inv in P. destruct P; subst; auto.
    destruct t, t'; simpl; auto.
  - intros _. destruct t, t'; exact I.
Qed.

Lemma kind_same l x y : kind_of l x -> rounded f x y -> kind_of l y.
Proof.
  intros K R.
  destruct l as [|[x'|c d] [|[x''|c' d'] [|t l]]]; simpl in *; auto;
    intros; repeat match goal with H : ?u = ?v |- _ => specialize (K H) end;
    try (rewrite (rounded_held x y) by
           (try exact R; subst; auto using product_held, result_held, b_held); exact K).
  apply (rounded_held 0 y); [split; [apply generic_format_0|apply zero_small]|subst; exact R].
Qed.

Lemma kind_sum l y : sum A l y -> kind_of l y.
Proof.
  intros D.
  induction D as [ |x|c d y M|l m x y w D IH E IH' R|c d l x w D IH R|c d l x Z D IH
                  |l m x P D IH|l x y D IH R].
  - reflexivity.
  - simpl. auto.
  - simpl. intros -> ->. destruct M as [M|(V & ->)].
    + left. apply M, small_p.
    + right; right. auto.
  - destruct l as [|t l].
    + simpl in IH. subst. rewrite Rplus_0_l in R. simpl. eapply kind_same; eauto.
    + destruct m as [|t' m].
      * simpl in IH'. subst. rewrite Rplus_0_r in R. rewrite app_nil_r. eapply kind_same; eauto.
      * destruct l as [|t'' l].
        -- destruct m as [|t'' m]; [|destruct t, t'; exact I].
           destruct t as [u|c d], t' as [u'|c' d']; simpl in *; auto; intros -> -> ->.
           ++ rewrite Rplus_comm, (IH eq_refl) in R. eapply product_result; eauto.
           ++ rewrite (IH' eq_refl) in R. eapply product_result; eauto.
        -- destruct l as [|t3 l]; [destruct t, t''; exact I|destruct t, t''; exact I].
  - destruct l as [|[u|c' d'] [|t l]]; simpl in *; auto.
    + intros -> ->. subst. rewrite Rplus_0_r in R. left. apply R, small_p.
    + intros -> -> ->. rewrite (IH eq_refl) in R. apply (ends_result (a * h)); [apply ends|exact R].
  - destruct l as [|[u|c' d'] [|t l]]; simpl in *; auto.
    + intros -> ->. subst. apply zero_product, Z.
    + intros -> -> ->. rewrite (IH eq_refl). apply b_result, Z.
  - eapply kind_order; eauto.
  - destruct l as [|[u|c d] [|[u'|c' d'] [|t l]]]; simpl in *; auto.
    + subst. unfold rounded in R. fold s in R. rewrite (nearest_same s 0) in R by apply generic_format_0.
      apply R, zero_small.
    + intros ->. rewrite (IH eq_refl) in R. unfold rounded in R. fold s in R.
      rewrite stored_b in R. apply R, small_b.
    + intros -> -> ->. rewrite (result_stored x y); [apply z_result|auto|exact R].
    + intros -> ->. eapply product_stored; eauto.
    + intros -> -> ->. rewrite (result_stored x y); [apply z_result|auto|exact R].
Qed.

Theorem step_right x y : sum A [Product a h; Number b] x -> rounded s x y -> y = z.
Proof.
  intros D R. apply kind_sum in D. simpl in D. eapply result_stored; eauto.
Qed.
End Step.

Lemma below_top_small f g m : below_top f g m = true -> Rabs (IZR m * pow g) < pow (top f).
Proof.
  unfold below_top. intros L. apply Z.ltb_lt in L.
  rewrite Rabs_mult, (Rabs_pos_eq (pow g)), <- abs_IZR by apply bpow_ge_0.
  destruct (Z.le_gt_cases 0 (top f - g)).
  - replace (top f) with ((top f - g) + g)%Z by lia. rewrite bpow_plus.
    apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite <- (IZR_Zpower radix2) by lia.
    apply IZR_lt, L.
  - rewrite Z.pow_neg_r in L by lia. lia.
Qed.

Lemma round_at_nothing f g : round_at f g 0 = 0%Z.
Proof.
  assert (X := nearest_at f g 0). rewrite Rmult_0_l in X. unfold nearest in X.
  rewrite round_0 in X by apply valid_rnd_N. apply eq_IZR.
  apply (Rmult_eq_reg_r (pow g)); [lra|]. assert (Y := bpow_gt_0 radix2 g). lra.
Qed.

#[local] Opaque round_at below_top.

(** However a h + b is rounded, z is stored. *)
Theorem settles_right A g p b z a h x y :
  coarser A = true -> settles A g p b z = true -> a * h = IZR p * pow g ->
  sum A [Product a h; Number (IZR b * pow g)] x -> rounded (stored A) x y ->
  y = IZR z * pow g.
Proof.
  intros C S E. unfold settles in S. set (f := accumulator A) in *. set (s := stored A) in *.
  cbn [forallb] in S. rewrite andb_true_r, !andb_true_iff in S.
  destruct S as ((((((P & Q) & B) & Z) & SB) & E1 & E2 & E3) & V). apply Z.eqb_eq in SB.
  set (once := round_at f g p) in *. set (twice := round_at s g once) in *.
  assert (W : forall w, ends_at A g b z w = true -> ends_well A (IZR b * pow g) (IZR z * pow g) (IZR w * pow g)).
  { intros w H. unfold ends_at in H. cbv zeta in H. fold f s in H. apply andb_true_iff in H. destruct H as (L & H).
    apply Z.eqb_eq in H. unfold ends_well. fold f s.
    rewrite <- Rmult_plus_distr_r, <- plus_IZR, nearest_at, nearest_at, H.
    split; [apply below_top_small, L|reflexivity]. }
  assert (N1 : nearest f (a * h) = IZR once * pow g) by (rewrite E; apply nearest_at).
  apply step_right; try exact C; fold f s; rewrite ?N1, ?nearest_at; fold twice;
    try (apply below_top_small; assumption).
  - rewrite SB. reflexivity.
  - split; [|split]; [apply W, E1|apply W, E2|rewrite E; apply W, E3].
  - unfold vanishes. fold f. rewrite E. intros L.
    replace 0 with (IZR 0 * pow g) by ring. apply W.
    destruct (Z.ltb_spec (Z.abs p) (2 ^ (least f + digits f - 1 - g))) as [L'|L']; [exact V|].
    assert (N : p = 0%Z); [|subst p; unfold once in E1; rewrite round_at_nothing in E1; exact E1].
    rewrite Rabs_mult, (Rabs_pos_eq (pow g)), <- abs_IZR in L by apply bpow_ge_0.
    replace (least f + digits f - 1)%Z with (least f + digits f - 1 - g + g)%Z in L by lia.
    rewrite bpow_plus in L. apply Rmult_lt_reg_r in L; [|apply bpow_gt_0].
    set (e := (least f + digits f - 1 - g)%Z) in *. destruct (Z.le_gt_cases 0 e).
    + rewrite <- (IZR_Zpower radix2) in L by lia. apply lt_IZR in L. simpl in L. lia.
    + assert (pow e <= pow 0) by (apply bpow_le; lia). simpl in H0.
      assert (IZR (Z.abs p) < 1) by lra. apply lt_IZR in H1. lia.
Qed.
