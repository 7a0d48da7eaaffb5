(** The intervals, tables and bounds of the checker of Transformers. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Program Invariant Domains Arithmetic Recurrent Rounding Softmax
  Transformer Bounds Lists Affine Mean TransformerCheck.
Import ListNotations.
Open Scope R_scope.

Section Tables.
Context {f : format} {g : Z} {longest : nat}.

Lemma spanning_inside v t X y : found v t = Some X -> inside g X y -> inside g (spanning t) y.
Proof.
  destruct t as [|(u, x) r]; simpl; [discriminate|]. intros H I.
  assert (B : inside g x y -> forall l : list (nat * interval),
    inside g (fold_right (fun q h => hull (snd q) h) x l) y).
  { intros J. induction l; simpl; auto. apply hull_right. auto. }
  destruct (u =? v)%nat; [inversion H; subst; auto|]. induction r as [|(u', x') r IH]; simpl in *;
    [discriminate|]. destruct (u' =? v)%nat.
  - inversion H; subst. apply hull_left, I.
  - apply hull_right. auto.
Qed.

Lemma merged_other u v x t : u <> v -> found u (merged v x t) = found u t.
Proof.
  intros N. assert (Q : (v =? u)%nat = false) by (apply Nat.eqb_neq; auto).
  induction t as [|(a, y) r IH]; simpl; [rewrite Q; auto|]. destruct (a =? v)%nat eqn:E; simpl.
  - apply Nat.eqb_eq in E. subst. rewrite Q. reflexivity.
  - rewrite IH. reflexivity.
Qed.

Lemma merged_same v x t : exists X, found v (merged v x t) = Some X
  /\ (forall y, inside g x y -> inside g X y)
  /\ (forall z y, found v t = Some z -> inside g z y -> inside g X y).
Proof.
  induction t as [|(a, y) r (X & F & G & K)]; simpl.
  - rewrite Nat.eqb_refl. exists x. split; [auto|]. split; [auto|discriminate].
  - destruct (a =? v)%nat eqn:E; simpl; rewrite E.
    + exists (hull x y). split; [auto|]. split; [intros; apply hull_left; auto|].
      intros z y0 H I. inversion H; subst. apply hull_right; auto.
    + exists X. split; [auto|]. split; auto.
Qed.

Lemma gathered_keeps calc : forall rows t r, gathered calc rows t = Some r ->
  forall v X, found v t = Some X -> exists Y, found v r = Some Y
    /\ forall y, inside g X y -> inside g Y y.
Proof.
  induction rows as [|row rows IH]; intros t r H v X F; simpl in H.
  - inversion H; subst. exists X. split; auto.
  - destruct (calc row) as [(u, x)|]; [|discriminate].
    assert (K : exists Z, found v (merged u x t) = Some Z /\ forall y, inside g X y -> inside g Z y).
    { destruct (Nat.eq_dec v u) as [->|N].
      - destruct (merged_same u x t) as (Z & P & _ & Q). exists Z. split; eauto.
      - exists X. rewrite merged_other by auto. auto. }
    destruct K as (Z & P & Q). destruct (IH _ _ H v Z P) as (Y & B & C). exists Y. auto.
Qed.

Lemma gathered_sound calc : forall rows t r row, gathered calc rows t = Some r -> In row rows ->
  exists v X Y, calc row = Some (v, X) /\ found v r = Some Y
    /\ forall y, inside g X y -> inside g Y y.
Proof.
  induction rows as [|a rows IH]; intros t r row H I; simpl in H; [destruct I|].
  destruct (calc a) as [(u, x)|] eqn:E; [|discriminate]. destruct I as [->|I]; [|eauto].
  destruct (merged_same u x t) as (Z & P & Q & _).
  destruct (gathered_keeps calc rows _ _ H u Z P) as (Y & B & C). exists u, x, Y. auto.
Qed.

(** * Embedding *)
Lemma found_numbered (h : nat -> interval) v : forall n k, (k <= v < k + n)%nat ->
  found v (map (fun a => (a, h a)) (seq k n)) = Some (h v).
Proof.
  induction n as [|n IH]; intros k L; [lia|]. simpl. destruct (k =? v)%nat eqn:E.
  - apply Nat.eqb_eq in E. subst. auto.
  - apply Nat.eqb_neq in E. apply IH. lia.
Qed.

Lemma found_wider k u t X : found u t = Some X ->
  found u (map (fun z => (fst z, wider k (snd z))) t) = Some (wider k X).
Proof.
  induction t as [|(a, y) l IH]; simpl; [discriminate|]. intros H.
  destruct (a =? u)%nat; [inversion H; subst; auto|auto].
Qed.

Lemma found_listed (h : nat -> interval) v l : In v l ->
  found v (map (fun s => (s, h s)) l) = Some (h v).
Proof.
  induction l as [|a l IH]; intros I; [destruct I|]. simpl. destruct (a =? v)%nat eqn:E.
  - apply Nat.eqb_eq in E. subst. reflexivity.
  - destruct I as [->|I]; [rewrite Nat.eqb_refl in E; discriminate|]. apply IH, I.
Qed.

Lemma largest_bound v t X : found v t = Some X -> (reach X <= largest t)%Z.
Proof.
  induction t as [|(u, x) r IH]; simpl; [discriminate|]. destruct (u =? v)%nat.
  - intros H. inversion H; subst. lia.
  - intros H. specialize (IH H). lia.
Qed.

Lemma largest_positive t : (0 <= largest t)%Z.
Proof. induction t; simpl; lia. Qed.

Lemma reach_inside X y : inside g X y -> Rabs y <= IZR (reach X) * pow (- g).
Proof.
  intros I. apply reach_abs in I. rewrite Rabs_mult, (Rabs_pos_eq (pow g)) in I by apply bpow_ge_0.
  apply Rmult_le_reg_r with (pow g); [apply bpow_gt_0|]. rewrite Rmult_assoc, <- bpow_plus.
  replace (- g + g)%Z with 0%Z by lia. simpl. lra.
Qed.

Lemma in_positions t ks j l x : (j <= t)%nat -> nth_error ks j = Some l -> In x l ->
  In (j, x) (positions t ks).
Proof.
  intros J N I. unfold positions. apply in_concat. exists (map (pair j) l). split.
  - apply in_map_iff. exists (j, l). split; auto. apply nth_error_In with j.
    rewrite (numbered_nth ks 0 (1 + t) j l); auto. lia.
  - apply in_map, I.
Qed.

Lemma slack_bound lead V t : sound_weights f g longest 0 = true -> (0 <= V)%Z ->
  (t <= longest)%nat ->
  (IZR V * pow (- g) * (5 * (INR (S t) + 1) * roundoff f + 3 * INR t * pow (1 - Z.of_nat lead))
   + 16 * INR (S t) * pow (least f + digits f - 1) * (1 + IZR V * pow (- g))) * pow g
  <= IZR (slack f g longest lead V).
Proof.
  intros W P T. unfold sound_weights in W. rewrite !andb_true_iff, !Z.leb_le in W.
  destruct W as ((((G & _) & _) & _) & _). unfold slack. set (n := Z.of_nat (1 + longest)).
  rewrite !plus_IZR.
  assert (B1 := up_above (- digits f) (5 * (n + 1) * V)).
  assert (B2 := up_above (1 - Z.of_nat lead) (3 * n * V)).
  assert (B3 := up_above (least f + digits f - 1) (16 * n * (2 ^ g + V))).
  rewrite !mult_IZR in B1, B2, B3. rewrite !plus_IZR in B1, B3.
  rewrite (IZR_Zpower radix2) in B3 by auto. apply IZR_le in P.
  assert (N : INR (S t) <= IZR n) by (unfold n; rewrite <- INR_IZR_INZ; apply le_INR; lia).
  assert (N' : INR t <= IZR n) by (unfold n; rewrite <- INR_IZR_INZ; apply le_INR; lia).
  assert (Z0 := pos_INR t). assert (Z1 := pos_INR (S t)).
  assert (Q : pow (- g) * pow g = 1) by (rewrite <- bpow_plus; replace (- g + g)%Z with 0%Z by lia; reflexivity).
  unfold roundoff. set (a := pow (- digits f)) in *. set (b := pow (1 - Z.of_nat lead)) in *.
  set (c := pow (least f + digits f - 1)) in *.
  assert (0 <= a) by apply bpow_ge_0. assert (0 <= b) by apply bpow_ge_0.
  assert (0 <= c) by apply bpow_ge_0. assert (0 <= pow g) by apply bpow_ge_0.
  replace ((IZR V * pow (- g) * (5 * (INR (S t) + 1) * a + 3 * INR t * b)
    + 16 * INR (S t) * c * (1 + IZR V * pow (- g))) * pow g)
    with (5 * (INR (S t) + 1) * (IZR V * a) * (pow (- g) * pow g)
          + 3 * INR t * (IZR V * b) * (pow (- g) * pow g)
          + 16 * INR (S t) * (c * (pow g + IZR V * (pow (- g) * pow g)))) by ring.
  rewrite Q, !Rmult_1_r.
  assert (C1 : 5 * (INR (S t) + 1) * (IZR V * a) <= 5 * (IZR n + 1) * (IZR V * a))
    by (apply Rmult_le_compat_r; [nra|lra]).
  assert (C2 : 3 * INR t * (IZR V * b) <= 3 * IZR n * (IZR V * b))
    by (apply Rmult_le_compat_r; [nra|lra]).
  assert (C3 : 16 * INR (S t) * (c * (pow g + IZR V)) <= 16 * IZR n * (c * (pow g + IZR V)))
    by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  replace (5 * (IZR n + 1) * IZR V * a) with (5 * (IZR n + 1) * (IZR V * a)) in B1 by ring.
  replace (3 * IZR n * IZR V * b) with (3 * IZR n * (IZR V * b)) in B2 by ring.
  replace (16 * IZR n * (pow g + IZR V) * c) with (16 * IZR n * (c * (pow g + IZR V))) in B3 by ring.
  lra.
Qed.

Lemma weights_sound top t : sound_weights f g longest top = true -> (t <= longest)%nat ->
  INR (S t) * roundoff f <= pow (-11)
  /\ astray f (IZR top * pow (- g)) (INR (S t)) <= / 8 /\ sound_weights f g longest 0 = true.
Proof.
  intros W T. assert (W' := W). unfold sound_weights in *. rewrite !andb_true_iff, !Z.leb_le in *.
  destruct W as ((((G & P) & L) & D) & B). set (n := Z.of_nat (1 + longest)) in *.
  assert (N : INR (S t) <= IZR n) by (unfold n; rewrite <- INR_IZR_INZ; apply le_INR; lia).
  unfold astray, roundoff. assert (U := bpow_gt_0 radix2 (- digits f)).
  assert (Q : pow (digits f) * pow (- digits f) = 1)
    by (rewrite <- bpow_plus; replace (digits f + - digits f)%Z with 0%Z by lia; reflexivity).
  repeat split; auto; try lia.
  - apply IZR_le in L. rewrite mult_IZR, !(IZR_Zpower radix2) in L by lia.
    apply Rle_trans with (IZR n * pow (- digits f)); [apply Rmult_le_compat_r; lra|].
    apply Rmult_le_compat_r with (r := pow (- digits f) * pow (-11)) in L;
      [|apply Rmult_le_pos; [lra|apply bpow_ge_0]].
    replace (IZR n * pow 11 * (pow (- digits f) * pow (-11)))
      with (IZR n * pow (- digits f) * (pow 11 * pow (-11))) in L by ring.
    rewrite <- (bpow_plus radix2 11) in L. simpl (pow (11 + -11)) in L.
    replace (pow (digits f) * (pow (- digits f) * pow (-11)))
      with (pow (digits f) * pow (- digits f) * pow (-11)) in L by ring.
    rewrite Q in L. lra.
  - apply IZR_le in B. rewrite mult_IZR, plus_IZR, !mult_IZR, !(IZR_Zpower radix2) in B by lia.
    rewrite bpow_plus in B. set (a := pow (- digits f)) in *.
    assert (H := bpow_gt_0 radix2 (- g)). assert (H' := bpow_gt_0 radix2 g).
    assert (E : pow g * pow (- g) = 1)
      by (rewrite <- bpow_plus; replace (g + - g)%Z with 0%Z by lia; reflexivity).
    apply Rmult_le_compat_r with (r := pow (- g) * a) in B; [|apply Rmult_le_pos; lra].
    replace (pow (digits f) * pow g * (pow (- g) * a))
      with (pow (digits f) * a * (pow g * pow (- g))) in B by ring. rewrite Q, E in B.
    replace (8 * (9 * IZR top + 42 * IZR n * pow g) * (pow (- g) * a))
      with (8 * (a * (9 * (IZR top * pow (- g)) + 42 * (IZR n * (pow g * pow (- g)))))) in B by ring.
    rewrite E in B.
    apply Rle_trans with (a * (9 * (IZR top * pow (- g)) + 42 * IZR n)); [|lra].
    apply Rmult_le_compat_l; lra.
Qed.

Lemma digits_some top : sound_weights f g longest top = true -> (0 <= g)%Z /\ (0 < digits f)%Z.
Proof.
  intros SW. unfold sound_weights in SW. rewrite !andb_true_iff, !Z.leb_le in SW.
  destruct SW as ((((G & _) & W) & D) & _). split; [exact G|].
  destruct (Z.lt_ge_cases 0 (digits f)) as [l|l]; auto. exfalso.
  assert (Z0 : digits f = 0%Z) by lia. rewrite Z0 in W. simpl in W. lia.
Qed.

Lemma stray_near v t X y : found v t = Some X -> inside g X y -> (0 <= g)%Z ->
  Rabs (y - INR v) <= IZR (stray g t) * pow (- g).
Proof.
  intros F I G. assert (B : (snd X - Z.of_nat v * 2 ^ g <= stray g t
    /\ Z.of_nat v * 2 ^ g - fst X <= stray g t)%Z).
  { induction t as [|(u, x) r IH]; simpl in F; [discriminate|].
    destruct (u =? v)%nat eqn:E; simpl.
    - apply Nat.eqb_eq in E. inversion F; subst. lia.
    - specialize (IH F). lia. }
  destruct B as (B1 & B2). apply IZR_le in B1, B2. rewrite minus_IZR, mult_IZR in B1, B2.
  rewrite (IZR_Zpower radix2), <- INR_IZR_INZ in B1, B2 by exact G. destruct I as (I1 & I2).
  apply Rmult_le_reg_r with (pow g); [apply bpow_gt_0|].
  rewrite (Rmult_assoc _ (pow (- g))), <- bpow_plus. replace (- g + g)%Z with 0%Z by lia.
  rewrite <- (Rabs_pos_eq (pow g)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult.
  apply Rabs_le. simpl (pow 0). lra.
Qed.

Lemma shares_total many t :
  sum_f_R0 (fun j => IZR (share many t j)) t = IZR many.
Proof.
  assert (H : forall k, sum_f_R0 (fun j => IZR (share many t j)) k = IZR (many - Z.of_nat t) + INR k).
  { induction k as [|k IH]; [unfold share; simpl; lra|]. rewrite S_INR. simpl sum_f_R0. rewrite IH.
    unfold share. simpl. lra. }
  rewrite H, minus_IZR, <- INR_IZR_INZ. ring.
Qed.

Lemma summed_real u t : INR (summed u t) = sum_f_R0 (fun j => INR (u j)) t.
Proof. induction t; simpl summed; simpl sum_f_R0; auto. rewrite plus_INR, IHt. reflexivity. Qed.

Lemma order_same e o o' : leqb (order_of o) (order_of o') = true ->
  key_of o = key_of o' /\ query_of o = query_of o'
  /\ forall t q row, judged g e o t q row = judged g e o' t q row.
Proof.
  intros H. apply leqb_eq in H. destruct o, o'; simpl in H; try discriminate;
    inversion H; subst; repeat split; reflexivity.
Qed.
End Tables.
