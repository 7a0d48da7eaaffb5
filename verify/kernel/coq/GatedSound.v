(** The checker of Elman networks, LSTMs and GRUs is sound (Theorems S and 18 of
    docs/proofs/recurrent.md and docs/proofs/gated.md). *)
From Coq Require Import Reals ZArith List Bool Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Arithmetic Rounding GatedSums Recurrent RecurrentSound Inverse
  Invariant
  Domains Lists Mean Tanh Forms Gated GatedCheck.
Import ListNotations.
Open Scope R_scope.

(** * Sums *)

(** The terms l, times s, are what p says. *)
Definition covers (e : nat -> R) (s : R) (p : part) (l : list term) : Prop :=
  holds e (value p) (total l * s) /\ size l * s * pow 64 <= IZR (bulk p)
  /\ terms l <= IZR (count p).

Lemma terms_one t : terms [t] <= 1.
Proof. unfold terms, dear. simpl. destruct Req_EM_T; lra. Qed.

Lemma join_covers e s p q l m : covers e s p l -> covers e s q m -> covers e s (join p q) (l ++ m).
Proof.
  intros (V & B & C) (V' & B' & C'). unfold covers, join. cbn [value bulk count].
  rewrite total_app, size_app, terms_app, !plus_IZR. split; [|split; lra].
  rewrite Rmult_plus_distr_r. apply plus_holds; auto.
Qed.

Lemma whole_covers e u z : covers e (pow (- u)) (whole z) [Number (IZR z * pow u)].
Proof.
  assert (P := bpow_gt_0 radix2 u). assert (P' := bpow_gt_0 radix2 (- u)).
  assert (P64 := bpow_gt_0 radix2 64).
  assert (E : pow u * pow (- u) = 1) by (rewrite <- bpow_plus, Z.add_opp_diag_r; reflexivity).
  unfold covers, whole. cbn [value bulk count]. split; [|split].
  - apply point_holds. unfold total. cbn [map fold_right Arithmetic.value].
    rewrite mult_IZR, (power_of_two 64) by lia.
    replace ((IZR z * pow u + 0) * pow (- u) * pow 64)
      with (IZR z * (pow u * pow (- u)) * pow 64) by ring. rewrite E. ring.
  - unfold size. cbn [map fold_right Arithmetic.value]. rewrite mult_IZR, (power_of_two 64) by lia.
    rewrite Rabs_mult, (Rabs_pos_eq (pow u)), <- abs_IZR by lra.
    replace ((IZR (Z.abs z) * pow u + 0) * pow (- u) * pow 64)
      with (IZR (Z.abs z) * (pow u * pow (- u)) * pow 64) by ring. rewrite E. lra.
  - apply terms_one.
Qed.

Definition sized_right (e : nat -> R) (x : form * Z) (y : R) : Prop :=
  holds e (fst x) y /\ Rabs y * pow 64 <= IZR (snd x).

Lemma dot_covers e u v : forall box row W k p l,
  (forall i x, nth_error box i = Some x -> sized_right e x (v (k + i)%nat)) ->
  (forall i, nth i row 0%Z = W (k + i)%nat) ->
  covers e (pow (- u)) p l ->
  covers e (pow (- u)) (dot row box p)
    (l ++ map (fun i => Product (v i) (IZR (W i) * pow u)) (seq k (length box))).
Proof.
  assert (P := bpow_gt_0 radix2 u). assert (P' := bpow_gt_0 radix2 (- u)).
  assert (P64 := bpow_gt_0 radix2 64).
  assert (E : pow u * pow (- u) = 1) by (rewrite <- bpow_plus, Z.add_opp_diag_r; reflexivity).
  induction box as [|(x & b) box IH]; intros row W k p l H R C.
  - simpl. rewrite app_nil_r. exact C.
  - cbn [dot length seq map].
    change (l ++ Product (v k) (IZR (W k) * pow u)
              :: map (fun i => Product (v i) (IZR (W i) * pow u)) (seq (S k) (length box)))
      with (l ++ [Product (v k) (IZR (W k) * pow u)]
              ++ map (fun i => Product (v i) (IZR (W i) * pow u)) (seq (S k) (length box))).
    rewrite app_assoc. apply IH.
    + intros i z I. replace (S k + i)%nat with (k + S i)%nat by lia. apply H. exact I.
    + intros i. replace (S k + i)%nat with (k + S i)%nat by lia. rewrite <- R.
      destruct row; [destruct i|]; reflexivity.
    + assert (W0 : hd 0%Z row = W k).
      { specialize (R O). rewrite Nat.add_0_r in R. rewrite <- R. destruct row; reflexivity. }
      rewrite W0. destruct (H O (x, b) eq_refl) as (HX & HB). rewrite Nat.add_0_r in HX, HB.
      cbn [fst snd] in HX, HB. destruct (W k =? 0)%Z eqn:Z0.
      * apply Z.eqb_eq in Z0. rewrite Z0. destruct C as (V & B & N).
        assert (TZ : total [Product (v k) (0 * pow u)] = 0)
          by (unfold total; cbn [map fold_right Arithmetic.value]; ring).
        assert (SZ : size [Product (v k) (0 * pow u)] = 0).
        { unfold size; cbn [map fold_right Arithmetic.value].
          replace (v k * (0 * pow u)) with 0 by ring. rewrite Rabs_R0. ring. }
        assert (NZ : terms [Product (v k) (0 * pow u)] = 0).
        { unfold terms, dear; cbn [map fold_right Arithmetic.value].
          destruct Req_EM_T as [_|D]; [ring|]. destruct D. ring. }
        unfold covers. rewrite total_app, size_app, terms_app, TZ, SZ, NZ, !Rplus_0_r. auto.
      * assert (J : covers e (pow (- u))
          (join p {| value := times (W k) x; bulk := Z.abs (W k) * b; count := 1 |})
          (l ++ [Product (v k) (IZR (W k) * pow u)])).
        2:{ destruct J as (V & B). split; [apply plus_times_same, V|exact B]. }
        apply join_covers; auto. unfold covers. cbn [value bulk count]. split; [|split].
        -- unfold total. cbn [map fold_right Arithmetic.value].
           replace ((v k * (IZR (W k) * pow u) + 0) * pow (- u))
             with (IZR (W k) * v k * (pow u * pow (- u))) by ring. rewrite E, Rmult_1_r.
           apply times_holds, HX.
        -- unfold size. cbn [map fold_right Arithmetic.value]. rewrite mult_IZR.
           rewrite !Rabs_mult, (Rabs_pos_eq (pow u)), <- abs_IZR by lra.
           replace ((Rabs (v k) * (IZR (Z.abs (W k)) * pow u) + 0) * pow (- u) * pow 64)
             with (IZR (Z.abs (W k)) * (Rabs (v k) * pow 64) * (pow u * pow (- u))) by ring.
           rewrite E, Rmult_1_r. apply Rmult_le_compat_l; auto. apply IZR_le. lia.
        -- apply terms_one.
Qed.

Lemma up_above d z : (0 < d)%Z -> IZR z / IZR d <= IZR (up d z).
Proof. apply quotient_up. Qed.

Lemma settle_covers e u p l : tame e -> (u <= 0)%Z -> covers e (pow (- u)) p l ->
  covers e 1 (settle u p) l.
Proof.
  intros T U (V & B & C). assert (P := bpow_gt_0 radix2 (- u)).
  assert (D : (0 < 2 ^ (- u))%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (E : IZR (2 ^ (- u)) = pow (- u)) by (apply power_of_two; lia).
  unfold covers, settle. cbn [value bulk count]. split; [|split; [|exact C]].
  - apply (over_holds e _ _ _ T D) in V. rewrite E in V.
    replace (total l * pow (- u) / pow (- u)) with (total l * 1) in V by (field; lra). exact V.
  - eapply Rle_trans; [|apply up_above, D]. rewrite E.
    apply Rmult_le_reg_r with (pow (- u)); [exact P|]. unfold Rdiv.
    rewrite (Rmult_assoc (IZR (bulk p))), Rinv_l, Rmult_1_r by lra. lra.
Qed.

Lemma number_covers e x y : tame e -> holds e x y -> covers e 1 (of_number x) [Number y].
Proof.
  intros T H. unfold covers, of_number. cbn [value bulk count].
  unfold total, size. cbn [map fold_right Arithmetic.value].
  rewrite Rplus_0_r, !Rmult_1_r, Rplus_0_r.
  split; [exact H|]. split; [apply (magnitude_holds e); auto|apply terms_one].
Qed.

Lemma product_covers e x y a b : tame e -> holds e x a -> holds e y b ->
  covers e 1 (of_product x y) [Product a b].
Proof.
  intros T H H'. unfold covers, of_product. cbn [value bulk count].
  unfold total, size. cbn [map fold_right Arithmetic.value].
  rewrite Rplus_0_r, !Rmult_1_r, Rplus_0_r.
  split; [apply multiply_holds; auto|]. split; [|apply terms_one].
  eapply Rle_trans; [|apply up_above; lia]. rewrite (power_of_two 64) by lia.
  apply (magnitude_holds e) in H, H'; auto. rewrite mult_IZR, Rabs_mult.
  assert (P64 := bpow_gt_0 radix2 64). apply Rmult_le_reg_r with (pow 64); [exact P64|].
  unfold Rdiv. rewrite (Rmult_assoc (IZR (magnitude x) * _)), Rinv_l, Rmult_1_r by lra.
  replace (Rabs a * Rabs b * pow 64 * pow 64) with (Rabs a * pow 64 * (Rabs b * pow 64)) by ring.
  apply Rmult_le_compat; auto; apply Rmult_le_pos; try apply Rabs_pos; lra.
Qed.

(** * Roundings *)

Section Rounded.
Variables (A : arithmetic) (K : Z).
Hypothesis granted : grants A K = true.
Let es : R := if alike A then 0 else pow (K - digits (stored A) - 1).

Lemma granted_all : (0 < digits (accumulator A))%Z /\ (0 < digits (stored A))%Z
  /\ (least (accumulator A) + 2 * digits (accumulator A) <= K)%Z
  /\ (least (stored A) + 2 * digits (stored A) <= K)%Z
  /\ (K < top (accumulator A))%Z /\ (K < top (stored A))%Z
  /\ (digits (stored A) <= digits (accumulator A))%Z
  /\ (least (accumulator A) <= least (stored A))%Z
  /\ (digits (accumulator A) <= 63)%Z /\ (digits (accumulator A) <= K + 63)%Z.
Proof.
  assert (H := granted). unfold grants in H.
  rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le in H. tauto.
Qed.

Lemma stores_right : (stored A = accumulator A /\ es = 0) \/ es = pow (K - digits (stored A) - 1).
Proof.
  unfold es. destruct (alike A) eqn:E; [left|right; reflexivity]. split; [|reflexivity].
  unfold alike in E. rewrite !andb_true_iff, !Z.eqb_eq in E. destruct E as ((D & L) & T).
  destruct (stored A), (accumulator A). simpl in *. congruence.
Qed.

Lemma quantum_right :
  (pow (K - digits (accumulator A) - 1) + es) * pow 64 = IZR (quantum A K).
Proof.
  assert (G := granted_all). unfold quantum. rewrite plus_IZR.
  rewrite (power_of_two (K + 63 - digits (accumulator A))) by lia.
  rewrite Rmult_plus_distr_r, <- bpow_plus. apply f_equal2; [apply f_equal; lia|].
  unfold es. destruct (alike A); [ring|].
  rewrite (power_of_two (K + 63 - digits (stored A))) by lia.
  rewrite <- bpow_plus. apply f_equal. lia.
Qed.

Lemma sum_off l y b c : sum A l y -> size l * pow 64 <= IZR b -> terms l <= IZR c ->
  (b + 2 * (c * quantum A K) <= 2 ^ (K + 64))%Z ->
  Rabs (y - total l) * pow 64 <= IZR (2 * (c * quantum A K)).
Proof.
  intros D B C F. assert (G := granted_all). assert (Q := quantum_right).
  assert (P64 := bpow_gt_0 radix2 64). set (q := pow (K - digits (accumulator A) - 1) + es) in *.
  assert (q0 : 0 < q).
  { assert (X := bpow_gt_0 radix2 (K - digits (accumulator A) - 1)).
    assert (Y := bpow_gt_0 radix2 (K - digits (stored A) - 1)).
    unfold q, es. destruct (alike A); lra. }
  assert (T : terms l * q * pow 64 <= IZR (c * quantum A K)).
  { rewrite mult_IZR, <- Q, Rmult_assoc. apply Rmult_le_compat_r; auto.
    apply Rmult_le_pos; lra. }
  apply IZR_le in F. rewrite plus_IZR, mult_IZR, (power_of_two (K + 64)), bpow_plus in F by lia.
  assert (S : size l + 2 * (terms l * q) <= pow K).
  { apply Rmult_le_reg_r with (pow 64); [exact P64|]. lra. }
  assert (H := sum_close A K ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) es stores_right l y D S).
  rewrite mult_IZR. fold q in H.
  apply Rle_trans with (2 * (terms l * q) * pow 64); [apply Rmult_le_compat_r; lra|lra].
Qed.

Lemma store_off x y b : rounded (stored A) x y -> Rabs x * pow 64 <= IZR b ->
  (b <= 2 ^ (K + 64))%Z -> Rabs (y - x) * pow 64 <= IZR (quantum A K).
Proof.
  intros R B F. assert (G := granted_all). rewrite <- quantum_right.
  assert (P64 := bpow_gt_0 radix2 64). apply Rmult_le_compat_r; [lra|].
  apply IZR_le in F. rewrite (power_of_two (K + 64)), bpow_plus in F by lia.
  apply (store_close A K ltac:(lia) ltac:(lia) ltac:(lia) es stores_right); auto.
  apply Rmult_le_reg_r with (pow 64); [exact P64|]. lra.
Qed.
End Rounded.

Lemma summed_holds A e p l x y : covers e 1 p l -> summed A p = Some x -> sum A l y ->
  holds e x y.
Proof.
  intros (V & B & C) S D. unfold summed in S. destruct (find _ _) as [K|] eqn:F; [|discriminate].
  apply find_some in F. destruct F as (_ & F). apply andb_true_iff in F. destruct F as (G & F).
  apply Z.leb_le in F.
  assert (E : x = wider (2 * (count p * quantum A K)) (value p)) by congruence.
  rewrite E. rewrite !Rmult_1_r in *. eapply wider_holds; [exact V|].
  eapply sum_off; eauto.
Qed.

Lemma wider_same e d x a : (0 <= d)%Z -> holds e x a -> holds e (wider d x) a.
Proof.
  intros D H. eapply wider_holds; [exact H|]. replace (a - a) with 0 by ring.
  rewrite Rabs_R0, Rmult_0_l. apply IZR_le, D.
Qed.

Lemma keeps_holds A e x z y y' : tame e -> holds e x y -> keeps A x = Some z -> Gated.kept A y y' ->
  holds e z y'.
Proof.
  intros T H S D. unfold keeps in S. cbv zeta in S.
  destruct (find _ _) as [K|] eqn:F; [|discriminate].
  apply find_some in F. destruct F as (_ & F). apply andb_true_iff in F. destruct F as (G & F).
  apply Z.leb_le in F. assert (E : z = wider (quantum A K) x) by congruence.
  rewrite E. assert (Q : (0 <= quantum A K)%Z).
  { unfold quantum. assert (Q1 := Z.pow_nonneg 2 (K + 63 - digits (accumulator A)) ltac:(lia)).
    assert (Q2 := Z.pow_nonneg 2 (K + 63 - digits (stored A)) ltac:(lia)).
    destruct (alike A); lia. }
  destruct D as [->|R]; [apply wider_same; auto|].
  eapply wider_holds; [exact H|]. eapply store_off; eauto. apply (magnitude_holds e); auto.
Qed.

Lemma through_holds A e curve f x z y y' : tame e ->
  (forall x y, holds e x y -> holds e (curve x) (f y)) ->
  holds e x y -> through A curve x = Some z -> gate A f y y' -> holds e z y'.
Proof.
  intros T C H S (w & B & D). unfold through in S.
  assert (L : (0 <= 67 - digits (accumulator A))%Z).
  { unfold keeps in S. destruct (find _ _) as [K|] eqn:F; [|discriminate].
    apply find_some in F. destruct F as (_ & F). apply andb_true_iff in F.
    assert (Q := granted_all A K (proj1 F)). lia. }
  eapply keeps_holds; [exact T| |exact S|exact D].
  eapply wider_holds; [apply C; exact H|]. rewrite (power_of_two (67 - digits (accumulator A))) by
    exact L.
  replace (67 - digits (accumulator A))%Z with (3 + - digits (accumulator A) + 64)%Z by lia.
  rewrite !bpow_plus. change (pow 3) with 8. apply Rmult_le_compat_r; [apply bpow_ge_0|exact B].
Qed.

Lemma gate_at_holds A e curve f p l z y y' : tame e ->
  (forall x y, holds e x y -> holds e (curve x) (f y)) ->
  covers e 1 p l -> gate_at A curve p = Some z -> sum A l y -> gate A f y y' -> holds e z y'.
Proof.
  intros T C V S D G. unfold gate_at in S. destruct (summed A p) as [x|] eqn:X; [|discriminate].
  eapply through_holds; eauto. eapply summed_holds; eauto.
Qed.

(** * Tables *)

Lemma entered_holds e u z : tame e -> (u <= 0)%Z -> holds e (entered u z) (IZR z * pow u).
Proof.
  intros T U. unfold entered.
  assert (H : holds e (point (z * 2 ^ 64)) (IZR z)).
  { apply point_holds. rewrite mult_IZR, (power_of_two 64) by lia. reflexivity. }
  apply (over_holds e (2 ^ (- u))) in H; [|exact T|apply Z.pow_pos_nonneg; lia].
  rewrite (power_of_two (- u)) in H by lia. rewrite bpow_opp in H.
  unfold Rdiv in H. rewrite Rinv_inv in H. exact H.
Qed.

Lemma sized_holds e x y : tame e -> holds e x y -> sized_right e (sized x) y.
Proof. intros T H. split; [exact H|]. apply (magnitude_holds e); auto. Qed.

(** A row of weights, times what forms hold, and a bias. *)
Lemma drive_covers e u (w : wire) b v (W : nat -> Z) k : tame e -> (u <= 0)%Z ->
  (forall i x, nth_error b i = Some x -> sized_right e x (v i)) -> length b = k ->
  (forall i, nth i (weights w) 0%Z = W i) ->
  covers e 1 (drive u w b)
    (Number (IZR (added w) * pow u) :: map (fun i => Product (v i) (IZR (W i) * pow u)) (seq 0 k)).
Proof.
  intros T U H L R. subst k. unfold drive. apply settle_covers; auto.
  apply (dot_covers e u v b (weights w) W 0 (whole (added w)) [Number (IZR (added w) * pow u)]);
    auto.
  apply whole_covers.
Qed.

Section Network.
Variables (A : arithmetic) (n : gated) (m : machine).
Hypothesis agreed : units_agree n = true.

Lemma units_right : let u := unit (weight_ih n) in
  (u <= 0)%Z /\ unit (weight_hh n) = u /\ unit (bias_ih n) = u /\ unit (bias_hh n) = u
  /\ (unit (read_weight n) <= 0)%Z /\ unit (read_bias n) = unit (read_weight n)
  /\ (unit (start_hidden n) <= 0)%Z /\ (unit (start_cell n) <= 0)%Z
  /\ forall d t, letter_table n = Some (d, t) -> (unit t <= 0)%Z.
Proof.
  assert (H := agreed). unfold units_agree in H.
  rewrite !andb_true_iff, !Z.leb_le, !Z.eqb_eq in H.
  repeat match goal with |- let _ := _ in _ => intros u end.
  repeat split; try tauto. intros d t E. rewrite E in H. apply Z.leb_le. tauto.
Qed.

Lemma letter_covers e a j : tame e -> covers e 1 (letter_part n a j) (by_letter n a j).
Proof.
  intros T. destruct units_right as (U & _ & B & _ & _ & _ & _ & _ & E).
  unfold letter_part, by_letter. destruct (letter_table n) as [(d & t)|] eqn:EE.
  - unfold entry at 1. rewrite B.
    apply (drive_covers e _ (wire_of (weight_ih n) (bias_ih n) j) _ (fun i => entry t a i)
             (fun i => nth i (row (weight_ih n) j) 0%Z) d T U); auto.
    + intros i x N. assert (L : (i < d)%nat).
      { assert (X : nth_error (map (fun i => sized (entered (unit t) (nth i (row t a) 0%Z))) (seq 0
        d)) i <> None)
          by congruence. apply nth_error_Some in X. rewrite map_length, seq_length in X. exact X. }
      rewrite nth_error_map, (seq_nth_error 0 d i L) in N. simpl in N. inversion N; subst.
      apply sized_holds; auto. apply entered_holds; auto. eapply E; eauto.
    + rewrite map_length, seq_length. reflexivity.
  - apply settle_covers; auto. unfold entry. rewrite B.
    apply (join_covers e _ _ _ [_] [_]); apply whole_covers.
Qed.

(** * Steps *)

Definition carried (h c : nat -> R) (i : nat) : R :=
  if (i <? hidden n)%nat then h i else c (i - hidden n)%nat.
Definition held (e : nat -> R) (x : list form) (v : nat -> R) : Prop :=
  length x = width n /\ forall i y, nth_error x i = Some y -> holds e y (v i).

Lemma carried_same h c j : by_past n (carried h c) j = by_past n h j.
Proof.
  unfold by_past. f_equal. apply map_ext_in. intros i I. apply in_seq in I. unfold carried.
  destruct (i <? hidden n)%nat eqn:E; [reflexivity|]. apply Nat.ltb_ge in E. lia.
Qed.
Lemma reading_same h c k : reading n (carried h c) k = reading n h k.
Proof.
  unfold reading. f_equal. apply map_ext_in. intros i I. apply in_seq in I. unfold carried.
  destruct (i <? hidden n)%nat eqn:E; [reflexivity|]. apply Nat.ltb_ge in E. lia.
Qed.

Lemma nth_firstn {B} : forall k (l : list B) i y, nth_error (firstn k l) i = Some y ->
  nth_error l i = Some y.
Proof.
  induction k as [|k IH]; intros [|x l] [|i] y H; simpl in *; try discriminate; auto.
Qed.
Lemma nth_skipn {B} : forall k (l : list B) i, nth_error (skipn k l) i = nth_error l (k + i)%nat.
Proof. induction k as [|k IH]; intros [|x l] i; simpl; auto. destruct i; reflexivity. Qed.
Lemma width_least : (hidden n <= width n)%nat.
Proof. unfold width. destruct (has_cells n); lia. Qed.

Lemma sized_all e x v : tame e -> held e x v ->
  forall i z, nth_error (map sized (firstn (hidden n) x)) i = Some z -> sized_right e z (v i).
Proof.
  intros T (L & H) i z N. rewrite nth_error_map in N.
  destruct (nth_error (firstn (hidden n) x) i) as [y|] eqn:Y; [|discriminate].
  simpl in N. inversion N; subst. apply sized_holds; auto. apply H. eapply nth_firstn; eauto.
Qed.
Lemma sized_length e x v : held e x v ->
  length (map sized (firstn (hidden n) x)) = hidden n.
Proof.
  intros (L & _). rewrite map_length, firstn_length, L. assert (W := width_least). lia.
Qed.

Lemma past_covers e x v j : tame e -> held e x v ->
  covers e 1 (drive (unit (weight_hh n)) (wire_of (weight_hh n) (bias_hh n) j)
                (map sized (firstn (hidden n) x))) (by_past n v j).
Proof.
  intros T H. destruct units_right as (U & W & _ & B & _).
  unfold by_past, entry at 1. rewrite B, <- W.
  apply (drive_covers e (unit (weight_hh n)) (wire_of (weight_hh n) (bias_hh n) j) _ v
           (fun i => nth i (row (weight_hh n) j) 0%Z)); auto; [rewrite W; exact U|..].
  - apply sized_all; auto.
  - eapply sized_length; eauto.
Qed.

Lemma stepped_holds e h c a u h' c' ps fh fc y y' : tame e ->
  step A n h c a u h' c' ->
  (forall g p, nth_error ps g = Some p -> covers e 1 p (by_past n h (g * hidden n + u))) ->
  holds e fh (h u) -> (has_cells n = true -> holds e fc (c u)) ->
  stepped A (cell_kind n) (map (letter_part n a) (unit_rows n u)) ps fh fc = Some (y, y') ->
  holds e y h' /\ (has_cells n = true -> holds e y' c').
Proof.
  intros T D P H C S. unfold step in D. unfold unit_rows in S. unfold has_cells in *.
  set (row := fun g => (g * hidden n + u)%nat) in *.
  assert (G : forall g curve f p z y, nth_error ps g = Some p ->
    (forall x y, holds e x y -> holds e (curve x) (f y)) ->
    gate_at A curve (join (letter_part n a (row g)) p) = Some z ->
    (exists x, sum A (by_letter n a (row g) ++ by_past n h (row g)) x /\ gate A f x y) ->
    holds e z y).
  { intros g curve f p z w N F Z (x & X & Y).
    eapply gate_at_holds; [exact T|exact F| |exact Z|exact X|exact Y].
    apply join_covers; [apply letter_covers; auto|apply P; exact N]. }
  assert (LH : forall x y, holds e x y -> holds e (logistic x) (sigma y))
    by (intros; apply logistic_holds; auto).
  assert (TH : forall x y, holds e x y -> holds e (tangent x) (tanh y))
    by (intros; apply tangent_holds; auto).
  destruct (cell_kind n) eqn:K; cbn [gates seq map] in S.
  - destruct ps as [|p0 [|]]; [discriminate S| |discriminate S]. cbn [stepped] in S.
    destruct (gate_at A tangent _) as [z|] eqn:Z; [|discriminate]. injection S as <- <-.
    split; [|discriminate]. eapply (G 0%nat); eauto. reflexivity.
  - destruct ps as [|p0 [|p1 [|p2 [|p3 [|]]]]]; try discriminate S. cbn [stepped] in S.
    destruct D as (i & f & g & o & x & t & DI & DF & DG & DO & DX & DC & DT & DH).
    destruct (gate_at A logistic (join _ p0)) as [zi|] eqn:ZI; [|discriminate].
    destruct (gate_at A logistic (join _ p1)) as [zf|] eqn:ZF; [|discriminate].
    destruct (gate_at A tangent (join _ p2)) as [zg|] eqn:ZG; [|discriminate].
    destruct (gate_at A logistic (join _ p3)) as [zo|] eqn:ZO; [|discriminate].
    destruct (summed A (join _ _)) as [zx|] eqn:ZX; [|discriminate].
    destruct (keeps A zx) as [zc|] eqn:ZC; [|discriminate].
    destruct (through A tangent zx) as [zt|] eqn:ZT; [|discriminate].
    destruct (summed A (of_product zo zt)) as [zy|] eqn:ZY; [|discriminate].
    injection S as <- <-.
    assert (HI := G 0%nat _ _ p0 _ _ eq_refl LH ZI DI).
    assert (HF := G 1%nat _ _ p1 _ _ eq_refl LH ZF DF).
    assert (HG := G 2%nat _ _ p2 _ _ eq_refl TH ZG DG).
    assert (HO := G 3%nat _ _ p3 _ _ eq_refl LH ZO DO).
    assert (HX : holds e zx x).
    { eapply summed_holds; [|exact ZX|exact DX].
      apply (join_covers e 1 _ _ [_] [_]); apply product_covers; auto. }
    split; [|intros _].
    + eapply summed_holds; [|exact ZY|exact DH]. apply product_covers; auto.
      eapply through_holds; eauto.
    + eapply keeps_holds; eauto.
  - destruct ps as [|p0 [|p1 [|p2 [|]]]]; try discriminate S. cbn [stepped] in S.
    destruct D as (r & z & p & x & g & DR & DZ & DP & DX & DG & DH).
    destruct (gate_at A logistic (join _ p0)) as [zr|] eqn:ZR; [|discriminate].
    destruct (gate_at A logistic (join _ p1)) as [zz|] eqn:ZZ; [|discriminate].
    destruct (summed A p2) as [zp|] eqn:ZP; [|discriminate].
    destruct (gate_at A tangent _) as [zg|] eqn:ZG; [|discriminate].
    destruct (summed A (join (of_number (point _)) _)) as [zw|] eqn:ZW; [|discriminate].
    destruct (summed A (join (of_product zw zg) _)) as [zy|] eqn:ZY; [|discriminate].
    destruct (summed A (join (of_number fh) _)) as [zd|] eqn:ZD; [|discriminate].
    destruct (summed A (join (of_number zg) _)) as [zv|] eqn:ZV; [|discriminate].
    injection S as <- <-. split; [|discriminate].
    assert (HR := G 0%nat _ _ p0 _ _ eq_refl LH ZR DR).
    assert (HZ := G 1%nat _ _ p1 _ _ eq_refl LH ZZ DZ).
    assert (HP : holds e zp p).
    { eapply summed_holds; [|exact ZP|exact DP]. apply (P 2%nat). reflexivity. }
    assert (HG : holds e zg g).
    { eapply gate_at_holds; [exact T|exact TH| |exact ZG|exact DX|exact DG].
      apply (join_covers e 1 _ _ [_]); [apply product_covers; auto|apply letter_covers; auto]. }
    assert (opposite : forall f w, holds e f w -> holds e (times (-1) f) (- w)).
    { intros f w F. apply (times_holds e (-1)) in F.
      replace (- w) with (-1 * w) by ring. exact F. }
    destruct DH as [(w & DW & DY)|(d & DD & DY)].
    + apply either_left. eapply summed_holds; [|exact ZY|exact DY].
      apply (join_covers e 1 _ _ [_] [_]); apply product_covers; auto.
      eapply summed_holds; [|exact ZW|exact DW].
      apply (join_covers e 1 _ _ [_] [_]); apply number_covers; auto.
      apply point_holds. rewrite (power_of_two 64) by lia. ring.
    + apply either_right; auto. eapply summed_holds; [|exact ZV|exact DY].
      apply (join_covers e 1 _ _ [_] [_]); [apply number_covers; auto|].
      apply product_covers; auto. eapply summed_holds; [|exact ZD|exact DD].
      apply (join_covers e 1 _ _ [_] [_]); apply number_covers; auto.
Qed.

Lemma nth_combine {B C} : forall (l : list B) (k : list C) i a b,
  nth_error (combine l k) i = Some (a, b) -> nth_error l i = Some a /\ nth_error k i = Some b.
Proof.
  induction l as [|x l IH]; intros [|y k] [|i] a b H; simpl in *; try discriminate; auto.
  inversion H; auto.
Qed.

Lemma by_units_nth {B} (f : nat -> B) u l : nth_error (by_units n f) u = Some l ->
  (u < hidden n)%nat /\ l = map f (unit_rows n u).
Proof.
  unfold by_units. rewrite nth_error_map. destruct (nth_error (seq 0 (hidden n)) u) eqn:E;
    [|discriminate]. apply nth_seq in E. destruct E as (-> & L). simpl. intros H.
  inversion H; subst. auto.
Qed.
Lemma by_units_length {B} (f : nat -> B) : length (by_units n f) = hidden n.
Proof. unfold by_units. rewrite map_length, seq_length. reflexivity. Qed.

Variable letters : nat.
Let T := prepare n letters.

Lemma letters_right a l : nth_error (by_letters T) a = Some l -> l = by_units n (letter_part n a).
Proof.
  unfold T, prepare. cbn [by_letters]. rewrite nth_error_map.
  destruct (nth_error (seq 0 letters) a) eqn:E; [|discriminate].
  apply nth_seq in E. destruct E as (-> & L). simpl. congruence.
Qed.

Lemma unit_rows_nth u g j : nth_error (unit_rows n u) g = Some j -> j = (g * hidden n + u)%nat.
Proof.
  unfold unit_rows. rewrite nth_error_map.
  destruct (nth_error (seq 0 (gates (cell_kind n))) g) eqn:E; [|discriminate].
  apply nth_seq in E. destruct E as (-> & L). simpl. congruence.
Qed.

Lemma before_covers e x h c u ps g p : tame e -> held e x (carried h c) ->
  nth_error (before n T x) u = Some ps -> nth_error ps g = Some p ->
  covers e 1 p (by_past n h (g * hidden n + u)).
Proof.
  intros E H U G. unfold before, T, prepare in U. cbn [wires] in U.
  rewrite nth_error_map in U.
  destruct (nth_error (by_units n (wire_of (weight_hh n) (bias_hh n))) u) as [l|] eqn:L;
    [|discriminate].
  apply by_units_nth in L. destruct L as (L & ->). cbn [option_map] in U. inversion U; subst ps.
  rewrite !nth_error_map in G. destruct (nth_error (unit_rows n u) g) as [j|] eqn:J;
    [|discriminate].
  apply unit_rows_nth in J. cbn [option_map] in G. inversion G; subst.
  rewrite <- (carried_same h c). apply past_covers; auto.
Qed.

Lemma after_held e x h c a l y h' c' : tame e -> held e x (carried h c) ->
  nth_error (by_letters T) a = Some l -> after A n l (before n T x) x = Some y ->
  (forall u, (u < hidden n)%nat -> step A n h c a u (h' u) (c' u)) ->
  held e y (carried h' c').
Proof.
  intros E H L S D. apply letters_right in L. subst l. unfold after in S.
  destruct (all2o _ _ _) as [z|] eqn:Z; [|discriminate]. injection S as <-.
  apply all2o_nth in Z. destruct Z as (N & Z). rewrite by_units_length in N.
  assert (Q : forall u y y', nth_error z u = Some (y, y') -> (u < hidden n)%nat ->
            holds e y (h' u) /\ (has_cells n = true -> holds e y' (c' u))).
  { intros u y y' I L. destruct (Z u (y, y') I) as (l & (ps & fh & fc) & ZL & ZP & ZS).
    apply nth_combine in ZP. destruct ZP as (ZP & ZX). apply nth_combine in ZX.
    destruct ZX as (ZH & ZC). apply by_units_nth in ZL. destruct ZL as (_ & ->).
    cbn [fst snd] in ZS. destruct H as (HL & HV). apply nth_firstn in ZH.
    eapply stepped_holds; eauto.
    - intros g p G. eapply before_covers; eauto. split; auto.
    - assert (V := HV u fh ZH). unfold carried in V.
      apply Nat.ltb_lt in L. rewrite L in V. exact V.
    - intros K. rewrite K in ZC. rewrite nth_skipn in ZC. assert (V := HV _ fc ZC).
      unfold carried in V. destruct (hidden n + u <? hidden n)%nat eqn:LT.
      + apply Nat.ltb_lt in LT. lia.
      + replace (hidden n + u - hidden n)%nat with u in V by lia. exact V. }
  split.
  - rewrite app_length, map_length, N. unfold width.
    destruct (has_cells n); [rewrite map_length, N|simpl]; lia.
  - intros i f F. unfold carried. destruct (i <? hidden n)%nat eqn:LT.
    + apply Nat.ltb_lt in LT. rewrite nth_error_app1 in F by (rewrite map_length; lia).
      rewrite nth_error_map in F. destruct (nth_error z i) as [(y & y')|] eqn:I; [|discriminate].
      cbn in F. inversion F; subst. eapply Q; eauto.
    + apply Nat.ltb_ge in LT. rewrite nth_error_app2 in F by (rewrite map_length; lia).
      rewrite map_length, N in F. destruct (has_cells n) eqn:K; [|destruct (i - hidden n)%nat;
        discriminate].
      rewrite nth_error_map in F.
      destruct (nth_error z (i - hidden n)) as [(y & y')|] eqn:I; [|discriminate].
      cbn in F. inversion F; subst. eapply Q; eauto.
      rewrite <- N. apply nth_error_Some. congruence.
Qed.

(** * Read-outs *)

Lemma says_sound e x h c k z : tame e -> held e x (carried h c) -> says A n T x k = true ->
  (forall d, (d < outcomes n)%nat -> sum A (reading n h d) (z d)) ->
  (k < outcomes n)%nat /\ forall d, (d < outcomes n)%nat -> d <> k -> z d < z k.
Proof.
  intros E H S D. unfold says in S. destruct (all _ _) as [l|] eqn:L; [|discriminate].
  assert (N := all_length _ _ _ L). unfold T, prepare in N. cbn [columns] in N.
  rewrite map_length, seq_length in N.
  assert (V : forall d f, nth_error l d = Some f -> holds e f (z d)).
  { intros d f F. destruct (all_nth _ _ _ L d f F) as (w & W & Q).
    unfold T, prepare in W. cbn [columns] in W. rewrite nth_error_map in W.
    destruct (nth_error (seq 0 (outcomes n)) d) eqn:I; [|discriminate].
    apply nth_seq in I. destruct I as (-> & I). cbn [option_map] in W. inversion W; subst w.
    destruct units_right as (_ & _ & _ & _ & R & B & _).
    eapply summed_holds; [|exact Q|apply D; exact I].
    rewrite <- (reading_same h c). unfold reading, entry at 1. rewrite B.
    apply (drive_covers e (unit (read_weight n))
             {| weights := map (fun r => nth d r 0%Z) (rows (read_weight n));
                added := nth d (row (read_bias n) 0) 0%Z |} _ (carried h c)
             (fun i => nth d (row (read_weight n) i) 0%Z)); auto.
    - apply sized_all; auto.
    - eapply sized_length; eauto.
    - intros i. cbn [weights]. unfold row.
      assert (M := map_nth (fun r : list Z => nth d r 0%Z) (rows (read_weight n)) [] i).
      cbv beta in M. rewrite nth_nil in M. exact M. }
  unfold ahead in S. destruct (nth_error l k) as [f|] eqn:F; [|discriminate].
  rewrite forallb_forall in S. split.
  { rewrite <- N. apply nth_error_Some. congruence. }
  intros d I Q. specialize (S d). rewrite N in S.
  assert (I' : In d (seq 0 (outcomes n))) by (apply in_seq; lia). specialize (S I').
  destruct (nth_error l d) as [g|] eqn:G; [|discriminate].
  apply orb_true_iff in S. destruct S as [S|S]; [apply Nat.eqb_eq in S; contradiction|].
  apply Z.ltb_lt, IZR_lt in S. assert (VF := V k f F). assert (VG := V d g G).
  apply (times_holds e (-1)) in VG. assert (P := plus_holds _ _ _ _ _ VF VG).
  apply (bounds_hold e) in P; [|exact E]. assert (P64 := bpow_gt_0 radix2 64).
  assert (0 < (z k + -1 * z d) * pow 64) by lra.
  assert (0 < z k + -1 * z d) by (apply Rmult_lt_reg_r with (pow 64); lra). lra.
Qed.

(** * Sets *)

(** Old noises that are kept, and new ones in front of these. *)
Fixpoint picked (keep : list bool) (e : nat -> R) : nat -> R :=
  match keep with
  | [] => e
  | b :: k => let r := picked k (fun i => e (S i)) in
              if b then fun i => match i with O => e O | S j => r j end else r
  end.
Fixpoint front (l : list R) (e : nat -> R) : nat -> R :=
  match l with
  | [] => e
  | a :: r => fun i => match i with O => a | S j => front r e j end
  end.

Lemma picked_tame : forall keep e, tame e -> tame (picked keep e).
Proof.
  induction keep as [|b k IH]; intros e E; [exact E|].
  assert (E' : tame (fun i => e (S i))) by (intros i; apply E). cbn [picked].
  destruct b; [intros [|i]; [apply E|]|]; apply (IH _ E').
Qed.
Lemma front_tame : forall l e, Forall (fun a => Rabs a <= 1) l -> tame e -> tame (front l e).
Proof.
  induction l as [|a l IH]; intros e F E; [exact E|]. inversion F; subst.
  intros [|i]; [assumption|]. apply IH; auto.
Qed.
Lemma chosen_near : forall s keep e t lost, tame e -> chosen keep s = (t, lost) ->
  Rabs (noise s e - noise t (picked keep e)) <= IZR lost.
Proof.
  induction s as [|a s IH]; intros keep e t lost E C; cbn [chosen] in C.
  - injection C as <- <-. cbn [noise]. rewrite Rminus_0_r, Rabs_R0. lra.
  - destruct (chosen (tl keep) s) as (t' & lost') eqn:F.
    assert (E' : tame (fun i => e (S i))) by (intros i; apply E).
    specialize (IH (tl keep) _ _ _ E' F). destruct keep as [|b k]; cbn [hd tl] in *.
    + injection C as <- <-. cbn [noise picked] in *.
      match goal with |- Rabs ?d <= _ =>
        replace d with (noise s (fun i => e (S i)) - noise t' (fun i => e (S i))) by ring end.
      exact IH.
    + cbn [picked]. cbv zeta. set (q := picked k (fun i => e (S i))) in *.
      destruct b; injection C as <- <-; cbn [noise]; try change (fun i => q i) with q.
      * match goal with |- Rabs ?d <= _ =>
          replace d with (noise s (fun i => e (S i)) - noise t' q) by ring end. exact IH.
      * match goal with |- Rabs ?d <= _ =>
          replace d with (IZR a * e O
            + (noise s (fun i => e (S i)) - noise t' q)) by ring end.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite plus_IZR, Rplus_comm.
        apply Rplus_le_compat; auto. rewrite Rabs_mult, abs_IZR.
        rewrite <- (Rmult_1_r (Rabs (IZR a))) at 2.
        apply Rmult_le_compat_l; [apply Rabs_pos|apply E].
Qed.

Lemma noise_zeros : forall l t e, noise (repeat 0%Z (length l) ++ t) (front l e) = noise t e.
Proof.
  induction l as [|a l IH]; intros t e; [reflexivity|]. cbn [length repeat app noise front].
  rewrite IH. ring.
Qed.
Lemma noise_front : forall l i a r t e, nth_error l i = Some a ->
  noise (repeat 0%Z i ++ r :: repeat 0%Z (length l - S i) ++ t) (front l e)
  = IZR r * a + noise t e.
Proof.
  induction l as [|b l IH]; intros [|i] a r t e H; try discriminate; cbn in H.
  - inversion H; subst. cbn [length repeat app noise front].
    rewrite Nat.sub_succ, Nat.sub_0_r, noise_zeros. reflexivity.
  - cbn [length repeat app noise front]. rewrite Nat.sub_succ, (IH i a); auto. ring.
Qed.

(** A noise with which a form that was made anew holds what it held before. *)
Definition radius (keep : list bool) (y : form) : Z :=
  (Z.max (hi y - halfway y) (halfway y - lo y) + snd (chosen keep (slopes y)))%Z.
Definition noise_for (keep : list bool) (e : nat -> R) (y : form) (w : R) : R :=
  let r := IZR (radius keep y) in
  if Req_EM_T r 0 then 0
  else (w * pow 64 - noise (fst (chosen keep (slopes y))) (picked keep e) - IZR (halfway y)) / r.

Lemma noise_for_right keep e y w : tame e -> holds e y w ->
  Rabs (noise_for keep e y w) <= 1 /\
  w * pow 64 - noise (fst (chosen keep (slopes y))) (picked keep e) - IZR (halfway y)
  = IZR (radius keep y) * noise_for keep e y w.
Proof.
  intros E H. destruct (chosen keep (slopes y)) as (t & lost) eqn:C.
  assert (N := chosen_near _ _ _ _ _ E C).
  assert (B := about_middle (halfway y) _ _ _ H).
  unfold noise_for, radius. rewrite C. cbn [fst snd].
  set (r := (Z.max (hi y - halfway y) (halfway y - lo y) + lost)%Z).
  assert (D : Rabs (w * pow 64 - noise t (picked keep e) - IZR (halfway y)) <= IZR r).
  { replace (w * pow 64 - noise t (picked keep e) - IZR (halfway y))
      with (w * pow 64 - noise (slopes y) e - IZR (halfway y)
            + (noise (slopes y) e - noise t (picked keep e))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold r. rewrite plus_IZR. lra. }
  set (d := w * pow 64 - noise t (picked keep e) - IZR (halfway y)) in *.
  destruct (Req_EM_T (IZR r) 0) as [Z|Z].
  - rewrite Rabs_R0. split; [lra|]. rewrite Z in D. rewrite Z.
    assert (P := Rabs_pos d). apply Rabs_le_inv in D. lra.
  - assert (P : 0 < IZR r) by (assert (Q := Rabs_pos d); lra). split; [|field; exact Z].
    unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ IZR r)) by (left; apply Rinv_0_lt_compat, P).
    apply Rmult_le_reg_r with (IZR r); [exact P|]. rewrite Rmult_assoc, Rinv_l,
      Rmult_1_r by exact Z.
    lra.
Qed.

Lemma afresh_held keep e x v : tame e -> held e x v ->
  exists e', tame e' /\ held e' (afresh keep x) v.
Proof.
  intros E (L & H). set (k := length x).
  set (l := map (fun y => noise_for keep e (snd y) (v (fst y))) (combine (seq 0 k) x)).
  assert (CL : length (combine (seq 0 k) x) = k).
  { rewrite combine_length, seq_length. unfold k. lia. }
  assert (LL : length l = k) by (unfold l; rewrite map_length; exact CL).
  assert (right : forall i y, nth_error x i = Some y ->
            Rabs (noise_for keep e y (v i)) <= 1
            /\ v i * pow 64 - noise (fst (chosen keep (slopes y))) (picked keep e) - IZR (halfway y)
               = IZR (radius keep y) * noise_for keep e y (v i)).
  { intros i y Y. apply noise_for_right; auto. }
  exists (front l (picked keep e)). split; [|split].
  - apply front_tame; [|apply picked_tame, E]. unfold l. apply Forall_forall. intros a I.
    apply in_map_iff in I. destruct I as ((i & y) & <- & I). cbn [fst snd].
    apply In_nth_error in I. destruct I as (j & I). apply nth_numbered in I.
    destruct I as (-> & I). apply (right j y I).
  - unfold afresh. rewrite map_length. fold k. rewrite CL. exact L.
  - intros i z Z. unfold afresh in Z. rewrite nth_error_map in Z. fold k in Z.
    destruct (nth_error (combine (seq 0 k) x) i) as [(j & y)|] eqn:I; [|discriminate].
    assert (I' := I). apply nth_numbered in I'. destruct I' as (-> & Y).
    cbn [option_map fst snd Nat.add] in Z. inversion Z; subst z. clear Z.
    destruct (right i y Y) as (_ & Q).
    assert (NL : nth_error l i = Some (noise_for keep e y (v i))).
    { unfold l. rewrite nth_error_map, I. reflexivity. }
    unfold anew. unfold radius in Q. destruct (chosen keep (slopes y)) as (t & lost).
    cbn [fst snd] in Q. unfold holds. cbn [lo hi slopes]. rewrite <- LL.
    rewrite (noise_front l i _ _ t (picked keep e) NL). lra.
Qed.

(** Forms that are within bounds lie in the box. *)
Lemma within_boxed e : tame e -> forall x v l,
  (forall i y, nth_error x i = Some y -> holds e y (v i)) -> within x l = true ->
  length l = length x /\ forall i y, nth_error (boxed l) i = Some y -> holds e y (v i).
Proof.
  intros E. induction x as [|y x IH]; intros v [|(a & b) l] H I; try discriminate.
  - split; [reflexivity|]. intros [|i] z Z; discriminate.
  - cbn [within] in I. rewrite !andb_true_iff, !Z.leb_le in I. destruct I as ((IA & IB) & I).
    destruct (IH (fun j => v (S j)) l) as (L & Q); [intros j f F; apply H; exact F|exact I|].
    split; [simpl; auto|]. intros [|i] z Z.
    + cbn in Z. inversion Z; subst. assert (V := H O y eq_refl).
      apply (bounds_hold e) in V; [|exact E]. apply IZR_le in IA, IB.
      unfold holds. cbn [lo hi slopes noise fst snd]. lra.
    + apply Q. exact Z.
Qed.

Lemma boxed_length l : length (boxed l) = length l.
Proof. apply map_length. Qed.

Lemma adds_terms (v : nat -> R) (W : nat -> R) : forall k j,
  total (map (fun i => Product (v i) (W i)) (seq j k)) = adds k (fun i => W (j + i)%nat * v (j +
    i)%nat).
Proof.
  induction k as [|k IH]; intros j; [reflexivity|]. rewrite adds_first. cbn [seq map].
  change (total (?t :: ?l)) with (Arithmetic.value t + total l). rewrite IH. cbn [Arithmetic.value].
  rewrite Nat.add_0_r. apply f_equal2; [ring|]. apply adds_same. intros i L.
  replace (S j + i)%nat with (j + S i)%nat by lia. reflexivity.
Qed.

(** A row times a vector. *)
Lemma product_with_right e u s w v : tame e -> (u <= 0)%Z ->
  (forall i x, nth_error s i = Some x -> sized_right e x (v i)) ->
  let y := adds (length s) (fun i => IZR (nth i w 0%Z) * pow u * v i) in
  holds e (value (product_with u s w)) y
  /\ Rabs y * pow 64 <= IZR (bulk (product_with u s w)).
Proof.
  intros E U H y.
  assert (C := drive_covers e u {| weights := w; added := 0 |} s v (fun i => nth i w 0%Z)
                 (length s) E U H eq_refl (fun i => eq_refl)).
  unfold drive in C. cbn [weights added] in C. fold (product_with u s w) in C.
  destruct C as (V & B & _). rewrite !Rmult_1_r in *.
  assert (TT : total (Number (0 * pow u) :: map (fun i => Product (v i) (IZR (nth i w 0%Z) * pow u))
                       (seq 0 (length s))) = y).
  { change (total (?t :: ?l)) with (Arithmetic.value t + total l). rewrite adds_terms.
    cbn [Arithmetic.value]. unfold y. cbn [Nat.add]. ring. }
  rewrite TT in V. split; [exact V|]. eapply Rle_trans; [|exact B].
  apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite <- TT. apply total_size.
Qed.

Lemma inner_right : forall x y k, (length y <= k)%nat ->
  IZR (inner x y) = adds k (fun i => IZR (nth i x 0%Z) * IZR (nth i y 0%Z)).
Proof.
  induction x as [|a x IH]; intros y k L.
  - cbn [inner]. rewrite (adds_same k _ (fun _ => 0)); [rewrite adds_zero; reflexivity|].
    intros i _. rewrite nth_nil. ring.
  - destruct y as [|b y].
    + cbn [inner]. rewrite (adds_same k _ (fun _ => 0)); [rewrite adds_zero; reflexivity|].
      intros i _. rewrite nth_nil. ring.
    + destruct k as [|k]; [simpl in L; lia|]. cbn [inner]. rewrite adds_first.
      cbn [nth]. rewrite plus_IZR, mult_IZR. rewrite (IH y k) by (simpl in L; lia). reflexivity.
Qed.

Lemma zsum_adds (f : nat -> Z) : forall k j,
  IZR (fold_right Z.add 0%Z (map f (seq j k))) = adds k (fun i => IZR (f (j + i)%nat)).
Proof.
  induction k as [|k IH]; intros j; [reflexivity|]. rewrite adds_first. cbn [seq map fold_right].
  rewrite plus_IZR, IH, Nat.add_0_r. f_equal. apply adds_same. intros i _.
  replace (S j + i)%nat with (j + S i)%nat by lia. reflexivity.
Qed.

Lemma top_right : forall l z, In z l -> (z <= fold_right Z.max 0%Z l)%Z.
Proof. induction l as [|a l IH]; intros z []; simpl; [subst; lia|]. specialize (IH z H). lia. Qed.

Lemma combine_seq_map {B} (f : nat -> B) : forall k j,
  combine (seq j k) (map f (seq j k)) = map (fun i => (i, f i)) (seq j k).
Proof. induction k as [|k IH]; intros j; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

(** Row i of V W, beside the identity. *)
Lemma leftover_right u (W : list (list Z)) i v : (u <= 0)%Z ->
  let w := length W in
  let cols := map (fun j => map (fun r => nth j r 0%Z) W) (seq 0 w) in
  adds w (fun j => Rabs ((if (i =? j)%nat then 1 else 0)
    - pow u * adds w (fun k => IZR (nth k v 0%Z) * IZR (nth j (nth k W []) 0%Z))))
  = IZR (leftover u cols i v) * pow u.
Proof.
  intros U w cols. unfold leftover. unfold cols at 1. rewrite map_length, seq_length.
  unfold cols. rewrite combine_seq_map, map_map, zsum_adds. cbn [fst snd Nat.add].
  rewrite Rmult_comm, <- adds_times. apply adds_same. intros j J. rewrite abs_IZR.
  assert (P := bpow_gt_0 radix2 u). rewrite <- (Rabs_pos_eq (pow u)) at 2 by lra.
  rewrite <- Rabs_mult. f_equal. rewrite minus_IZR, Rmult_minus_distr_l.
  rewrite (inner_right v _ w) by (rewrite map_length; unfold w; lia). f_equal.
  - destruct (i =? j)%nat; [|ring]. rewrite (power_of_two (- u)) by lia.
    rewrite <- bpow_plus, Z.add_opp_diag_r. reflexivity.
  - f_equal. apply adds_same. intros k K. f_equal. f_equal.
    assert (M := map_nth (fun r : list Z => nth j r 0%Z) W [] k). cbv beta in M.
    rewrite nth_nil in M. symmetry. exact M.
Qed.

Lemma unturned_held p v e x : length (unturned p) = width n -> tame e -> held e x v ->
  inside x (Turned p) = true -> exists e', tame e' /\ held e' (unturned p) v.
Proof.
  unfold unturned. set (w := length (turns p)). set (u := (turn_unit p + back_unit p)%Z).
  set (s := map sized (afresh [] (boxed (turned_bounds p)))).
  set (parts := map (product_with (back_unit p) s) (backs p)).
  set (high := fold_right Z.max 0%Z (map bulk parts)).
  set (cols := map (fun j => map (fun r => nth j r 0%Z) (turns p)) (seq 0 w)).
  set (rest := map (fun v => leftover u cols (fst v) (snd v)) (combine (seq 0 w) (backs p))).
  destruct (_ && _) eqn:C.
  2:{ intros L E (HL & _) _. exists e. split; [exact E|]. split; [exact L|].
      intros [|i] y Y; discriminate. }
  rewrite !andb_true_iff, !Z.leb_le, !Nat.eqb_eq in C. destruct C as ((((U1 & U2) & LB) & LT) & C).
  rewrite forallb_forall in C. intros L E (HL & H) I.
  assert (PL : length parts = w) by (unfold parts; rewrite map_length; exact LB).
  assert (RL : length rest = w).
  { unfold rest. rewrite map_length, combine_length, seq_length. lia. }
  assert (WN : width n = w) by (rewrite <- L, map_length, combine_length; lia).
  set (y := fun k => adds w (fun j => IZR (nth j (nth k (turns p) []) 0%Z) * pow (turn_unit p) * v
    j)).
  cbn [inside] in I.
  assert (HS : forall i z, nth_error (map sized x) i = Some z -> sized_right e z (v i)).
  { intros i z Z. rewrite nth_error_map in Z. destruct (nth_error x i) as [f|] eqn:F;
    [|discriminate].
    cbn in Z. inversion Z; subst. apply sized_holds; auto. }
  assert (HB := fun K => proj2 (within_boxed e E _ y _ K I)).
  match type of HB with ?K -> _ => assert (HK : K) end.
  { intros i f F. rewrite nth_error_map in F.
    destruct (nth_error (turns p) i) as [r|] eqn:R; [|discriminate]. cbn in F. inversion F; subst f.
    assert (Q := product_with_right e (turn_unit p) (map sized x) r v E U1 HS). cbv zeta in Q.
    rewrite map_length, HL, WN in Q. unfold y. rewrite (nth_error_nth _ _ [] R). apply Q. }
  specialize (HB HK).
  destruct (afresh_held [] e (boxed (turned_bounds p)) y E) as (e' & E' & HA & HF).
  { split; [rewrite boxed_length; lia|exact HB]. }
  exists e'. split; [exact E'|].
  assert (SL : length s = w) by (unfold s; rewrite map_length, HA; exact WN).
  assert (HY : forall i z, nth_error s i = Some z -> sized_right e' z (y i)).
  { intros i z Z. unfold s in Z. rewrite nth_error_map in Z.
    destruct (nth_error (afresh [] (boxed (turned_bounds p))) i) as [f|] eqn:F; [|discriminate].
    cbn in Z. inversion Z; subst. apply sized_holds; auto. }
  assert (HV : forall i P, nth_error parts i = Some P ->
    holds e' (value P) (adds w (fun k => IZR (nth k (nth i (backs p) []) 0%Z) * pow (back_unit p) *
      y k))
    /\ Rabs (adds w (fun k => IZR (nth k (nth i (backs p) []) 0%Z) * pow (back_unit p) * y k)) *
      pow 64
       <= IZR high).
  { intros i P F. assert (IP := nth_error_In _ _ F). unfold parts in F. rewrite nth_error_map in F.
    destruct (nth_error (backs p) i) as [r|] eqn:R; [|discriminate]. cbn in F. inversion F; subst P.
    assert (Q := product_with_right e' (back_unit p) s r y E' U2 HY). cbv zeta in Q.
    rewrite SL in Q. rewrite (nth_error_nth _ _ [] R). split; [apply Q|].
    eapply Rle_trans; [apply Q|]. apply IZR_le. unfold high. apply top_right, in_map, IP. }
  assert (P64 := bpow_gt_0 radix2 64). assert (PU := bpow_gt_0 radix2 u).
  assert (UU : (u <= 0)%Z) by (unfold u; lia).
  assert (HR : forall i, (i < w)%nat -> nth_error rest i
      = Some (leftover u cols i (nth i (backs p) []))).
  { intros i J. unfold rest. rewrite nth_error_map.
    rewrite (numbered_nth _ 0 w i (nth i (backs p) [])); [reflexivity|exact J|].
    apply nth_error_nth'. lia. }
  assert (G := near_inverse w v y
    (fun i k => IZR (nth k (nth i (backs p) []) 0%Z) * pow (back_unit p))
    (fun k j => IZR (nth j (nth k (turns p) []) 0%Z) * pow (turn_unit p))
    (fun i => IZR (leftover u cols i (nth i (backs p) [])) * pow u) (IZR high * pow (- 64))).
  assert (G' : forall i, (i < w)%nat ->
    Rabs (v i - adds w (fun k => IZR (nth k (nth i (backs p) []) 0%Z) * pow (back_unit p) * y k))
    <= IZR (leftover u cols i (nth i (backs p) [])) * pow u * (2 * (IZR high * pow (- 64)))).
  { apply G.
    - intros k K. reflexivity.
    - intros i J. split.
      + right. unfold cols, w. rewrite <- leftover_right by exact UU. fold w.
        apply adds_same. intros j K. f_equal. f_equal. rewrite <- adds_times.
        apply adds_same. intros k Q. unfold u. rewrite bpow_plus. ring.
      + assert (Q := C _ (nth_error_In _ _ (HR i J))). apply Z.leb_le, IZR_le in Q.
        rewrite mult_IZR, (power_of_two (- u)) in Q by lia.
        assert (X : pow (- u) * pow u = 1) by (rewrite <- bpow_plus, Z.add_opp_diag_l; reflexivity).
        assert (2 * IZR (leftover u cols i (nth i (backs p) [])) * pow u <= 1)
          by (rewrite <- X; apply Rmult_le_compat_r; lra). lra.
    - intros i J. assert (PI : nth_error parts i <> None) by (apply nth_error_Some; lia).
      destruct (nth_error parts i) as [P|] eqn:F; [|congruence].
      apply units_ge. apply (HV i P F). }
  split; [exact L|]. intros i f F. rewrite nth_error_map in F.
  destruct (nth_error (combine parts rest) i) as [(P & r)|] eqn:PR; [|discriminate].
  apply (f_equal (fun o => match o with Some z => z | None => f end)) in F.
  cbn [option_map fst snd] in F. subst f. apply nth_combine in PR.
  destruct PR as (FP & FR). destruct (HV i P FP) as (VP & _).
  assert (J : (i < w)%nat) by (rewrite <- PL; apply nth_error_Some; congruence).
  assert (FR' : r = leftover u cols i (nth i (backs p) [])) by (rewrite (HR i J) in FR; congruence).
  subst r. clear FR.
  eapply wider_holds; [exact VP|].
  eapply Rle_trans; [apply Rmult_le_compat_r; [apply bpow_ge_0|apply G', J]|].
  eapply Rle_trans; [|apply up_above; apply Z.pow_pos_nonneg; lia].
  rewrite (power_of_two (- u)), bpow_opp, !mult_IZR by lia. unfold Rdiv. rewrite Rinv_inv.
  assert (X : pow (- 64) * pow 64 = 1) by (rewrite <- bpow_plus; reflexivity).
  right. replace (IZR (leftover u cols i (nth i (backs p) [])) * pow u
    * (2 * (IZR high * pow (- 64))) * pow 64)
    with (IZR (leftover u cols i (nth i (backs p) [])) * pow u
          * (2 * IZR high) * (pow (- 64) * pow 64)) by ring.
  rewrite X. ring.
Qed.

Lemma entering_held s v : length (entering s) = width n ->
  (forall e, tame e -> forall x, held e x v -> inside x s = true ->
     exists e', tame e' /\ held e' (entering s) v).
Proof.
  intros L e E x H I. destruct s as [l|p]; cbn [entering] in *.
  - exists e. split; [exact E|]. split; [exact L|]. destruct H as (_ & H).
    apply (within_boxed e E x v l); auto.
  - eapply unturned_held; eauto.
Qed.

(** * All words *)

Variable nodes : list gated_node.
Hypothesis lettered : letters = length (moves m).
Hypothesis all_closed : forall x, In x nodes -> closed A n m T nodes x = true.

Let followed := follow A n m T nodes.
(** Numbers that are remembered, in state q of the machine, lead on by all letters. *)
Definition live (v : nat -> R) (q : nat) : Prop := exists e x next, tame e /\ held e x v
  /\ branches A n m T followed q x (before n T x) 0 next = true.

Lemma branch q x past : forall l k a, branches A n m T followed q x past k l = true ->
  (k <= a < length (moves m))%nat -> exists t letter r q' y c,
    nth_error (moves m) a = Some r /\ nth_error (by_letters T) a = Some letter
    /\ nth_error r q = Some q' /\ after A n letter past x = Some y
    /\ nth_error (shows m) q' = Some c /\ says A n T y c = true /\ followed t y q' = true.
Proof.
  induction l as [|t l IH]; intros k a H L; cbn [branches] in H.
  - apply Nat.eqb_eq in H. lia.
  - destruct (nth_error (moves m) k) as [r|] eqn:R; [|discriminate].
    destruct (nth_error (by_letters T) k) as [letter|] eqn:B; [|discriminate].
    destruct (nth_error r q) as [q'|] eqn:Q; [|discriminate].
    destruct (after A n letter past x) as [y|] eqn:Y; [|discriminate].
    destruct (nth_error (shows m) q') as [c|] eqn:C; [|discriminate].
    rewrite !andb_true_iff in H. destruct H as ((V & F) & G).
    destruct (Nat.eq_dec k a) as [->|N]; [exists t, letter, r, q', y, c; auto 8|].
    apply (IH (S k)); [exact G|lia].
Qed.

Lemma closed_live s v : In s nodes -> (exists e x, tame e /\ held e x v
  /\ inside x (set_of s) = true) -> live v (state_of s).
Proof.
  intros I (e & x & E & H & N). assert (C := all_closed s I). unfold closed in C.
  apply andb_true_iff in C. destruct C as (L & C). apply Nat.eqb_eq in L.
  destruct (entering_held (set_of s) v L e E x H N) as (e' & E' & H').
  exists e', (entering (set_of s)), (next_of s). auto.
Qed.

Lemma followed_live t e y v q : tame e -> held e y v -> followed t y q = true -> live v q.
Proof.
  intros E H F. unfold followed in F. destruct t as [k|keep next]; cbn [follow] in F.
  - destruct (nth_error nodes k) as [s|] eqn:S; [|discriminate]. apply andb_true_iff in F.
    destruct F as (Q & N). apply Nat.eqb_eq in Q. subst q. apply closed_live.
    + eapply nth_error_In; eauto.
    + exists e, y. auto.
  - destruct (afresh_held keep e y v E H) as (e' & E' & H'). exists e', (afresh keep y), next. auto.
Qed.

Hypothesis begun : exists x l, nodes = x :: l /\ state_of x = start m
  /\ inside (beginning n) (set_of x) = true.

Lemma beginning_held h c :
  (forall u, (u < hidden n)%nat -> h u = entry (start_hidden n) 0 u /\ c u = entry (start_cell n) 0
    u) ->
  held (fun _ => 0) (beginning n) (carried h c).
Proof.
  intros S. assert (E : tame (fun _ => 0)) by (intros i; rewrite Rabs_R0; lra).
  destruct units_right as (_ & _ & _ & _ & _ & _ & UH & UC & _). unfold beginning. split.
  - rewrite app_length, map_length, seq_length. unfold width.
    destruct (has_cells n); [rewrite map_length, seq_length|simpl]; lia.
  - intros i y Y. unfold carried. destruct (i <? hidden n)%nat eqn:L.
    + apply Nat.ltb_lt in L. rewrite nth_error_app1 in Y by (rewrite map_length, seq_length; lia).
      rewrite nth_error_map, (seq_nth_error 0 _ i L) in Y. cbn in Y. inversion Y; subst y.
      rewrite (proj1 (S i L)). apply entered_holds; auto.
    + apply Nat.ltb_ge in L. rewrite nth_error_app2 in Y by (rewrite map_length, seq_length; lia).
      rewrite map_length, seq_length in Y.
      destruct (has_cells n); [|destruct (i - hidden n)%nat; discriminate].
      rewrite nth_error_map in Y.
      destruct (nth_error (seq 0 (hidden n)) (i - hidden n)) as [j|] eqn:J; [|discriminate].
      apply nth_seq in J. destruct J as (-> & J). cbn in Y. inversion Y; subst y.
      rewrite (proj2 (S _ J)). apply entered_holds; auto.
Qed.

Lemma words_live w h c q : remembers A n w h c -> word m w -> leads m w q ->
  live (carried h c) q /\ (w <> [] -> forall k z, nth_error (shows m) q = Some k ->
    (forall d, (d < outcomes n)%nat -> sum A (reading n h d) (z d)) ->
    (k < outcomes n)%nat /\ forall d, (d < outcomes n)%nat -> d <> k -> z d < z k).
Proof.
  intros D. revert q. induction D as [h c H|w a h c h' c' D IH H]; intros q W Q.
  - destruct begun as (x & l & N & S & I). split; [|congruence].
    assert (E : q = state_of x) by (inversion Q; subst; [auto|destruct w; discriminate]).
    subst q. apply closed_live; [rewrite N; left; reflexivity|].
    exists (fun _ => 0), (beginning n). split; [intros i; rewrite Rabs_R0; lra|].
    split; [apply beginning_held; exact H|exact I].
  - apply Forall_app in W. destruct W as (W & W'). inversion W' as [|? ? LA _]; subst.
    inversion Q as [E|v b p r l Q' R S E]; [destruct w; discriminate|].
    apply app_inj_tail in E. destruct E; subst v b r.
    destruct (IH p W Q') as ((e & x & next & E & HX & B) & _).
    destruct (branch _ _ _ _ 0 a B ltac:(lia)) as (t & letter & r & q' & y & k & M & L & R' & Y & C
      & SA & F).
    assert (q' = q) by congruence. subst q'.
    assert (HY : held e y (carried h' c')) by (eapply after_held; eauto). split.
    + eapply followed_live; eauto.
    + intros _ k' z K Z. assert (k' = k) by congruence. subst k'. eapply says_sound; eauto.
Qed.
End Network.

(** The checker is sound. *)
Theorem check_sound A n m nodes : GatedCheck.check A n m nodes = true -> Gated.correct A n m.
Proof.
  intros H. unfold GatedCheck.check in H. rewrite !andb_true_iff in H. destruct H as ((U & F) & C).
  rewrite forallb_forall in C. intros w z k W N (h & c & D & Z) (q & Q & S).
  destruct (words_live A n m U (length (moves m)) nodes eq_refl C) with (w := w) (h := h) (c := c)
    (q := q)
    as (_ & R); auto.
  - destruct nodes as [|x l]; [discriminate|]. exists x, l. apply andb_true_iff in F.
    destruct F as (F & I). apply Nat.eqb_eq in F. auto.
Qed.
