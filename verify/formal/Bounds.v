(** Intervals of numbers in units of 2^-g, and bounds of sums as they are computed. *)
From Coq Require Import Reals ZArith List Bool Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Recurrent Rounding Transformer.
Import ListNotations.
Open Scope R_scope.

Definition interval : Type := Z * Z.
Definition nil_interval : interval := (0, 0)%Z.

(** The largest absolute value. *)
Definition reach (x : interval) : Z := Z.max (Z.abs (fst x)) (Z.abs (snd x)).
Definition hull (x y : interval) : interval :=
  (Z.min (fst x) (fst y), Z.max (snd x) (snd y)).
Definition wider (e : Z) (x : interval) : interval := (fst x - e, snd x + e)%Z.
Definition scaled (k : Z) (x : interval) : interval :=
  if (0 <=? k)%Z then (k * fst x, k * snd x)%Z else (k * snd x, k * fst x)%Z.
Definition times (x y : interval) : interval :=
  let a := (fst x * fst y)%Z in let b := (fst x * snd y)%Z in
  let c := (snd x * fst y)%Z in let d := (snd x * snd y)%Z in
  (Z.min (Z.min a b) (Z.min c d), Z.max (Z.max a b) (Z.max c d)).
Definition positive_part (x : interval) : interval := (Z.max (fst x) 0, Z.max (snd x) 0).

(** x times 2^u, as a whole number that is not above it, or not below it. *)
Definition down (u x : Z) : Z := if (0 <=? u)%Z then (x * 2 ^ u)%Z else (x / 2 ^ (- u))%Z.
Definition up (u x : Z) : Z := (- down u (- x))%Z.

(** A list of terms: how many may not be 0, their absolute values, and their sum. *)
Record tally := { count : Z; bulk : Z; sums : interval }.
Definition none : tally := {| count := 0; bulk := 0; sums := nil_interval |}.
Definition single (x : interval) : tally :=
  if ((fst x =? 0) && (snd x =? 0))%Z then none
  else {| count := 1; bulk := reach x; sums := x |}.
Definition both (a b : tally) : tally :=
  {| count := count a + count b; bulk := bulk a + bulk b;
     sums := (fst (sums a) + fst (sums b), snd (sums a) + snd (sums b)) |}%Z.
Definition coarse (u : Z) (a : tally) : tally :=
  {| count := count a; bulk := up u (bulk a);
     sums := (down u (fst (sums a)), up u (snd (sums a))) |}.

(** How far the sum is off as it is computed in a format (Lemma 5), in units of 2^-g; and
    the sum. 2^k is above the absolute values; a 64th more leaves room for what is off. *)
Definition slip (f : format) (g : Z) (a : tally) : option Z :=
  let k := (Z.log2 (bulk a + bulk a / 64) + 1)%Z in
  let e := (2 * count a * 2 ^ Z.max (k - digits f - 1) 0)%Z in
  if ((0 <? digits f) && (least f + 2 * digits f <=? k - g) && (k - g <? top f)
      && (0 <=? count a) && (0 <=? k) && (bulk a + e <=? 2 ^ k))%Z
  then Some e else None.
Definition rounding (f : format) (g : Z) (a : tally) : option interval :=
  match slip f g a with Some e => Some (wider e (sums a)) | None => None end.

(** Products of numbers in intervals with weights. *)
Fixpoint weighed (ws : list Z) (xs : list interval) : tally :=
  match ws, xs with
  | w :: ws', x :: xs' =>
      if (w =? 0)%Z then weighed ws' xs' else both (single (scaled w x)) (weighed ws' xs')
  | _, _ => none
  end.
Fixpoint multiplied_out (xs ys : list interval) : tally :=
  match xs, ys with
  | x :: xs', y :: ys' => both (single (times x y)) (multiplied_out xs' ys')
  | _, _ => none
  end.
Definition column (t : tensor) (j : nat) : list Z := map (fun r => nth j r 0%Z) (rows t).

(** A number of a tensor, in units of 2^-g. *)
Definition exactly (g : Z) (t : tensor) (i j : nat) : interval :=
  let x := nth j (row t i) 0%Z in (down (unit t + g) x, up (unit t + g) x).

Section Units.
Variable g : Z.

Definition inside (x : interval) (y : R) : Prop := IZR (fst x) <= y * pow g <= IZR (snd x).
(** In units of 2^v. *)
Definition counted (v : Z) (l : list term) (a : tally) : Prop :=
  terms l <= IZR (count a) /\ size l <= IZR (bulk a) * pow v
  /\ IZR (fst (sums a)) * pow v <= total l <= IZR (snd (sums a)) * pow v.

Lemma inside_units x y : inside x y <-> IZR (fst x) * pow (- g) <= y <= IZR (snd x) * pow (- g).
Proof.
  unfold inside. rewrite bpow_opp. assert (P := bpow_gt_0 radix2 g). split; intros (A & B); split.
  - apply Rmult_le_reg_r with (pow g); auto. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - apply Rmult_le_reg_r with (pow g); auto. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - apply Rmult_le_reg_r with (/ pow g); [apply Rinv_0_lt_compat; auto|].
    rewrite Rmult_assoc, Rinv_r by lra. lra.
  - apply Rmult_le_reg_r with (/ pow g); [apply Rinv_0_lt_compat; auto|].
    rewrite Rmult_assoc, Rinv_r by lra. lra.
Qed.

Lemma down_below u x : IZR (down u x) <= IZR x * pow u.
Proof.
  unfold down. destruct (0 <=? u)%Z eqn:E.
  - apply Z.leb_le in E. rewrite mult_IZR, (IZR_Zpower radix2) by auto. lra.
  - apply Z.leb_gt in E. assert (P : (0 < 2 ^ (- u))%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (M := Z.mul_div_le x (2 ^ (- u)) P). apply IZR_le in M.
    rewrite mult_IZR, (IZR_Zpower radix2) in M by lia.
    assert (B := bpow_gt_0 radix2 (- u)). replace (pow u) with (/ pow (- u))
      by (rewrite bpow_opp, Rinv_inv; reflexivity).
    apply Rmult_le_reg_l with (pow (- u)); auto. rewrite (Rmult_comm (IZR x)).
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. exact M.
Qed.

Lemma up_above u x : IZR x * pow u <= IZR (up u x).
Proof. unfold up. rewrite opp_IZR. assert (H := down_below u (- x)). rewrite opp_IZR in H. lra. Qed.

Lemma counted_none v : counted v [] none.
Proof. unfold counted, terms, size, total; simpl. lra. Qed.

Lemma counted_app v l m a b : counted v l a -> counted v m b -> counted v (l ++ m) (both a b).
Proof.
  unfold counted. intros (A & B & C) (D & E & F). rewrite terms_app, size_app, total_app.
  simpl. rewrite !plus_IZR. lra.
Qed.

Lemma reach_abs x y : IZR (fst x) <= y <= IZR (snd x) -> Rabs y <= IZR (reach x).
Proof.
  intros (A & B). unfold reach. apply Rabs_le. destruct x as (l, h); simpl in *.
  assert (C : IZR (Z.abs l) <= IZR (Z.max (Z.abs l) (Z.abs h))) by (apply IZR_le; lia).
  assert (D : IZR (Z.abs h) <= IZR (Z.max (Z.abs l) (Z.abs h))) by (apply IZR_le; lia).
  rewrite abs_IZR in C, D. assert (E := Rle_abs (IZR h)).
  assert (F := Rle_abs (- IZR l)). rewrite Rabs_Ropp in F. lra.
Qed.

Lemma counted_single v t x : IZR (fst x) * pow v <= value t <= IZR (snd x) * pow v ->
  counted v [t] (single x).
Proof.
  intros B. assert (P := bpow_gt_0 radix2 v). unfold single.
  destruct ((fst x =? 0) && (snd x =? 0))%Z eqn:E.
  - apply andb_true_iff in E. destruct E as (E & F). apply Z.eqb_eq in E, F.
    rewrite E, F in B. assert (Z : value t = 0) by lra.
    unfold counted, terms, size, total, dear; simpl. rewrite Z, Rabs_R0.
    destruct Req_EM_T; lra.
  - unfold counted, terms, size, total, dear; simpl. split; [destruct Req_EM_T; lra|].
    split; [|lra]. rewrite Rplus_0_r.
    assert (Q : IZR (fst x) <= value t * / pow v <= IZR (snd x)).
    { split; apply Rmult_le_reg_r with (pow v); auto; rewrite Rmult_assoc, Rinv_l by lra; lra. }
    apply reach_abs in Q. rewrite Rabs_mult, (Rabs_pos_eq (/ pow v)) in Q
      by (left; apply Rinv_0_lt_compat; auto).
    apply Rmult_le_compat_r with (r := pow v) in Q; [|lra].
    rewrite Rmult_assoc, Rinv_l in Q by lra. lra.
Qed.

Lemma counted_coarse v u l a : counted (u + v) l a -> counted v l (coarse u a).
Proof.
  unfold counted. intros (A & B & C & D). simpl. rewrite bpow_plus in *.
  assert (P := bpow_gt_0 radix2 v). assert (X := up_above u (bulk a)).
  assert (Y := down_below u (fst (sums a))). assert (Z := up_above u (snd (sums a))).
  apply Rmult_le_compat_r with (r := pow v) in X; [|lra].
  apply Rmult_le_compat_r with (r := pow v) in Y; [|lra].
  apply Rmult_le_compat_r with (r := pow v) in Z; [|lra]. lra.
Qed.

Lemma wider_inside e x y z : inside x y -> Rabs (z - y) * pow g <= IZR e -> inside (wider e x) z.
Proof.
  unfold inside, wider. simpl. rewrite minus_IZR, plus_IZR. intros (A & B) C.
  assert (P := bpow_gt_0 radix2 g). assert (D : Rabs ((z - y) * pow g) <= IZR e).
  { rewrite Rabs_mult, (Rabs_pos_eq (pow g)) by lra. exact C. }
  apply Rabs_le_inv in D. lra.
Qed.

Lemma hull_left x y z : inside x z -> inside (hull x y) z.
Proof.
  unfold inside, hull. simpl. intros (A & B).
  assert (IZR (Z.min (fst x) (fst y)) <= IZR (fst x)) by (apply IZR_le; lia).
  assert (IZR (snd x) <= IZR (Z.max (snd x) (snd y))) by (apply IZR_le; lia). lra.
Qed.
Lemma hull_right x y z : inside y z -> inside (hull x y) z.
Proof.
  unfold inside, hull. simpl. intros (A & B).
  assert (IZR (Z.min (fst x) (fst y)) <= IZR (fst y)) by (apply IZR_le; lia).
  assert (IZR (snd y) <= IZR (Z.max (snd x) (snd y))) by (apply IZR_le; lia). lra.
Qed.

Lemma scaled_inside k x y : IZR (fst x) <= y <= IZR (snd x) ->
  IZR (fst (scaled k x)) <= IZR k * y <= IZR (snd (scaled k x)).
Proof.
  intros (A & B). unfold scaled. destruct (0 <=? k)%Z eqn:E; simpl; rewrite !mult_IZR.
  - apply Z.leb_le, IZR_le in E. nra.
  - apply Z.leb_gt, IZR_lt in E. nra.
Qed.

Lemma times_inside x y a b : IZR (fst x) <= a <= IZR (snd x) -> IZR (fst y) <= b <= IZR (snd y) ->
  IZR (fst (times x y)) <= a * b <= IZR (snd (times x y)).
Proof.
  intros (A & B) (C & D). unfold times. cbn [fst snd].
  set (p := (fst x * fst y)%Z). set (q := (fst x * snd y)%Z).
  set (r := (snd x * fst y)%Z). set (s := (snd x * snd y)%Z).
  assert (P : IZR p = IZR (fst x) * IZR (fst y)) by apply mult_IZR.
  assert (Q : IZR q = IZR (fst x) * IZR (snd y)) by apply mult_IZR.
  assert (R : IZR r = IZR (snd x) * IZR (fst y)) by apply mult_IZR.
  assert (S : IZR s = IZR (snd x) * IZR (snd y)) by apply mult_IZR.
  set (lo := Z.min (Z.min p q) (Z.min r s)). set (hi := Z.max (Z.max p q) (Z.max r s)).
  assert (L : IZR lo <= IZR p /\ IZR lo <= IZR q /\ IZR lo <= IZR r /\ IZR lo <= IZR s)
    by (unfold lo; repeat split; apply IZR_le; lia).
  assert (H : IZR p <= IZR hi /\ IZR q <= IZR hi /\ IZR r <= IZR hi /\ IZR s <= IZR hi)
    by (unfold hi; repeat split; apply IZR_le; lia).
  rewrite P, Q, R, S in *. clearbody lo hi. clear p q r s P Q R S.
  set (xl := IZR (fst x)) in *. set (xh := IZR (snd x)) in *.
  set (yl := IZR (fst y)) in *. set (yh := IZR (snd y)) in *. clearbody xl xh yl yh.
  assert (E : forall c, yl <= c <= yh -> IZR lo <= xl * c <= IZR hi /\ IZR lo <= xh * c <= IZR hi).
  { intros c (U & V). split; (destruct (Rle_lt_dec 0 xl); destruct (Rle_lt_dec 0 xh); nra). }
  destruct (E b (conj C D)) as (F & G). destruct (Rle_lt_dec 0 b); nra.
Qed.

Lemma positive_inside x y : inside x y -> inside (positive_part x) (Rmax y 0).
Proof.
  unfold inside, positive_part. simpl. intros (A & B). assert (P := bpow_gt_0 radix2 g).
  destruct (Rle_lt_dec y 0) as [N|N].
  - rewrite Rmax_right by auto. rewrite Rmult_0_l. split.
    + apply IZR_le. assert (y * pow g <= 0) by nra.
      assert (IZR (fst x) <= 0) by lra. apply le_IZR in H0. lia.
    + apply IZR_le. lia.
  - rewrite Rmax_left by lra. assert (0 < y * pow g) by nra. split.
    + destruct (Z.max_spec (fst x) 0) as [(_ & ->)|(_ & ->)]; lra.
    + eapply Rle_trans; [exact B|]. apply IZR_le. lia.
Qed.

Lemma slip_sound A f l a e y : accumulator A = f -> stored A = f -> slip f g a = Some e ->
  terms l <= IZR (count a) -> size l <= IZR (bulk a) * pow (- g) -> sum A l y ->
  Rabs (y - total l) * pow g <= IZR e.
Proof.
  intros HA HS R C S D. unfold slip in R.
  set (k := (Z.log2 (bulk a + bulk a / 64) + 1)%Z) in *.
  set (e' := (2 * count a * 2 ^ Z.max (k - digits f - 1) 0)%Z) in *.
  destruct (_ && _)%bool eqn:E in R; [|discriminate]. rewrite !andb_true_iff in E.
  rewrite Z.ltb_lt, !Z.leb_le, Z.ltb_lt in E. destruct E as (((((E1 & E2) & E3) & E4) & E6) & E5).
  inversion R; subst e. clear R. assert (P := bpow_gt_0 radix2 (- g)).
  assert (B : 2 * (terms l * pow (k - g - digits f - 1)) <= IZR e' * pow (- g)).
  { unfold e'. rewrite !mult_IZR. change 2%Z with (radix_val radix2). rewrite IZR_Zpower by lia.
    replace (k - g - digits f - 1)%Z with (k - digits f - 1 + - g)%Z by lia. rewrite bpow_plus.
    assert (M : pow (k - digits f - 1) <= pow (Z.max (k - digits f - 1) 0)) by (apply bpow_le; lia).
    assert (N := bpow_gt_0 radix2 (k - digits f - 1)).
    assert (Q : 0 <= terms l) by (destruct (terms_some l) as [(-> & _)|]; lra).
    change (IZR radix2) with 2. rewrite !Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    rewrite <- !Rmult_assoc. apply Rmult_le_compat_r; [lra|].
    apply Rmult_le_compat; lra. }
  assert (F : size l + 2 * (terms l * pow (k - g - digits f - 1)) <= pow (k - g)).
  { replace (k - g)%Z with (k + - g)%Z at 2 by lia. rewrite bpow_plus.
    rewrite <- (IZR_Zpower radix2 k) by auto. apply IZR_le in E5. rewrite plus_IZR in E5.
    apply Rle_trans with ((IZR (bulk a) + IZR e') * pow (- g)); [lra|].
    apply Rmult_le_compat_r; [lra|exact E5]. }
  assert (N := sum_close A f (k - g) HA HS E1 E2 E3 l y D F).
  apply Rle_trans with (IZR e' * pow (- g) * pow g).
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. lra.
  - rewrite Rmult_assoc, <- bpow_plus. replace (- g + g)%Z with 0%Z by lia. simpl. lra.
Qed.

Lemma rounding_sound A f l a x y : accumulator A = f -> stored A = f ->
  rounding f g a = Some x -> counted (- g) l a -> sum A l y -> inside x y.
Proof.
  intros HA HS R (C & S & T) D. unfold rounding in R.
  destruct (slip f g a) as [e|] eqn:E; [|discriminate]. inversion R; subst x.
  apply wider_inside with (total l); [apply inside_units; exact T|].
  eapply slip_sound; eauto.
Qed.

Lemma exactly_inside t i j : inside (exactly g t i j) (entry t i j).
Proof.
  unfold inside, exactly, entry. cbn [fst snd]. set (x := nth j (row t i) 0%Z).
  rewrite Rmult_assoc, <- bpow_plus.
  split; [apply down_below | apply up_above].
Qed.

Definition insides (xs : list interval) (h : nat -> R) : Prop :=
  forall i, (i < length xs)%nat -> inside (nth i xs nil_interval) (h i).

Lemma insides_cons x xs h : insides (x :: xs) h ->
  inside x (h O) /\ insides xs (fun i => h (S i)).
Proof.
  intros H. split; [apply (H O); simpl; lia|]. intros i L. apply (H (S i)). simpl. lia.
Qed.

Lemma nothing l : Forall (fun t => value t = 0) l -> terms l = 0 /\ size l = 0 /\ total l = 0.
Proof.
  unfold terms, size, total. induction 1 as [|t l Z F (A & B & C)]; simpl; [lra|].
  rewrite A, B, C, Z, Rabs_R0. unfold dear. rewrite Z. destruct Req_EM_T; lra.
Qed.

Lemma weighed_counted u : forall (ws : list Z) (xs : list interval) (h : nat -> R), insides xs h ->
  counted (u - g) (map (fun i => Product (h i) (IZR (nth i ws 0%Z) * pow u)) (seq 0 (length xs)))
    (weighed ws xs).
Proof.
  assert (Z : forall (xs : list interval) (h : nat -> R), counted (u - g)
    (map (fun i => Product (h i) (IZR (nth i (@nil Z) 0%Z) * pow u)) (seq 0 (length xs))) none).
  { intros xs h. destruct (nothing (map (fun i => Product (h i) (IZR (nth i (@nil Z) 0%Z) * pow u))
      (seq 0 (length xs)))) as (A & B & C).
    - apply Forall_forall. intros t I. apply in_map_iff in I. destruct I as (i & <- & _).
      simpl. destruct i; simpl; ring.
    - unfold counted. rewrite A, B, C. simpl. lra. }
  induction ws as [|k ws IH]; intros xs h H; [destruct xs; apply Z|].
  destruct xs as [|x xs]; [apply counted_none|].
  apply insides_cons in H. destruct H as (X & H). specialize (IH xs _ H).
  cbn [length]. rewrite <- cons_seq, <- seq_shift, map_cons, map_map. cbn [nth].
  cbn [weighed]. change (?a :: ?l) with ([a] ++ l). destruct (k =? 0)%Z eqn:E.
  - apply Z.eqb_eq in E. subst k. destruct IH as (A & B & C). unfold counted.
    rewrite terms_app, size_app, total_app.
    assert (O : terms [Product (h O) (0 * pow u)] = 0
                /\ size [Product (h O) (0 * pow u)] = 0 /\ total [Product (h O) (0 * pow u)] = 0).
    { unfold terms, size, total, dear; simpl. replace (h O * (0 * pow u)) with 0 by ring.
      rewrite Rabs_R0. destruct Req_EM_T; lra. }
    destruct O as (-> & -> & ->). rewrite !Rplus_0_l. auto.
  - apply counted_app; [|exact IH]. apply counted_single. simpl.
    assert (Q := scaled_inside k x _ X).
    replace (u - g)%Z with (- g + u)%Z by lia. rewrite bpow_plus.
    assert (G : pow g * pow (- g) = 1) by (rewrite <- bpow_plus; replace (g + - g)%Z with 0%Z by lia; reflexivity).
    assert (P := bpow_gt_0 radix2 (- g)). assert (P' := bpow_gt_0 radix2 u).
    replace (h O * (IZR k * pow u)) with (IZR k * (h O * pow g) * (pow (- g) * pow u))
      by (transitivity (h O * (IZR k * pow u) * (pow g * pow (- g))); [ring | rewrite G; ring]).
    split; apply Rmult_le_compat_r; try lra; left; apply Rmult_lt_0_compat; auto.
Qed.

Lemma nth_column t j i : nth i (column t j) 0%Z = nth j (row t i) 0%Z.
Proof.
  unfold column, row. replace 0%Z with (nth j (@nil Z) 0%Z) at 1 by (destruct j; auto).
  apply (map_nth (fun r => nth j r 0%Z)).
Qed.

Lemma dots_counted t j xs h d : insides xs h -> length xs = d ->
  counted (- g) (dots d h t j) (coarse (unit t) (weighed (column t j) xs)).
Proof.
  intros H <-. apply counted_coarse. assert (Q := weighed_counted (unit t) (column t j) xs h H).
  unfold dots. erewrite map_ext; [exact Q|]. intros i. cbv beta. rewrite nth_column. reflexivity.
Qed.

Lemma products_counted : forall xs ys h k, insides xs h -> insides ys k -> length xs = length ys ->
  counted (- g + - g) (map (fun i => Product (h i) (k i)) (seq 0 (length xs))) (multiplied_out xs ys).
Proof.
  induction xs as [|x xs IH]; intros [|y ys] h k H K L; try discriminate; [apply counted_none|].
  apply insides_cons in H, K. destruct H as (X & H), K as (Y & K).
  cbn [length]. rewrite <- cons_seq, <- seq_shift, map_cons, map_map. cbn [multiplied_out].
  change (?a :: ?l) with ([a] ++ l). apply counted_app; [|apply IH; auto].
  apply counted_single. cbn [value].
  destruct (times_inside x y _ _ X Y) as (Q & Q').
  rewrite bpow_plus.
  assert (G : pow g * pow (- g) = 1) by (rewrite <- bpow_plus; replace (g + - g)%Z with 0%Z by lia; reflexivity).
  assert (P := bpow_gt_0 radix2 (- g)).
  replace (h O * k O) with (h O * pow g * (k O * pow g) * (pow (- g) * pow (- g))).
  - split; (apply Rmult_le_compat_r; [left; apply Rmult_lt_0_compat; auto | assumption]).
  - transitivity (h O * k O * (pow g * pow (- g)) * (pow g * pow (- g))); [ring|rewrite G; ring].
Qed.

Lemma number_counted x y : inside x y -> counted (- g) [Number y] (single x).
Proof. intros H. apply counted_single. apply inside_units in H. exact H. Qed.
End Units.
