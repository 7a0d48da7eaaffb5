(** How far a computed sum is off where sums are made in one format and may be stored in a
    coarser one at any time (Lemma 5 of docs/proofs/arithmetic.md). *)
From Coq Require Import Reals ZArith List Permutation Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic Rounding.
Import ListNotations.
Open Scope R_scope.

Section Sums.
Variables (A : arithmetic) (K : Z).
Let f := accumulator A.
Let g := stored A.
Hypothesis some : (0 < digits f)%Z /\ (0 < digits g)%Z.
Hypothesis normal : (least f + 2 * digits f <= K)%Z /\ (least g + 2 * digits g <= K)%Z.
Hypothesis finite : (K < top f)%Z /\ (K < top g)%Z.
Hypothesis coarser : (digits g <= digits f)%Z /\ (least f <= least g)%Z.

(** What an operation may be off by, and what a store of its result may be. *)
Variable es : R.
Let ea := pow (K - digits f - 1).
Hypothesis stores : (g = f /\ es = 0) \/ es = pow (K - digits g - 1).
Let q := ea + es.
Let cost (l : list term) : R := terms l * q.

Let q_positive : 0 < ea /\ 0 <= es /\ 0 < q.
Proof.
  assert (P := bpow_gt_0 radix2 (K - digits f - 1)). fold ea in P.
  assert (Q := bpow_gt_0 radix2 (K - digits g - 1)).
  unfold q. destruct stores as [(_ & E)|E]; rewrite E; lra.
Qed.

Lemma stored_held x : held g x -> held f x.
Proof.
  apply generic_inclusion_mag. intros _. unfold FLT_exp. destruct coarser. lia.
Qed.

Definition near (l : list term) (y : R) : Prop :=
  (cost l = 0 /\ total l = 0 /\ y = 0)
  \/ (q <= cost l /\ held g y /\ Rabs (y - total l) <= 2 * cost l - q)
  \/ (q <= cost l /\ held f y /\ Rabs (y - total l) <= 2 * cost l - q - es)
  \/ (q <= cost l /\ Rabs (y - total l) <= 2 * cost l - 2 * q).

Lemma near_bound l y : near l y -> Rabs (y - total l) <= 2 * cost l.
Proof.
  assert (Q := q_positive).
  intros [(C & T & ->)|[(C & _ & B)|[(C & _ & B)|(C & B)]]]; try lra.
  rewrite T, C. replace (0 - 0) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

Lemma near_small l y : near l y -> size l + 2 * cost l <= pow K -> Rabs y <= pow K.
Proof.
  intros N S. assert (B := near_bound l y N). assert (T := total_size l).
  replace y with (y - total l + total l) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Let made_near : forall x y, Rabs x <= pow K -> rounded f x y ->
  held f y /\ Rabs (y - x) <= ea /\ y = nearest f x :=
  rounded_near f K (proj1 some) (proj1 normal) (proj1 finite).

Lemma stored_near x y : Rabs x <= pow K -> rounded g x y ->
  held g y /\ Rabs (y - x) <= q /\ (held f x -> Rabs (y - x) <= es) /\ y = nearest g x.
Proof.
  intros B R. assert (Q := q_positive).
  destruct (rounded_near g K (proj2 some) (proj2 normal) (proj2 finite) x y B R) as (H & N & E).
  split; [exact H|]. destruct stores as [(S & Z)|Z].
  - rewrite S in N, E. fold ea in N. split; [unfold q; lra|]. split; [|rewrite S; exact E].
    intros X. rewrite E, (nearest_same f x X), Rminus_eq_0, Rabs_R0. lra.
  - rewrite <- Z in N. unfold q. repeat split; auto; lra.
Qed.

Lemma cost_split l : (cost l = 0 /\ size l = 0 /\ total l = 0) \/ q <= cost l.
Proof.
  assert (B := q_positive). destruct (terms_some l) as [(T & S)|T]; unfold cost.
  - left. rewrite T. assert (H := total_size l). rewrite S in H. repeat split; auto; [lra|].
    apply Rabs_le_inv in H. lra.
  - right. nra.
Qed.

Lemma near_round l x y : q <= cost l -> Rabs x <= pow K ->
  Rabs (x - total l) <= 2 * cost l - 2 * q -> rounded f x y -> near l y.
Proof.
  intros C B N R. destruct (made_near x y B R) as (H & D & _). right. right. left.
  split; [auto|]. split; [auto|]. replace (y - total l) with (y - x + (x - total l)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. unfold q in *. lra.
Qed.

Lemma near_again l x y : size l + 2 * cost l <= pow K -> near l x -> rounded f x y -> near l y.
Proof.
  intros S N R. assert (B := near_small l x N S).
  destruct N as [(C & T & ->)|[(C & H & D)|[(C & H & D)|(C & D)]]].
  - destruct (made_near 0 y B R) as (_ & _ & ->). left.
    rewrite (nearest_same f 0 (zero_held f)). auto.
  - destruct (made_near x y B R) as (_ & _ & ->).
    rewrite (nearest_same f x (stored_held x H)). right; left; auto.
  - destruct (made_near x y B R) as (_ & _ & ->). rewrite (nearest_same f x H).
    right; right; left; auto.
  - eapply near_round; eauto.
Qed.

Lemma near_store l x y : size l + 2 * cost l <= pow K -> near l x -> rounded g x y -> near l y.
Proof.
  intros S N R. assert (B := near_small l x N S).
  destruct (stored_near x y B R) as (HY & D1 & D2 & E).
  assert (T : Rabs (y - total l) <= Rabs (y - x) + Rabs (x - total l)).
  { replace (y - total l) with (y - x + (x - total l)) by ring. apply Rabs_triang. }
  destruct N as [(C & Z & ->)|[(C & H & D)|[(C & H & D)|(C & D)]]].
  - left. rewrite E, (nearest_same g 0 (zero_held g)). auto.
  - rewrite E, (nearest_same g x H). right; left; auto.
  - right; left. split; [auto|]. split; [auto|]. specialize (D2 H). lra.
  - right; left. split; [auto|]. split; [auto|]. lra.
Qed.

Lemma cost_app l m : cost (l ++ m) = cost l + cost m.
Proof. unfold cost. rewrite terms_app. ring. Qed.

Lemma near_plain l y : near l y -> q <= cost l -> Rabs (y - total l) <= 2 * cost l - q.
Proof.
  assert (Q := q_positive).
  intros [(C & T & Z)|[(C & _ & D)|[(C & _ & D)|(C & D)]]] C'; lra.
Qed.

Lemma near_skip l m y : cost l = 0 -> total l = 0 -> near m y -> near (l ++ m) y.
Proof.
  intros C T G. unfold near in *. rewrite cost_app, total_app, C, T, !Rplus_0_l. exact G.
Qed.
Lemma near_skip_right l m y : cost m = 0 -> total m = 0 -> near l y -> near (l ++ m) y.
Proof.
  intros C T G. unfold near in *. rewrite cost_app, total_app, C, T, !Rplus_0_r. exact G.
Qed.

Lemma near_zero l y : near l y -> cost l = 0 -> y = 0.
Proof.
  assert (Q := q_positive).
  intros [(_ & _ & E)|[(C & _)|[(C & _)|(C & _)]]] Z; [exact E|lra..].
Qed.

Lemma near_add l m x y z : size (l ++ m) + 2 * cost (l ++ m) <= pow K ->
  near l x -> near m y -> rounded f (x + y) z -> near (l ++ m) z.
Proof.
  intros S N M R. assert (E := q_positive). rewrite size_app, cost_app in S.
  assert (P := size_positive l). assert (P' := size_positive m).
  assert (TL := total_size l). assert (TM := total_size m).
  destruct (cost_split l) as [(C & Z & T)|C].
  - rewrite (near_zero l x N C), Rplus_0_l in R. apply near_skip; auto.
    eapply near_again; eauto. lra.
  - destruct (cost_split m) as [(C' & Z & T)|C'].
    + rewrite (near_zero m y M C'), Rplus_0_r in R. apply near_skip_right; auto.
      eapply near_again; eauto. lra.
    + assert (B := near_plain l x N C). assert (B' := near_plain m y M C').
      apply near_round with (x + y); auto; rewrite ?cost_app, ?total_app; try lra.
      * apply Rabs_le. apply Rabs_le_inv in B, B', TL, TM. lra.
      * apply Rabs_le. apply Rabs_le_inv in B, B'. lra.
Qed.

Lemma multiplied_near x y : Rabs x <= pow K -> multiplied f x y ->
  held f y /\ Rabs (y - x) <= ea.
Proof.
  intros B [R|[F ->]].
  - destruct (made_near x y B R); tauto.
  - split; [apply zero_held|]. rewrite Rminus_0_l, Rabs_Ropp. apply Rlt_le.
    eapply Rlt_le_trans; [exact F|]. apply bpow_le. assert (N := proj1 normal). unfold f in N |- *.
    lia.
Qed.

Lemma cost_cons t l : cost (t :: l) = cost [t] + cost l.
Proof. change (t :: l) with ([t] ++ l). apply cost_app. Qed.

(** Theorem (Lemma 5). *)
Theorem sum_near l y : sum A l y -> size l + 2 * (terms l * q) <= pow K -> near l y.
Proof.
  intros D. assert (E := q_positive).
  induction D as [ |x|a b y M|l m x y z D IH E' IH' R|a b l x z D IH R|a b l x Z D IH
                  |l m x P D IH|l x y D IH R]; intros S;
    match type of S with _ + 2 * (terms ?l * q) <= _ =>
      change (terms l * q) with (cost l) in S end.
  - left. unfold cost, terms, total. simpl. repeat split; ring.
  - destruct (cost_split [Number x]) as [(C & _ & T)|C].
    + left. repeat split; auto. unfold total in T. simpl in T. lra.
    + right; right; right. split; auto. unfold total. simpl.
      replace (x - (x + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - assert (T : total [Product a b] = a * b) by (unfold total; simpl; ring).
    assert (Z : size [Product a b] = Rabs (a * b)) by (unfold size; simpl; ring).
    destruct (cost_split [Product a b]) as [(C & _ & T')|C].
    + rewrite T in T'. left. repeat split; auto; [lra|]. rewrite T' in M.
      destruct M as [R|[_ R]]; [|exact R].
      assert (B : Rabs 0 <= pow K) by (rewrite Rabs_R0; apply bpow_ge_0).
      destruct (made_near 0 y B R) as (_ & _ & ->). apply nearest_same, zero_held.
    + destruct (multiplied_near (a * b) y) as (H & D); auto; [lra|]. right; right; left.
      repeat split; auto. rewrite T. unfold q in *. lra.
  - assert (S' := S). rewrite size_app, cost_app in S.
    assert (P := size_positive l). assert (P' := size_positive m).
    assert (0 <= cost l) by (destruct (cost_split l); lra).
    assert (0 <= cost m) by (destruct (cost_split m); lra).
    eapply near_add; eauto; [apply IH | apply IH']; fold (cost l); fold (cost m); lra.
  - assert (T : total (Product a b :: l) = a * b + total l) by reflexivity.
    assert (Z : size (Product a b :: l) = Rabs (a * b) + size l) by reflexivity.
    rewrite cost_cons, Z in S. assert (P := Rabs_pos (a * b)). assert (P' := size_positive l).
    assert (TL := total_size l). assert (0 <= cost l) by (destruct (cost_split l); lra).
    assert (O : total [Product a b] = a * b) by (unfold total; simpl; ring).
    destruct (cost_split [Product a b]) as [(C & _ & O')|C].
    + assert (N := IH ltac:(fold (cost l); lra)).
      change (Product a b :: l) with ([Product a b] ++ l). apply near_skip; auto.
      rewrite O in O'. rewrite O', Rplus_0_l in R. eapply near_again; [|exact N|exact R]. lra.
    + assert (N := IH ltac:(fold (cost l); lra)). assert (Q : Rabs (a * b) <= Rabs (a * b)) by lra.
      destruct (cost_split l) as [(C' & _ & T')|C'].
      * rewrite (near_zero l x N C') in R.
        apply near_round with (a * b + 0); auto;
          rewrite ?(cost_cons (Product a b) l), ?T, ?T', ?C'; try lra.
        -- rewrite Rplus_0_r. lra.
        -- replace (a * b + 0 - (a * b + 0)) with 0 by ring. rewrite Rabs_R0. lra.
      * assert (B := near_plain l x N C').
        apply near_round with (a * b + x); auto; rewrite ?(cost_cons (Product a b) l), ?T; try lra.
        -- apply Rabs_le. apply Rabs_le_inv in B, TL, Q. lra.
        -- replace (a * b + x - (a * b + total l)) with (x - total l) by ring. lra.
  - assert (O : total [Product a b] = 0)
      by (unfold total; simpl; destruct Z as [-> | ->]; ring).
    assert (N : terms [Product a b] = 0).
    { unfold terms, dear. simpl. destruct Req_EM_T as [_|N]; [ring|].
      destruct N, Z as [-> | ->]; ring. }
    assert (C : cost [Product a b] = 0) by (unfold cost; rewrite N; ring).
    change (size (Product a b :: l)) with (Rabs (a * b) + size l) in S.
    rewrite cost_cons, C in S. assert (P := Rabs_pos (a * b)).
    change (Product a b :: l) with ([Product a b] ++ l). apply near_skip; auto.
    apply IH. fold (cost l). lra.
  - assert (G : near l x).
    { apply IH. rewrite (size_order l m P), (terms_order l m P). exact S. }
    unfold near, cost in *. rewrite <- (terms_order l m P), <- (total_order l m P). exact G.
  - eapply near_store; [exact S | apply IH; exact S | exact R].
Qed.

Corollary sum_close l y : sum A l y -> size l + 2 * (terms l * q) <= pow K ->
  Rabs (y - total l) <= 2 * (terms l * q).
Proof. intros D S. apply near_bound, sum_near; auto. Qed.

Corollary store_close x y : Rabs x <= pow K -> rounded g x y -> Rabs (y - x) <= q.
Proof. intros B R. apply (stored_near x y B R). Qed.
End Sums.
