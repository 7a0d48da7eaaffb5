(** What an MLP makes of numbers that are off: forms in which the same error of an input is
    cancelled where units subtract it (Lemmas 6 to 10 of docs/proofs/arithmetic.md, with a slope for
    each input). *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Program Invariant Domains Arithmetic Recurrent Rounding Transformer
  Bounds Lists.
Import ListNotations.
Open Scope R_scope.

(** A number in units of 2^-g: slopes times 2^v, times what each input is off, and a rest;
    and the interval of it all. *)
Record affine := { slopes : list Z; rest : interval; range : interval }.

Definition center (x : interval) : Z := ((fst x + snd x) / 2)%Z.
Definition radius (x : interval) : Z := Z.max (snd x - center x) (center x - fst x).
Definition input (i : nat) (x : interval) : affine :=
  {| slopes := if (radius x =? 0)%Z then [] else repeat 0%Z i ++ [1%Z];
     rest := (center x, center x); range := x |}.
Fixpoint inputs_from (i : nat) (xs : list interval) : list affine :=
  match xs with [] => [] | x :: r => input i x :: inputs_from (S i) r end.

Fixpoint added (a b : list Z) : list Z :=
  match a, b with
  | [], _ => b | _, [] => a | x :: a', y :: b' => (x + y)%Z :: added a' b' end.

(** How far slopes may carry what is off. *)
Fixpoint drift (ks radii : list Z) : Z :=
  match ks, radii with k :: ks', r :: radii' => (Z.abs k * r + drift ks' radii')%Z | _, _ => 0%Z end.

(** Forms times weights, with slopes and a rest. *)
Fixpoint combined (ws : list Z) (us : list affine) : list Z * interval :=
  match ws, us with
  | w :: ws', u :: us' =>
      if (w =? 0)%Z then combined ws' us'
      else let c := combined ws' us' in let x := scaled w (rest u) in
           (added (map (Z.mul w) (slopes u)) (fst c),
            (fst x + fst (snd c), snd x + snd (snd c))%Z)
  | _, _ => ([], nil_interval)
  end.

Definition activated (a : affine) : affine :=
  if (0 <=? fst (range a))%Z then a
  else let x := positive_part (range a) in {| slopes := []; rest := x; range := x |}.

(** A unit: what it reads in which units, and its bias. *)
Definition dotted (t : tensor) (j : nat) : Z * list Z := (unit t, column t j).
Definition unit_of (g : Z) (w : tensor) (b : tensor) (u : nat) : (Z * list Z) * interval :=
  (dotted w u, exactly g b 0 u).
(** A layer: the units of its weights, and its units. *)
Definition ready (g : Z) (l : layer) : Z * list ((Z * list Z) * interval) :=
  (unit (weight l), map (unit_of g (weight l) (bias l)) (seq 0 (fan l))).

Section Flow.
Variables (A : arithmetic) (g : Z).

Definition read_by (xs : list interval) (u : (Z * list Z) * interval) : tally :=
  both (coarse (fst (fst u)) (weighed (snd (fst u)) xs)) (single (snd u)).
Definition fired (xs : list interval) (u : (Z * list Z) * interval) : option interval :=
  rounding A g (read_by xs u).

(** A unit of forms with slopes in units of 2^v. Where the sum is rounded more than it
    moves, it goes by multiples beside the terms, and slopes are of no use. *)
Definition still (x : interval) : affine := {| slopes := []; rest := x; range := x |}.
Definition sloped (v : Z) (radii : list Z) (k : Z) (b : interval) (c : list Z * interval)
    (e : Z) : affine :=
  let r := wider e (down k (fst (snd c)) + fst b, up k (snd (snd c)) + snd b)%Z in
  {| slopes := fst c; rest := r; range := wider (up (v + k) (drift (fst c) radii)) r |}.
(** A unit from what it reads in units of 2^k, as terms and as forms, and its bias. *)
Definition lift (v : Z) (radii : list Z) (k : Z) (b : interval) (a : tally)
    (c : list Z * interval) : option affine :=
  match settled A g a, slip A g a with
  | Some m, Some e =>
      Some (if (m <=? e)%Z then still (wider m (middle a)) else sloped v radii k b c e)
  | Some m, None => Some (still (wider m (middle a)))
  | None, Some e => Some (sloped v radii k b c e)
  | None, None => None
  end.
Definition lifted (v : Z) (radii : list Z) (us : list affine) (xs : list interval)
    (u : (Z * list Z) * interval) : option affine :=
  lift v radii (fst (fst u)) (snd u) (read_by xs u) (combined (snd (fst u)) us).

Fixpoint flow (v : Z) (radii : list Z) (ls : list (Z * list ((Z * list Z) * interval))) (i : nat)
    (us : list affine) : option interval :=
  match ls with
  | [] => Some nil_interval
  | l :: r =>
      let xs := map range us in
      match r with
      | [] => match nth_error (snd l) i with
              | Some u => match lifted v radii us xs u with
                          | Some a => Some (range a) | None => None end
              | None => None end
      | _ => match all (lifted v radii us xs) (snd l) with
             | Some ys => flow (v + fst l) radii r i (map activated ys) | None => None end
      end
  end.

(** The bias of output i, if the last layer reads nothing for it. *)
Fixpoint idle (ls : list (Z * list ((Z * list Z) * interval))) (i : nat) : option interval :=
  match ls with
  | [] => None
  | l :: [] => match nth_error (snd l) i with
               | Some u => if forallb (Z.eqb 0) (snd (fst u)) then Some (snd u) else None
               | None => None end
  | _ :: r => idle r i
  end.

(** Output i of layers that are given numbers in these intervals. *)
Definition fed (ls : list (Z * list ((Z * list Z) * interval))) (i : nat) (xs : list interval)
    : option interval :=
  match idle ls i with
  | Some b => rounding A g (single b)
  | None => flow 0 (map radius xs) ls i (inputs_from 0 xs)
  end.

(** * Soundness *)

Fixpoint slanted (ks : list Z) (d : nat -> R) : R :=
  match ks with [] => 0 | k :: r => IZR k * d O + slanted r (fun i => d (S i)) end.

Definition follows (d : nat -> R) (v : Z) (a : affine) (y : R) : Prop :=
  inside g (range a) y /\ exists r, IZR (fst (rest a)) <= r <= IZR (snd (rest a))
    /\ y * pow g = slanted (slopes a) d * pow v + r.

Lemma slanted_added : forall a b d, slanted (added a b) d = slanted a d + slanted b d.
Proof.
  induction a as [|x a IH]; intros [|y b] d; simpl; try ring. rewrite IH, plus_IZR. ring.
Qed.

Lemma slanted_times w : forall ks d, slanted (map (Z.mul w) ks) d = IZR w * slanted ks d.
Proof.
  induction ks as [|k ks IH]; intros d; cbn [map slanted]; [ring|]. rewrite IH, mult_IZR. ring.
Qed.

Lemma slanted_one : forall i d, slanted (repeat 0%Z i ++ [1%Z]) d = d i.
Proof. induction i as [|i IH]; intros d; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma slanted_drift : forall ks radii d, (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  Rabs (slanted ks d) <= IZR (drift ks radii).
Proof.
  induction ks as [|k ks IH]; intros radii d H; simpl; [rewrite Rabs_R0; lra|].
  assert (H0 := H O). destruct radii as [|r radii].
  - assert (Z : forall i, d i = 0).
    { intros i. specialize (H i). replace (nth i (@nil Z) 0%Z) with 0%Z in H by (destruct i; auto).
      assert (P := Rabs_pos (d i)). destruct (Req_dec (d i) 0) as [E|E]; auto.
      apply Rabs_pos_lt in E. lra. }
    rewrite Z, Rmult_0_r, Rplus_0_l. specialize (IH [] (fun i => d (S i))).
    destruct ks; simpl in *; [rewrite Rabs_R0; lra|]. apply IH. intros i. rewrite Z, Rabs_R0.
    destruct i; lra.
  - rewrite plus_IZR, mult_IZR, abs_IZR. eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat.
    + rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|exact H0].
    + apply IH. intros i. apply (H (S i)).
Qed.

Definition followed (d : nat -> R) (v : Z) (us : list affine) (h : nat -> R) : Prop :=
  forall i u, nth_error us i = Some u -> follows d v u (h i).

Lemma followed_insides d v us h : followed d v us h -> insides g (map range us) h.
Proof.
  intros H i L. rewrite map_length in L. destruct (nth_error us i) as [u|] eqn:E;
    [|apply nth_error_None in E; lia].
  rewrite (nth_error_nth _ _ _ (map_nth_error range _ _ E)). apply (H i u E).
Qed.

Lemma followed_cons d v u us h : followed d v (u :: us) h ->
  follows d v u (h O) /\ followed d v us (fun i => h (S i)).
Proof. intros H. split; [apply (H O); reflexivity|]. intros i x N. apply (H (S i)), N. Qed.

(** The total of products with weights in units of 2^k. *)
Lemma combined_total d v k : forall ws us h, followed d v us h -> exists r,
  IZR (fst (snd (combined ws us))) <= r <= IZR (snd (snd (combined ws us)))
  /\ total (map (fun i => Product (h i) (IZR (nth i ws 0%Z) * pow k)) (seq 0 (length us))) * pow g
     = slanted (fst (combined ws us)) d * pow (v + k) + r * pow k.
Proof.
  assert (Z : forall us h, total (map (fun i => Product (h i) (IZR (nth i (@nil Z) 0%Z) * pow k))
    (seq 0 (@length affine us))) = 0).
  { intros us h. apply (nothing (map _ (seq 0 (@length affine us)))). apply Forall_forall.
    intros t I. apply in_map_iff in I. destruct I as (i & <- & _). simpl. destruct i; simpl; ring. }
  induction ws as [|w ws IH]; intros us h H.
  - exists 0. simpl combined. rewrite Z. simpl. split; [lra|ring].
  - destruct us as [|u us].
    + exists 0. simpl. split; [lra|]. unfold total. simpl. ring.
    + apply followed_cons in H. destruct H as ((_ & r0 & B0 & E0) & H). specialize (IH us _ H).
      destruct IH as (r & B & E). cbn [length]. rewrite <- cons_seq, <- seq_shift, map_cons, map_map.
      cbn [nth]. match goal with |- context [total (?a :: ?l)] => change (a :: l) with ([a] ++ l) end.
      rewrite total_app, Rmult_plus_distr_r, E.
      assert (T : total [Product (h O) (IZR w * pow k)] = h O * (IZR w * pow k))
        by (unfold total; simpl; ring). rewrite T. clear T E.
      cbn [combined]. destruct (w =? 0)%Z eqn:W.
      * apply Z.eqb_eq in W. subst w. exists r. split; [exact B|]. ring.
      * cbn [fst snd]. assert (Q := scaled_inside w (rest u) r0 B0).
        exists (IZR w * r0 + r). rewrite !plus_IZR. split; [lra|].
        rewrite slanted_added, slanted_times, bpow_plus.
        replace (h O * (IZR w * pow k) * pow g) with (IZR w * (h O * pow g) * pow k) by ring.
        rewrite E0. ring.
Qed.

Lemma activated_follows d v a y : follows d v a y -> follows d v (activated a) (Rmax y 0).
Proof.
  intros (I & r & B & E). unfold activated. destruct (0 <=? fst (range a))%Z eqn:P.
  - apply Z.leb_le, IZR_le in P. assert (0 <= y).
    { destruct I as (I & _). assert (Q := bpow_gt_0 radix2 g). apply Rmult_le_reg_r with (pow g); lra. }
    rewrite Rmax_left by lra. split; [exact I|]. exists r. auto.
  - assert (J := positive_inside g _ _ I). split; [exact J|]. exists (Rmax y 0 * pow g).
    split; [exact J|]. simpl. ring.
Qed.

Lemma read_counted xs wt bt u h d : insides g xs h -> length xs = d ->
  counted (- g) (dots d h wt u ++ [Number (entry bt 0 u)]) (read_by xs (unit_of g wt bt u)).
Proof.
  intros I L. simpl. apply counted_app; [apply dots_counted; auto|].
  apply number_counted, exactly_inside.
Qed.

Lemma fired_sound xs wt bt u X h d y : fired xs (unit_of g wt bt u) = Some X ->
  insides g xs h -> length xs = d ->
  sum A (dots d h wt u ++ [Number (entry bt 0 u)]) y -> inside g X y.
Proof.
  intros F I L D. eapply rounding_sound; [exact F| |exact D].
  apply read_counted; auto.
Qed.

Lemma still_follows d v x y : inside g x y -> follows d v (still x) y.
Proof. intros I. split; [exact I|]. exists (y * pow g). split; [exact I|]. simpl. ring. Qed.

Lemma sloped_follows d v radii us wt bt u e h n y :
  slip A g (read_by (map range us) (unit_of g wt bt u)) = Some e ->
  (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  followed d v us h -> length us = n ->
  sum A (dots n h wt u ++ [Number (entry bt 0 u)]) y ->
  follows d (v + unit wt) (sloped v radii (unit wt) (exactly g bt 0 u) (combined (column wt u) us) e) y.
Proof.
  intros E R H L D.
  assert (C := read_counted (map range us) wt bt u h n (followed_insides _ _ _ _ H)
    ltac:(rewrite map_length; exact L)).
  assert (S := slip_sound g A _ _ e y E C D).
  rewrite total_app in S. destruct (combined_total d v (unit wt) (column wt u) us h H) as (r & B & T).
  replace (total (dots n h wt u)) with (total (map (fun i => Product (h i)
    (IZR (nth i (column wt u) 0%Z) * pow (unit wt))) (seq 0 (length us)))) in S.
  2:{ rewrite L. unfold dots. f_equal. apply map_ext. intros i. rewrite nth_column. reflexivity. }
  replace (total [Number (entry bt 0 u)]) with (entry bt 0 u) in S by (unfold total; simpl; ring).
  set (t := total (map _ (seq 0 (length us)))) in *. clearbody t.
  unfold sloped. set (c := combined (column wt u) us) in *.
  assert (I := exactly_inside g bt 0 u). set (b := exactly g bt 0 u) in *.
  set (k := unit wt) in *.
  assert (P := bpow_gt_0 radix2 g).
  assert (S' : Rabs (y * pow g - (t + entry bt 0 u) * pow g) <= IZR e).
  { replace (y * pow g - (t + entry bt 0 u) * pow g) with ((y - (t + entry bt 0 u)) * pow g) by ring.
    rewrite Rabs_mult, (Rabs_pos_eq (pow g)) by lra. exact S. }
  apply Rabs_le_inv in S'. destruct I as (I1 & I2).
  assert (U1 := down_below k (fst (snd c))). assert (U2 := up_above k (snd (snd c))).
  assert (Q := bpow_gt_0 radix2 k).
  assert (V1 : IZR (fst (snd c)) * pow k <= r * pow k) by (apply Rmult_le_compat_r; lra).
  assert (V2 : r * pow k <= IZR (snd (snd c)) * pow k) by (apply Rmult_le_compat_r; lra).
  set (ro := (down k (fst (snd c)) + fst b, up k (snd (snd c)) + snd b)%Z) in *.
  assert (G : exists r', IZR (fst (wider e ro)) <= r' <= IZR (snd (wider e ro))
    /\ y * pow g = slanted (fst c) d * pow (v + k) + r').
  { exists (y * pow g - slanted (fst c) d * pow (v + k)). split; [|ring].
    unfold wider, ro. cbn [fst snd]. rewrite minus_IZR, !plus_IZR. lra. }
  assert (W : Rabs (slanted (fst c) d * pow (v + k)) <= IZR (up (v + k) (drift (fst c) radii))).
  { rewrite Rabs_mult, (Rabs_pos_eq (pow (v + k))) by apply bpow_ge_0.
    eapply Rle_trans; [|apply up_above]. apply Rmult_le_compat_r; [apply bpow_ge_0|].
    apply slanted_drift, R. }
  split; [|exact G]. destruct G as (r' & G1 & G2). cbn [range].
  apply Rabs_le_inv in W. unfold inside. unfold wider at 1 3. cbn [fst snd].
  rewrite minus_IZR, plus_IZR. lra.
Qed.

Lemma lifted_sound d v radii us wt bt u a h n y :
  lifted v radii us (map range us) (unit_of g wt bt u) = Some a ->
  (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  followed d v us h -> length us = n ->
  sum A (dots n h wt u ++ [Number (entry bt 0 u)]) y -> follows d (v + unit wt) a y.
Proof.
  intros F R H L D. unfold lifted, lift in F.
  assert (C := read_counted (map range us) wt bt u h n (followed_insides _ _ _ _ H)
    ltac:(rewrite map_length; exact L)).
  destruct (settled A g _) as [m|] eqn:M.
  - destruct (settled_sound g A _ _ m y M C D) as (I & _).
    destruct (slip A g _) as [e|] eqn:E; [destruct (m <=? e)%Z|];
      (match type of F with Some ?z = _ => assert (a = z) by congruence end); subst a;
      [apply still_follows, I|eapply sloped_follows; eauto|apply still_follows, I].
  - destruct (slip A g _) as [e|] eqn:E; [|discriminate].
    match type of F with Some ?z = _ => assert (a = z) by congruence end. subst a.
    eapply sloped_follows; eauto.
Qed.

Lemma flow_sound i d radii : (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  forall ls v us X h n fo, flow v radii (map (ready g) ls) i us = Some X ->
  followed d v us h -> length us = n -> feeds A n h ls fo -> inside g X (fo i).
Proof.
  intros R. induction ls as [|l ls IH]; intros v us X h n fo E I L D.
  - simpl in *. inversion E; subst. rewrite D. unfold inside; simpl. lra.
  - cbn [feeds] in D. destruct D as (x & U & D). cbn [map flow] in E.
    assert (ONE : forall k a u, nth_error (snd (ready g l)) k = Some u ->
      lifted v radii us (map range us) u = Some a ->
      (k < fan l)%nat /\ follows d (v + unit (weight l)) a (x k)).
    { intros k a u N F. unfold ready in N. cbn [snd] in N. rewrite nth_error_map in N.
      destruct (nth_error (seq 0 (fan l)) k) as [k'|] eqn:S; [|discriminate].
      apply nth_seq in S. destruct S as (-> & S). cbn [option_map] in N.
      assert (u = unit_of g (weight l) (bias l) (0 + k)) by congruence. subst u. simpl plus in F.
      split; [exact S|]. eapply lifted_sound; [exact F|exact R|exact I|exact L|apply U, S]. }
    destruct ls as [|l' ls].
    + cbn [map] in E. destruct (nth_error (snd (ready g l)) i) as [u|] eqn:N; [|discriminate].
      destruct (lifted _ _ _ _ u) as [a|] eqn:F; [|discriminate].
      destruct (ONE i a u N F) as (S & G). rewrite D by exact S. inversion E; subst X. apply G.
    + change (match map (ready g) (l' :: ls) with [] => _ | _ => ?q end) with q in E.
      destruct (all _ (snd (ready g l))) as [ys|] eqn:Y; [|discriminate].
      assert (YL : length ys = fan l).
      { apply all_length in Y. unfold ready in Y. cbn [snd] in Y.
        rewrite map_length, seq_length in Y. exact Y. }
      eapply IH; [exact E| |rewrite map_length; exact YL|exact D].
      intros k a N. rewrite nth_error_map in N. destruct (nth_error ys k) as [z|] eqn:M; [|discriminate].
      inversion N; subst a. apply activated_follows.
      destruct (all_nth _ _ _ Y k z M) as (u & NU & FU). eapply ONE; eauto.
Qed.

Lemma inputs_nth : forall xs k i a, nth_error (inputs_from k xs) i = Some a ->
  exists x, nth_error xs i = Some x /\ a = input (k + i) x.
Proof.
  induction xs as [|x xs IH]; intros k [|i] a H; try discriminate; simpl in H.
  - inversion H; subst. exists x. rewrite Nat.add_0_r. auto.
  - destruct (IH _ _ _ H) as (y & Y & ->). exists y. split; [exact Y|]. f_equal. lia.
Qed.

Lemma inputs_length : forall xs k, length (inputs_from k xs) = length xs.
Proof. induction xs; intros k; simpl; auto. Qed.

Lemma idle_sound i b X fo : rounding A g (single b) = Some X ->
  forall ls n h, idle (map (ready g) ls) i = Some b -> feeds A n h ls fo -> inside g X (fo i).
Proof.
  intros R. induction ls as [|l ls IH]; intros n h E D; [discriminate|].
  cbn [feeds] in D. destruct D as (x & U & D). destruct ls as [|l' ls].
  - cbn [map idle ready snd] in E. rewrite nth_error_map in E.
    destruct (nth_error (seq 0 (fan l)) i) as [k|] eqn:N; [|discriminate].
    apply nth_seq in N. destruct N as (-> & L). cbn [option_map unit_of dotted fst snd plus] in E.
    destruct (forallb (Z.eqb 0) (column (weight l) i)) eqn:Z; [|discriminate].
    assert (B : b = exactly g (bias l) 0 i) by congruence. subst b. clear E.
    rewrite D by exact L. eapply rounding_sound; [exact R| |apply U, L].
    apply counted_idle; [|apply number_counted, exactly_inside].
    apply Forall_forall. intros t I. apply in_map_iff in I. destruct I as (j & <- & _).
    cbn [value]. unfold entry. rewrite <- nth_column.
    destruct (nth_in_or_default j (column (weight l) i) 0%Z) as [I| ->]; [|ring].
    rewrite forallb_forall in Z. apply Z in I. apply Z.eqb_eq in I. rewrite <- I. ring.
  - change (idle (map (ready g) (l :: l' :: ls)) i) with (idle (map (ready g) (l' :: ls)) i) in E.
    eapply IH; [exact E|exact D].
Qed.

Theorem fed_sound i ls xs X h d fo : fed (map (ready g) ls) i xs = Some X ->
  insides g xs h -> length xs = d -> feeds A d h ls fo -> inside g X (fo i).
Proof.
  intros E I L D. unfold fed in E. destruct (idle (map (ready g) ls) i) as [b|] eqn:ID.
  { eapply idle_sound; eauto. }
  set (off := fun i => if (i <? length xs)%nat
    then h i * pow g - IZR (center (nth i xs nil_interval)) else 0).
  eapply (flow_sound i off (map radius xs)); [|exact E| |rewrite inputs_length; exact L|exact D].
  - intros k. unfold off. destruct (k <? length xs)%nat eqn:K.
    + apply Nat.ltb_lt in K. specialize (I k K). destruct I as (I1 & I2).
      change 0%Z with (radius nil_interval). rewrite map_nth.
      set (x := nth k xs nil_interval) in *. unfold radius. apply Rabs_le.
      assert (M1 : IZR (snd x) - IZR (center x) <= IZR (Z.max (snd x - center x) (center x - fst x)))
        by (rewrite <- minus_IZR; apply IZR_le; lia).
      assert (M2 : IZR (center x) - IZR (fst x) <= IZR (Z.max (snd x - center x) (center x - fst x)))
        by (rewrite <- minus_IZR; apply IZR_le; lia). lra.
    + apply Nat.ltb_ge in K. rewrite nth_overflow by (rewrite map_length; lia). rewrite Rabs_R0. lra.
  - intros k a N. destruct (inputs_nth _ _ _ _ N) as (x & M & ->). simpl plus.
    assert (K : (k < length xs)%nat) by (apply nth_error_Some; congruence).
    assert (J := I k K). rewrite (nth_error_nth _ _ _ M) in J. split; [exact J|].
    exists (IZR (center x)). split; [unfold input; cbn [rest fst snd]; lra|].
    assert (O : off k = h k * pow g - IZR (center x)).
    { unfold off. apply Nat.ltb_lt in K. rewrite K, (nth_error_nth _ _ _ M). reflexivity. }
    unfold input. cbn [slopes]. destruct (radius x =? 0)%Z eqn:Z.
    + apply Z.eqb_eq in Z. simpl. destruct J as (J1 & J2). unfold radius in Z.
      assert (snd x <= center x /\ center x <= fst x)%Z by lia. destruct H as (H1 & H2).
      apply IZR_le in H1, H2. lra.
    + rewrite slanted_one, O. simpl. ring.
Qed.
End Flow.
