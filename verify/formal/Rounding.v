(** How far a computed sum is off, in whatever order it is made (Lemma 5 of
    docs/soundness.md, for formats that store sums as they make them). *)
From Coq Require Import Reals ZArith List Permutation Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Arithmetic.
Import ListNotations.
Open Scope R_scope.

Section Format.
Variables (f : format) (K : Z).
Hypothesis some : (0 < digits f)%Z.
Hypothesis normal : (least f + 2 * digits f <= K)%Z.

#[local] Instance positive : Prec_gt_0 (digits f) := some.
Let exponents := FLT_exp (least f) (digits f).
Definition held (x : R) : Prop := generic_format radix2 (FLT_exp (least f) (digits f)) x.

Lemma nearest_held x : held (nearest f x).
Proof. apply generic_format_round; [apply FLT_exp_valid, some | apply valid_rnd_N]. Qed.

Lemma nearest_same x : held x -> nearest f x = x.
Proof. intros H. apply round_generic; [apply valid_rnd_N | exact H]. Qed.

(** Numbers up to 2^K are rounded by half a unit in the last place of 2^K at most. *)
Lemma nearest_near x : Rabs x <= pow K ->
  Rabs (nearest f x - x) <= pow (K - digits f) /\ Rabs (nearest f x) <= pow K.
Proof.
  assert (V : Valid_exp exponents) by (apply FLT_exp_valid, some).
  assert (M : Monotone_exp exponents) by apply FLT_exp_monotone.
  intros B. split.
  - eapply Rle_trans; [apply error_le_half_ulp; auto|].
    apply Rle_trans with (/ 2 * ulp radix2 exponents (pow K)).
    + apply Rmult_le_compat_l; [lra|]. apply ulp_le; auto.
      rewrite (Rabs_pos_eq (pow K)); [exact B | apply bpow_ge_0].
    + rewrite ulp_bpow. unfold exponents, FLT_exp. rewrite Z.max_l by lia.
      replace (K + 1 - digits f)%Z with (K - digits f + 1)%Z by lia.
      rewrite bpow_plus. change (pow 1) with 2. lra.
  - apply abs_round_le_generic; auto; try apply valid_rnd_N.
    apply generic_format_FLT_bpow; [apply some|]. lia.
Qed.
End Format.

Section Sums.
Variables (A : arithmetic) (f : format) (K : Z).
Hypothesis accumulated : accumulator A = f.
Hypothesis kept : stored A = f.
Hypothesis some : (0 < digits f)%Z.
Hypothesis normal : (least f + 2 * digits f <= K)%Z.
Hypothesis finite : (K < top f)%Z.

Let e := pow (K - digits f).

(** The number of terms that are not 0. *)
Definition dear (t : term) : R := if Req_EM_T (value t) 0 then 0 else 1.
Definition terms (l : list term) : R := fold_right Rplus 0 (map dear l).
Let cost (l : list term) : R := terms l * e.

Lemma terms_app l m : terms (l ++ m) = terms l + terms m.
Proof. unfold terms. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.

Lemma terms_order l m : Permutation l m -> terms l = terms m.
Proof.
  induction 1; unfold terms in *; simpl; [reflexivity|rewrite IHPermutation; ring|ring|].
  congruence.
Qed.

Lemma terms_some l : (terms l = 0 /\ size l = 0) \/ 1 <= terms l.
Proof.
  unfold terms, size. induction l as [|t l IH]; simpl; [lra|]. unfold dear at 1 3.
  destruct Req_EM_T as [E|E]; [rewrite E, Rabs_R0; lra|]. destruct IH; lra.
Qed.

Let e_positive : 0 < e := bpow_gt_0 radix2 (K - digits f).

Definition near (l : list term) (y : R) : Prop :=
  (cost l = 0 /\ total l = 0 /\ y = 0)
  \/ (e <= cost l /\ held f y /\ Rabs (y - total l) <= 2 * cost l - e)
  \/ (e <= cost l /\ Rabs (y - total l) <= 2 * cost l - 2 * e).

Lemma near_bound l y : near l y -> Rabs (y - total l) <= 2 * cost l.
Proof.
  intros [(C & T & ->)|[(C & _ & B)|(C & B)]]; try lra.
  rewrite T, C. replace (0 - 0) with 0 by ring. rewrite Rabs_R0. lra.
Qed.

Lemma near_small l y : near l y -> size l + 2 * cost l <= pow K -> Rabs y <= pow K.
Proof.
  intros N S. assert (B := near_bound l y N). assert (T := total_size l).
  replace y with (y - total l + total l) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma rounded_near x y : Rabs x <= pow K -> rounded f x y ->
  held f y /\ Rabs (y - x) <= e /\ y = nearest f x.
Proof.
  intros B R. destruct (nearest_near f K some normal x B) as (N & L).
  rewrite R; [split; [apply nearest_held, some | auto]|].
  eapply Rle_lt_trans; [exact L|]. apply bpow_lt, finite.
Qed.

Lemma zero_held : held f 0.
Proof. apply generic_format_0. Qed.

Lemma cost_split l : (cost l = 0 /\ size l = 0 /\ total l = 0) \/ e <= cost l.
Proof.
  assert (B := e_positive). destruct (terms_some l) as [(T & S)|T]; unfold cost.
  - left. rewrite T. assert (H := total_size l). rewrite S in H. repeat split; auto; [lra|].
    apply Rabs_le_inv in H. lra.
  - right. nra.
Qed.

Lemma near_round l x y : e <= cost l -> Rabs x <= pow K ->
  Rabs (x - total l) <= 2 * cost l - 2 * e -> rounded f x y -> near l y.
Proof.
  intros C B N R. destruct (rounded_near x y B R) as (H & D & _). right. left.
  split; [auto|]. split; [auto|]. replace (y - total l) with (y - x + (x - total l)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma near_again l x y : size l + 2 * cost l <= pow K -> near l x -> rounded f x y -> near l y.
Proof.
  intros S N R. assert (B := near_small l x N S). destruct N as [(C & T & ->)|[(C & H & D)|(C & D)]].
  - destruct (rounded_near 0 y B R) as (_ & _ & ->). left.
    rewrite (nearest_same f 0 zero_held). auto.
  - destruct (rounded_near x y B R) as (_ & _ & ->). rewrite (nearest_same f x H).
    right; left; auto.
  - eapply near_round; eauto.
Qed.

Lemma cost_app l m : cost (l ++ m) = cost l + cost m.
Proof. unfold cost. rewrite terms_app. ring. Qed.

Lemma near_add l m x y z : size (l ++ m) + 2 * cost (l ++ m) <= pow K ->
  near l x -> near m y -> rounded f (x + y) z -> near (l ++ m) z.
Proof.
  intros S N M R. assert (E := e_positive). rewrite size_app, cost_app in S.
  assert (P := size_positive l). assert (P' := size_positive m).
  assert (TL := total_size l). assert (TM := total_size m).
  destruct (cost_split l) as [(C & Z & T)|C].
  - destruct N as [(_ & _ & ->)|[(C' & _)|(C' & _)]]; [|lra|lra]. rewrite Rplus_0_l in R.
    assert (G : near m z) by (eapply near_again; eauto; lra).
    unfold near in *. rewrite cost_app, total_app, C, T, !Rplus_0_l. exact G.
  - destruct (cost_split m) as [(C' & Z & T)|C'].
    + destruct M as [(_ & _ & ->)|[(C2 & _)|(C2 & _)]]; [|lra|lra]. rewrite Rplus_0_r in R.
      assert (G : near l z) by (eapply near_again; eauto; lra).
      unfold near in *. rewrite cost_app, total_app, C', T, !Rplus_0_r. exact G.
    + assert (B : Rabs (x - total l) <= 2 * cost l - e)
        by (destruct N as [(C2 & _)|[(_ & _ & D)|(_ & D)]]; lra).
      assert (B' : Rabs (y - total m) <= 2 * cost m - e)
        by (destruct M as [(C2 & _)|[(_ & _ & D)|(_ & D)]]; lra).
      apply near_round with (x + y); auto; rewrite ?cost_app, ?total_app; try lra.
      * apply Rabs_le. apply Rabs_le_inv in B, B', TL, TM. lra.
      * apply Rabs_le. apply Rabs_le_inv in B, B'. lra.
Qed.

Lemma multiplied_near x y : Rabs x <= pow K -> multiplied f x y ->
  held f y /\ Rabs (y - x) <= e.
Proof.
  intros B [R|[F ->]].
  - destruct (rounded_near x y B R); tauto.
  - split; [apply zero_held|]. rewrite Rminus_0_l, Rabs_Ropp. apply Rlt_le.
    eapply Rlt_le_trans; [exact F|]. apply bpow_le. lia.
Qed.

Lemma cost_cons t l : cost (t :: l) = cost [t] + cost l.
Proof. change (t :: l) with ([t] ++ l). apply cost_app. Qed.

Lemma near_skip l m y : cost l = 0 -> total l = 0 -> near m y -> near (l ++ m) y.
Proof.
  intros C T G. unfold near in *. rewrite cost_app, total_app, C, T, !Rplus_0_l. exact G.
Qed.

(** Theorem (Lemma 5). *)
Theorem sum_near l y : sum A l y -> size l + 2 * (terms l * e) <= pow K -> near l y.
Proof.
  intros D. assert (E := e_positive).
  induction D as [ |x|a b y M|l m x y z D IH E' IH' R|a b l x z D IH R|a b l x Z D IH
                  |l m x P D IH|l x y D IH R]; intros S; rewrite ?accumulated, ?kept in *;
    match type of S with _ + 2 * (terms ?l * e) <= _ =>
      change (terms l * e) with (cost l) in S end.
  - left. unfold cost, terms, total. simpl. repeat split; ring.
  - destruct (cost_split [Number x]) as [(C & _ & T)|C].
    + left. repeat split; auto. unfold total in T. simpl in T. lra.
    + right; right. split; auto. unfold total. simpl. replace (x - (x + 0)) with 0 by ring.
      rewrite Rabs_R0. lra.
  - assert (T : total [Product a b] = a * b) by (unfold total; simpl; ring).
    assert (Z : size [Product a b] = Rabs (a * b)) by (unfold size; simpl; ring).
    destruct (cost_split [Product a b]) as [(C & _ & T')|C].
    + rewrite T in T'. left. repeat split; auto; [lra|]. rewrite T' in M.
      destruct M as [R|[_ R]]; [|exact R].
      assert (B : Rabs 0 <= pow K) by (rewrite Rabs_R0; apply bpow_ge_0).
      destruct (rounded_near 0 y B R) as (_ & _ & ->). apply nearest_same, zero_held.
    + destruct (multiplied_near (a * b) y) as (H & D); auto; [lra|]. right; left.
      repeat split; auto. rewrite T. lra.
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
    + assert (N := IH ltac:(fold (cost l); lra)).
      destruct (cost_split l) as [(C' & _ & T')|C'].
      * destruct N as [(_ & _ & ->)|[(C2 & _)|(C2 & _)]]; [|lra|lra].
        apply near_round with (a * b + 0); auto; rewrite ?(cost_cons (Product a b) l), ?T, ?T', ?C'; try lra.
        -- rewrite Rplus_0_r. lra.
        -- replace (a * b + 0 - (a * b + 0)) with 0 by ring. rewrite Rabs_R0. lra.
      * assert (B : Rabs (x - total l) <= 2 * cost l - e)
          by (destruct N as [(C2 & _)|[(_ & _ & D2)|(_ & D2)]]; lra).
        assert (Q : Rabs (a * b) <= Rabs (a * b)) by lra.
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
  - eapply near_again; [exact S | apply IH; exact S | exact R].
Qed.

Corollary sum_close l y : sum A l y -> size l + 2 * (terms l * e) <= pow K ->
  Rabs (y - total l) <= 2 * (terms l * e).
Proof. intros D S. apply near_bound, sum_near; auto. Qed.
End Sums.
