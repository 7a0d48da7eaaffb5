(** Numbers with common noises: x = b + s_0 e_0 + s_1 e_1 + … with b in an interval and
    |e_i| <= 1, in units of 2^-64 (Lemmas 18d and 18e of docs/proofs/gated.md). *)
From Coq Require Import Reals ZArith List Bool Lia Lra Psatz.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Recurrent RecurrentSound Mean Tanh.
Import ListNotations.
Open Scope R_scope.

Record form := { lo : Z; hi : Z; slopes : list Z }.

Fixpoint spread (s : list Z) : Z := match s with [] => 0 | a :: r => Z.abs a + spread r end%Z.
Definition point (z : Z) : form := {| lo := z; hi := z; slopes := [] |}.
Definition plus (x y : form) : form :=
  {| lo := lo x + lo y; hi := hi x + hi y; slopes := add (slopes x) (slopes y) |}.
Definition times (w : Z) (x : form) : form :=
  {| lo := if (w <? 0)%Z then w * hi x else w * lo x;
     hi := if (w <? 0)%Z then w * lo x else w * hi x; slopes := map (Z.mul w) (slopes x) |}.
(** A form and w times another one, at once. *)
Fixpoint add_times (w : Z) (s t : list Z) : list Z :=
  match s, t with
  | a :: s', b :: t' => (w * a + b)%Z :: add_times w s' t'
  | [], _ => t
  | _, [] => map (Z.mul w) s
  end.
Definition plus_times (x : form) (w : Z) (y : form) : form :=
  {| lo := lo x + (if w <? 0 then w * hi y else w * lo y);
     hi := hi x + (if w <? 0 then w * lo y else w * hi y);
     slopes := add_times w (slopes y) (slopes x) |}%Z.
Definition wider (d : Z) (x : form) : form :=
  {| lo := lo x - d; hi := hi x + d; slopes := slopes x |}.
Definition least_of (x : form) : Z := (lo x - spread (slopes x))%Z.
Definition most_of (x : form) : Z := (hi x + spread (slopes x))%Z.
Definition magnitude (x : form) : Z :=
  let s := spread (slopes x) in Z.max (Z.abs (lo x - s)) (Z.abs (hi x + s)).

(** Division by d, rounded outwards. *)
Definition over (d : Z) (x : form) : form :=
  let k := Z.of_nat (length (slopes x)) in
  {| lo := lo x / d - k; hi := - (- hi x / d) + k; slopes := map (fun s => s / d)%Z (slopes x) |}.

(** The product. *)
Definition least4 (a b c d : Z) : Z := Z.min (Z.min a b) (Z.min c d).
Definition most4 (a b c d : Z) : Z := Z.max (Z.max a b) (Z.max c d).
(** What is in the product of two sums of noises: from squares of noises, at least and at
    most; and from all others, at most. *)
Fixpoint crossed (s t : list Z) : Z * Z * Z :=
  match s, t with
  | a :: s', b :: t' =>
      let '(least, most, rest) := crossed s' t' in
      let c := (a * b)%Z in
      ((if (c <? 0)%Z then least + c else least)%Z, (if (c <? 0)%Z then most else most + c)%Z,
       (rest + Z.abs a * spread t' + Z.abs b * spread s')%Z)
  | _, _ => (0, 0, spread s * spread t)%Z
  end.
Definition halfway (x : form) : Z := ((lo x + hi x) / 2)%Z.
Definition multiply (x y : form) : form :=
  let a := (lo x * lo y)%Z in let b := (lo x * hi y)%Z in
  let c := (hi x * lo y)%Z in let d := (hi x * hi y)%Z in
  let base := {| lo := least4 a b c d; hi := most4 a b c d; slopes := [] |} in
  match slopes x, slopes y with
  | [], [] => over (2 ^ 64) base
  | s, t =>
      let m := halfway x in let k := halfway y in
      let '(least, most, rest) := crossed s t in
      let off := (Z.max (hi x - m) (m - lo x) * spread t
                  + Z.max (hi y - k) (k - lo y) * spread s + rest)%Z in
      over (2 ^ 64) (wider off {| lo := lo base + least; hi := hi base + most;
                                  slopes := add (map (Z.mul m) t) (map (Z.mul k) s) |})
  end.

(** What holds whatever one of two holds. *)
Definition either (x y : form) : form :=
  let d := spread (add (slopes y) (map (Z.mul (-1)) (slopes x))) in
  {| lo := Z.min (lo x) (lo y - d); hi := Z.max (hi x) (hi y + d); slopes := slopes x |}.

(** The logistic function: of an interval by its ends, else along a line. Far from 0 it is
    known once for all. *)
Definition far : Z := (24 * 2 ^ 64)%Z.
Definition sigma_far : Z := sigma_below 64 far.
Definition sigma_small : Z := sigma_above 64 (- far).
Definition sigma_low (x : Z) : Z :=
  if (x <=? - far)%Z then 0%Z else if (far <=? x)%Z then sigma_far else sigma_below 64 x.
Definition sigma_high (x : Z) : Z :=
  if (far <=? x)%Z then (2 ^ 64)%Z else if (x <=? - far)%Z then sigma_small
  else sigma_above 64 x.
Definition slope_at (y : Z) : Z := (y * (2 ^ 64 - y))%Z.
Definition logistic (x : form) : form :=
  let l := least_of x in let u := most_of x in
  let p := Z.max 0 (sigma_low l) in let q := Z.min (2 ^ 64) (sigma_high u) in
  let plain := {| lo := p; hi := q; slopes := [] |} in
  match slopes x with
  | [] => plain
  | _ =>
      let m := ((l + u) / 2)%Z in
      let r := Z.max (u - m) (m - l) in
      let d := (Z.min (slope_at p) (slope_at q) / 2 ^ 64)%Z in
      let top := if ((p <=? 2 ^ 63) && (2 ^ 63 <=? q))%Z then (2 ^ 126)%Z
                 else Z.max (slope_at p) (slope_at q) in
      let e := (top / 2 ^ 64 + 1)%Z in
      let k := ((d + e) / 2)%Z in
      let off := (Z.max (e - k) (k - d) * r / 2 ^ 64 + 1)%Z in
      if (q - p <=? 2 * off)%Z then plain
      else plus (wider off (over (2 ^ 64) (times k (plus x (point (- m))))))
             {| lo := sigma_low m; hi := sigma_high m; slopes := [] |}
  end.
Definition tangent (x : form) : form :=
  plus (times 2 (logistic (times 2 x))) (point (- 2 ^ 64)).

(** * What forms hold *)

Fixpoint noise (s : list Z) (e : nat -> R) : R :=
  match s with [] => 0 | a :: r => IZR a * e O + noise r (fun i => e (S i)) end.
Definition tame (e : nat -> R) : Prop := forall i, Rabs (e i) <= 1.
Definition holds (e : nat -> R) (x : form) (y : R) : Prop :=
  IZR (lo x) <= y * pow 64 - noise (slopes x) e <= IZR (hi x).

Lemma noise_add : forall s t e, noise (add s t) e = noise s e + noise t e.
Proof.
  induction s as [|a s IH]; intros [|b t] e; simpl; try ring. rewrite IH, plus_IZR. ring.
Qed.
Lemma noise_times w : forall s e, noise (map (Z.mul w) s) e = IZR w * noise s e.
Proof. induction s as [|a s IH]; intros e; simpl; [ring|]. rewrite IH, mult_IZR. ring. Qed.

Lemma noise_spread : forall s e, tame e -> Rabs (noise s e) <= IZR (spread s).
Proof.
  induction s as [|a s IH]; intros e T; [simpl; rewrite Rabs_R0; apply Rle_refl|].
  cbn [noise spread]. rewrite plus_IZR.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - rewrite Rabs_mult, abs_IZR. rewrite <- (Rmult_1_r (Rabs (IZR a))) at 2.
    apply Rmult_le_compat_l; [apply Rabs_pos|apply T].
  - apply IH. intros i. apply T.
Qed.
Lemma noise_add_times w : forall s t e,
  noise (add_times w s t) e = noise t e + IZR w * noise s e.
Proof.
  induction s as [|a s IH]; intros [|b t] e; cbn [add_times].
  - cbn [noise]. ring.
  - cbn [noise]. ring.
  - rewrite noise_times. cbn [noise]. ring.
  - cbn [noise]. rewrite IH, plus_IZR, mult_IZR. ring.
Qed.
Lemma plus_times_same e x w y a : holds e (plus x (times w y)) a -> holds e (plus_times x w y) a.
Proof.
  unfold holds. cbn [lo hi slopes plus times plus_times].
  rewrite noise_add, noise_times, noise_add_times. intros. lra.
Qed.

Lemma point_holds e z y : y * pow 64 = IZR z -> holds e (point z) y.
Proof. intros H. unfold holds. cbn [lo hi slopes point plus times wider either noise]. lra. Qed.
Lemma plus_holds e x y a b : holds e x a -> holds e y b -> holds e (plus x y) (a + b).
Proof.
  unfold holds. cbn [lo hi slopes point plus times wider either noise].
  rewrite noise_add, !plus_IZR. intros. lra.
Qed.
Lemma times_holds e w x a : holds e x a -> holds e (times w x) (IZR w * a).
Proof.
  unfold holds. cbn [lo hi slopes point plus times wider either noise]. rewrite noise_times.
  intros (L & H).
  replace (IZR w * a * pow 64 - IZR w * noise (slopes x) e)
    with (IZR w * (a * pow 64 - noise (slopes x) e)) by ring.
  set (d := a * pow 64 - noise (slopes x) e) in *.
  destruct (w <? 0)%Z eqn:E; rewrite !mult_IZR.
  - apply Z.ltb_lt, IZR_lt in E. nra.
  - apply Z.ltb_ge, IZR_le in E. nra.
Qed.
Lemma wider_holds e d x a b : holds e x a -> Rabs (b - a) * pow 64 <= IZR d ->
  holds e (wider d x) b.
Proof.
  unfold holds. cbn [lo hi slopes point plus times wider either noise].
  rewrite minus_IZR, plus_IZR. intros H B.
  assert (P := bpow_gt_0 radix2 64).
  rewrite <- (Rabs_pos_eq (pow 64)) in B by lra. rewrite <- Rabs_mult in B.
  apply Rabs_le_inv in B. lra.
Qed.
Lemma bounds_hold e x a : tame e -> holds e x a ->
  IZR (least_of x) <= a * pow 64 <= IZR (most_of x).
Proof.
  intros T H. unfold holds, least_of, most_of in *. rewrite minus_IZR, plus_IZR.
  assert (N := noise_spread (slopes x) e T). apply Rabs_le_inv in N. lra.
Qed.
Lemma magnitude_holds e x a : tame e -> holds e x a -> Rabs a * pow 64 <= IZR (magnitude x).
Proof.
  intros T H. apply (bounds_hold e) in H; [|exact T]. assert (P := bpow_gt_0 radix2 64).
  rewrite <- (Rabs_pos_eq (pow 64)) by lra. rewrite <- Rabs_mult.
  change (magnitude x) with (Z.max (Z.abs (least_of x)) (Z.abs (most_of x))).
  set (l := least_of x) in *. set (u := most_of x) in *.
  apply Rabs_le. split.
  - apply Rle_trans with (IZR l); [|tauto]. rewrite <- opp_IZR. apply IZR_le. lia.
  - apply Rle_trans with (IZR u); [tauto|]. apply IZR_le. lia.
Qed.

Lemma quotient_up d z : (0 < d)%Z -> IZR z / IZR d <= IZR (- (- z / d)).
Proof.
  intros P. assert (Q := quotient_below (- z) d P). rewrite opp_IZR in Q |- *.
  unfold Rdiv in *. lra.
Qed.
Lemma noise_over d : (0 < d)%Z -> forall s e, tame e ->
  Rabs (noise s e / IZR d - noise (map (fun a => a / d)%Z s) e) <= INR (length s).
Proof.
  intros P. induction s as [|a s IH]; intros e T.
  - simpl. unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. lra.
  - simpl noise. change (length (a :: s)) with (S (length s)). rewrite S_INR.
    specialize (IH (fun i => e (S i)) (fun i => T (S i))).
    replace ((IZR a * e O + noise s (fun i => e (S i))) / IZR d
             - (IZR (a / d) * e O + noise (map (fun a => a / d)%Z s) (fun i => e (S i))))
      with ((IZR a / IZR d - IZR (a / d)) * e O
            + (noise s (fun i => e (S i)) / IZR d
               - noise (map (fun a => a / d)%Z s) (fun i => e (S i))))
      by (unfold Rdiv; ring).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rplus_comm. apply Rplus_le_compat; auto.
    assert (L := quotient_below a d P). assert (U := quotient_above a d P).
    rewrite plus_IZR in U. rewrite Rabs_mult, <- (Rmult_1_r 1).
    apply Rmult_le_compat; try apply Rabs_pos; [|apply T].
    rewrite Rabs_pos_eq; lra.
Qed.
Lemma over_holds e d x a : tame e -> (0 < d)%Z -> holds e x a -> holds e (over d x) (a / IZR d).
Proof.
  intros T P (L & H). unfold holds, over. cbn [lo hi slopes].
  assert (N := noise_over d P (slopes x) e T). apply Rabs_le_inv in N.
  rewrite INR_IZR_INZ in N. set (k := Z.of_nat (length (slopes x))) in *.
  rewrite minus_IZR, plus_IZR. assert (QL := quotient_below (lo x) d P).
  assert (QU := quotient_up d (hi x) P).
  assert (D : 0 < / IZR d) by (apply Rinv_0_lt_compat, IZR_lt, P).
  set (s := noise (slopes x) e) in *.
  assert (BL : IZR (lo x) / IZR d <= a * pow 64 / IZR d - s / IZR d).
  { unfold Rdiv. rewrite <- Rmult_minus_distr_r. apply Rmult_le_compat_r; lra. }
  assert (BU : a * pow 64 / IZR d - s / IZR d <= IZR (hi x) / IZR d).
  { unfold Rdiv. rewrite <- Rmult_minus_distr_r. apply Rmult_le_compat_r; lra. }
  replace (a / IZR d * pow 64) with (a * pow 64 / IZR d) by (unfold Rdiv; ring). lra.
Qed.

Lemma ends_multiply l h k m x y : l <= x <= h -> k <= y <= m ->
  Rmin (Rmin (l * k) (l * m)) (Rmin (h * k) (h * m)) <= x * y
  <= Rmax (Rmax (l * k) (l * m)) (Rmax (h * k) (h * m)).
Proof.
  intros X Y. assert (B : Rmin (l * y) (h * y) <= x * y <= Rmax (l * y) (h * y)).
  { destruct (Rle_dec 0 y).
    - rewrite Rmin_left, Rmax_right by nra. nra.
    - rewrite Rmin_right, Rmax_left by nra. nra. }
  assert (C : forall z, Rmin (z * k) (z * m) <= z * y <= Rmax (z * k) (z * m)).
  { intros z. destruct (Rle_dec 0 z).
    - rewrite Rmin_left, Rmax_right by nra. nra.
    - rewrite Rmin_right, Rmax_left by nra. nra. }
  assert (L := C l). assert (H := C h). clear C. split.
  - eapply Rle_trans; [|apply B]. apply Rmin_glb.
    + eapply Rle_trans; [apply Rmin_l|]. lra.
    + eapply Rle_trans; [apply Rmin_r|]. lra.
  - eapply Rle_trans; [apply B|]. apply Rmax_lub.
    + eapply Rle_trans; [|apply Rmax_l]. lra.
    + eapply Rle_trans; [|apply Rmax_r]. lra.
Qed.
Lemma IZR_min a b : IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
  destruct (Z.le_ge_cases a b) as [H|H];
    [rewrite Z.min_l, Rmin_left|rewrite Z.min_r, Rmin_right]; auto; apply IZR_le; auto.
Qed.
Lemma IZR_max a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  destruct (Z.le_ge_cases a b) as [H|H];
    [rewrite Z.max_r, Rmax_right|rewrite Z.max_l, Rmax_left]; auto; apply IZR_le; auto.
Qed.

Lemma about_middle m l h b : IZR l <= b <= IZR h ->
  Rabs (b - IZR m) <= IZR (Z.max (h - m) (m - l)).
Proof.
  intros B. rewrite IZR_max, !minus_IZR. apply Rabs_le. split.
  - assert (Q := Rmax_r (IZR h - IZR m) (IZR m - IZR l)). lra.
  - eapply Rle_trans; [|apply Rmax_l]. lra.
Qed.

Lemma scaled_product e x a b : tame e -> holds e x (a * b * pow 64) ->
  holds e (over (2 ^ 64) x) (a * b).
Proof.
  intros T H. replace (a * b) with (a * b * pow 64 / IZR (2 ^ 64)).
  - apply over_holds; auto. lia.
  - rewrite (power_of_two 64) by lia. assert (P := bpow_gt_0 radix2 64). field. lra.
Qed.

Lemma noise_crossed : forall s t e least most rest, tame e ->
  crossed s t = (least, most, rest) ->
  IZR least - IZR rest <= noise s e * noise t e <= IZR most + IZR rest.
Proof.
  assert (plain : forall s t e, tame e ->
    IZR 0 - IZR (spread s * spread t) <= noise s e * noise t e <= IZR 0 + IZR (spread s * spread
      t)).
  { intros s t e T. assert (S := noise_spread s e T). assert (S' := noise_spread t e T).
    assert (B : Rabs (noise s e * noise t e) <= IZR (spread s * spread t)).
    { rewrite Rabs_mult, mult_IZR. apply Rmult_le_compat; auto; apply Rabs_pos. }
    apply Rabs_le_inv in B. lra. }
  induction s as [|a s IH]; intros [|b t] e least most rest T C; [..|idtac].
  1-3: cbn [crossed] in C; replace least with 0%Z by congruence;
    replace most with 0%Z by congruence;
    match type of C with (_, _, ?x) = _ => replace rest with x by congruence end;
    apply plain; exact T.
  cbn [crossed] in C. destruct (crossed s t) as ((l & m) & r) eqn:F. injection C as <- <- <-.
  assert (T' : tame (fun i => e (S i))) by (intros i; apply T).
  specialize (IH t _ l m r T' F). cbn [noise].
  set (p := noise s (fun i => e (S i))) in *. set (q := noise t (fun i => e (S i))) in *.
  assert (P : Rabs p <= IZR (spread s)) by apply noise_spread, T'.
  assert (Q : Rabs q <= IZR (spread t)) by apply noise_spread, T'.
  assert (E := T O). set (z := e O) in *.
  assert (X : Rabs (IZR a * z * q) <= IZR (Z.abs a) * IZR (spread t)).
  { rewrite !Rabs_mult, abs_IZR. apply Rmult_le_compat; auto; try apply Rabs_pos.
    - apply Rmult_le_pos; apply Rabs_pos.
    - rewrite <- (Rmult_1_r (Rabs (IZR a))) at 2. apply Rmult_le_compat_l;
      [apply Rabs_pos|exact E]. }
  assert (Y : Rabs (IZR b * z * p) <= IZR (Z.abs b) * IZR (spread s)).
  { rewrite !Rabs_mult, abs_IZR. apply Rmult_le_compat; auto; try apply Rabs_pos.
    - apply Rmult_le_pos; apply Rabs_pos.
    - rewrite <- (Rmult_1_r (Rabs (IZR b))) at 2. apply Rmult_le_compat_l;
      [apply Rabs_pos|exact E]. }
  apply Rabs_le_inv in X, Y, E. rewrite !plus_IZR, !mult_IZR.
  replace ((IZR a * z + p) * (IZR b * z + q))
    with (IZR a * IZR b * (z * z) + IZR a * z * q + IZR b * z * p + p * q) by ring.
  assert (ZZ : 0 <= z * z <= 1) by nra.
  destruct (a * b <? 0)%Z eqn:N; rewrite ?plus_IZR, ?mult_IZR.
  - apply Z.ltb_lt, IZR_lt in N. rewrite mult_IZR in N. nra.
  - apply Z.ltb_ge, IZR_le in N. rewrite mult_IZR in N. nra.
Qed.

(** Theorem (Lemma 18e). *)
Lemma multiply_holds e x y a b : tame e -> holds e x a -> holds e y b ->
  holds e (multiply x y) (a * b).
Proof.
  intros T HX HY. assert (MX := HX). assert (MY := HY). unfold holds in MX, MY.
  set (s := noise (slopes x) e) in *. set (t := noise (slopes y) e) in *.
  set (u := a * pow 64 - s) in *. set (v := b * pow 64 - t) in *.
  assert (E := ends_multiply _ _ _ _ u v MX MY).
  rewrite <- !mult_IZR, <- !IZR_min, <- !IZR_max in E.
  assert (S := noise_spread (slopes x) e T). assert (S' := noise_spread (slopes y) e T).
  fold s in S. fold t in S'. unfold multiply.
  assert (F : a * b * pow 64 * pow 64 = u * v + u * t + v * s + s * t).
  { replace (a * b * pow 64 * pow 64) with (a * pow 64 * (b * pow 64)) by ring.
    replace (a * pow 64) with (u + s) by (unfold u; ring).
    replace (b * pow 64) with (v + t) by (unfold v; ring). ring. }
  assert (general : forall p q, p = slopes x -> q = slopes y -> holds e
    (let '(least, most, rest) := crossed p q in
     let off := (Z.max (hi x - halfway x) (halfway x - lo x) * spread q
              + Z.max (hi y - halfway y) (halfway y - lo y) * spread p + rest)%Z in
    over (2 ^ 64) (wider off
       {| lo := least4 (lo x * lo y) (lo x * hi y) (hi x * lo y) (hi x * hi y) + least;
          hi := most4 (lo x * lo y) (lo x * hi y) (hi x * lo y) (hi x * hi y) + most;
          slopes := add (map (Z.mul (halfway x)) q) (map (Z.mul (halfway y)) p) |})) (a * b)).
  { intros p q -> ->. destruct (crossed (slopes x) (slopes y)) as ((least & most) & rest) eqn:C.
    assert (D := noise_crossed _ _ e _ _ _ T C). fold s t in D.
    apply scaled_product; auto. unfold holds. cbn [lo hi slopes wider].
    rewrite noise_add, !noise_times. fold s t. rewrite F, minus_IZR.
    rewrite (plus_IZR (least4 _ _ _ _) least), (plus_IZR (most4 _ _ _ _ + most)).
    rewrite (plus_IZR (most4 _ _ _ _) most).
    assert (X := about_middle (halfway x) _ _ _ MX). assert (Y := about_middle (halfway y) _ _ _
      MY).
    set (m := halfway x) in *. set (k := halfway y) in *.
    assert (B : Rabs ((u - IZR m) * t + (v - IZR k) * s)
                <= IZR (Z.max (hi x - m) (m - lo x) * spread (slopes y)
                        + Z.max (hi y - k) (k - lo y) * spread (slopes x))%Z).
    { rewrite !plus_IZR, !mult_IZR.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
      apply Rplus_le_compat; apply Rmult_le_compat; auto; apply Rabs_pos. }
    apply Rabs_le_inv in B. rewrite (plus_IZR _ rest). unfold least4, most4. lra. }
  destruct (slopes x) as [|w p] eqn:EX; [destruct (slopes y) as [|w q] eqn:EY|].
  - apply scaled_product; auto. unfold holds. cbn [lo hi slopes noise].
    rewrite F. replace s with 0 by (unfold s; reflexivity).
    replace t with 0 by (unfold t; reflexivity). unfold least4, most4. lra.
  - apply (general [] (w :: q)); auto.
  - apply (general (w :: p) (slopes y)); auto.
Qed.

Lemma either_left e x y a : holds e x a -> holds e (either x y) a.
Proof.
  unfold holds. cbn [lo hi slopes point plus times wider either noise]. rewrite IZR_min, IZR_max.
  intros (L & H). split.
  - eapply Rle_trans; [apply Rmin_l|exact L].
  - eapply Rle_trans; [exact H|apply Rmax_l].
Qed.
Lemma either_right e x y a : tame e -> holds e y a -> holds e (either x y) a.
Proof.
  intros T (L & H). unfold holds. cbn [either lo hi slopes].
  set (z := add (slopes y) (map (Z.mul (-1)) (slopes x))).
  assert (N := noise_spread z e T). unfold z in N at 1. rewrite noise_add, noise_times in N.
  apply Rabs_le_inv in N. rewrite IZR_min, IZR_max, minus_IZR, plus_IZR. split.
  - eapply Rle_trans; [apply Rmin_r|]. lra.
  - eapply Rle_trans; [|apply Rmax_r]. lra.
Qed.

(** * The logistic function *)

Lemma sigma_between x : 0 < sigma x < 1.
Proof.
  unfold sigma. assert (P := exp_pos (- x)). split; [apply Rinv_0_lt_compat; lra|].
  rewrite <- Rinv_1. apply Rinv_lt_contravar; lra.
Qed.
Lemma sigma_rises x y : x <= y -> sigma x <= sigma y.
Proof.
  intros [L|E]; [|subst; lra]. unfold sigma. left. assert (P := exp_pos (- x)).
  assert (Q := exp_pos (- y)). assert (R := exp_increasing (- y) (- x) ltac:(lra)).
  apply Rinv_lt_contravar; [|lra]. apply Rmult_lt_0_compat; lra.
Qed.
Lemma in_units x z : x * pow 64 = IZR z -> IZR z * pow (- 64) = x.
Proof. intros <-. rewrite Rmult_assoc, <- bpow_plus. change (pow (64 + - 64)) with 1. ring. Qed.
Lemma of_units z : IZR z * pow (- 64) * pow 64 = IZR z.
Proof. rewrite Rmult_assoc, <- bpow_plus. change (pow (- 64 + 64)) with 1. ring. Qed.
Lemma units_le z x : IZR z <= x * pow 64 -> IZR z * pow (- 64) <= x.
Proof.
  intros H. apply Rmult_le_reg_r with (pow 64); [apply bpow_gt_0|]. rewrite of_units. exact H.
Qed.
Lemma units_ge z x : x * pow 64 <= IZR z -> x <= IZR z * pow (- 64).
Proof.
  intros H. apply Rmult_le_reg_r with (pow 64); [apply bpow_gt_0|]. rewrite of_units. exact H.
Qed.
Lemma sigma_low_sound z x : IZR z <= x * pow 64 -> IZR (sigma_low z) <= sigma x * pow 64.
Proof.
  intros H. assert (P := bpow_gt_0 radix2 64). unfold sigma_low.
  assert (B : forall y, (y <= z)%Z -> IZR (sigma_below 64 y) <= sigma x * pow 64).
  { intros y L. eapply Rle_trans; [apply sigma_below_sound; lia|].
    apply Rmult_le_compat_r; [lra|]. apply sigma_rises, units_le.
    eapply Rle_trans; [|exact H]. apply IZR_le, L. }
  destruct (z <=? - far)%Z.
  - assert (S := sigma_between x). apply Rmult_le_pos; lra.
  - destruct (far <=? z)%Z eqn:F; [apply B, Z.leb_le, F|apply B; lia].
Qed.
Lemma sigma_high_sound z x : x * pow 64 <= IZR z -> sigma x * pow 64 <= IZR (sigma_high z).
Proof.
  intros H. assert (P := bpow_gt_0 radix2 64). unfold sigma_high.
  assert (B : forall y, (z <= y)%Z -> sigma x * pow 64 <= IZR (sigma_above 64 y)).
  { intros y L. eapply Rle_trans; [|apply sigma_above_sound; lia].
    apply Rmult_le_compat_r; [lra|]. apply sigma_rises, units_ge.
    eapply Rle_trans; [exact H|]. apply IZR_le, L. }
  destruct (far <=? z)%Z.
  - assert (S := sigma_between x). rewrite (power_of_two 64) by lia.
    rewrite <- (Rmult_1_l (pow 64)) at 2. apply Rmult_le_compat_r; lra.
  - destruct (z <=? - far)%Z eqn:F; [apply B, Z.leb_le, F|apply B; lia].
Qed.

Lemma sigma_slope x : derivable_pt_lim sigma x (sigma x * (1 - sigma x)).
Proof.
  assert (P := exp_pos (- x)).
  assert (D : derivable_pt_lim (fun x => 1 + exp (- x)) x (0 + exp (- x) * - 1)).
  { apply derivable_pt_lim_plus; [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_comp Ropp exp x (- 1)); [|apply derivable_pt_lim_exp].
    apply (derivable_pt_lim_opp id x 1), derivable_pt_lim_id. }
  assert (E := derivable_pt_lim_div (fun _ => 1) (fun x => 1 + exp (- x)) x 0 _
                 (derivable_pt_lim_const 1 x) D ltac:(lra)).
  replace (sigma x * (1 - sigma x))
    with ((0 * (1 + exp (- x)) - (0 + exp (- x) * - 1) * 1) / Rsqr (1 + exp (- x)))
    by (unfold sigma, Rsqr; field; lra).
  intros eps H. destruct (E eps H) as (d & L). exists d. intros h N B. specialize (L h N B).
  unfold div_fct, sigma in *. unfold Rdiv in L at 2 3. rewrite !Rmult_1_l in L. exact L.
Qed.

Lemma sigma_mean m x : exists c, Rmin m x <= c <= Rmax m x /\
  sigma x = sigma m + sigma c * (1 - sigma c) * (x - m).
Proof.
  destruct (Rtotal_order m x) as [L|[E|L]].
  - destruct (MVT_cor2 sigma _ m x L (fun c _ => sigma_slope c)) as (c & E & C).
    exists c. rewrite Rmin_left, Rmax_right by lra. split; [lra|]. lra.
  - subst. exists x. rewrite Rmin_left, Rmax_left by lra. split; [lra|]. ring.
  - destruct (MVT_cor2 sigma _ x m L (fun c _ => sigma_slope c)) as (c & E & C).
    exists c. rewrite Rmin_right, Rmax_left by lra. split; [lra|]. lra.
Qed.

(** The slope y(1 - y) where y lies between p and q, in units. *)
Lemma slope_between p q y : (0 <= p)%Z -> (q <= 2 ^ 64)%Z -> IZR p <= y * pow 64 <= IZR q ->
  IZR (Z.min (slope_at p) (slope_at q)) <= y * (1 - y) * pow 64 * pow 64
  <= IZR (if (p <=? 2 ^ 63) && (2 ^ 63 <=? q) then 2 ^ 126
          else Z.max (slope_at p) (slope_at q))%Z.
Proof.
  intros P Q B. assert (E : y * (1 - y) * pow 64 * pow 64 = y * pow 64 * (pow 64 - y * pow 64)) by
    ring.
  assert (S : forall z, IZR (slope_at z) = IZR z * (pow 64 - IZR z)).
  { intros z. unfold slope_at. rewrite mult_IZR, minus_IZR, (power_of_two 64) by lia. ring. }
  rewrite E. set (w := y * pow 64) in *. apply IZR_le in P, Q.
  rewrite (power_of_two 64) in Q by lia.
  set (N := pow 64) in *. split.
  - rewrite IZR_min, !S. destruct (Rle_dec (w + IZR p) N).
    + eapply Rle_trans; [apply Rmin_l|].
      assert (0 <= (w - IZR p) * (N - w - IZR p)) by (apply Rmult_le_pos; lra). nra.
    + eapply Rle_trans; [apply Rmin_r|].
      assert (0 <= (IZR q - w) * (w + IZR q - N)) by (apply Rmult_le_pos; lra). nra.
  - assert (H : IZR (2 ^ 63) * 2 = N).
    { rewrite (power_of_two 63) by lia. unfold N. change 64%Z with (63 + 1)%Z.
      rewrite bpow_plus. reflexivity. }
    destruct ((p <=? 2 ^ 63)%Z && (2 ^ 63 <=? q)%Z) eqn:C.
    + replace (IZR (2 ^ 126)) with (IZR (2 ^ 63) * IZR (2 ^ 63)) by (rewrite <- mult_IZR;
      reflexivity).
      assert (0 <= (w - IZR (2 ^ 63)) * (w - IZR (2 ^ 63))) by apply Rle_0_sqr. nra.
    + rewrite IZR_max, !S. apply andb_false_iff in C. destruct C as [C|C];
      apply Z.leb_gt, IZR_lt in C.
      * eapply Rle_trans; [|apply Rmax_l].
        assert (0 <= (w - IZR p) * (w + IZR p - N)) by (apply Rmult_le_pos; lra). nra.
      * eapply Rle_trans; [|apply Rmax_r].
        assert (0 <= (IZR q - w) * (N - w - IZR q)) by (apply Rmult_le_pos; lra). nra.
Qed.

(** Theorem (Lemma 18d, along a line through the middle). *)
Lemma logistic_holds e x a : tame e -> holds e x a -> holds e (logistic x) (sigma a).
Proof.
  intros T H. assert (B := bounds_hold e x a T H). assert (P64 := bpow_gt_0 radix2 64).
  unfold logistic. set (l := least_of x) in *. set (u := most_of x) in *.
  set (p := Z.max 0 (sigma_low l)). set (q := Z.min (2 ^ 64) (sigma_high u)).
  assert (within : forall c, IZR l <= c * pow 64 <= IZR u ->
            IZR p <= sigma c * pow 64 <= IZR q).
  { intros c (L & U). assert (S := sigma_between c). apply sigma_low_sound in L.
    apply sigma_high_sound in U. unfold p, q. rewrite IZR_max, IZR_min, (power_of_two 64) by lia.
    split; [apply Rmax_lub|apply Rmin_glb]; auto; [apply Rmult_le_pos; lra|].
    rewrite <- (Rmult_1_l (pow 64)) at 2. apply Rmult_le_compat_r; lra. }
  assert (plain : holds e {| lo := p; hi := q; slopes := [] |} (sigma a)).
  { unfold holds. cbn [lo hi slopes noise]. assert (W := within a B). lra. }
  destruct (slopes x) as [|s0 s]; [exact plain|].
  set (m := ((l + u) / 2)%Z). set (r := Z.max (u - m) (m - l)).
  set (d := (Z.min (slope_at p) (slope_at q) / 2 ^ 64)%Z).
  set (top := if ((p <=? 2 ^ 63) && (2 ^ 63 <=? q))%Z then (2 ^ 126)%Z
              else Z.max (slope_at p) (slope_at q)).
  set (g := (top / 2 ^ 64 + 1)%Z). set (k := ((d + g) / 2)%Z).
  set (off := (Z.max (g - k) (k - d) * r / 2 ^ 64 + 1)%Z).
  destruct (q - p <=? 2 * off)%Z; [exact plain|].
  set (mid := IZR m * pow (- 64)).
  destruct (sigma_mean mid a) as (c & C & E).
  assert (M : mid * pow 64 = IZR m) by apply of_units.
  assert (LU : (l <= u)%Z) by (apply le_IZR; lra).
  assert (MB : (l <= m <= u)%Z).
  { unfold m. split; [apply Z.div_le_lower_bound; lia|apply Z.div_le_upper_bound; lia]. }
  assert (CB : IZR l <= c * pow 64 <= IZR u).
  { destruct MB as (M1 & M2). apply IZR_le in M1, M2. rewrite <- M in M1, M2. split.
    - apply Rle_trans with (Rmin mid a * pow 64); [|apply Rmult_le_compat_r; lra].
      apply Rmin_case; lra.
    - apply Rle_trans with (Rmax mid a * pow 64); [apply Rmult_le_compat_r; lra|].
      apply Rmax_case; lra. }
  assert (W := within c CB).
  assert (S := slope_between p q (sigma c) ltac:(lia) ltac:(lia) W). fold top in S.
  set (z := sigma c * (1 - sigma c)) in *.
  assert (N64 : IZR (2 ^ 64) = pow 64) by (apply power_of_two; lia).
  assert (Z1 : IZR d <= z * pow 64 <= IZR g).
  { unfold d, g. split.
    - eapply Rle_trans; [apply quotient_below; lia|]. rewrite N64.
      apply Rmult_le_reg_r with (pow 64); [exact P64|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply S.
    - eapply Rle_trans; [|apply quotient_above; lia]. rewrite N64.
      apply Rmult_le_reg_r with (pow 64); [exact P64|]. unfold Rdiv.
      rewrite (Rmult_assoc (IZR top)), Rinv_l, Rmult_1_r by lra. apply S. }
  assert (X : holds e (plus x (point (- m))) (a - mid)).
  { unfold Rminus. apply plus_holds; auto. apply point_holds. rewrite opp_IZR, <- M. ring. }
  apply (times_holds e k) in X. apply (over_holds e (2 ^ 64)) in X; [|exact T|lia].
  assert (AM : Rabs ((a - mid) * pow 64) <= IZR r).
  { replace ((a - mid) * pow 64) with (a * pow 64 - IZR m) by (rewrite <- M; ring).
    apply (about_middle m l u). exact B. }
  assert (KZ : Rabs (z * pow 64 - IZR k) <= IZR (Z.max (g - k) (k - d))).
  { apply about_middle. exact Z1. }
  rewrite E. rewrite Rplus_comm. apply plus_holds.
  - eapply wider_holds; [exact X|]. rewrite N64.
    replace (z * (a - mid) - IZR k * (a - mid) / pow 64)
      with ((z * pow 64 - IZR k) * ((a - mid) * pow 64) / pow 64 / pow 64) by (field; lra).
    set (v := z * pow 64 - IZR k) in *. set (w := (a - mid) * pow 64) in *.
    replace (Rabs (v * w / pow 64 / pow 64) * pow 64) with (Rabs v * Rabs w / pow 64).
    2:{ unfold Rdiv. rewrite !Rabs_mult, (Rabs_pos_eq (/ pow 64))
          by (left; apply Rinv_0_lt_compat, P64). field. lra. }
    unfold off. eapply Rle_trans; [|apply quotient_above; lia]. rewrite N64, mult_IZR.
    unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, P64|].
    apply Rmult_le_compat; auto; apply Rabs_pos.
  - unfold holds. cbn [lo hi slopes noise]. rewrite Rminus_0_r. split.
    + apply sigma_low_sound. lra.
    + apply sigma_high_sound. lra.
Qed.

Lemma tangent_holds e x a : tame e -> holds e x a -> holds e (tangent x) (tanh a).
Proof.
  intros T H. rewrite tanh_sigma. unfold tangent, Rminus. apply plus_holds.
  - apply times_holds, logistic_holds; auto. apply times_holds, H.
  - apply point_holds. rewrite opp_IZR, (power_of_two 64) by lia. ring.
Qed.
