(** How far a sum of weighted values is off, in whatever order it is made (for Softmax.v). *)
From Coq Require Import Reals ZArith List Bool Arith Permutation Lia Lra.
From Flocq Require Import Core Relative.
From Krohn Require Import Arithmetic Rounding Softmax.
Import ListNotations.
Open Scope R_scope.

Definition over (F : nat -> R) (ks : list nat) : R := fold_right Rplus 0 (map F ks).
Definition prod (l : list R) : R := fold_right Rmult 1 l.

Lemma over_app F ks js : over F (ks ++ js) = over F ks + over F js.
Proof. unfold over. induction ks; simpl; [ring|]. rewrite IHks. ring. Qed.

Lemma over_abs F G ks : (forall k, In k ks -> Rabs (F k) <= G k) -> Rabs (over F ks) <= over G ks.
Proof.
  unfold over. induction ks as [|k ks IH]; simpl; intros H; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; auto.
Qed.

Lemma over_eq F G ks : (forall k, In k ks -> F k = G k) -> over F ks = over G ks.
Proof.
  unfold over. induction ks as [|k ks IH]; simpl; intros H; auto. rewrite (H k), IH; auto.
Qed.

Lemma over_scaled c F ks : over (fun k => c * F k) ks = c * over F ks.
Proof. unfold over. induction ks; simpl; [ring|]. rewrite IHks. ring. Qed.

Lemma over_order F ks js : Permutation ks js -> over F ks = over F js.
Proof. unfold over. induction 1; simpl; try lra. Qed.

Lemma over_seq F t : over F (seq 0 (S t)) = sum_f_R0 F t.
Proof.
  induction t; [unfold over; simpl; ring|]. rewrite seq_S, over_app, IHt. unfold over. simpl. ring.
Qed.

Lemma prod_app l m : prod (l ++ m) = prod l * prod m.
Proof. unfold prod. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.

(** * Roundings *)

Section Roundings.
Variable f : format.
Hypothesis some : (0 < digits f)%Z.
Hypothesis finite : (least f < top f)%Z.

Definition speck : R := pow (least f - 1).

Lemma speck_positive : 0 < speck.
Proof. apply bpow_gt_0. Qed.

Lemma roundoff_positive : 0 < roundoff f.
Proof. apply bpow_gt_0. Qed.

Lemma nearest_off x : Rabs (nearest f x - x) <= roundoff f * Rabs x + speck.
Proof.
  destruct (error_N_FLT radix2 (least f) (digits f) some (fun z => negb (Z.even z)) x)
    as (e & d & E & D & _ & Q).
  unfold nearest. change ZnearestE with (Znearest (fun z => negb (Z.even z))). rewrite Q.
  replace (x * (1 + e) + d - x) with (x * e + d) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
    eapply Rle_trans; [exact E|]. change (/ 2) with (pow (-1)). unfold roundoff.
    rewrite <- bpow_plus. right. f_equal. lia.
  - eapply Rle_trans; [exact D|]. change (/ 2) with (pow (-1)). unfold speck.
    rewrite <- bpow_plus. right. f_equal. lia.
Qed.

#[local] Instance some_digits : Prec_gt_0 (digits f) := some.
#[local] Instance valid : Valid_exp (FLT_exp (least f) (digits f)) := FLT_exp_valid _ _.

Lemma rounded_nearest x y : Rabs x <= pow (top f - 1) -> rounded f x y -> y = nearest f x.
Proof.
  intros B R. apply R. apply Rle_lt_trans with (pow (top f - 1)); [|apply bpow_lt; lia].
  apply abs_round_le_generic; [exact valid|apply valid_rnd_N| |exact B].
  apply generic_format_FLT_bpow; [exact some|lia].
Qed.

Lemma rounded_off x y : Rabs x <= pow (top f - 1) -> rounded f x y ->
  held f y /\ Rabs (y - x) <= roundoff f * Rabs x + speck.
Proof.
  intros B R. rewrite (rounded_nearest x y B R). split; [apply nearest_held, some|].
  apply nearest_off.
Qed.

Lemma rounded_none y : rounded f 0 y -> y = 0.
Proof.
  intros R. rewrite (rounded_nearest 0 y); auto.
  - apply nearest_same, generic_format_0.
  - rewrite Rabs_R0. apply bpow_ge_0.
Qed.

(** To the number that is added to another one a sum is as near as that one. *)
Lemma rounded_beside x y z : held f x -> Rabs (x + y) <= pow (top f - 1) ->
  rounded f (x + y) z -> Rabs (z - (x + y)) <= Rabs y.
Proof.
  intros H B R. rewrite (rounded_nearest _ z B R).
  destruct (round_N_pt radix2 (FLT_exp (least f) (digits f)) (fun z => negb (Z.even z)) (x + y))
    as (_ & N).
  specialize (N x H). unfold nearest. eapply Rle_trans; [exact N|].
  replace (x - (x + y)) with (- y) by ring. rewrite Rabs_Ropp. lra.
Qed.
End Roundings.

Lemma round_once u k S T D w y e : 0 <= u -> 0 <= T -> Rabs S <= T -> 0 <= D ->
  Rabs (w - S) <= ((1 + u) ^ k - 1) * T + D -> Rabs (y - w) <= u * Rabs w + e ->
  Rabs (y - S) <= ((1 + u) ^ (Datatypes.S k) - 1) * T + (1 + u) * D + e.
Proof.
  intros U T0 ST D0 E R. assert (W : Rabs w <= (1 + u) ^ k * T + D).
  { replace w with (w - S + S) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  replace (y - S) with (y - w + (w - S)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. cbn [Rpow_def.pow]. set (a := (1 + u) ^ k) in *.
  assert (u * Rabs w <= u * (a * T + D)) by (apply Rmult_le_compat_l; auto).
  lra.
Qed.

(** * Sums *)

Lemma power_less a k j : 1 <= a -> (k <= j)%nat -> a ^ k <= a ^ j.
Proof. intros. apply Rle_pow; auto. Qed.

Lemma power_one a k : 1 <= a -> 1 <= a ^ k.
Proof. intros A. apply Rle_trans with (a ^ 0); [simpl; lra|]. apply Rle_pow; auto; lia. Qed.

Section Collected.
Variables (f : format) (h : nat -> list R) (x : nat -> R) (real : nat -> bool) (B most : nat).
Variables (rho e0 X : R) (good : nat -> Prop).
Let u := roundoff f.
Let tau := tiny f.
Let eta := speck f.

Definition pre (l : list R) (k : nat) : R := prod (firstn (length (h k) - length l) (h k)).
Definition own (l : list R) (k : nat) : R := if real k then pre l k * x k else 0.
Definition size_own (l : list R) (k : nat) : R := Rabs (own l k).
Definition reals (ks : list nat) : nat := length (filter real ks).
Definition hidden (ks : list nat) : nat := length (filter (fun k => negb (real k)) ks).
Definition deep (l : list R) : nat := B - 1 - length l.
Definition bit (raw : bool) : nat := if raw then 1 else 0.
Definition alive (y : R) : R := if Req_EM_T y 0 then 0 else 1.
Definition grown (raw : bool) (ks : list nat) (l : list R) : R :=
  rho ^ deep l * (1 + u) ^ (length ks + deep l - bit raw).
Definition weak (raw : bool) (ks : list nat) (l : list R) : R :=
  3 * tau * X * INR (hidden ks)
  + eta * (INR (length ks) * (INR B - INR (length l) + 2) - 1 - INR (bit raw)).
Definition lost (raw : bool) (ks : list nat) (l : list R) (y : R) : R :=
  tau * (INR (length ks) - alive y) + 2 * weak raw ks l.

Hypothesis some : (0 < digits f)%Z.
Hypothesis finite : (least f < top f)%Z.
Hypothesis R1 : 1 <= rho.
Hypothesis E0 : 0 <= e0.
Hypothesis X0 : 0 <= X.
Hypothesis numbers : forall k, good k -> exists e l, h k = e :: l /\ (length l < B)%nat
  /\ Forall (fun r => Rabs r <= rho) l /\ Rabs e <= (if real k then e0 else 3 * tau)
  /\ Rabs (x k) <= X.
Hypothesis fit : rho ^ B * (1 + u) ^ (most + B) * (INR most * (e0 * X) + (tau * INR most
  + 2 * (3 * tau * X * INR most + eta * (INR most * (INR B + 2))))) <= pow (top f - 1).

Let U0 : 0 < u := roundoff_positive f.
Let T0 : 0 < tau := bpow_gt_0 _ _.
Let S0 : 0 < eta := speck_positive f.

Record sound (raw : bool) (ks : list nat) (l : list R) (y : R) : Prop := {
  sound_some : (1 <= length ks)%nat;
  sound_ends : Forall (fun k => exists e v, h k = e :: v ++ l) ks;
  sound_held : raw = false -> held f y;
  sound_near : Rabs (y - over (own l) ks)
    <= ((1 + u) ^ (reals ks + deep l - bit raw) - 1) * over (size_own l) ks
       + grown raw ks l * lost raw ks l y;
  sound_weak : reals ks = 0%nat -> Rabs y <= grown raw ks l * weak raw ks l }.

Lemma pre_app v l k : h k = v ++ l -> pre l k = prod v.
Proof.
  intros H. unfold pre. rewrite H, app_length.
  replace (length v + length l - length l)%nat with (length v + 0)%nat by lia.
  rewrite firstn_app_2. simpl. rewrite app_nil_r. reflexivity.
Qed.

Lemma counted_all ks : (reals ks + hidden ks = length ks)%nat.
Proof. unfold reals, hidden. induction ks; simpl; auto. destruct (real a); simpl; lia. Qed.

Lemma reals_app ks js : reals (ks ++ js) = (reals ks + reals js)%nat.
Proof. unfold reals. rewrite filter_app, app_length. reflexivity. Qed.
Lemma hidden_app ks js : hidden (ks ++ js) = (hidden ks + hidden js)%nat.
Proof. unfold hidden. rewrite filter_app, app_length. reflexivity. Qed.

Lemma ends_deep ks l : (1 <= length ks)%nat -> Forall good ks ->
  Forall (fun k => exists e v, h k = e :: v ++ l) ks -> (length l < B)%nat.
Proof.
  intros L G E. destruct ks as [|k ks]; [simpl in L; lia|].
  inversion G; inversion E; subst. destruct (numbers k) as (e & l' & H & D & _); auto.
  destruct H5 as (e' & v & H'). rewrite H in H'. inversion H'; subst. rewrite app_length in D. lia.
Qed.

Lemma own_small ks l : Forall good ks -> Forall (fun k => exists e v, h k = e :: v ++ l) ks ->
  over (size_own l) ks <= INR (reals ks) * (e0 * X * rho ^ deep l).
Proof.
  intros G E. induction ks as [|k ks IH]; [unfold over, reals; simpl; lra|].
  inversion G; inversion E; subst. specialize (IH H2 H6). unfold over, reals in *.
  cbn [map fold_right filter]. unfold size_own at 1, own at 1. destruct (real k) eqn:K.
  2:{ rewrite Rabs_R0. lra. }
  cbn [length]. rewrite S_INR. destruct (numbers k H1) as (e & l' & H & D & Q & N & XK).
  destruct H5 as (e' & v & H'). rewrite H in H'. inversion H'; subst.
  assert (P : Rabs (pre l k) <= e0 * rho ^ deep l).
  { rewrite (pre_app (e' :: v) l k) by exact H. rewrite K in N. unfold prod. simpl.
    rewrite Rabs_mult. apply Rmult_le_compat; auto; try apply Rabs_pos.
    apply Forall_app in Q. destruct Q as (Q & _). rewrite app_length in D.
    apply Rle_trans with (rho ^ length v); [|apply power_less; auto; unfold deep; lia].
    clear - Q R1. induction Q; simpl; [rewrite Rabs_R1; lra|]. rewrite Rabs_mult.
    apply Rmult_le_compat; auto; apply Rabs_pos. }
  rewrite Rabs_mult. assert (Q' : Rabs (pre l k) * Rabs (x k) <= e0 * rho ^ deep l * X)
    by (apply Rmult_le_compat; auto; apply Rabs_pos). lra.
Qed.

Lemma over_size ks l : 0 <= over (size_own l) ks /\ Rabs (over (own l) ks) <= over (size_own l) ks.
Proof.
  assert (H : Rabs (over (own l) ks) <= over (size_own l) ks)
    by (apply over_abs; intros; unfold size_own; lra).
  assert (P := Rabs_pos (over (own l) ks)). lra.
Qed.

Lemma no_reals ks l : reals ks = 0%nat -> over (own l) ks = 0 /\ over (size_own l) ks = 0.
Proof.
  unfold reals, over. induction ks as [|k ks IH]; intros Z; [simpl; auto|].
  cbn [filter map fold_right] in *.
  unfold size_own at 1, own at 1 3. destruct (real k); [discriminate|].
  destruct (IH Z) as (-> & ->). rewrite Rabs_R0. split; ring.
Qed.

Lemma rho_deep l : 1 <= rho ^ deep l.
Proof. apply power_one, R1. Qed.

Lemma units k : 1 <= (1 + u) ^ k.
Proof. apply power_one. lra. Qed.

Lemma alive_bounds y : 0 <= alive y <= 1.
Proof. unfold alive. destruct Req_EM_T; lra. Qed.

Lemma weak_positive raw ks l : (1 <= length ks)%nat -> (length l < B)%nat -> 0 <= weak raw ks l.
Proof.
  intros L D. apply le_INR in L. apply lt_INR in D. unfold weak.
  assert (0 <= INR (hidden ks)) by apply pos_INR. simpl in L.
  assert (0 <= 3 * tau * X * INR (hidden ks)) by (repeat apply Rmult_le_pos; lra).
  assert (INR (bit raw) <= 1) by (destruct raw; simpl; lra).
  assert (1 * (0 + 2) <= INR (length ks) * (INR B - INR (length l) + 2))
    by (apply Rmult_le_compat; lra).
  assert (0 <= eta * (INR (length ks) * (INR B - INR (length l) + 2) - 1 - INR (bit raw)))
    by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma lost_positive raw ks l y : (1 <= length ks)%nat -> (length l < B)%nat -> 0 <= lost raw ks l y.
Proof.
  intros L D. assert (W := weak_positive raw ks l L D). unfold lost. apply le_INR in L.
  simpl in L. assert (A := alive_bounds y).
  assert (0 <= tau * (INR (length ks) - alive y)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** Nothing is too large. *)
Lemma fits ks l w : (1 <= length ks)%nat -> (length ks <= most)%nat -> Forall good ks ->
  Forall (fun k => exists e v, h k = e :: v ++ l) ks ->
  Rabs (w - over (own l) ks) <= ((1 + u) ^ (reals ks + deep l) - 1) * over (size_own l) ks
    + grown false ks l * lost false ks l 0 ->
  Rabs w <= pow (top f - 1).
Proof.
  intros L M G E H. assert (D := ends_deep ks l L G E). eapply Rle_trans; [|exact fit].
  destruct (over_size ks l) as (T1 & T2). assert (T3 := own_small ks l G E).
  assert (RK : (reals ks <= most)%nat) by (assert (C := counted_all ks); lia).
  assert (HK : (hidden ks <= most)%nat) by (assert (C := counted_all ks); lia).
  assert (P1 := rho_deep l). assert (P2 := units (length ks + deep l)).
  assert (U1 := power_less (1 + u) (reals ks + deep l) (length ks + deep l) ltac:(lra)
    ltac:(assert (C := counted_all ks); lia)).
  assert (U2 := power_less (1 + u) (length ks + deep l) (most + B) ltac:(lra)
    ltac:(unfold deep; lia)).
  assert (U3 := power_less rho (deep l) B R1 ltac:(unfold deep; lia)).
  set (K := INR most * (e0 * X)).
  set (J := tau * INR most + 2 * (3 * tau * X * INR most + eta * (INR most * (INR B + 2)))).
  assert (EX : 0 <= e0 * X) by (apply Rmult_le_pos; auto).
  assert (TK : over (size_own l) ks <= rho ^ deep l * K).
  { eapply Rle_trans; [exact T3|]. unfold K.
    replace (rho ^ deep l * (INR most * (e0 * X))) with (INR most * (e0 * X * rho ^ deep l))
      by ring.
    apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|]. apply le_INR, RK. }
  assert (LJ : lost false ks l 0 <= J).
  { unfold lost, J, weak, alive. destruct (Req_EM_T 0 0) as [_|N]; [|lra].
    apply le_INR in M, HK. assert (0 <= INR (length l)) by apply pos_INR.
    assert (0 <= INR (length ks)) by apply pos_INR. apply lt_INR in D. simpl (INR (bit false)).
    apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|].
    apply Rmult_le_compat_l; [lra|]. apply Rplus_le_compat.
    - apply Rmult_le_compat_l; [|exact HK]. repeat apply Rmult_le_pos; lra.
    - apply Rmult_le_compat_l; [lra|].
      assert (INR (length ks) * (INR B - INR (length l) + 2) <= INR most * (INR B + 2))
        by (apply Rmult_le_compat; lra). lra. }
  assert (J0 := lost_positive false ks l 0 L D).
  assert (K0 : 0 <= K) by (apply Rmult_le_pos; [apply pos_INR|exact EX]).
  assert (W : Rabs w <= (1 + u) ^ (length ks + deep l) * over (size_own l) ks
                        + grown false ks l * lost false ks l 0).
  { replace w with (w - over (own l) ks + over (own l) ks) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert ((1 + u) ^ (reals ks + deep l) * over (size_own l) ks
            <= (1 + u) ^ (length ks + deep l) * over (size_own l) ks)
      by (apply Rmult_le_compat_r; auto). lra. }
  eapply Rle_trans; [exact W|]. unfold grown. simpl bit.
  replace (length ks + deep l - 0)%nat with (length ks + deep l)%nat by lia.
  set (a := (1 + u) ^ (length ks + deep l)) in *. set (b := rho ^ deep l) in *.
  apply Rle_trans with (b * a * (K + J)).
  - replace (b * a * (K + J)) with (a * (b * K) + b * a * J) by ring. apply Rplus_le_compat.
    + apply Rmult_le_compat_l; lra.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact LJ].
  - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
Qed.

(** The growth of a sum that is rounded once. *)
Let gamma (n : nat) (l : list R) : R := rho ^ deep l * (1 + u) ^ (n - 1 + deep l).

Lemma grown_gamma ks l : (1 <= length ks)%nat ->
  grown true ks l = gamma (length ks) l /\ grown false ks l = (1 + u) * gamma (length ks) l
  /\ 1 <= gamma (length ks) l.
Proof.
  intros L. unfold grown, gamma. simpl bit.
  replace (length ks + deep l - 1)%nat with (length ks - 1 + deep l)%nat by lia.
  replace (length ks + deep l - 0)%nat with (S (length ks - 1 + deep l)) by lia.
  split; [reflexivity|]. split; [simpl; ring|].
  assert (A := rho_deep l). assert (C := units (length ks - 1 + deep l)). nra.
Qed.

Lemma grown_more raw ks l n : (1 <= length ks)%nat -> (length ks < n)%nat ->
  0 < grown raw ks l <= gamma n l.
Proof.
  intros L M. unfold grown, gamma. assert (A := rho_deep l).
  assert (C := units (length ks + deep l - bit raw)). split; [nra|].
  apply Rmult_le_compat_l; [lra|]. apply power_less; [lra|]. lia.
Qed.

Lemma kappa_less S k j T : (k <= j)%nat -> 0 <= T -> T <= S ->
  ((1 + u) ^ k - 1) * T <= ((1 + u) ^ j - 1) * S.
Proof.
  intros L P Q. assert (H := power_less (1 + u) k j ltac:(lra) L). assert (H' := units k).
  apply Rmult_le_compat; lra.
Qed.

Lemma weak_app raw ks js l : (1 <= length ks)%nat -> (1 <= length js)%nat -> (length l < B)%nat ->
  weak raw ks l + weak false js l + eta <= weak false (ks ++ js) l.
Proof.
  intros L M D. unfold weak. rewrite hidden_app, app_length, !plus_INR. simpl (INR (bit false)).
  assert (0 <= INR (bit raw)) by apply pos_INR.
  assert (0 <= eta * INR (bit raw)) by (apply Rmult_le_pos; lra). nra.
Qed.

Lemma alive_add y z w : (y = 0 -> z = 0 -> w = 0) -> alive w <= alive y + alive z.
Proof.
  intros H. unfold alive. destruct (Req_EM_T w 0), (Req_EM_T y 0), (Req_EM_T z 0); lra.
Qed.

Lemma lost_app raw ks js l y z w : (1 <= length ks)%nat -> (1 <= length js)%nat ->
  (length l < B)%nat -> (y = 0 -> z = 0 -> w = 0) ->
  lost raw ks l y + lost false js l z + 2 * eta <= lost false (ks ++ js) l w
  /\ lost raw ks l y + 2 * weak false js l + 2 * eta <= lost false (ks ++ js) l w
  /\ 2 * weak raw ks l + lost false js l z + 2 * eta <= lost false (ks ++ js) l w.
Proof.
  intros L M D H. assert (W := weak_app raw ks js l L M D). unfold lost.
  rewrite app_length, plus_INR. assert (A := alive_add y z w H). assert (A' := alive_bounds w).
  apply le_INR in L, M. simpl in L, M. assert (Y := alive_bounds y). assert (Z := alive_bounds z).
  set (p := INR (length ks)) in *. set (q := INR (length js)) in *.
  assert (tau * (p - alive y) + tau * (q - alive z) <= tau * (p + q - alive w))
    by (rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra).
  assert (tau * (p - alive y) <= tau * (p + q - alive w)) by (apply Rmult_le_compat_l; lra).
  assert (tau * (q - alive z) <= tau * (p + q - alive w)) by (apply Rmult_le_compat_l; lra).
  repeat split; lra.
Qed.

Lemma sound_one k e l : good k -> h k = e :: l -> sound true [k] l (e * x k).
Proof.
  intros G H. destruct (numbers k G) as (e' & l' & H' & D & _ & N & XK).
  rewrite H in H'. inversion H'; subst e' l'. clear H'.
  assert (O : over (own l) [k] = own l k) by (unfold over; simpl; ring).
  assert (T := proj1 (over_size [k] l)).
  assert (GP := proj2 (proj2 (grown_gamma [k] l (le_n _)))).
  rewrite <- (proj1 (grown_gamma [k] l (le_n _))) in GP.
  assert (LP := lost_positive true [k] l (e * x k) (le_n _) D).
  assert (WP := weak_positive true [k] l (le_n _) D).
  assert (KP : 0 <= ((1 + u) ^ (reals [k] + deep l - bit true) - 1) * over (size_own l) [k])
    by (apply Rmult_le_pos; auto; assert (Q := units (reals [k] + deep l - bit true)); lra).
  assert (GL : 0 <= grown true [k] l * lost true [k] l (e * x k)) by (apply Rmult_le_pos; lra).
  assert (P : pre l k = e).
  { rewrite (pre_app [e] l k) by exact H. unfold prod. simpl. ring. }
  constructor.
  - apply le_n.
  - repeat constructor. exists e, []. exact H.
  - discriminate.
  - rewrite O. unfold own. destruct (real k) eqn:K; [rewrite P, Rminus_eq_0, Rabs_R0; lra|].
    rewrite Rminus_0_r. rewrite Rabs_mult.
    assert (Q : Rabs e * Rabs (x k) <= 3 * tau * X)
      by (apply Rmult_le_compat; auto; apply Rabs_pos).
    assert (W : 3 * tau * X <= weak true [k] l).
    { unfold weak, hidden. simpl. rewrite K. simpl. apply lt_INR in D.
      assert (0 <= eta * (1 * (INR B - INR (length l) + 2) - 1 - 1)) by (apply Rmult_le_pos; lra).
      lra. }
    unfold lost in *. assert (A := alive_bounds (e * x k)). simpl length in *. simpl (INR 1) in *.
    assert (0 <= tau * (1 - alive (e * x k))) by (apply Rmult_le_pos; lra).
    assert (3 * tau * X <= grown true [k] l * (tau * (1 - alive (e * x k)) + 2 * weak true [k] l))
      by nra.
    lra.
  - intros Z. unfold reals in Z. simpl in Z. destruct (real k) eqn:K; [discriminate|].
    rewrite Rabs_mult.
    assert (Q : Rabs e * Rabs (x k) <= 3 * tau * X)
      by (apply Rmult_le_compat; auto; apply Rabs_pos).
    assert (W : 3 * tau * X <= weak true [k] l).
    { unfold weak, hidden. simpl. rewrite K. simpl. apply lt_INR in D.
      assert (0 <= eta * (1 * (INR B - INR (length l) + 2) - 1 - 1)) by (apply Rmult_le_pos; lra).
      lra. }
    nra.
Qed.

Lemma own_times ks r l : Forall (fun k => exists e v, h k = e :: v ++ r :: l) ks ->
  over (own l) ks = r * over (own (r :: l)) ks
  /\ over (size_own l) ks = Rabs r * over (size_own (r :: l)) ks.
Proof.
  intros E. rewrite <- !over_scaled.
  assert (P : forall k, In k ks -> own l k = r * own (r :: l) k).
  { intros k I. rewrite Forall_forall in E. destruct (E k I) as (e & v & H). unfold own.
    destruct (real k); [|ring]. rewrite (pre_app (e :: v ++ [r]) l k)
      by (rewrite H; simpl; rewrite <- app_assoc; reflexivity).
    rewrite (pre_app (e :: v) (r :: l) k) by exact H. unfold prod. simpl. fold (prod (v ++ [r])).
    fold (prod v). rewrite prod_app. unfold prod at 2. simpl. ring. }
  split; apply over_eq; auto. intros k I. unfold size_own. rewrite (P k I), Rabs_mult. reflexivity.
Qed.

Lemma sound_times ks r l y : Forall good ks -> sound false ks (r :: l) y ->
  sound true ks l (r * y).
Proof.
  intros G [L E H N W]. destruct (own_times ks r l E) as (O & O').
  assert (D := ends_deep ks (r :: l) L G E). simpl in D.
  assert (RR : Rabs r <= rho).
  { destruct ks as [|k ks]; [simpl in L; lia|]. inversion E; inversion G; subst.
    destruct H2 as (e & v & HK). destruct (numbers k H6) as (e' & l' & HK' & _ & Q & _).
    rewrite HK in HK'. inversion HK'; subst. apply Forall_app in Q. destruct Q as (_ & Q).
    inversion Q. auto. }
  assert (GG : rho * grown false ks (r :: l) = grown true ks l).
  { unfold grown. simpl bit. replace (deep l) with (S (deep (r :: l))) by (unfold deep; simpl; lia).
    replace (length ks + S (deep (r :: l)) - 1)%nat with (length ks + deep (r :: l) - 0)%nat by lia.
    simpl. ring. }
  assert (WW : weak false ks (r :: l) <= weak true ks l).
  { unfold weak. cbn [length bit]. rewrite S_INR. simpl (INR 1). simpl (INR 0).
    apply le_INR in L. simpl in L.
    apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
  assert (W0 := weak_positive false ks (r :: l) L D).
  assert (LP := lost_positive false ks (r :: l) y L D).
  assert (GP : 0 < grown false ks (r :: l)).
  { destruct (grown_gamma ks (r :: l) L) as (_ & -> & P). apply Rmult_lt_0_compat; lra. }
  assert (LL : lost false ks (r :: l) y <= lost true ks l (r * y)).
  { unfold lost. apply Rplus_le_compat; [|lra]. apply Rmult_le_compat_l; [lra|].
    unfold alive. destruct (Req_EM_T (r * y) 0), (Req_EM_T y 0); try lra. subst y.
    exfalso. apply n. ring. }
  constructor.
  - exact L.
  - eapply Forall_impl; [|exact E]. intros k (e & v & HK). exists e, (v ++ [r]).
    rewrite HK, <- app_assoc. reflexivity.
  - discriminate.
  - rewrite O, O', <- Rmult_minus_distr_l, Rabs_mult.
    replace (reals ks + deep l - bit true)%nat with (reals ks + deep (r :: l) - bit false)%nat
      by (unfold deep; simpl; lia).
    apply Rle_trans with (Rabs r * (((1 + u) ^ (reals ks + deep (r :: l) - bit false) - 1)
      * over (size_own (r :: l)) ks + grown false ks (r :: l) * lost false ks (r :: l) y)).
    + apply Rmult_le_compat_l; [apply Rabs_pos|exact N].
    + rewrite Rmult_plus_distr_l. apply Rplus_le_compat; [right; ring|]. rewrite <- GG.
      replace (rho * grown false ks (r :: l) * lost true ks l (r * y))
        with (rho * (grown false ks (r :: l) * lost true ks l (r * y))) by ring.
      apply Rmult_le_compat; auto; [apply Rabs_pos| |].
      * apply Rmult_le_pos; lra.
      * apply Rmult_le_compat_l; lra.
  - intros Z. specialize (W Z). rewrite Rabs_mult, <- GG.
    replace (rho * grown false ks (r :: l) * weak true ks l)
      with (rho * (grown false ks (r :: l) * weak true ks l)) by ring.
    apply Rmult_le_compat; auto; try apply Rabs_pos. eapply Rle_trans; [exact W|].
    apply Rmult_le_compat_l; lra.
Qed.

Lemma lost_zero raw ks l y : lost raw ks l y <= lost raw ks l 0.
Proof.
  unfold lost. apply Rplus_le_compat_r, Rmult_le_compat_l; [lra|].
  assert (A := alive_bounds y). unfold alive at 2. destruct (Req_EM_T 0 0); lra.
Qed.

Lemma weak_rounded ks l : weak true ks l + eta = weak false ks l.
Proof. unfold weak. simpl. ring. Qed.

Lemma sound_rounded ks l y z : (length ks <= most)%nat -> Forall good ks -> sound true ks l y ->
  multiplied f y z -> sound false ks l z.
Proof.
  intros M G [L E _ N W] R. assert (D := ends_deep ks l L G E).
  destruct (grown_gamma ks l L) as (G1 & G2 & G3). rewrite G1 in N, W.
  set (g := gamma (length ks) l) in *. assert (T := proj1 (over_size ks l)).
  assert (ST := proj2 (over_size ks l)). assert (WR := weak_rounded ks l).
  assert (W0 := weak_positive true ks l L D). assert (L0 := lost_positive true ks l y L D).
  assert (LZ : lost true ks l y + 2 * eta <= lost false ks l 0).
  { assert (Q := lost_zero true ks l y). unfold lost in *. lra. }
  assert (K1 := kappa_less (over (size_own l) ks) (reals ks + deep l - bit true)
    (reals ks + deep l) _ ltac:(lia) T (Rle_refl _)).
  assert (B0 : Rabs y <= pow (top f - 1)).
  { apply (fits ks l y L M G E). eapply Rle_trans; [exact N|]. apply Rplus_le_compat; [exact K1|].
    rewrite G2. apply Rmult_le_compat; try lra. nra. }
  assert (GE : g * lost true ks l y * (1 + u) + eta <= grown false ks l *
    (lost true ks l y + 2 * eta)).
  { rewrite G2. assert (1 <= (1 + u) * g) by nra. nra. }
  destruct R as [R|(F & ->)].
  - destruct (rounded_off f some finite y z B0 R) as (HZ & OZ).
    assert (AZ : lost true ks l y + 2 * eta <= lost false ks l z).
    { unfold lost. rewrite <- WR. assert (alive z <= alive y).
      { unfold alive. destruct (Req_EM_T y 0) as [->|]; destruct (Req_EM_T z 0); try lra.
        destruct n. apply (rounded_none f some finite), R. }
      assert (tau * (INR (length ks) - alive y) <= tau * (INR (length ks) - alive z))
        by (apply Rmult_le_compat_l; lra). lra. }
    constructor; [exact L|exact E|intros; exact HZ| |].
    + destruct (Nat.eq_dec (reals ks) 0) as [Z|Z].
      * destruct (no_reals ks l Z) as (O & O'). rewrite O, O', Rmult_0_r, Rplus_0_l, Rminus_0_r.
        rewrite O, O', Rmult_0_r, Rplus_0_l, Rminus_0_r in N.
        assert (Rabs z <= (1 + u) * Rabs y + eta).
        { replace z with (z - y + y) by ring. eapply Rle_trans; [apply Rabs_triang|].
          change (roundoff f) with u in OZ. change (speck f) with eta in OZ. lra. }
        apply Rle_trans with (grown false ks l * (lost true ks l y + 2 * eta)).
        -- nra.
        -- apply Rmult_le_compat_l; [rewrite G2; nra|exact AZ].
      * eapply Rle_trans; [apply (round_once u (reals ks + deep l - 1) _ (over (size_own l) ks)
          (g * lost true ks l y) y z eta); auto; try lra; apply Rmult_le_pos; lra|].
        replace (S (reals ks + deep l - 1)) with (reals ks + deep l - bit false)%nat
          by (simpl; lia).
        rewrite Rplus_assoc. apply Rplus_le_compat_l.
        apply Rle_trans with (grown false ks l * (lost true ks l y + 2 * eta)); [lra|].
        apply Rmult_le_compat_l; [rewrite G2; nra|exact AZ].
    + intros Z. specialize (W Z). rewrite G2, <- WR.
      assert (Rabs z <= (1 + u) * Rabs y + eta).
      { replace z with (z - y + y) by ring. eapply Rle_trans; [apply Rabs_triang|].
        change (roundoff f) with u in OZ. change (speck f) with eta in OZ. lra. }
      assert (1 <= (1 + u) * g) by nra.
      apply Rle_trans with ((1 + u) * (g * weak true ks l) + 1 * eta); [nra|]. nra.
  - assert (HZ : held f 0) by apply zero_held.
    assert (AZ : g * lost true ks l y + Rabs y <= grown false ks l * lost false ks l 0).
    { unfold lost in *. assert (A0 : alive 0 = 0) by (unfold alive; destruct (Req_EM_T 0 0); lra).
      rewrite A0, Rminus_0_r in *. fold (tiny f) in F. fold tau in F.
      unfold alive in L0, GE |- *. destruct (Req_EM_T y 0) as [->|Y].
      - rewrite Rabs_R0, Rplus_0_r. rewrite Rminus_0_r in *. rewrite G2.
        apply Rmult_le_compat; try lra. nra.
      - rewrite G2, <- WR. set (n := INR (length ks)) in *.
        assert (0 <= n * tau) by (apply Rmult_le_pos; [apply pos_INR|lra]).
        apply Rle_trans with (g * (tau * n + 2 * weak true ks l)).
        + assert (1 * tau <= g * tau) by (apply Rmult_le_compat_r; lra). lra.
        + apply Rmult_le_compat; try lra; nra. }
    constructor; [exact L|exact E|intros; exact HZ| |].
    + replace (0 - over (own l) ks) with (y - over (own l) ks + - y) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
      replace (reals ks + deep l - bit false)%nat with (reals ks + deep l)%nat by (simpl; lia). lra.
    + intros Z. rewrite Rabs_R0. apply Rmult_le_pos; [rewrite G2; nra|]. lra.
Qed.

Lemma sound_sum raw ks js l y z w : (length (ks ++ js) <= most)%nat -> Forall good (ks ++ js) ->
  sound raw ks l y -> sound false js l z -> rounded f (y + z) w -> sound false (ks ++ js) l w.
Proof.
  intros M G [L1 E1 H1 N1 W1] [L2 E2 H2 N2 W2] R.
  assert (GG := G). apply Forall_app in GG. destruct GG as (GA & GB).
  assert (D := ends_deep ks l L1 GA E1). assert (EE : Forall
    (fun k => exists e v, h k = e :: v ++ l) (ks ++ js)) by (apply Forall_app; auto).
  assert (L : (1 <= length (ks ++ js))%nat) by (rewrite app_length; lia).
  destruct (grown_gamma (ks ++ js) l L) as (_ & GO & GP).
  set (g := gamma (length (ks ++ js)) l) in *.
  destruct (grown_more raw ks l (length (ks ++ js)) L1 ltac:(rewrite app_length; lia)) as (P1 & Q1).
  destruct (grown_more false js l (length (ks ++ js)) L2 ltac:(rewrite app_length; lia)) as
    (P2 & Q2).
  fold g in Q1, Q2. set (g1 := grown raw ks l) in *. set (g2 := grown false js l) in *.
  destruct (over_size ks l) as (T1 & ST1). destruct (over_size js l) as (T2 & ST2).
  destruct (over_size (ks ++ js) l) as (T & ST). 
  rewrite (over_app (size_own l)) in T, ST. rewrite (over_app (own l)) in ST.
  assert (A1 := weak_positive raw ks l L1 D). assert (A2 := weak_positive false js l L2 D).
  assert (B1 := lost_positive raw ks l y L1 D). assert (B2 := lost_positive false js l z L2 D).
  assert (WA := weak_app raw ks js l L1 L2 D).
  assert (ZZ : y = 0 -> z = 0 -> w = 0).
  { intros -> ->. rewrite Rplus_0_l in R. apply (rounded_none f some finite), R. }
  destruct (lost_app raw ks js l y z w L1 L2 D ZZ) as (LA & LB & LC).
  assert (LD := lost_zero false (ks ++ js) l w).
  set (S1 := over (own l) ks) in *. set (S2 := over (own l) js) in *.
  set (t1 := over (size_own l) ks) in *. set (t2 := over (size_own l) js) in *.
  set (d1 := lost raw ks l y) in *. set (d2 := lost false js l z) in *.
  set (w1 := weak raw ks l) in *. set (w2 := weak false js l) in *.
  set (K := (reals (ks ++ js) + deep l)%nat).
  assert (KE : K = (reals ks + reals js + deep l)%nat)
    by (unfold K; rewrite reals_app; reflexivity).
  assert (M1 : forall a b, 0 <= b -> 0 < a -> a <= g -> a * b <= g * b)
    by (intros; apply Rmult_le_compat_r; lra).
  assert (GR : forall d, 0 <= d -> d + 2 * eta <= lost false (ks ++ js) l w ->
    (1 + u) * (g * d) + eta <= grown false (ks ++ js) l * lost false (ks ++ js) l w).
  { intros d D0 DL. rewrite GO. assert (1 <= (1 + u) * g) by (clear - GP U0; nra).
    apply Rle_trans with ((1 + u) * g * (d + 2 * eta)); [clear - S0 H D0; nra|].
    apply Rmult_le_compat_l; lra. }
  (* What is known before the sum is rounded says that it is not too large. *)
  assert (FIT : Rabs (y + z - (S1 + S2)) <= ((1 + u) ^ K - 1) * (t1 + t2)
    + (1 + u) * g * lost false (ks ++ js) l w -> Rabs (y + z) <= pow (top f - 1)).
  { intros I. apply (fits (ks ++ js) l (y + z) L M G EE). rewrite !over_app. fold S1 S2 t1 t2 K.
    eapply Rle_trans; [exact I|]. apply Rplus_le_compat_l. rewrite GO.
    apply Rmult_le_compat_l; [clear - GP U0; nra|exact LD]. }
  assert (ADD : Rabs (y + z - (S1 + S2)) <= Rabs (y - S1) + Rabs (z - S2)).
  { replace (y + z - (S1 + S2)) with (y - S1 + (z - S2)) by ring. apply Rabs_triang. }
  assert (OK : held f w /\ Rabs (w - (S1 + S2)) <= ((1 + u) ^ K - 1) * (t1 + t2)
      + grown false (ks ++ js) l * lost false (ks ++ js) l w
    /\ (reals (ks ++ js) = 0%nat -> Rabs w <= grown false (ks ++ js) l * weak false (ks ++ js) l)).
  { destruct (Nat.eq_dec (reals ks) 0) as [Z1|Z1]; destruct (Nat.eq_dec (reals js) 0) as [Z2|Z2].
    - specialize (W1 Z1). specialize (W2 Z2). destruct (no_reals ks l Z1) as (O1 & O1').
      destruct (no_reals js l Z2) as (O2 & O2'). fold S1 in O1. fold S2 in O2. fold t1 in O1'.
      fold t2 in O2'.
      rewrite O1, O2, O1', O2', !Rplus_0_r, !Rminus_0_r, Rmult_0_r, Rplus_0_l in *.
      assert (I : Rabs (y + z) <= g * (w1 + w2)).
      { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rmult_plus_distr_l.
        assert (V1 := M1 g1 w1 A1 P1 Q1). assert (V2 := M1 g2 w2 A2 P2 Q2). lra. }
      assert (V : w1 + w2 <= weak false (ks ++ js) l) by lra.
      assert (LW : 2 * weak false (ks ++ js) l <= lost false (ks ++ js) l w).
      { unfold lost. assert (A := alive_bounds w). apply le_INR in L. simpl in L.
        assert (0 <= tau * (INR (length (ks ++ js)) - alive w)) by (apply Rmult_le_pos; lra). lra. }
      assert (I2 : g * (w1 + w2) <= (1 + u) * g * lost false (ks ++ js) l w).
      { apply Rmult_le_compat; try lra. clear - GP U0. nra. }
      destruct (rounded_off f some finite _ w (FIT ltac:(lra)) R) as (HW & OW).
      change (roundoff f) with u in OW. change (speck f) with eta in OW.
      assert (F : Rabs w <= grown false (ks ++ js) l * weak false (ks ++ js) l).
      { replace w with (w - (y + z) + (y + z)) by ring. eapply Rle_trans; [apply Rabs_triang|].
        rewrite GO. apply Rle_trans with ((1 + u) * g * (w1 + w2 + eta)).
        - assert (1 <= (1 + u) * g) by (clear - GP U0; nra).
          assert (1 * eta <= (1 + u) * g * eta) by (apply Rmult_le_compat_r; lra).
          assert ((1 + u) * Rabs (y + z) <= (1 + u) * (g * (w1 + w2)))
            by (apply Rmult_le_compat_l; lra).
          lra.
        - apply Rmult_le_compat_l; [clear - GP U0; nra|lra]. }
      split; [exact HW|]. split; [|intros; exact F].
      eapply Rle_trans; [exact F|]. apply Rmult_le_compat_l; [rewrite GO; clear - GP U0; nra|lra].
    - specialize (W1 Z1). destruct (no_reals ks l Z1) as (O1 & O1'). fold S1 in O1. fold t1 in O1'.
      rewrite O1, O1', !Rplus_0_l, Rminus_0_r in *.
      assert (KL := kappa_less t2 (reals js + deep l - bit false) K t2
        ltac:(rewrite KE; simpl; lia) T2 (Rle_refl _)).
      assert (V1 := M1 g1 w1 A1 P1 Q1). assert (V2 := M1 g2 d2 B2 P2 Q2).
      assert (GD := GR (2 * w1 + d2) ltac:(lra) LC).
      assert (I : Rabs (y + z - S2) <= ((1 + u) ^ K - 1) * t2 + (1 + u) * g * lost false
        (ks ++ js) l w).
      { rewrite GO in GD. assert (g * (2 * w1 + d2) <= (1 + u) * (g * (2 * w1 + d2))).
        { assert (0 <= u * (g * (2 * w1 + d2)))
            by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). lra. }
        assert (0 <= g * w1) by (apply Rmult_le_pos; lra). lra. }
      specialize (FIT I). destruct (rounded_off f some finite _ w FIT R) as (HW & _).
      rewrite Rplus_comm in R, FIT.
      assert (BE := rounded_beside f some finite z y w (H2 eq_refl) FIT R).
      split; [exact HW|]. split; [|rewrite reals_app; lia].
      replace (w - S2) with (w - (z + y) + ((z - S2) + y)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. assert (TR := Rabs_triang (z - S2) y).
      assert (g * (2 * w1 + d2) <= (1 + u) * (g * (2 * w1 + d2))).
      { assert (0 <= u * (g * (2 * w1 + d2)))
          by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). lra. }
      lra.
    - specialize (W2 Z2). destruct (no_reals js l Z2) as (O2 & O2'). fold S2 in O2. fold t2 in O2'.
      rewrite O2, O2', !Rplus_0_r, Rminus_0_r in *.
      assert (V1 := M1 g1 d1 B1 P1 Q1). assert (V2 := M1 g2 w2 A2 P2 Q2).
      assert (GD := GR (d1 + 2 * w2) ltac:(lra) LB).
      assert (KL := kappa_less t1 (reals ks + deep l - bit raw) (K - bit raw) t1
        ltac:(rewrite KE; lia) T1 (Rle_refl _)).
      assert (KL' := kappa_less t1 (K - bit raw) K t1 ltac:(lia) T1 (Rle_refl _)).
      assert (GU : g * (d1 + 2 * w2) <= (1 + u) * (g * (d1 + 2 * w2))).
      { assert (0 <= u * (g * (d1 + 2 * w2)))
          by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). lra. }
      assert (WG : 0 <= g * w2) by (apply Rmult_le_pos; lra).
      assert (I : Rabs (y + z - S1) <= ((1 + u) ^ K - 1) * t1 + (1 + u) * g * lost false
        (ks ++ js) l w)
        by (rewrite GO in GD; lra).
      specialize (FIT I). destruct (rounded_off f some finite _ w FIT R) as (HW & OW).
      split; [exact HW|]. split; [|rewrite reals_app; lia]. destruct raw.
      + simpl bit in *. eapply Rle_trans.
        * apply (round_once u (K - 1) S1 t1 (g * (d1 + 2 * w2)) (y + z) w eta); auto; try lra.
          apply Rmult_le_pos; lra.
        * replace (S (K - 1)) with K by (rewrite KE; lia). lra.
      + assert (BE := rounded_beside f some finite y z w (H1 eq_refl) FIT R).
        replace (w - S1) with (w - (y + z) + ((y - S1) + z)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. assert (TR := Rabs_triang (y - S1) z). lra.
    - assert (KL1 := kappa_less t1 (reals ks + deep l - bit raw) (K - 1) t1
        ltac:(rewrite KE; lia) T1 (Rle_refl _)).
      assert (KL2 := kappa_less t2 (reals js + deep l - bit false) (K - 1) t2
        ltac:(rewrite KE; lia) T2 (Rle_refl _)).
      assert (KL := kappa_less (t1 + t2) (K - 1) K (t1 + t2) ltac:(lia) T (Rle_refl _)).
      assert (V1 := M1 g1 d1 B1 P1 Q1). assert (V2 := M1 g2 d2 B2 P2 Q2).
      assert (GD := GR (d1 + d2) ltac:(lra) LA).
      assert (GU : g * (d1 + d2) <= (1 + u) * (g * (d1 + d2))).
      { assert (0 <= u * (g * (d1 + d2))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
        lra. }
      assert (I : Rabs (y + z - (S1 + S2)) <= ((1 + u) ^ (K - 1) - 1) * (t1 + t2) + g * (d1 + d2))
        by lra.
      assert (I' : Rabs (y + z - (S1 + S2)) <= ((1 + u) ^ K - 1) * (t1 + t2)
        + (1 + u) * g * lost false (ks ++ js) l w) by (rewrite GO in GD; lra).
      destruct (rounded_off f some finite _ w (FIT I') R) as (HW & OW).
      split; [exact HW|]. split; [|rewrite reals_app; lia]. eapply Rle_trans.
      + apply (round_once u (K - 1) (S1 + S2) (t1 + t2) (g * (d1 + d2))
          (y + z) w eta); auto; try lra.
        apply Rmult_le_pos; lra.
      + replace (S (K - 1)) with K by (rewrite KE; lia). lra. }
  destruct OK as (HW & NW & ZW). constructor; auto. rewrite !over_app. fold S1 S2 t1 t2.
  replace (reals (ks ++ js) + deep l - bit false)%nat with K by (unfold K; simpl; lia). exact NW.
Qed.

Lemma collected_sound raw ks l y : collected f h x raw ks l y -> Forall good ks ->
  (length ks <= most)%nat -> sound raw ks l y.
Proof.
  induction 1 as [k e l H|ks r l y C IH|ks l y z C IH M|raw ks js l y z w C IH C' IH' R];
    intros G L.
  - inversion G. apply sound_one; auto.
  - apply sound_times; auto.
  - eapply sound_rounded; eauto.
  - assert (GG := G). apply Forall_app in GG. destruct GG. assert (LL := L).
    rewrite app_length in LL. apply sound_sum with (raw := raw) (y := y) (z := z); auto;
    [apply IH | apply IH']; auto; lia.
Qed.

Lemma pre_all k : pre [] k = prod (h k).
Proof. unfold pre. simpl. rewrite Nat.sub_0_r, firstn_all. reflexivity. Qed.

(** Theorem. *)
Theorem collected_close ks y : collected f h x false ks [] y -> Forall good ks ->
  (length ks <= most)%nat ->
  let F := fun k => if real k then prod (h k) * x k else 0 in
  Rabs (y - over F ks) <= ((1 + u) ^ (reals ks + (B - 1)) - 1) * over (fun k => Rabs (F k)) ks
    + rho ^ (B - 1) * (1 + u) ^ (length ks + (B - 1))
      * (tau * INR (length ks)
         + 2 * (3 * tau * X * INR (hidden ks) + eta * (INR (length ks) * (INR B + 2)))).
Proof.
  intros C G L F. destruct (collected_sound false ks [] y C G L) as [P E H N _].
  assert (EF : forall k, In k ks -> own [] k = F k)
    by (intros; unfold own, F; rewrite pre_all; reflexivity).
  rewrite (over_eq (own []) F) in N by exact EF.
  rewrite (over_eq (size_own []) (fun k => Rabs (F k))) in N
    by (intros k I; unfold size_own; rewrite EF; auto).
  unfold grown, deep in N. cbn [length bit] in N. rewrite !Nat.sub_0_r in N.
  eapply Rle_trans; [exact N|]. apply Rplus_le_compat_l. apply Rmult_le_compat_l.
  - assert (Q := units (length ks + (B - 1))). assert (Q' := power_one rho (B - 1) R1). nra.
  - unfold lost, weak. assert (A := alive_bounds y). simpl (INR (bit false)).
    simpl (INR (length [])).
    assert (tau * (INR (length ks) - alive y) <= tau * INR (length ks))
      by (apply Rmult_le_compat_l; lra).
    assert (eta * (INR (length ks) * (INR B - 0 + 2) - 1 - 0) <= eta * (INR (length ks) *
      (INR B + 2)))
      by (apply Rmult_le_compat_l; lra). lra.
Qed.
End Collected.
