(** Boxes of queries and of keys: that the right score of every row leads, from a tree of
    positions for each (Theorem R4 of docs/proofs/attention.md, for single scores). *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Program Invariant Domains Arithmetic Recurrent Rounding Transformer
  Bounds Lists.
Import ListNotations.

Definition box : Type := list interval.
Fixpoint hulls (a b : box) : box :=
  match a, b with x :: a', y :: b' => hull x y :: hulls a' b' | _, _ => [] end.

(** How far numbers of two intervals are apart at least. *)
Definition between (x y : interval) : Z :=
  Z.max 0 (Z.max (fst x - snd y) (fst y - snd x)).

(** Vectors in a box; [heft]: at least the sum of the squares of those entries that move;
    [floor]: what twice a rival's score must not exceed, in units of 2^-2g. *)
Record class := { corners : box; heft : Z; floor : Z }.
Definition joined (a b : class) : class :=
  {| corners := hulls (corners a) (corners b); heft := Z.max (heft a) (heft b);
     floor := Z.min (floor a) (floor b) |}.

(** Classes of positions, those of neighbours together. *)
Inductive ranked := Tip (place : nat) (c : class) | Fork (c : class) (l r : ranked).
Definition root (t : ranked) : class := match t with Tip _ c => c | Fork c _ _ => c end.
Definition above (a b : ranked) : ranked := Fork (joined (root a) (root b)) a b.
Fixpoint coupled (l : list ranked) : list ranked :=
  match l with a :: b :: r => above a b :: coupled r | _ => l end.
Fixpoint grown (fuel : nat) (l : list ranked) : list ranked :=
  match fuel with
  | O => l
  | S n => match l with a :: b :: _ => grown n (coupled l) | _ => l end
  end.

(** Of entries that move 2·x·y is x² + y² - (x - y)²; of others the largest product counts.
    What is above the bar is refused. *)
Fixpoint below (moves : list bool) (q k : box) (sum bar : Z) : bool :=
  match moves with
  | [] => (sum <=? bar)%Z
  | b :: m =>
      match q, k with
      | x :: q', y :: k' =>
          below m q' k' (if b then let d := between x y in (sum - d * d)%Z
                         else (sum + 2 * snd (times x y))%Z) bar
      | _, _ => false
      end
  end.
Definition behind (moves : list bool) (q k : class) : bool :=
  below moves (corners q) (corners k) (heft q + heft k) (floor q).

(** Every query's rivals are behind: all keys but that of its own place. *)
Fixpoint parted (moves : list bool) (q : ranked) : ranked -> bool :=
  fix inner (k : ranked) : bool :=
    behind moves (root q) (root k) ||
    match q, k with
    | Tip r _, Tip j _ => r =? j
    | Tip _ _, Fork _ a b => inner a && inner b
    | Fork _ u v, Tip _ _ => parted moves u k && parted moves v k
    | Fork _ u v, Fork _ a b =>
        parted moves u a && parted moves u b && parted moves v a && parted moves v b
    end.

Fixpoint energy_of (moves : list bool) (x : box) : Z :=
  match moves, x with
  | b :: m, i :: r => if b then let y := reach i in (y * y + energy_of m r)%Z else energy_of m r
  | _, _ => 0%Z
  end.
(** The least that a product of vectors can be, and the largest that fixed entries add. *)
Fixpoint least_of (q k : box) : Z :=
  match q, k with x :: q', y :: k' => (fst (times x y) + least_of q' k')%Z | _, _ => 0%Z end.
Fixpoint reach_of (q k : box) : Z :=
  match q, k with x :: q', y :: k' => (reach (times x y) + reach_of q' k')%Z | _, _ => 0%Z end.
Fixpoint fixed_of (moves : list bool) (q k : box) : Z :=
  match moves, q, k with
  | b :: m, x :: q', y :: k' =>
      if b then fixed_of m q' k' else (2 * reach (times x y) + fixed_of m q' k')%Z
  | _, _, _ => 0%Z
  end.

(** Twice the product of a vector of a box with one that is given is within bounds. *)
Definition within (moves : list bool) (most : Z) (q : box) (bound : Z) (x : nat * box) : bool :=
  let k := snd x in
  ((most + energy_of moves k + fixed_of moves q k <=? bound) || (2 * reach_of q k <=? bound))%Z.

(** Vectors of one place, each beside a value of a channel. *)
Definition vectors_at : Type := list (nat * box).
Definition gist (moves : list bool) (fl : box -> Z) (x : nat * box) : class :=
  {| corners := snd x; heft := energy_of moves (snd x); floor := fl (snd x) |}.
Definition leaf (moves : list bool) (fl : box -> Z) (j : nat) (l : vectors_at) : list ranked :=
  match l with
  | [] => []
  | x :: r => [Tip j (fold_right (fun y c => joined (gist moves fl y) c) (gist moves fl x) r)]
  end.
Definition least_over (q : box) (l : vectors_at) : Z :=
  match l with
  | [] => 0%Z
  | x :: r => fold_right (fun y m => Z.min (least_of q (snd y)) m) (least_of q (snd x)) r
  end.

(** Each row with the keys of the position that is right for it: n before, or BOS. *)
Fixpoint with_right (n : nat) (first : vectors_at) (qs ks : list vectors_at)
    : list (vectors_at * vectors_at) :=
  match n, qs with
  | S m, q :: r => (q, first) :: with_right m first r ks
  | _, _ => combine qs ks
  end.

Definition wide (l : list vectors_at) : box :=
  match concat l with
  | [] => []
  | x :: r => fold_left (fun b y => hulls b (snd y)) r (snd x)
  end.
Definition wanders (x : interval) : bool := (reach x <? 2 * (snd x - fst x))%Z.

(** How far a computed sum is from the true one. *)
Definition loss (A : arithmetic) (g : Z) (a : tally) : option Z :=
  match settled A g a, slip A g a with
  | Some m, Some e => Some (Z.min (m + moving a * farthest a) e)
  | Some m, None => Some (m + moving a * farthest a)%Z
  | None, e => e
  end.

Section Boxed.
Variables (A : arithmetic) (g : Z) (d : nat).

Definition shifted_apart (n : nat) (lead top : Z) (qs ks : list vectors_at) : bool :=
  let q := wide qs in let k := wide ks in
  let moves := map wanders q in
  match loss A g (coarse (- g) (multiplied_out q k)) with
  | None => false
  | Some e =>
      let lost := (Z.shiftl (2 * e + lead) (g + 1))%Z in
      let queries := concat (map (fun x : nat * (vectors_at * vectors_at) =>
          leaf moves (fun v => 2 * least_over v (snd (snd x)) - lost)%Z (fst x - n) (fst (snd x)))
        (combine (seq 0 (length qs)) (with_right n (hd [] ks) qs ks))) in
      let keys := concat (map (fun x : nat * vectors_at =>
          leaf moves (fun _ => 0%Z) (fst x) (snd x)) (combine (seq 0 (length ks)) ks)) in
      match grown 64 keys with
      | [v] =>
          (length q =? d) && (length k =? d) && (0 <=? g)%Z
          && forallb (fun u =>
               forallb (forallb (within moves (heft (root u)) q (Z.shiftl (top - e) (g + 1)))) ks
               && parted moves u v)
             (grown 64 (firstn n queries) ++ grown 64 (skipn n queries))
      | _ => false
      end
  end.
End Boxed.

(** The same in units of 2^-22 at least: products of such numbers are machine integers. *)
Definition coarser (s : Z) (x : nat * box) : nat * box :=
  (fst x, map (fun i : interval => (down (- s) (fst i), up (- s) (snd i))) (snd x)).
Definition apart (A : arithmetic) (g : Z) (d n : nat) (lead top : Z) (qs ks : list vectors_at)
    : bool :=
  let s := Z.max 0 (g - 22) in
  shifted_apart A (g - s) d n (up (- s) lead) (down (- s) top)
    (map (map (coarser s)) qs) (map (map (coarser s)) ks).

(** * Soundness *)
Open Scope R_scope.

Fixpoint covers (P : class -> Prop) (r : nat) (t : ranked) : Prop :=
  match t with
  | Tip a c => a = r /\ P c
  | Fork c u v => P c /\ (covers P r u \/ covers P r v)
  end.

Lemma covers_root P r t : covers P r t -> P (root t).
Proof. destruct t; simpl; tauto. Qed.

Lemma parted_sound moves P Q r j : r <> j -> forall q k, parted moves q k = true ->
  covers P r q -> covers Q j k -> exists a b, P a /\ Q b /\ behind moves a b = true.
Proof.
  intros N. induction q as [a c|c u IHu v IHv]; induction k as [b e|e x IHx y IHy];
    intros H A B; cbn [parted] in H; apply orb_true_iff in H;
    (destruct H as [H|H];
     [exists c, e; split; [apply (covers_root _ _ _ A)|split;
       [apply (covers_root _ _ _ B)|exact H]]|]).
  - destruct A as (-> & _), B as (-> & _). apply Nat.eqb_eq in H. contradiction.
  - apply andb_true_iff in H. destruct H as (H1 & H2). destruct B as (_ & [B|B]).
    + apply IHx; [exact H1|exact A|exact B].
    + apply IHy; [exact H2|exact A|exact B].
  - apply andb_true_iff in H. destruct H as (H1 & H2). destruct A as (_ & [A|A]).
    + apply (IHu (Tip b e)); auto.
    + apply (IHv (Tip b e)); auto.
  - rewrite !andb_true_iff in H. destruct H as (((H1 & H2) & H3) & H4).
    destruct A as (_ & [A|A]), B as (_ & [B|B]).
    + apply (IHu x); auto.
    + apply (IHu y); auto.
    + apply (IHv x); auto.
    + apply (IHv y); auto.
Qed.

Section Grown.
Variables (P : class -> Prop) (r : nat).
Hypothesis left : forall a b, P a -> P (joined a b).
Hypothesis right : forall a b, P b -> P (joined a b).

Lemma coupled_covers : forall l, Exists (covers P r) l -> Exists (covers P r) (coupled l).
Proof.
  fix IH 1. intros [|a [|b l]] H; [inversion H|exact H|]. cbn [coupled].
  inversion H as [? ? A|? ? A]; subst.
  - apply Exists_cons_hd. cbn [covers above]. split; [|auto]. apply left, (covers_root _ _ _ A).
  - inversion A as [? ? B|? ? B]; subst.
    + apply Exists_cons_hd. cbn [covers above]. split; [|auto]. apply right, (covers_root _ _ _ B).
    + apply Exists_cons_tl, IH, B.
Qed.

Lemma grown_covers : forall n l, Exists (covers P r) l -> Exists (covers P r) (grown n l).
Proof.
  induction n as [|n IH]; intros l H; [exact H|]. destruct l as [|a [|b l]]; [exact H|exact H|].
  cbn [grown]. apply IH, coupled_covers, H.
Qed.

Lemma leaf_covers moves fl j l x : j = r -> In x l -> P (gist moves fl x) ->
  Exists (covers P r) (leaf moves fl j l).
Proof.
  intros J I H. destruct l as [|y l]; [destruct I|]. apply Exists_cons_hd. cbn [covers].
  split; [exact J|]. destruct I as [->|I].
  - induction l as [|z l IH]; [exact H|]. simpl. apply right, IH.
  - induction l as [|z l IH]; [destruct I|]. simpl. destruct I as [->|I].
    + apply left, H.
    + apply right, IH, I.
Qed.

Lemma leaves_cover {B} (h : B -> list ranked) l x : In x l -> Exists (covers P r) (h x) ->
  Exists (covers P r) (concat (map h l)).
Proof.
  intros I E. apply Exists_exists in E. destruct E as (t & T & C). apply Exists_exists.
  exists t. split; [|exact C]. apply in_concat. exists (h x). split; [apply in_map, I|exact T].
Qed.
End Grown.

Lemma nth_combine {B C} : forall (l : list B) (m : list C) i a b,
  nth_error l i = Some a -> nth_error m i = Some b -> nth_error (combine l m) i = Some (a, b).
Proof.
  induction l as [|x l IH]; intros [|y m] [|i] a b A B'; try discriminate; simpl in *;
    [congruence|auto].
Qed.

Lemma with_right_nth ks lk : forall n first qs t l, nth_error ks 0 = Some first ->
  nth_error qs t = Some l -> nth_error ks (t - n) = Some lk ->
  nth_error (with_right n first qs ks) t = Some (l, lk).
Proof.
  induction n as [|n IH]; intros first qs t l F Q K; simpl.
  - rewrite Nat.sub_0_r in K. apply nth_combine; auto.
  - destruct qs as [|q qs]; [destruct t; discriminate|].
    destruct t as [|t]; simpl in *; [congruence|].
    apply IH; auto.
Qed.

Section Real.
Variables (g : Z).

Lemma hulls_left : forall a b h, insides g a h -> insides g (hulls a b) h.
Proof.
  induction a as [|x a IH]; intros [|y b] h H i L; try (simpl in L; lia).
  apply insides_cons in H. destruct H as (X & H). destruct i as [|i]; simpl.
  - apply hull_left, X.
  - apply (IH b _ H i). simpl in L. lia.
Qed.
Lemma hulls_right : forall a b h, insides g b h -> insides g (hulls a b) h.
Proof.
  induction a as [|x a IH]; intros [|y b] h H i L; try (simpl in L; lia).
  apply insides_cons in H. destruct H as (X & H). destruct i as [|i]; simpl.
  - apply hull_right, X.
  - apply (IH b _ H i). simpl in L. lia.
Qed.

Lemma wide_inside (l : list vectors_at) (m : vectors_at) x h :
  In m l -> In x m -> insides g (snd x) h -> insides g (wide l) h.
Proof.
  intros M I H. assert (J : In x (concat l)) by (apply in_concat; eauto). clear M I.
  assert (K : forall (s : list (nat * box)) b, insides g b h ->
    insides g (fold_left (fun b y => hulls b (snd y)) s b) h).
  { induction s as [|z s IH]; intros b B; [exact B|]. simpl. apply IH, hulls_left, B. }
  unfold wide. revert J. generalize (concat l). intros [|y r] J; [destruct J|].
  destruct J as [->|J]; [exact (K r _ H)|]. generalize (snd y).
  induction r as [|z r IH]; intros b; [destruct J|]. simpl.
  destruct J as [->|J]; [exact (K r _ (hulls_right _ _ _ H))|apply (IH J)].
Qed.

(** The sum of the squares of the entries that move, in units of 2^-2g. *)
Fixpoint energy (moves : list bool) (h : nat -> R) : R :=
  match moves with
  | [] => 0
  | b :: m => (if b then (h O * pow g) * (h O * pow g) else 0) + energy m (fun i => h (S i))
  end.
Definition dotted_up (d : nat) (h k : nat -> R) : R :=
  total (map (fun a => Product (h a) (k a)) (seq 0 d)) * (pow g * pow g).

Lemma dotted_cons d h k : dotted_up (S d) h k
  = (h O * pow g) * (k O * pow g) + dotted_up d (fun i => h (S i)) (fun i => k (S i)).
Proof.
  unfold dotted_up. rewrite <- cons_seq, <- seq_shift, map_cons, map_map.
  match goal with |- context [total (?a :: ?l)] => change (a :: l) with ([a] ++ l) end.
  rewrite total_app. unfold total at 1. simpl. ring.
Qed.

Lemma energy_bound : forall moves x h, insides g x h -> (length x = length moves)%nat ->
  energy moves h <= IZR (energy_of moves x).
Proof.
  induction moves as [|b m IH]; intros [|y x] h H L; try discriminate; simpl in *; [lra|].
  apply insides_cons in H. destruct H as (Y & H). specialize (IH x _ H ltac:(lia)).
  destruct b; [|lra]. rewrite plus_IZR, mult_IZR. apply reach_abs in Y.
  assert (Q := Rabs_pos (h O * pow g)).
  assert (S : (h O * pow g) * (h O * pow g) <= IZR (reach y) * IZR (reach y)).
  { rewrite <- (Rabs_pos_eq (h O * pow g * (h O * pow g))) by apply Rle_0_sqr. rewrite Rabs_mult.
    apply Rmult_le_compat; auto. }
  lra.
Qed.

Lemma between_squares x y u v :
  IZR (fst x) <= u <= IZR (snd x) -> IZR (fst y) <= v <= IZR (snd y) ->
  2 * (u * v) <= u * u + v * v - IZR (between x y * between x y).
Proof.
  intros (A & B) (C & D). rewrite mult_IZR. unfold between.
  set (w := Z.max 0 (Z.max (fst x - snd y) (fst y - snd x))).
  assert (W : 0 <= IZR w <= Rabs (u - v)).
  { split; [apply IZR_le; lia|]. assert (P := Rabs_pos (u - v)).
    assert (B1 := Rle_abs (u - v)). assert (B2 := Rle_abs (- (u - v))). rewrite Rabs_Ropp in B2.
    assert (M : (w = 0 \/ w = fst x - snd y \/ w = fst y - snd x)%Z) by lia.
    clearbody w. destruct M as [->|[->| ->]]; rewrite ?minus_IZR; lra. }
  assert (S : IZR w * IZR w <= (u - v) * (u - v)).
  { rewrite <- (Rabs_pos_eq ((u - v) * (u - v))) by apply Rle_0_sqr. rewrite Rabs_mult.
    apply Rmult_le_compat; lra. }
  lra.
Qed.

Lemma below_sound : forall moves q k sum bar h i, below moves q k sum bar = true ->
  insides g q h -> insides g k i ->
  IZR sum + 2 * dotted_up (length moves) h i <= IZR bar + energy moves h + energy moves i.
Proof.
  induction moves as [|b m IH]; intros q k sum bar h i H Q K.
  - simpl in *. apply Z.leb_le, IZR_le in H. unfold dotted_up. simpl.
    unfold total. simpl. lra.
  - destruct q as [|x q]; [discriminate|]. destruct k as [|y k]; [discriminate|]. cbn [below] in H.
    apply insides_cons in Q, K. destruct Q as (X & Q), K as (Y & K).
    specialize (IH _ _ _ _ _ _ H Q K). cbn [length]. rewrite dotted_cons. cbn [energy].
    unfold inside in X, Y. destruct b.
    + assert (S := between_squares x y _ _ X Y). cbv zeta in IH. rewrite minus_IZR in IH. lra.
    + assert (S := times_inside x y _ _ X Y). rewrite plus_IZR, mult_IZR in IH. lra.
Qed.

Lemma least_sound : forall q k h i, insides g q h -> insides g k i -> length q = length k ->
  IZR (least_of q k) <= dotted_up (length q) h i.
Proof.
  induction q as [|x q IH]; intros [|y k] h i Q K L; try discriminate.
  - unfold dotted_up, total. simpl. lra.
  - apply insides_cons in Q, K. destruct Q as (X & Q), K as (Y & K). simpl in L.
    specialize (IH k _ _ Q K ltac:(lia)). cbn [length least_of]. rewrite dotted_cons, plus_IZR.
    assert (S := times_inside x y _ _ X Y). lra.
Qed.

Lemma least_over_sound q h i (l : vectors_at) (x : nat * box) :
  In x l -> insides g q h -> insides g (snd x) i ->
  length q = length (snd x) -> IZR (least_over q l) <= dotted_up (length q) h i.
Proof.
  intros I Q K L. eapply Rle_trans; [|apply (least_sound _ _ _ _ Q K L)]. apply IZR_le.
  destruct l as [|y l]; [destruct I|]. simpl. destruct I as [->|I].
  - induction l as [|z l IH]; simpl in *; [apply Z.le_refl|].
    eapply Z.le_trans; [apply Z.le_min_r|exact IH].
  - induction l as [|z l IH]; [destruct I|]. simpl.
    destruct I as [->|I]; [apply Z.le_min_l|].
    eapply Z.le_trans; [apply Z.le_min_r|exact (IH I)].
Qed.

Lemma fixed_sound : forall moves q k h i, insides g q h -> insides g k i ->
  length q = length moves -> length k = length moves ->
  Rabs (2 * dotted_up (length moves) h i)
  <= energy moves h + energy moves i + IZR (fixed_of moves q k).
Proof.
  induction moves as [|b m IH]; intros [|x q] [|y k] h i Q K L M; try discriminate.
  - unfold dotted_up, total. simpl. rewrite !Rmult_0_l, Rmult_0_r, Rabs_R0. lra.
  - apply insides_cons in Q, K. destruct Q as (X & Q), K as (Y & K). simpl in L, M.
    specialize (IH q k _ _ Q K ltac:(lia) ltac:(lia)). cbn [length energy fixed_of].
    rewrite dotted_cons, Rmult_plus_distr_l. eapply Rle_trans; [apply Rabs_triang|].
    unfold inside in X, Y. set (u := h O * pow g) in *. set (v := i O * pow g) in *.
    set (z := dotted_up _ _ _) in *. destruct b.
    + assert (Q1 : 0 <= (u - v) * (u - v)) by apply Rle_0_sqr.
      assert (Q2 : 0 <= (u + v) * (u + v)) by apply Rle_0_sqr.
      assert (Rabs (2 * (u * v)) <= u * u + v * v) by (apply Rabs_le; split; lra). lra.
    + assert (S := times_inside x y _ _ X Y). apply reach_abs in S.
      rewrite plus_IZR, mult_IZR. rewrite Rabs_mult, (Rabs_pos_eq 2) by lra. lra.
Qed.

Lemma reach_sound : forall q k h i, insides g q h -> insides g k i -> length q = length k ->
  Rabs (dotted_up (length q) h i) <= IZR (reach_of q k).
Proof.
  induction q as [|x q IH]; intros [|y k] h i Q K L; try discriminate.
  - unfold dotted_up, total. simpl. rewrite Rmult_0_l, Rabs_R0. lra.
  - apply insides_cons in Q, K. destruct Q as (X & Q), K as (Y & K). simpl in L.
    specialize (IH k _ _ Q K ltac:(lia)). cbn [length reach_of]. rewrite dotted_cons, plus_IZR.
    assert (S := times_inside x y _ _ X Y). apply reach_abs in S.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma within_sound moves most q bound x h i : within moves most q bound x = true ->
  insides g q h -> insides g (snd x) i ->
  length q = length moves -> length (snd x) = length moves ->
  energy moves h <= IZR most -> Rabs (2 * dotted_up (length moves) h i) <= IZR bound.
Proof.
  unfold within. cbv zeta. intros W Q K L M E. apply orb_true_iff in W. destruct W as [W|W];
    apply Z.leb_le, IZR_le in W.
  - rewrite !plus_IZR in W. assert (F := fixed_sound moves q (snd x) h i Q K L M).
    assert (G := energy_bound moves (snd x) i K M). lra.
  - rewrite mult_IZR in W. assert (F := reach_sound q (snd x) h i Q K ltac:(congruence)).
    rewrite L in F. rewrite Rabs_mult, (Rabs_pos_eq 2) by lra. lra.
Qed.

Variable A : arithmetic.

Lemma loss_sound a l e y : loss A g a = Some e -> counted (- g) l a -> sum A l y ->
  Rabs (y - total l) * pow g <= IZR e.
Proof.
  intros S C D. unfold loss in S.
  assert (SL := fun e H => slip_sound g A l a e y H C D).
  assert (SE := fun m H => proj2 (settled_sound g A l a m y H C D)).
  destruct (settled A g a) as [m|]; [specialize (SE m eq_refl)|];
    (destruct (slip A g a) as [e'|]; [specialize (SL e' eq_refl)|]);
    inversion S; subst; auto.
  destruct (Z.min_spec (m + moving a * farthest a) e') as [(_ & ->)|(_ & ->)]; assumption.
Qed.

Lemma slip_of_products q k e h i d y : loss A g (coarse (- g) (multiplied_out q k)) = Some e ->
  insides g q h -> insides g k i -> length q = d -> length k = d ->
  sum A (map (fun a => Product (h a) (i a)) (seq 0 d)) y ->
  Rabs (y * (pow g * pow g) - dotted_up d h i) <= IZR e * pow g.
Proof.
  intros S Q K L M D. assert (C := products_counted g q k h i Q K ltac:(congruence)).
  apply counted_coarse in C. rewrite L in C.
  assert (N : Rabs (y - total (map (fun a => Product (h a) (i a)) (seq 0 d))) * pow g <= IZR e).
  { exact (loss_sound _ _ e y S C D). }
  unfold dotted_up. set (t := total _) in *. assert (P := bpow_gt_0 radix2 g).
  replace (y * (pow g * pow g) - t * (pow g * pow g)) with ((y - t) * (pow g * pow g)) by ring.
  rewrite Rabs_mult, (Rabs_pos_eq (pow g * pow g)) by nra. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; lra.
Qed.

Lemma shiftl_real x u : (0 <= u)%Z -> IZR (Z.shiftl x u) = IZR x * pow u.
Proof.
  intros U. rewrite Z.shiftl_mul_pow2, mult_IZR, (IZR_Zpower radix2) by exact U. reflexivity.
Qed.

(** The same in these units. *)
Lemma shifted_apart_sound d n lead top qs ks : shifted_apart A g d n lead top qs ks = true ->
  forall t lq qv qi h k s, nth_error qs t = Some lq -> In (qv, qi) lq -> length qi = d ->
  insides g qi h ->
  (forall j, (j <= t)%nat -> exists lk kv ki, nth_error ks j = Some lk /\ In (kv, ki) lk
     /\ length ki = d /\ insides g ki (k j)) ->
  (forall j, (j <= t)%nat -> sum A (map (fun a => Product (h a) (k j a)) (seq 0 d)) (s j)) ->
  forall j, (j <= t)%nat -> Rabs (s j) * pow g <= IZR top
    /\ (j <> (t - n)%nat -> s j * pow g + IZR lead <= s (t - n)%nat * pow g).
Proof.
  unfold shifted_apart. set (q0 := wide qs). set (k0 := wide ks). set (moves := map wanders q0).
  destruct (loss A g _) as [e|] eqn:SL; [|discriminate].
  set (lost := Z.shiftl (2 * e + lead) (g + 1)). cbv zeta.
  set (queries := concat (map _ (combine _ (with_right n _ qs ks)))).
  set (keys := concat (map _ (combine (seq 0 (length ks)) ks))).
  destruct (grown 64 keys) as [|v [|]] eqn:GV; try discriminate.
  rewrite !andb_true_iff. intros (((LQ & LK) & G0) & ALL).
  apply Nat.eqb_eq in LQ, LK. apply Z.leb_le in G0. rewrite forallb_forall in ALL.
  assert (LM : length moves = d) by (unfold moves; rewrite map_length; exact LQ).
  intros t lq qv qi h k s NQ IQ DQ HQ HK HS.
  assert (P := bpow_gt_0 radix2 g).
  assert (G1 : pow (g + 1) = 2 * pow g) by (rewrite bpow_plus; change (pow 1) with 2; ring).
  assert (Q0 : insides g q0 h) by (eapply wide_inside; [eapply nth_error_In, NQ|exact IQ|exact HQ]).
  set (PQ := fun c => insides g (corners c) h /\ energy moves h <= IZR (heft c)
    /\ IZR (floor c) <= 2 * dotted_up d h (k (t - n)%nat) - IZR lost).
  assert (LE : forall a b, PQ a -> PQ (joined a b)).
  { intros a b (X & Y & Z). split; [apply hulls_left, X|]. cbn [joined heft floor].
    split; [eapply Rle_trans; [exact Y|]|eapply Rle_trans; [|exact Z]]; apply IZR_le; lia. }
  assert (RI : forall a b, PQ b -> PQ (joined a b)).
  { intros a b (X & Y & Z). split; [apply hulls_right, X|]. cbn [joined heft floor].
    split; [eapply Rle_trans; [exact Y|]|eapply Rle_trans; [|exact Z]]; apply IZR_le; lia. }
  assert (CQ : exists u, covers PQ (t - n) u
    /\ In u (grown 64 (firstn n queries) ++ grown 64 (skipn n queries))).
  { assert (E : Exists (covers PQ (t - n)) queries).
    { destruct (HK (t - n)%nat ltac:(lia)) as (lk & kv & ki & NK & IK & DK & HI).
      destruct (HK 0%nat ltac:(lia)) as (l0 & _ & _ & N0 & _).
      assert (F : hd [] ks = l0) by (clear - N0; destruct ks; simpl in *; congruence).
      unfold queries. eapply leaves_cover.
      - apply nth_error_In with t. apply nth_combine;
          [|rewrite F; apply with_right_nth; [exact N0|exact NQ|exact NK]].
        apply seq_nth_error. apply nth_error_Some. congruence.
      - cbn [fst snd]. eapply leaf_covers with (x := (qv, qi)); auto.
        unfold PQ. cbn [gist corners heft floor snd]. split; [exact HQ|]. split.
        + apply energy_bound; [exact HQ|congruence].
        + rewrite minus_IZR, mult_IZR.
          assert (B := least_over_sound qi h _ lk (kv, ki) IK HQ HI ltac:(cbn [snd]; congruence)).
          rewrite DQ in B. lra. }
    rewrite <- (firstn_skipn n queries) in E. apply Exists_app in E.
    assert (E' : Exists (covers PQ (t - n)) (grown 64 (firstn n queries)
      ++ grown 64 (skipn n queries))).
    { apply Exists_app. destruct E as [E|E]; [left|right]; apply grown_covers; auto. }
    apply Exists_exists in E'. destruct E' as (u & I & C). exists u. auto. }
  destruct CQ as (u & CQ & IU). specialize (ALL u IU). apply andb_true_iff in ALL.
  destruct ALL as (TOP & PA). rewrite forallb_forall in TOP.
  clear LE RI.
  assert (KV : forall j, (j <= t)%nat -> insides g k0 (k j)
    /\ covers (fun c => insides g (corners c) (k j) /\ energy moves (k j) <= IZR (heft c)) j v).
  { intros j J. destruct (HK j J) as (lk & kv & ki & NK & IK & DK & HI). split.
    { eapply wide_inside; [eapply nth_error_In, NK|exact IK|exact HI]. }
    set (PK := fun c => insides g (corners c) (k j) /\ energy moves (k j) <= IZR (heft c)).
    assert (LE : forall a b, PK a -> PK (joined a b)).
    { intros a b (X & Y). split; [apply hulls_left, X|].
      cbn [joined heft]. eapply Rle_trans; [exact Y|apply IZR_le; lia]. }
    assert (RI : forall a b, PK b -> PK (joined a b)).
    { intros a b (X & Y). split; [apply hulls_right, X|].
      cbn [joined heft]. eapply Rle_trans; [exact Y|apply IZR_le; lia]. }
    assert (E : Exists (covers PK j) (grown 64 keys)).
    { apply grown_covers; auto. unfold keys. eapply leaves_cover.
      - apply nth_error_In with j. apply nth_combine; [|exact NK].
        apply seq_nth_error. apply nth_error_Some. congruence.
      - cbn [fst snd]. eapply leaf_covers with (x := (kv, ki)); auto.
        split; cbn [gist corners heft snd]; [exact HI|].
        apply energy_bound; [exact HI|congruence]. }
    rewrite GV in E. inversion E as [? ? X|? ? X]; subst; [exact X|inversion X]. }
  assert (OFF : forall j, (j <= t)%nat ->
    Rabs (s j * (pow g * pow g) - dotted_up d h (k j)) <= IZR e * pow g).
  { intros j J. destruct (KV j J) as (K0 & _).
    eapply slip_of_products; [exact SL|exact Q0|exact K0|exact LQ|exact LK|apply HS, J]. }
  intros j J. assert (OJ := OFF j J). apply Rabs_le_inv in OJ. destruct (KV j J) as (K0 & CK).
  assert (EQ := covers_root _ _ _ CQ). destruct EQ as (_ & EQ & _).
  assert (EK := covers_root _ _ _ CK). destruct EK as (_ & EK). split.
  - destruct (HK j J) as (lk & kv & ki & NK & IK & DK & HI).
    specialize (TOP lk (nth_error_In _ _ NK)). rewrite forallb_forall in TOP.
    assert (F := within_sound _ _ _ _ _ h (k j) (TOP _ IK) Q0 HI ltac:(congruence)
      ltac:(cbn [snd]; congruence) EQ).
    rewrite LM, shiftl_real, minus_IZR, G1 in F by lia. apply Rabs_le_inv in F.
    assert (B : Rabs (s j * pow g) <= IZR top).
    { apply Rabs_le. split; apply Rmult_le_reg_r with (pow g); auto; nra. }
    rewrite Rabs_mult, (Rabs_pos_eq (pow g)) in B by lra. exact B.
  - intros N. destruct (parted_sound moves _ _ (t - n) j ltac:(congruence) u v PA CQ CK)
      as (a & b & (XA & YA & ZA) & (XB & YB) & BE).
    unfold behind in BE. assert (S := below_sound _ _ _ _ _ _ _ BE XA XB).
    rewrite LM, plus_IZR in S. assert (OR := OFF (t - n)%nat ltac:(lia)). apply Rabs_le_inv in OR.
    unfold lost in ZA. rewrite shiftl_real, plus_IZR, mult_IZR, G1 in ZA by lia.
    apply Rmult_le_reg_r with (pow g); auto. nra.
Qed.
End Real.

Lemma coarser_inside g s x y : inside g x y ->
  inside (g - s) (down (- s) (fst x), up (- s) (snd x)) y.
Proof.
  unfold inside. cbn [fst snd]. intros (A & B). unfold Z.sub. rewrite bpow_plus, <- Rmult_assoc.
  assert (P := bpow_gt_0 radix2 (- s)).
  assert (D := down_below (- s) (fst x)). assert (U := up_above (- s) (snd x)).
  apply Rmult_le_compat_r with (r := pow (- s)) in A, B; lra.
Qed.

(** Theorem ([boxes_lead]): scores are within bounds, and no rival of any row is nearer than
    the lead. *)
Theorem apart_sound g A d n lead top qs ks : apart A g d n lead top qs ks = true ->
  forall t lq qv qi h k s, nth_error qs t = Some lq -> In (qv, qi) lq -> length qi = d ->
  insides g qi h ->
  (forall j, (j <= t)%nat -> exists lk kv ki, nth_error ks j = Some lk /\ In (kv, ki) lk
     /\ length ki = d /\ insides g ki (k j)) ->
  (forall j, (j <= t)%nat -> sum A (map (fun a => Product (h a) (k j a)) (seq 0 d)) (s j)) ->
  forall j, (j <= t)%nat -> Rabs (s j) * pow g <= IZR top
    /\ (j <> (t - n)%nat -> s j * pow g + IZR lead <= s (t - n)%nat * pow g).
Proof.
  unfold apart. cbv zeta. set (c := Z.max 0 (g - 22)). intros H t lq qv qi h k s NQ IQ LQ HQ HK HS.
  assert (IN : forall xs h, insides g xs h -> insides (g - c)
    (map (fun i : interval => (down (- c) (fst i), up (- c) (snd i))) xs) h).
  { intros xs h' I i L. rewrite map_length in L. specialize (I i L).
    destruct (nth_error xs i) as [x|] eqn:E; [|apply nth_error_None in E; lia].
    rewrite (nth_error_nth _ _ _ E) in I. rewrite (nth_error_nth _ _ _ (map_nth_error _ _ _ E)).
    apply coarser_inside, I. }
  assert (Q := shifted_apart_sound (g - c) A d n _ _ _ _ H t (map (coarser c) lq) qv
    (snd (coarser c (qv, qi))) h k s (map_nth_error _ _ _ NQ) (in_map (coarser c) _ _ IQ)
    ltac:(cbn [coarser snd]; rewrite map_length; exact LQ) (IN _ _ HQ)).
  assert (HK' : forall j, (j <= t)%nat -> exists lk kv ki,
    nth_error (map (map (coarser c)) ks) j = Some lk /\ In (kv, ki) lk
    /\ length ki = d /\ insides (g - c) ki (k j)).
  { intros j J. destruct (HK j J) as (lk & kv & ki & NK & IK & LK & I).
    exists (map (coarser c) lk), kv, (snd (coarser c (kv, ki))).
    split; [apply map_nth_error, NK|]. split; [apply (in_map (coarser c) _ _ IK)|].
    split; [cbn [coarser snd]; rewrite map_length; exact LK|apply IN, I]. }
  specialize (Q HK' HS). intros j J. destruct (Q j J) as (B & L). clear Q HK'.
  assert (P := bpow_gt_0 radix2 c).
  assert (ONE : pow (- c) * pow c = 1)
    by (rewrite <- bpow_plus; replace (- c + c)%Z with 0%Z by lia; reflexivity).
  assert (G : pow (g - c) * pow c = pow g)
    by (rewrite <- bpow_plus; f_equal; lia).
  assert (D := down_below (- c) top). assert (U := up_above (- c) lead).
  apply Rmult_le_compat_r with (r := pow c) in D, U; [|lra|lra].
  rewrite Rmult_assoc, ONE, Rmult_1_r in D, U. split.
  - apply Rmult_le_compat_r with (r := pow c) in B; [|lra]. rewrite Rmult_assoc, G in B. lra.
  - intros N. specialize (L N). apply Rmult_le_compat_r with (r := pow c) in L; [|lra].
    rewrite Rmult_plus_distr_r, !Rmult_assoc, G in L. lra.
Qed.
