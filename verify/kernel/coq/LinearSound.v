(** What the checker of Transformers does once for all positions: tables by position that
    are walked along, columns without zeros, numbers that pass. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Program Invariant Domains Arithmetic Recurrent Rounding Transformer
  Bounds Lists Affine Boxes TransformerCheck TablesSound.
Import ListNotations.

(** * Tables by position *)
Lemma listed_map g t i : forall n k rs, (forall j, nth j rs [] = row t (k + j)%nat) ->
  listed (unit t + g) i k n rs = map (fun j => (j, exactly g t j i)) (seq k n).
Proof.
  induction n as [|n IH]; intros k rs H; [reflexivity|]. cbn [listed seq map].
  assert (E : row t k = hd [] rs)
    by (rewrite <- (Nat.add_0_r k), <- H; destruct rs; reflexivity).
  change (1 + k)%nat with (S k).
  rewrite (IH (S k) (tl rs)); [unfold exactly at 2; rewrite E; reflexivity|].
  intros j. replace (S k + j)%nat with (k + S j)%nat by lia. rewrite <- H.
  destruct rs as [|r rs]; [destruct j; reflexivity|reflexivity].
Qed.

Lemma found_all {B} (h : nat * interval -> option B) (z : B -> nat * interval) : forall l r,
  all h l = Some r -> (forall x y, h x = Some y -> fst (z y) = fst x) ->
  forall v X, found v l = Some X -> exists y, h (v, X) = Some y
    /\ found v (map z r) = Some (snd (z y)).
Proof.
  induction l as [|(u, x) l IH]; intros r A F v X E; [discriminate|]. simpl in A, E.
  destruct (h (u, x)) as [y|] eqn:H; [|discriminate]. destruct (all h l) as [r'|]; [|discriminate].
  inversion A; subst. cbn [map found]. destruct (z y) as (u', x') eqn:Z.
  assert (Q := F _ _ H). rewrite Z in Q. cbn [fst] in Q. subst u'. destruct (u =? v)%nat eqn:U.
  - apply Nat.eqb_eq in U. inversion E; subst. exists y. rewrite Z. auto.
  - destruct (IH r' eq_refl F v X E) as (w & W & G). exists w. auto.
Qed.

(** What a cursor has at hand is what the table says: [rest] is the table but for what stands
    before, which is about other positions. *)
Definition goes (t : nat) (T rest : list (nat * interval)) : Prop :=
  forall v, (t <= v)%nat -> found v T = found v rest.

Lemma goes_current t T rest u x r : goes t T rest -> rest = (u, x) :: r -> u = t ->
  found t T = Some x.
Proof. intros G -> <-. rewrite (G u (le_n _)). simpl. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma goes_moved t T s rest : goes t T rest -> goes (S t) T (snd (moved t (s, rest))).
Proof.
  intros G. unfold moved. cbn [fst snd]. destruct rest as [|(u, x) r]; cbn [snd].
  - intros v L. apply G. lia.
  - destruct (u =? t)%nat eqn:E; cbn [snd]; intros v L; rewrite (G v ltac:(lia)); [|reflexivity].
    apply Nat.eqb_eq in E. subst. simpl. destruct (t =? v)%nat eqn:Q; [|reflexivity].
    apply Nat.eqb_eq in Q. lia.
Qed.

(** * Columns without zeros *)
Lemma single_sums x : sums (single x) = x.
Proof.
  unfold single. destruct (_ && _)%bool eqn:E; [|reflexivity]. apply andb_true_iff in E.
  destruct E as (E & F). apply Z.eqb_eq in E, F. destruct x; simpl in *; subst. reflexivity.
Qed.

Lemma weighed_nothing ws : weighed ws [] = none.
Proof. destruct ws; reflexivity. Qed.

Lemma thinned_same : forall ws n xs,
  weighed_thinly (thinned ws n) xs = sums (weighed ws (skipn n xs)).
Proof.
  induction ws as [|w ws IH]; intros n xs; [reflexivity|]. cbn [thinned weighed].
  assert (SK : skipn (1 + n) xs = tl (skipn n xs)).
  { clear. revert n. induction xs as [|x xs IH]; intros [|n]; try reflexivity. apply (IH n). }
  destruct (w =? 0)%Z.
  - rewrite IH, SK. destruct (skipn n xs); [rewrite weighed_nothing|]; reflexivity.
  - cbn [weighed_thinly]. destruct (skipn n xs) as [|x xs']; [reflexivity|]. rewrite IH.
    cbn [skipn both sums].
    rewrite single_sums. reflexivity.
Qed.

(** * Queries in one box *)
Section Grouped.
Variables (g : Z) (h : nat -> R).

Lemma put_there v x : forall l, insides g x h ->
  exists y, In (v, y) (put v x l) /\ insides g y h.
Proof.
  induction l as [|(u, y) l IH]; intros I; simpl; [exists x; auto|]. destruct (u =? v)%nat eqn:E.
  - apply Nat.eqb_eq in E. subst u. exists (hulls y x). split; [left; reflexivity|].
    apply hulls_right, I.
  - destruct (IH I) as (z & Z & J). exists z. split; [right; exact Z|exact J].
Qed.

Lemma put_keeps v x u y : forall l, In (u, y) l -> insides g y h ->
  exists z, In (u, z) (put v x l) /\ insides g z h.
Proof.
  induction l as [|(k, c) l IH]; intros M I; [destruct M|]. simpl. destruct (k =? v)%nat eqn:E.
  - destruct M as [M|M]; [|exists y; split; [right; exact M|exact I]]. inversion M; subst.
    exists (hulls y x). split; [left; reflexivity|]. apply hulls_left, I.
  - destruct M as [M|M]; [exists y; split; [left; exact M|exact I]|].
    destruct (IH M I) as (z & Z & J). exists z. split; [right; exact Z|exact J].
Qed.

Lemma grouped_sound v x l : In (v, x) l -> insides g x h ->
  exists y, In (v, y) (grouped l) /\ insides g y h.
Proof.
  intros M I. unfold grouped.
  assert (K : forall l acc, (exists y, In (v, y) acc /\ insides g y h) ->
    exists y, In (v, y) (fold_left (fun l x => put (fst x) (snd x) l) l acc) /\ insides g y h).
  { induction l0 as [|z l0 IH]; intros acc H; [exact H|]. simpl. apply IH.
    destruct H as (y & Y & J). apply put_keeps with y; assumption. }
  generalize (@nil (nat * box)). induction l as [|z l IH]; intros acc; [destruct M|]. simpl.
  destruct M as [->|M]; [|apply (IH M)]. apply K. cbn [fst snd]. apply put_there, I.
Qed.
End Grouped.

Open Scope R_scope.
Section Sums.
Variables (A : arithmetic) (g : Z).

Lemma total_inside l a : counted (- g) l a -> inside g (sums a) (total l).
Proof. intros ((_ & _ & C) & _). apply inside_units. exact C. Qed.

Lemma produced_sound spans w xs T j h d y : slim A g spans (dotted T j) = Some w ->
  insides g spans h -> length spans = d -> insides g xs h -> length xs = d ->
  sum A (dots d h T j) y -> inside g (produced xs w) y.
Proof.
  unfold slim. intros S I L J M D. cbn [dotted fst snd] in S.
  destruct (loss A g _) as [e|] eqn:E; [|discriminate]. inversion S; subst w. clear S.
  unfold produced. rewrite thinned_same. cbn [skipn].
  assert (C := dots_counted g T j xs h d J M). assert (C' := dots_counted g T j spans h d I L).
  eapply wider_inside; [apply (total_inside _ _ C)|]. eapply loss_sound; eauto.
Qed.

(** What has weights 0 alone is no more than nothing. *)
Lemma zeros_counted l : Forall (fun t => value t = 0) l -> counted (- g) l none.
Proof. intros H. rewrite <- (app_nil_r l). apply counted_idle; [exact H|apply counted_none]. Qed.

Lemma dots_zero d h t j : forallb (Z.eqb 0) (column t j) = true ->
  Forall (fun t => value t = 0) (dots d h t j).
Proof.
  intros H. apply Forall_forall. intros x I. apply in_map_iff in I. destruct I as (i & <- & _).
  cbn [value]. unfold entry. rewrite <- nth_column.
  destruct (nth_in_or_default i (column t j) 0%Z) as [I| ->]; [|ring].
  rewrite forallb_forall in H. apply H in I. apply Z.eqb_eq in I. rewrite <- I. ring.
Qed.

Lemma steady_fed net i z xs : steady A g net i = Some z -> fed A g net i xs = Some z.
Proof.
  unfold steady, fed. destruct net as [|l net]; [auto|].
  destruct (idle (l :: net) i); [auto|discriminate].
Qed.

Lemma passed_sound F y G v X x z w : passed A g F y = Some G -> found v (table F) = Some X ->
  inside g X x -> inside g y z -> sum A [Number x; Number z] w ->
  channel G = channel F /\ exists Y, found v (table G) = Some Y /\ inside g Y w.
Proof.
  unfold passed. intros P N I J D.
  assert (C : forall X, inside g X x -> counted (- g) [Number x;
    Number z] (both (single X) (single y))).
  { intros Q IQ. change [Number x; Number z] with ([Number x] ++ [Number z]).
    apply counted_app; apply number_counted; assumption. }
  destruct (skipn many (table F)) as [|q r].
  - destruct (all _ (table F)) as [t|] eqn:AL; [|discriminate]. inversion P; subst G. clear P.
    cbn [channel table]. split; [reflexivity|].
    destruct (found_all _ (fun y => y) _ _ AL) with (v := v) (X := X) as (u & HU & FU); [|exact N|].
    { intros (u, Q) u' HU. cbn [fst snd] in HU. destruct (rounding A g _); inversion HU.
      reflexivity. }
    cbn [fst snd] in HU. destruct (rounding A g _) as [Y|] eqn:RO; [|discriminate].
    inversion HU; subst u. rewrite map_id in FU. exists Y. split; [exact FU|].
    eapply rounding_sound; [exact RO|apply C, I|exact D].
  - destruct (loss A g _) as [e|] eqn:E; [|discriminate].
    inversion P; subst G. clear P. cbn [channel table]. split; [reflexivity|].
    exists (wider e (fst X + fst y, snd X + snd y)%Z). split.
    + clear - N. induction (table F) as [|(u, x0) t IH]; [discriminate|]. simpl in *.
      destruct (u =? v)%nat; [inversion N; subst; reflexivity|auto].
    + assert (SP := spanning_inside v (table F) X x N I).
      assert (S := loss_sound g A _ _ _ _ E (C _ SP) D).
      eapply wider_inside with (x + z); [|replace (total [Number x; Number z]) with (x + z) in S
        by (unfold total; simpl; ring); exact S].
      destruct I as (I1 & I2), J as (J1 & J2). unfold inside. cbn [fst snd]. rewrite !plus_IZR. lra.
Qed.
End Sums.
