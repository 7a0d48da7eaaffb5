(** The checker of Transformers is sound. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Program Invariant Domains Arithmetic Recurrent Rounding Softmax
  Transformer Bounds Lists Affine Mean TransformerCheck TablesSound.
Import ListNotations.
Open Scope R_scope.

Section Word.
Variables (A : arithmetic) (f : format) (g : Z) (letters longest : nat) (p : program).
Variables (ds : list domain) (tok pos : nat) (w : list nat).
Hypothesis short : (length w <= longest)%nat.
Hypothesis lettered : Forall (fun a => (a < letters)%nat) w.
Hypothesis order : ordered 0 p = true.
Hypothesis domained : domains letters longest [] p = Some ds.
Hypothesis token_there : nth_error p tok = Some Token.
Hypothesis position_there : nth_error p pos = Some (Position (seq 0 (1 + longest))).

Definition at_ (c t : nat) : option nat := value_at letters w p c t.
Definition fits_row (t : nat) (S row : list nat) : Prop :=
  Forall2 (fun c v => at_ c t = Some v) S row.
Definition formed (F : form) (t : nat) (y : R) : Prop :=
  exists v X, at_ (channel F) t = Some v /\ found v (table F) = Some X /\ inside g X y.
Definition holds (Fs : list form) (t : nat) (h : nat -> R) : Prop :=
  forall i F, nth_error Fs i = Some F -> formed F t (h i).

Lemma index_there t c : forall l row k, fits_row t l row -> index c l = Some k ->
  exists v, nth_error row k = Some v /\ at_ c t = Some v.
Proof.
  intros l row k H. revert k. induction H as [|a v l row E H IH]; intros k I; simpl in I;
    [discriminate|]. destruct (a =? c)%nat eqn:Q.
  - apply Nat.eqb_eq in Q. subst. inversion I; subst. exists v. auto.
  - destruct (index c l) as [k'|]; [|discriminate]. inversion I; subst. apply IH. auto.
Qed.

Lemma position_value t : (t <= length w)%nat -> at_ pos t = Some t.
Proof.
  intros T. unfold at_. rewrite (meaning letters longest w p short order pos _ t position_there).
  change (sem letters w (Position (seq 0 (1 + longest))) (env letters w p) t)
    with (nth_error (seq 0 (1 + longest)) t). rewrite seq_nth_error by lia. reflexivity.
Qed.

Lemma Position_or_not o : (exists vs, o = Position vs) \/ (forall vs, o <> Position vs).
Proof. destruct o; try (right; discriminate). left. exists vs. reflexivity. Qed.

Lemma known_sound t l row : (t <= length w)%nat -> fits_row t l row -> forall fuel c v,
  known p pos fuel l row c = Some v -> at_ c t = Some v.
Proof.
  intros T H. induction fuel as [|fuel IH]; intros c v K; simpl in K;
    (destruct (index c l) as [k|] eqn:I;
     [destruct (index_there t c l row k H I) as (u & N & V); congruence|]); [discriminate|].
  destruct (nth_error p c) as [o|] eqn:O; [|discriminate].
  destruct (Position_or_not o) as [(vs & ->)|N].
  { destruct (index pos l) as [k|] eqn:J; [|discriminate].
    destruct (index_there t pos l row k H J) as (u & N & V). rewrite N in K.
    rewrite (position_value t T) in V. inversion V; subst u. clear V.
    unfold at_. rewrite (meaning letters longest w p short order c _ t O). exact K. }
  assert (K' : match all (known p pos fuel l row) (inputs o) with
               | Some vs => applied o vs | None => None end = Some v)
    by (destruct o; auto; destruct (N vs); reflexivity).
  clear K. rename K' into K.
  destruct (all (known p pos fuel l row) (inputs o)) as [vs|] eqn:E; [|discriminate].
  unfold at_. rewrite (meaning letters longest w p short order c o t O). apply applied_sound with vs; [|exact K].
  apply all_some in E. clear - E IH. induction E; constructor; auto.
Qed.

Lemma read_sound F t y l row : formed F t y -> fits_row t l row ->
  exists X, read row (prepared l F) = Some X /\ inside g X y.
Proof.
  intros (v & X & V & T & I) H. unfold prepared. destruct (index (channel F) l) as [k|] eqn:E; simpl.
  - destruct (index_there t _ l row k H E) as (u & N & U). rewrite N. rewrite V in U.
    inversion U; subst. exists X. auto.
  - exists (spanning (table F)). split; auto. eapply spanning_inside; eauto.
Qed.

Lemma reads_sound t l row : fits_row t l row -> forall Fs h, holds Fs t h ->
  exists xs, all (read row) (map (prepared l) Fs) = Some xs /\ length xs = length Fs
    /\ insides g xs h.
Proof.
  intros H. induction Fs as [|F Fs IH]; intros h K; simpl.
  - exists []. split; [auto|]. split; [auto|]. intros i L. simpl in L. lia.
  - destruct (read_sound F t (h O) l row (K O F eq_refl) H) as (X & R & I). rewrite R.
    destruct (IH (fun i => h (S i))) as (xs & E & L & J); [intros i G N; apply (K (S i)), N|].
    rewrite E. exists (X :: xs). split; [auto|]. split; [simpl; auto|].
    intros [|i] M; simpl; auto.
    apply J. simpl in M. lia.
Qed.

Lemma there t c d : (t <= length w)%nat -> nth_error ds c = Some d ->
  exists v, at_ c t = Some v /\ (t = 0%nat -> v = fst d) /\ ((1 <= t)%nat -> In v (snd d)).
Proof.
  intros T N. destruct (domains_sound letters longest w p short lettered order ds domained c d t T N)
    as (v & V). exists v. exact V.
Qed.

Lemma row_there t l of : (t <= length w)%nat -> all (nth_error ds) l = Some of ->
  exists row, fits_row t l row /\ (t = 0%nat -> row = map fst of)
    /\ ((1 <= t)%nat -> In row (prods (map snd of))).
Proof.
  intros T H. apply all_some in H. induction H as [|c d l of N H IH].
  - exists []. split; [constructor|]. split; [auto|intros; left; auto].
  - destruct IH as (row & F & Z & P). destruct (there t c d T N) as (v & V & V0 & V1).
    exists (v :: row). split; [constructor; auto|]. split.
    + intros E. simpl. rewrite V0, Z; auto.
    + intros E. apply in_prods. simpl. constructor; auto. apply in_prods. auto.
Qed.

Lemma choices_sound t l rows : (t <= length w)%nat -> choices ds l = Some rows ->
  exists row, fits_row t l row /\ In row rows.
Proof.
  intros T H. unfold choices in H. destruct (all (nth_error ds) l) as [of|] eqn:E; [|discriminate].
  inversion H; subst. destruct (row_there t l of T E) as (row & F & Z & P). exists row. split; auto.
  destruct t as [|t]; [left; symmetry; auto | right; apply P; lia].
Qed.

Lemma token_value t : (t <= length w)%nat ->
  at_ tok t = Some (token letters w t) /\ (token letters w t <= letters)%nat.
Proof.
  intros T. unfold at_. rewrite (meaning letters longest w p short order tok _ t token_there). simpl.
  destruct t as [|t]; simpl; [split; auto|]. rewrite (nth_error_nth' w O) by lia. split; auto.
  assert (L := lettered). rewrite Forall_forall in L. apply Nat.lt_le_incl, L, nth_In. lia.
Qed.

Lemma at_position_sound t l rows : (t <= length w)%nat -> at_position ds pos t l = Some rows ->
  exists row, fits_row t l row /\ In row rows.
Proof.
  intros T H. unfold at_position in H. destruct (all (nth_error ds) l) as [of|] eqn:E; [|discriminate].
  inversion H; subst. clear H. apply all_some in E.
  assert (R : exists row, fits_row t l row /\ Forall2 (fun v k => In v k) row
    (map (fun x : nat * domain => if (fst x =? pos)%nat then [t]
       else if (t =? 0)%nat then [fst (snd x)] else snd (snd x)) (combine l of))).
  { induction E as [|c d l of N E IH]; [exists []; split; constructor|].
    destruct IH as (row & F & G). destruct (there t c d T N) as (v & V & V0 & V1).
    exists (v :: row). split; [constructor; auto|]. simpl. constructor; auto.
    destruct (c =? pos)%nat eqn:Q.
    - apply Nat.eqb_eq in Q. subst c. rewrite position_value in V by auto. inversion V. left; auto.
    - destruct (t =? 0)%nat eqn:Z; [apply Nat.eqb_eq in Z; left; symmetry; auto|].
      apply Nat.eqb_neq in Z. apply V1. lia. }
  destruct R as (row & F & G). exists row. split; auto. apply in_prods. exact G.
Qed.

Lemma built_sound l c calc F t y : built p ds pos l c calc = Some F -> (t <= length w)%nat ->
  (forall row X, fits_row t l row -> calc row = Some X -> inside g X y) ->
  formed F t y /\ channel F = c.
Proof.
  unfold built. intros H T K. destruct (choices ds l) as [rows|] eqn:C; [|discriminate].
  destruct (gathered _ rows []) as [r|] eqn:G; [|discriminate]. inversion H; subst. simpl.
  split; auto. destruct (choices_sound t l rows T C) as (row & R & I).
  destruct (gathered_sound (g := g) _ _ _ _ row G I) as (v & X & Y & E & B & M).
  destruct (told p pos l row c) as [v'|] eqn:V; [|discriminate].
  destruct (calc row) as [X'|] eqn:Q; [|discriminate]. inversion E; subst.
  exists v, Y. split; [eapply known_sound; eauto|]. split; [exact B|].
  apply M. eapply K; eauto.
Qed.

Hypothesis accumulated : accumulator A = f.
Hypothesis kept : stored A = f.

Lemma embedding_sound n i l F t y :
  embedding f g letters longest p ds tok pos n i l = Some F -> (t <= length w)%nat ->
  sum A [Number (entry (embed_token n) (token letters w t) i);
         Number (entry (embed_position n) t i)] y -> formed F t y.
Proof.
  intros H T D. unfold embedding in H. eapply built_sound; [exact H|exact T|].
  intros row X R E. cbv beta in E.
  set (a := {| channel := tok; table := _ |}) in E. set (b := {| channel := pos; table := _ |}) in E.
  destruct (token_value t T) as (V & L).
  assert (FA : formed a t (entry (embed_token n) (token letters w t) i)).
  { exists (token letters w t), (exactly g (embed_token n) (token letters w t) i).
    split; [exact V|]. split; [|apply exactly_inside]. unfold a. cbn [table].
    apply (found_numbered (fun a => exactly g (embed_token n) a i)). lia. }
  assert (FB : formed b t (entry (embed_position n) t i)).
  { exists t, (exactly g (embed_position n) t i). split; [apply position_value, T|].
    split; [|apply exactly_inside]. unfold b. cbn [table].
    apply (found_numbered (fun a => exactly g (embed_position n) a i)). lia. }
  destruct (read_sound a t _ _ row FA R) as (x & RA & IA).
  destruct (read_sound b t _ _ row FB R) as (z & RB & IB). rewrite RA, RB in E.
  eapply rounding_sound; [exact accumulated|exact kept|exact E| |exact D].
  match goal with |- counted _ (?u :: ?v) _ => change (u :: v) with ([u] ++ v) end.
  apply counted_app; apply number_counted; assumption.
Qed.

(** * Heads *)
Lemma product_sound xs T j h d X y : product f g xs (dotted T j) = Some X -> insides g xs h ->
  length xs = d -> sum A (dots d h T j) y -> inside g X y.
Proof.
  intros P I L D. eapply rounding_sound; [exact accumulated|exact kept|exact P| |exact D].
  simpl. apply dots_counted; auto.
Qed.

Lemma vectors_sound T k l c Fs t h q r d :
  vectors f g p ds pos (map (dotted T) (seq 0 k)) l c (map (prepared l) Fs) t = Some r ->
  (t <= length w)%nat -> length Fs = d -> holds Fs t h ->
  (forall a, (a < k)%nat -> sum A (dots d h T a) (q a)) ->
  exists v ys, In (v, ys) r /\ (forall c', c = Some c' -> at_ c' t = Some v)
    /\ length ys = k /\ insides g ys q.
Proof.
  intros H W L K D. unfold vectors in H.
  destruct (at_position ds pos t l) as [rows|] eqn:E; [|discriminate].
  destruct (at_position_sound t l rows W E) as (row & R & I).
  destruct (all_in _ _ _ row H I) as (b & B & J). cbv beta in B.
  destruct (reads_sound t l row R Fs h K) as (xs & X & N & Y). rewrite X in B.
  destruct (match c with Some c => told p pos l row c | None => Some O end) as [v|] eqn:V; [|discriminate].
  destruct (all (product f g xs) (map (dotted T) (seq 0 k))) as [ys|] eqn:P; [|discriminate].
  inversion B; subst b. exists v, ys. split; [exact J|]. split; [|split].
  - intros c' ->. eapply known_sound; eauto.
  - apply all_length in P. rewrite map_length, seq_length in P. exact P.
  - intros a M. destruct (nth_error ys a) as [Z|] eqn:G; [|apply nth_error_None in G; lia].
    rewrite (nth_error_nth _ _ _ G). destruct (all_nth _ _ _ P a Z G) as (u & U & Q).
    rewrite nth_error_map in U. destruct (nth_error (seq 0 k) a) as [a'|] eqn:S; [|discriminate].
    apply nth_seq in S. destruct S as (-> & S). inversion U; subst u. simpl in Q.
    eapply product_sound; [exact Q|exact Y|rewrite N; exact L|apply D, S].
Qed.

Lemma score_sound q k h i X y : score f g q k = Some X -> insides g q h -> insides g k i ->
  length q = length k -> sum A (map (fun a => Product (h a) (i a)) (seq 0 (length q))) y ->
  inside g X y.
Proof.
  intros S Q K L D. eapply rounding_sound; [exact accumulated|exact kept|exact S| |exact D].
  apply counted_coarse. apply products_counted; auto.
Qed.

Lemma separates_sound b h e Fs o t x d q k s :
  separates f g longest p ds pos b h e Fs o = true -> (t <= length w)%nat -> length Fs = d ->
  (forall j, (j <= t)%nat -> holds Fs j (x j)) ->
  (forall a, (a < d_qk b)%nat -> sum A (dots d (x t) (query h) a) (q a)) ->
  (forall j a, (j <= t)%nat -> (a < d_qk b)%nat -> sum A (dots d (x j) (key h) a) (k j a)) ->
  (forall j, (j <= t)%nat ->
     sum A (map (fun a => Product (q a) (k j a)) (seq 0 (d_qk b))) (s j)) ->
  exists qv row, judged g e o t qv row = true
    /\ (forall c, query_of o = Some c -> at_ c t = Some qv)
    /\ forall j, (j <= t)%nat -> exists kv X, In (j, kv, X) row /\ inside g X (s j)
         /\ (forall c, key_of o = Some c -> at_ c j = Some kv).
Proof.
  intros S T L H AQ AK AS.
  unfold separates in S. set (cols := fun t => map (dotted t) (seq 0 (d_qk b))) in S.
  match type of S with match ?a with _ => _ end = _ => destruct a as [qs|] eqn:EQ end;
    [|discriminate].
  match type of S with match ?a with _ => _ end = _ => destruct a as [ks|] eqn:EK end;
    [|discriminate].
  destruct (all_nth_from _ _ _ EQ t t) as (lq & NQ & VQ); [rewrite seq_nth_error by lia; auto|].
  destruct (vectors_sound _ _ _ _ _ t (x t) q lq d VQ T L (H t (le_n _)) AQ)
    as (qv & qi & QI & QV & QL & QN).
  assert (KS : forall j, (j <= t)%nat -> exists lk kv ki, nth_error ks j = Some lk /\ In (kv, ki) lk
     /\ (forall c', key_of o = Some c' -> at_ c' j = Some kv)
     /\ length ki = d_qk b /\ insides g ki (k j)).
  { intros j J. destruct (all_nth_from _ _ _ EK j j) as (lk & NK & VK);
      [rewrite seq_nth_error by lia; auto|].
    destruct (vectors_sound _ _ _ _ _ j (x j) (k j) lk d VK ltac:(lia) L (H j J))
      as (kv & ki & K); [intros a M; apply AK; auto|]. exists lk, kv, ki. tauto. }
  rewrite forallb_forall in S. specialize (S (t, lq)). cbn [fst snd] in S.
  assert (S' := S (nth_error_In _ t (numbered_nth qs 0 (1 + longest) t lq ltac:(lia) NQ))). clear S.
  rewrite forallb_forall in S'. specialize (S' (qv, qi) QI). cbn [fst snd] in S'.
  destruct (scored f g qi (positions t ks)) as [row|] eqn:SC; [|discriminate].
  exists qv, row. split; [exact S'|]. split; [exact QV|].
  intros j J. destruct (KS j J) as (lk & kv & ki & NK & I & KV & KL & KN).
  assert (P := in_positions t ks j lk (kv, ki) J NK I).
  destruct (all_in _ _ _ _ SC P) as (z & Z & IZ). cbn [fst snd] in Z.
  destruct (score f g qi ki) as [X|] eqn:E; [|discriminate]. inversion Z; subst z.
  exists kv, X. split; [exact IZ|]. split; [|exact KV].
  eapply score_sound; [exact E|exact QN|exact KN|congruence|]. rewrite QL. apply AS, J.
Qed.

Lemma value_there y o t : nth_error p y = Some o -> (t <= length w)%nat ->
  exists u d, at_ y t = Some u /\ nth_error ds y = Some d /\ In u (fst d :: snd d).
Proof.
  intros O T. assert (M : (y < length ds)%nat).
  { assert (E : forall q d0 r, domains letters longest d0 q = Some r -> length r = (length d0 + length q)%nat).
    { induction q as [|a q IH]; simpl; intros d0 r E; [inversion E; lia|].
      destruct (domain_of letters longest d0 a); [|discriminate]. apply IH in E.
      rewrite app_length in E. simpl in E. lia. }
    apply E in domained. simpl in domained. rewrite domained. apply nth_error_Some. congruence. }
  destruct (nth_error ds y) as [dy|] eqn:DY; [|apply nth_error_None in DY; lia].
  destruct (there t y dy T DY) as (u & U & U0 & U1). exists u, dy. split; [exact U|].
  split; [reflexivity|]. destruct t; [left; symmetry; auto | right; apply U1; lia].
Qed.

Lemma valued_sound h Fs c x V t xs v d : valued f g p ds pos h Fs c x = Some V ->
  (t <= length w)%nat -> length Fs = d -> (forall j, (j <= t)%nat -> holds Fs j (xs j)) ->
  (forall j, (j <= t)%nat -> sum A (dots d (xs j) (val h) c) (v j c)) ->
  forall j, (j <= t)%nat -> formed V j (v j c) /\ channel V = x
    /\ Rabs (v j c) <= IZR (largest (table V)) * pow (- g).
Proof.
  intros B T L H AV j J. unfold valued in B.
  assert (F : formed V j (v j c) /\ channel V = x).
  { eapply built_sound; [exact B|lia|]. intros row X R E. cbv beta in E.
    destruct (reads_sound j _ row R Fs (xs j) (H j J)) as (ys & X1 & N & Y). rewrite X1 in E.
    eapply product_sound; [exact E|exact Y|rewrite N; exact L|apply AV; auto]. }
  split; [apply F|]. split; [apply F|]. destruct F as ((z & X & _ & Fo & I) & _).
  apply reach_inside in I. eapply Rle_trans; [exact I|].
  apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. eapply largest_bound; eauto.
Qed.

Lemma judged_most e o t q row s : judged g e o t q row = true ->
  (forall j, (j <= t)%nat -> exists kv X, In (j, kv, X) row /\ inside g X (s j)
     /\ (forall c, key_of o = Some c -> at_ c j = Some kv)) ->
  forall j, (j <= t)%nat -> Rabs (s j) <= IZR (most e) * pow (- g).
Proof.
  intros J SS j K. unfold judged in J. apply andb_true_iff in J. destruct J as (TOP & _).
  rewrite forallb_forall in TOP. destruct (SS j K) as (kv & X & I & IX & _).
  specialize (TOP _ I). cbn [snd] in TOP. apply Z.leb_le, IZR_le in TOP.
  apply reach_inside in IX. eapply Rle_trans; [exact IX|].
  apply Rmult_le_compat_r; [apply bpow_ge_0|exact TOP].
Qed.

(** A head that copies. *)
Lemma copied_sound h e o Fs c y src F t x v s qv row d r :
  copied f g longest p ds pos h e Fs c y src = Some F -> nth_error p y = Some o ->
  source_of o = Some src -> sound_weights f g longest (most e) = true ->
  (t <= length w)%nat -> length Fs = d -> (forall j, (j <= t)%nat -> holds Fs j (x j)) ->
  (forall j, (j <= t)%nat -> sum A (dots d (x j) (val h) c) (v j c)) ->
  judged g e o t qv row = true -> (forall c, query_of o = Some c -> at_ c t = Some qv) ->
  (forall j, (j <= t)%nat -> exists kv X, In (j, kv, X) row /\ inside g X (s j)
     /\ (forall c, key_of o = Some c -> at_ c j = Some kv)) ->
  attended f t s (fun j => v j c) r -> formed F t r.
Proof.
  intros C O SO SW T L H AV JU QV SS AO. unfold copied in C.
  destruct (valued f g p ds pos h Fs c src) as [V|] eqn:VA; [|discriminate].
  inversion C; subst F; clear C.
  assert (VF := valued_sound h Fs c src V t x v d VA T L H AV).
  destruct (value_there y o t O T) as (u & _ & U & _).
  destruct (fetched_from letters longest w p short order y o src t u O SO U)
    as (ri & R & UR & ON & BES).
  assert (SB := judged_most e o t qv row s JU SS).
  assert (LEAD : leads o (Z.of_nat (gap e) * 2 ^ g)%Z t qv row = true).
  { unfold judged in JU. apply andb_true_iff in JU. destruct JU as (_ & JU).
    destruct o; try exact JU; discriminate. }
  unfold leads in LEAD. rewrite forallb_forall in LEAD.
  destruct (SS ri R) as (kr & XR & IR & INR_ & KR).
  assert (LR := LEAD _ IR). cbn beta iota in LR.
  rewrite (ON qv kr QV KR) in LR. rewrite forallb_forall in LR.
  destruct (digits_some _ SW) as (G0 & DG).
  assert (GAP : forall j, (j <= t)%nat -> j <> ri -> s j + INR (gap e) <= s ri).
  { intros j J N. destruct (SS j J) as (kj & XJ & IJ & INJ & KJ). specialize (LR _ IJ).
    cbn beta iota in LR. rewrite (BES qv j kj QV J N KJ) in LR.
    rewrite !orb_true_iff in LR. destruct LR as [[E|E]|E];
      [|discriminate|apply Nat.eqb_eq in E; congruence].
    apply Z.leb_le, IZR_le in E. rewrite plus_IZR, mult_IZR, (IZR_Zpower radix2) in E by auto.
    rewrite <- INR_IZR_INZ in E. destruct INR_ as (I1 & _), INJ as (_ & I2).
    apply Rmult_le_reg_r with (pow g); [apply bpow_gt_0|]. lra. }
  destruct (weights_sound (most e) t SW ltac:(lia)) as (W1 & W2 & W3).
  assert (Q := attended_right f t s (fun j => v j c) r ri (gap e) (IZR (most e) * pow (- g))
    (IZR (largest (table V)) * pow (- g)) AO DG
    (fun j J => conj (SB j J) (proj2 (proj2 (VF j J)))) W1 W2 R GAP).
  destruct (VF ri R) as ((z & X & ZV & FO & IX) & CH & _). rewrite CH in ZV.
  unfold at_ in ZV. rewrite UR in ZV. inversion ZV; subst z.
  exists u, (wider (slack f g longest (gap e) (largest (table V))) X). cbn [channel table].
  split; [exact U|]. split.
  - apply found_wider, FO.
  - apply wider_inside with (v ri c); [exact IX|].
    eapply Rle_trans; [apply Rmult_le_compat_r; [apply bpow_ge_0|exact Q]|].
    apply slack_bound; auto; [apply largest_positive|lia].
Qed.

(** A head that adds up. *)
Lemma added_up_sound h e Fs c y src F t x v s qv row d r :
  added_up f g longest p ds pos h e Fs c y src = Some F -> nth_error p y = Some (PrefixSum src) ->
  sound_weights f g longest (most e) = true ->
  (t <= length w)%nat -> length Fs = d -> (forall j, (j <= t)%nat -> holds Fs j (x j)) ->
  (forall j, (j <= t)%nat -> sum A (dots d (x j) (val h) c) (v j c)) ->
  judged g e (PrefixSum src) t qv row = true ->
  (forall j, (j <= t)%nat -> exists kv X, In (j, kv, X) row /\ inside g X (s j)
     /\ (forall c, key_of (PrefixSum src) = Some c -> at_ c j = Some kv)) ->
  attended f t s (fun j => v j c) r -> formed F t r.
Proof.
  intros C O SW T L H AV JU SS AO. unfold added_up in C.
  destruct (valued f g p ds pos h Fs c src) as [V|] eqn:VA; [|discriminate].
  destruct (nth_error ds src) as [dx|] eqn:DX; [|discriminate].
  destruct (nth_error ds y) as [dy|] eqn:DY; [|discriminate].
  destruct (_ && _)%bool eqn:E in C; [|discriminate]. rewrite !andb_true_iff in E.
  destruct E as (((E1 & E2) & E3) & E4). apply Nat.eqb_eq in E1. apply Z.ltb_lt in E2, E4.
  apply Z.leb_le in E3.
  match type of C with Some ?a = _ => assert (F' : F = a) by congruence end. subst F. clear C.
  assert (VF := valued_sound h Fs c src V t x v d VA T L H AV).
  destruct (value_there y _ t O T) as (n & dy' & U & DY' & IN). rewrite DY in DY'.
  assert (dy' = dy) by congruence. subst dy'. clear DY'.
  destruct (summed_from letters longest w p short order y src t n O U) as (u & N & UV).
  assert (SB := judged_most e _ t qv row s JU SS).
  destruct (digits_some _ SW) as (G0 & DG).
  destruct (weights_sound (most e) t SW ltac:(lia)) as (W1 & W2 & W3).
  set (T0 := skew f g longest e) in *.
  set (eta := IZR (stray g (table V)) * pow (- g)). set (dd := IZR (loose e) * pow (-64)).
  set (LV := IZR (largest (table V)) * pow (- g)).
  assert (P64 := bpow_gt_0 radix2 64).
  assert (Q64 : pow 64 * pow (-64) = 1) by (rewrite <- bpow_plus; reflexivity).
  assert (QG : pow g * pow (- g) = 1)
    by (rewrite <- bpow_plus; replace (g + - g)%Z with 0%Z by lia; reflexivity).
  assert (PG := bpow_gt_0 radix2 g). assert (PG' := bpow_gt_0 radix2 (- g)).
  assert (TH : 5 * (INR (S t) + 1) * roundoff f + 2 * dd
               + 2 * astray f (IZR (most e) * pow (- g)) (INR (S t)) <= IZR T0 * pow (- g) < 1).
  { split.
    2:{ apply IZR_lt in E4. rewrite (IZR_Zpower radix2) in E4 by exact G0.
        rewrite <- QG. apply Rmult_lt_compat_r; [exact PG'|exact E4]. }
    unfold T0, skew. set (m := Z.of_nat (1 + longest)). rewrite !plus_IZR.
    assert (B1 := up_above (- digits f) (5 * (m + 1) * 2 ^ g)).
    assert (B2 := up_above (g - 64) (2 * loose e)).
    assert (B3 := up_above (- digits f) (2 * (9 * most e + 42 * m * 2 ^ g))).
    rewrite !mult_IZR, plus_IZR, (IZR_Zpower radix2) in B1 by exact G0.
    rewrite mult_IZR in B2. rewrite mult_IZR, plus_IZR, !mult_IZR, (IZR_Zpower radix2) in B3 by exact G0.
    assert (M : INR (S t) <= IZR m) by (unfold m; rewrite <- INR_IZR_INZ; apply le_INR; lia).
    unfold astray, roundoff, dd. set (a := pow (- digits f)) in *. assert (a0 : 0 <= a) by apply bpow_ge_0.
    replace (pow (g - 64)) with (pow (-64) * pow g) in B2
      by (rewrite <- bpow_plus; f_equal; lia).
    apply Rmult_le_reg_r with (pow g); [exact PG|].
    rewrite (Rmult_assoc _ (pow (- g))), (Rmult_comm (pow (- g))), QG, Rmult_1_r.
    assert (M' : INR (S t) * (a * pow g) <= IZR m * (a * pow g))
      by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact M]).
    replace ((5 * (INR (S t) + 1) * a + 2 * (IZR (loose e) * pow (-64))
      + 2 * (a * (9 * (IZR (most e) * pow (- g)) + 42 * INR (S t)))) * pow g)
      with (5 * (INR (S t) * (a * pow g)) + 5 * (a * pow g) + 2 * IZR (loose e) * (pow (-64) * pow g)
            + 18 * a * IZR (most e) * (pow g * pow (- g)) + 84 * (INR (S t) * (a * pow g))) by ring.
    rewrite QG, Rmult_1_r. lra. }
  assert (LEV : level g (shares e) (loose e) t row = true).
  { unfold judged in JU. apply andb_true_iff in JU. apply JU. }
  unfold level in LEV. rewrite forallb_forall in LEV.
  assert (N0 : 0 < IZR (shares e)) by (apply IZR_lt, E2).
  assert (Z := attended_share f t s (fun j => v j c) r (fun j => INR (u j))
    (fun j => IZR (share (shares e) t j)) dd eta (IZR (shares e)) (IZR (most e) * pow (- g)) LV
    (IZR T0 * pow (- g)) AO (fun j J => conj (SB j J) (proj2 (proj2 (VF j J)))) W1 W2).
  assert (D0 : 0 <= dd) by (unfold dd; apply Rmult_le_pos; [apply IZR_le, E3|apply bpow_ge_0]).
  specialize (Z D0 N0 TH).
  assert (SH : forall j, (j <= t)%nat ->
     IZR (share (shares e) t j) * (1 - dd) <= exp (s j) <= IZR (share (shares e) t j) * (1 + dd)
     /\ 0 <= INR (u j) /\ Rabs (v j c - INR (u j)) <= eta
     /\ (INR (u j) <> 0 -> IZR (share (shares e) t j) = 1)).
  { intros j J. split; [|split; [apply pos_INR|split]].
    - destruct (SS j J) as (kv & X & I & IX & _). specialize (LEV _ I). cbn beta iota zeta in LEV.
      apply andb_true_iff in LEV. destruct LEV as (LO & HI). apply Z.leb_le, IZR_le in LO.
      destruct (exp_above g (snd X)) as [z|] eqn:Z'; [|discriminate]. apply Z.leb_le, IZR_le in HI.
      destruct (exp_below_sound g (fst X) G0) as (_ & XL).
      assert (XH := exp_above_sound g (snd X) z G0 Z'). apply inside_units in IX.
      destruct IX as (I1 & I2).
      assert (MO : forall a b, a <= b -> exp a <= exp b).
      { intros a0 b0 [K|K]; [left; apply exp_increasing, K|right; congruence]. }
      apply MO in I1, I2.
      rewrite mult_IZR, minus_IZR, (power_of_two 64) in LO by lia.
      rewrite mult_IZR, plus_IZR, (power_of_two 64) in HI by lia.
      unfold dd. split; apply Rmult_le_reg_r with (pow 64); auto.
      + replace (IZR (share (shares e) t j) * (1 - IZR (loose e) * pow (-64)) * pow 64)
          with (IZR (share (shares e) t j) * (pow 64 - IZR (loose e) * (pow 64 * pow (-64)))) by ring.
        rewrite Q64, Rmult_1_r. eapply Rle_trans; [exact LO|]. eapply Rle_trans; [exact XL|].
        apply Rmult_le_compat_r; lra.
      + replace (IZR (share (shares e) t j) * (1 + IZR (loose e) * pow (-64)) * pow 64)
          with (IZR (share (shares e) t j) * (pow 64 + IZR (loose e) * (pow 64 * pow (-64)))) by ring.
        rewrite Q64, Rmult_1_r. eapply Rle_trans; [|exact HI]. eapply Rle_trans; [|exact XH].
        apply Rmult_le_compat_r; lra.
    - destruct (VF j J) as ((z & X & ZV & FO & IX) & CH & _). rewrite CH in ZV.
      unfold at_ in ZV. rewrite (UV j J) in ZV. assert (z = u j) by congruence. subst z.
      eapply stray_near; eauto.
    - intros NZ. destruct j as [|j]; [|reflexivity]. exfalso. apply NZ.
      destruct (there 0 src dx ltac:(lia) DX) as (z & ZV & Z0 & _). unfold at_ in ZV.
      rewrite (UV 0%nat ltac:(lia)) in ZV. assert (UZ : u 0%nat = z) by congruence.
      rewrite UZ, (Z0 eq_refl), E1.
      reflexivity. }
  specialize (Z SH (shares_total (shares e) t)). cbv zeta in Z.
  rewrite <- summed_real, <- N in Z. clear SH.
  assert (E0 : (2 * eta + 16 * INR (S t) * pow (least f + digits f - 1) * (1 + LV)) * pow g
               <= IZR (beyond f g longest (table V))).
  { unfold beyond. set (m := Z.of_nat (1 + longest)). rewrite plus_IZR, mult_IZR.
    assert (B := up_above (least f + digits f - 1) (16 * m * (2 ^ g + largest (table V)))).
    rewrite !mult_IZR, plus_IZR, (IZR_Zpower radix2) in B by exact G0.
    assert (M : INR (S t) <= IZR m) by (unfold m; rewrite <- INR_IZR_INZ; apply le_INR; lia).
    set (a := pow (least f + digits f - 1)) in *. assert (a0 : 0 <= a) by apply bpow_ge_0.
    unfold eta, LV. assert (P := largest_positive (table V)). apply IZR_le in P.
    replace ((2 * (IZR (stray g (table V)) * pow (- g))
      + 16 * INR (S t) * a * (1 + IZR (largest (table V)) * pow (- g))) * pow g)
      with (2 * IZR (stray g (table V)) * (pow g * pow (- g))
        + 16 * (INR (S t) * (a * (pow g + IZR (largest (table V)) * (pow g * pow (- g)))))) by ring.
    rewrite QG, !Rmult_1_r.
    assert (INR (S t) * (a * (pow g + IZR (largest (table V))))
      <= IZR m * (a * (pow g + IZR (largest (table V)))))
      by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact M]). lra. }
  set (ee := 2 * eta + 16 * INR (S t) * pow (least f + digits f - 1) * (1 + LV)) in *.
  set (iv := fun s => wider (beyond f g longest (table V)) (mean g (shares e) T0 s)).
  assert (FX := found_listed iv n (fst dy :: snd dy) IN).
  exists n, (iv n). cbn [channel table]. split; [exact U|]. split; [exact FX|].
  unfold iv, inside, wider, mean. cbn [fst snd].
  assert (TG : (0 < 2 ^ g - T0)%Z) by lia. assert (TG' := TG). apply IZR_lt in TG'.
  rewrite minus_IZR, (IZR_Zpower radix2) in TG' by exact G0.
  assert (D1 := quotient_below (Z.of_nat n * (2 ^ g - T0)) (shares e) E2).
  rewrite mult_IZR, minus_IZR, (IZR_Zpower radix2), <- INR_IZR_INZ in D1 by exact G0.
  assert (D2 := quotient_below (- (Z.of_nat n * 2 ^ (2 * g))) (shares e * (2 ^ g - T0))
    ltac:(apply Z.mul_pos_pos; lia)).
  rewrite opp_IZR, !mult_IZR, minus_IZR, (power_of_two (2 * g)), (power_of_two g),
    <- INR_IZR_INZ in D2 by lia.
  rewrite minus_IZR, plus_IZR, opp_IZR. destruct Z as (Z1 & Z2).
  replace (pow (2 * g)) with (pow g * pow g) in D2 by (rewrite <- bpow_plus; f_equal; lia).
  assert (TQ : 1 - IZR T0 * pow (- g) = (pow g - IZR T0) * pow (- g)) by (rewrite <- QG; ring).
  apply Rmult_le_compat_r with (r := pow g) in Z1; [|lra].
  apply Rmult_le_compat_r with (r := pow g) in Z2; [|lra].
  rewrite Rmult_minus_distr_r in Z1. rewrite Rmult_plus_distr_r in Z2. rewrite TQ in Z1, Z2.
  replace (INR n / IZR (shares e) * ((pow g - IZR T0) * pow (- g)) * pow g)
    with (INR n * (pow g - IZR T0) / IZR (shares e) * (pow g * pow (- g))) in Z1 by (field; lra).
  rewrite QG, Rmult_1_r in Z1.
  replace (INR n / IZR (shares e) / ((pow g - IZR T0) * pow (- g)) * pow g)
    with (INR n * (pow g * pow g) / (IZR (shares e) * (pow g - IZR T0))) in Z2.
  2:{ replace (pow (- g)) with (/ pow g) by (rewrite bpow_opp; reflexivity). field. lra. }
  unfold Rdiv in D2. rewrite Ropp_mult_distr_l_reverse in D2. unfold Rdiv in Z2.
  split; lra.
Qed.

Lemma result_sound b h e Fs rs t x o d :
  result f g longest p ds pos b h e Fs = Some rs -> (t <= length w)%nat -> length Fs = d ->
  (forall j, (j <= t)%nat -> holds Fs j (x j)) -> attends A d b h t x o ->
  length rs = d_v b /\ holds rs t o.
Proof.
  unfold result. intros R T L H (q & k & v & s & AQ & AK & AV & AS & AO).
  destruct (all (nth_error p) (fetches e)) as [[|o1 os]|] eqn:OS; try discriminate.
  destruct (_ && _)%bool eqn:E in R; [|discriminate]. rewrite !andb_true_iff in E.
  destruct E as (((SW & E) & SAME) & SEP). apply Nat.eqb_eq in E.
  destruct (separates_sound b h e Fs o1 t x d q k s SEP T L H AQ AK AS)
    as (qv & row & JU & QV & SS).
  apply all2o_nth in R. destruct R as (RL & R). split.
  { rewrite RL, combine_length, seq_length. lia. }
  intros i F N. destruct (R i F N) as ((c, y) & o' & M & NO & C). cbn [fst snd] in C.
  destruct (nth_numbered _ _ _ _ _ _ M) as (-> & M'). simpl plus in C.
  assert (CV : (i < d_v b)%nat) by (rewrite <- E; apply nth_error_Some; congruence).
  destruct (all_nth _ _ _ OS i o' NO) as (y' & Y' & O'). assert (y' = y) by congruence. subst y'.
  rewrite forallb_forall in SAME. specialize (SAME o' (nth_error_In _ _ NO)).
  destruct (order_same (g := g) e o1 o' SAME) as (KO & QO & JO). rewrite JO in JU. rewrite KO in SS.
  rewrite QO in QV. specialize (AO i CV). rewrite accumulated in AO.
  assert (AV' : forall j, (j <= t)%nat -> sum A (dots d (x j) (val h) i) (v j i)) by (intros; apply AV; auto).
  assert (SUM : (exists z, o' = PrefixSum z) \/
    (returned f g longest p ds pos h e Fs i y o'
     = match source_of o' with Some z => copied f g longest p ds pos h e Fs i y z | None => None end)).
  { destruct o'; auto. left. eauto. }
  destruct SUM as [(z & ->)|Q].
  - simpl in C. eapply added_up_sound; eauto.
  - rewrite Q in C. destruct (source_of o') as [z|] eqn:SO; [|discriminate].
    eapply copied_sound; eauto.
Qed.

Lemma mixture_sound t l row b o i : fits_row t l row -> forall hs rs k m,
  length hs = length rs ->
  (forall h fs, nth_error rs h = Some fs -> length fs = d_v b /\ holds fs t (o (k + h)%nat)) ->
  mixture row i (combine (map out hs) (map (map (prepared l)) rs)) = Some m ->
  counted (- g) (concat (map (fun h => dots (d_v b) (o (fst h)) (out (snd h)) i)
                             (combine (seq k (length hs)) hs))) m.
Proof.
  intros R. induction hs as [|h hs IH]; intros [|fs rs] k m L H M; try discriminate; simpl in M.
  - inversion M; subst. apply counted_none.
  - destruct (H O fs eq_refl) as (N & K). rewrite Nat.add_0_r in K.
    destruct (reads_sound t l row R fs (o k) K) as (xs & X & XL & XI). rewrite X in M.
    destruct (mixture row i _) as [m'|] eqn:E; [|discriminate]. inversion M; subst m. simpl.
    apply counted_app; [apply dots_counted; auto; congruence|].
    apply (IH rs (S k)); auto.
    intros h' fs' G. replace (S k + h')%nat with (k + S h')%nat by lia. apply (H (S h')), G.
Qed.

Lemma after_attention_sound b Fs es ls Gs x y d :
  after_attention f g longest p ds pos b Fs es ls = Some Gs -> length Fs = d ->
  (forall t, (t <= length w)%nat -> holds Fs t (x t)) -> attention A d w b x y ->
  length Gs = d /\ forall t, (t <= length w)%nat -> holds Gs t (y t).
Proof.
  unfold after_attention, attention. intros R L H O. destruct (heads b) as [|h0 hs0] eqn:HB.
  { inversion R; subst Gs. split; [exact L|]. intros t T i F N. rewrite (O t T).
    - apply H; auto.
    - rewrite <- L. apply nth_error_Some. congruence. }
  rewrite <- HB in *. clear h0 hs0 HB.
  destruct (all2o _ (heads b) es) as [rs|] eqn:RS; [|discriminate].
  apply all2o_nth in RS. destruct RS as (RL & RS).
  apply all2o_nth in R. destruct R as (GL & R).
  rewrite combine_length, seq_length, Nat.min_id in GL. split; [congruence|].
  intros t T i G N. destruct (O t T) as (o & OH & OM).
  destruct (R i G N) as ((i', F) & l & M & _ & B). clear R.
  destruct (nth_numbered _ _ _ _ _ _ M) as (-> & MF). cbn [fst snd plus] in B.
  assert (I : (i < d)%nat) by (rewrite <- L; apply nth_error_Some; congruence).
  destruct (OM i I) as (z & Z & Y).
  eapply built_sound; [exact B|exact T|]. intros row X RO E. cbv beta in E.
  destruct (read_sound F t (x t i) _ row (H t T i F MF) RO) as (own & OW & OI). rewrite OW in E.
  destruct (mixture row i _) as [m|] eqn:MI; [|discriminate].
  destruct (rounding f g m) as [zi|] eqn:RM; [|discriminate].
  assert (ZI : inside g zi z).
  { eapply rounding_sound; [exact accumulated|exact kept|exact RM| |exact Z]. unfold mixed.
    eapply (mixture_sound t _ row b o i RO (heads b) rs 0 m); [congruence| |exact MI].
    intros h fs NF. destruct (RS h fs NF) as (e & pl & NE & _ & RES). simpl.
    eapply result_sound; [exact RES|exact T|exact L|intros; apply H; lia|apply OH, NE]. }
  eapply rounding_sound; [exact accumulated|exact kept|exact E| |exact Y].
  match goal with |- counted _ (?u :: ?v) _ => change (u :: v) with ([u] ++ v) end.
  apply counted_app; apply number_counted; assumption.
Qed.

(** * MLPs *)
Lemma after_layers_sound b Fs ls Gs x y d :
  after_layers f g p ds pos b Fs ls = Some Gs -> length Fs = d ->
  (forall t, (t <= length w)%nat -> holds Fs t (x t)) -> mlp A d w b x y ->
  length Gs = d /\ forall t, (t <= length w)%nat -> holds Gs t (y t).
Proof.
  unfold after_layers, mlp. intros R L H O. apply all2o_nth in R. destruct R as (GL & R).
  rewrite combine_length, seq_length, Nat.min_id in GL. split; [congruence|].
  intros t T i G N. destruct (O t T) as (fo & FE & OM).
  destruct (R i G N) as ((i', F) & l & M & _ & B). clear R.
  destruct (nth_numbered _ _ _ _ _ _ M) as (-> & MF). cbn [fst snd plus] in B.
  assert (I : (i < d)%nat) by (rewrite <- L; apply nth_error_Some; congruence).
  specialize (OM i I). eapply built_sound; [exact B|exact T|]. intros row X RO E. cbv beta in E.
  destruct (reads_sound t _ row RO Fs (x t) (H t T)) as (xs & XR & XL & XI). rewrite XR in E.
  destruct (read_sound F t (x t i) _ row (H t T i F MF) RO) as (own & OW & OI). rewrite OW in E.
  destruct (fed f g _ i xs) as [z|] eqn:FL; [|discriminate].
  assert (ZI : inside g z (fo i)) 
    by (eapply fed_sound; [exact accumulated|exact kept|exact FL|exact XI|rewrite XL; exact L|exact FE]).
  destruct (nth i (keeps b) false).
  - eapply rounding_sound; [exact accumulated|exact kept|exact E| |exact OM].
    match goal with |- counted _ (?u :: ?v) _ => change (u :: v) with ([u] ++ v) end.
    apply counted_app; apply number_counted; assumption.
  - inversion E; subst X. rewrite OM. exact ZI.
Qed.

Lemma through_sound d : forall bs es Fs Gs x y,
  through f g longest p ds pos bs es Fs = Some Gs -> length Fs = d ->
  (forall t, (t <= length w)%nat -> holds Fs t (x t)) -> runs A d w bs x y ->
  length Gs = d /\ forall t, (t <= length w)%nat -> holds Gs t (y t).
Proof.
  induction bs as [|b bs IH]; intros [|e es] Fs Gs x y E L H R; simpl in E; try discriminate.
  - inversion E; subst Gs. split; auto. intros t T i F N. simpl in R. rewrite R; auto.
    + apply H; auto.
    + rewrite <- L. apply nth_error_Some. congruence.
  - destruct R as (x' & x'' & RA & RM & R).
    destruct (after_attention _ _ _ _ _ _ b Fs _ _) as [F1|] eqn:E1; [|discriminate].
    destruct (after_layers _ _ _ _ _ b F1 _) as [F2|] eqn:E2; [|discriminate].
    destruct (after_attention_sound _ _ _ _ _ _ _ _ E1 L H RA) as (L1 & H1).
    destruct (after_layers_sound _ _ _ _ _ _ _ E2 L1 H1 RM) as (L2 & H2).
    eapply IH; eauto.
Qed.

(** * The read-out *)
Lemma right_answers_sound n outs decode l Fs t y z vs c :
  right_answers f g p ds pos n outs decode l Fs = true -> length Fs = width n ->
  (1 <= t <= length w)%nat -> holds Fs t (y t) ->
  gets (env letters w p) outs t = Some vs -> lookup decode vs = Some c ->
  (forall c, (c < answers n)%nat ->
     sum A (dots (width n) (y t) (unembed n) c ++ [Number (entry (answer_bias n) 0 c)]) (z c)) ->
  (c < answers n)%nat /\ forall e, (e < answers n)%nat -> e <> c -> z e < z c.
Proof.
  unfold right_answers. intros R L T H O D Z.
  destruct (all (nth_error ds) l) as [of|] eqn:E; [|discriminate].
  destruct (row_there t l of ltac:(lia) E) as (row & RO & _ & I). specialize (I ltac:(lia)).
  rewrite forallb_forall in R. specialize (R row I). cbv beta in R.
  destruct (all (told p pos l row) outs) as [us|] eqn:U; [|discriminate].
  destruct (reads_sound t l row RO Fs (y t) H) as (xs & XR & XL & XI). rewrite XR in R.
  assert (Q : us = vs).
  { apply all_some in U. clear - U O RO T short order position_there. revert vs O.
    induction U as [|a u r us P U IH]; intros vs O; simpl in O; [inversion O; auto|].
    assert (V := known_sound t l row ltac:(lia) RO _ _ _ P). unfold at_, value_at in V. rewrite V in O.
    destruct (gets (env letters w p) r t) as [q|]; [|discriminate]. inversion O; subst.
    f_equal. apply IH. auto. }
  subst us. rewrite D in R.
  destruct (all (fired f g xs) _) as [zs|] eqn:ZS; [|discriminate].
  assert (ZL : length zs = answers n).
  { apply all_length in ZS. rewrite map_length, seq_length in ZS. exact ZS. }
  assert (ZI : forall e X, nth_error zs e = Some X -> (e < answers n)%nat /\ inside g X (z e)).
  { intros e X N. assert (e < answers n)%nat by (rewrite <- ZL; apply nth_error_Some; congruence).
    split; auto. destruct (all_nth _ _ _ ZS e X N) as (u & NU & FU).
    rewrite nth_error_map in NU. destruct (nth_error (seq 0 (answers n)) e) as [k|] eqn:S; [|discriminate].
    apply nth_seq in S. destruct S as (-> & S). inversion NU; subst u. simpl in FU.
    eapply fired_sound; [exact accumulated|exact kept|exact FU|exact XI|rewrite XL; exact L|apply Z, S]. }
  unfold ahead in R. destruct (nth_error zs c) as [X|] eqn:NC; [|discriminate].
  destruct (ZI c X NC) as (C & CI). split; [exact C|]. intros e EL NE.
  destruct (nth_error zs e) as [Y|] eqn:NY; [|apply nth_error_None in NY; lia].
  destruct (ZI e Y NY) as (_ & EI). rewrite forallb_forall in R.
  specialize (R (e, Y) (nth_error_In _ e (numbered_nth zs 0 (length zs) e Y ltac:(lia) NY))).
  cbn [fst snd] in R. apply orb_true_iff in R. destruct R as [R|R].
  - apply Nat.eqb_eq in R. congruence.
  - apply Z.ltb_lt, IZR_lt in R. destruct CI as (CI & _), EI as (_ & EI).
    apply Rmult_lt_reg_r with (pow g); [apply bpow_gt_0|]. lra.
Qed.
End Word.

Lemma same_format_sound a b : same_format a b = true -> b = a.
Proof.
  unfold same_format. rewrite !andb_true_iff, !Z.eqb_eq. destruct a, b; simpl.
  intros ((-> & ->) & ->). reflexivity.
Qed.

(** The checker is sound: if the Program computes the machine, so do the tensors. *)
Theorem check_sound A n m longest p outs decode e :
  computes m p outs decode longest -> check A n m longest p outs decode e = true ->
  correct A n m longest.
Proof.
  intros P K w t z c W L T (x & y & X & R & Z) Q. unfold check in K.
  destruct (same_format _ _ && _) eqn:SF; [|discriminate]. simpl in K.
  apply andb_true_iff in SF. destruct SF as (SF & OR). apply same_format_sound in SF.
  destruct (nth_error p (token_channel e)) as [[| | | | | | | | | | |]|] eqn:TK; try discriminate.
  destruct (nth_error p (position_channel e)) as [[|vs| | | | | | | | | |]|] eqn:PK; try discriminate.
  destruct (domains _ longest [] p) as [ds|] eqn:DS; [|discriminate].
  destruct (leqb vs _ && _) eqn:E; [|discriminate]. simpl in K.
  apply andb_true_iff in E. destruct E as (E & WD). apply leqb_eq in E. subst vs.
  apply Nat.eqb_eq in WD.
  destruct (all _ _) as [first|] eqn:FI; [|discriminate].
  destruct (through _ _ _ _ _ _ _ _ first) as [last|] eqn:TH; [|discriminate].
  assert (FL : length first = width n).
  { apply all_length in FI. rewrite combine_length, seq_length in FI. lia. }
  assert (FH : forall t, (t <= length w)%nat ->
    holds (grain e) (length (moves m)) p w first t (x t)).
  { intros t' T' i F N. destruct (all_nth _ _ _ FI i F N) as ((i', l) & M & B).
    destruct (nth_numbered _ _ _ _ _ _ M) as (-> & _). simpl in B.
    assert (i < width n)%nat by (rewrite <- FL; apply nth_error_Some; congruence).
    eapply embedding_sound; eauto. }
  assert (TS : length last = width n /\ forall t, (t <= length w)%nat ->
    holds (grain e) (length (moves m)) p w last t (y t)) by (eapply through_sound; eauto).
  destruct TS as (LL & LH).
  destruct (P w t c W L T Q) as (vs & V & D).
  eapply right_answers_sound; eauto. apply LH. lia.
Qed.
