(** Some outputs of an MLP from the units that they depend on, and these from the entries of
    their weights that are not 0. *)
From Coq Require Import Reals ZArith List Bool Arith Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Program Invariant Domains Arithmetic Recurrent Rounding Transformer
  Bounds Lists Affine.
Import ListNotations.
Open Scope R_scope.

(** The first n columns of some rows, in one walk along each row. *)
Fixpoint stacked (r : list Z) (cs : list (list Z)) : list (list Z) :=
  match cs with
  | [] => []
  | c :: cs' => match r with
                | [] => (0%Z :: c) :: stacked [] cs' | x :: r' => (x :: c) :: stacked r' cs' end
  end.
Fixpoint upright (rs : list (list Z)) (n : nat) : list (list Z) :=
  match rs with [] => repeat [] n | r :: rest => stacked r (upright rest n) end.
Definition readied (g : Z) (l : layer) : Z * list ((Z * list Z) * interval) :=
  let k := unit (weight l) in
  (k, map (fun x : list Z * nat => ((k, fst x), exactly g (bias l) 0 (snd x)))
        (combine (upright (rows (weight l)) (fan l)) (seq 0 (fan l)))).

Lemma stacked_seq (h : nat -> list Z) : forall n i r,
  stacked r (map h (seq i n)) = map (fun j => nth (j - i) r 0%Z :: h j) (seq i n).
Proof.
  induction n as [|n IH]; intros i r; [reflexivity|]. cbn [seq map stacked].
  rewrite Nat.sub_diag. destruct r as [|x r]; cbn [nth]; f_equal; rewrite IH; apply map_ext_in;
    intros j J; apply in_seq in J; f_equal.
  - destruct (j - S i)%nat, (j - i)%nat; reflexivity.
  - replace (j - i)%nat with (S (j - S i)) by lia. reflexivity.
Qed.

Lemma upright_seq n : forall rs,
  upright rs n = map (fun j => map (fun r => nth j r 0%Z) rs) (seq 0 n).
Proof.
  induction rs as [|r rs IH]; cbn [upright].
  - generalize 0%nat. induction n as [|n IH]; intros i; simpl; [reflexivity|]. f_equal. apply IH.
  - rewrite IH, stacked_seq. apply map_ext. intros j. rewrite Nat.sub_0_r. reflexivity.
Qed.

Lemma readied_same g l : readied g l = ready g l.
Proof.
  unfold readied, ready. f_equal. rewrite upright_seq.
  assert (G : forall n i, map (fun x : list Z * nat =>
      ((unit (weight l), fst x), exactly g (bias l) 0 (snd x)))
    (combine (map (fun j => map (fun r => nth j r 0%Z) (rows (weight l))) (seq i n)) (seq i n))
    = map (unit_of g (weight l) (bias l)) (seq i n)).
  { induction n as [|n IH]; intros i; [reflexivity|]. cbn [seq map combine fst snd].
    rewrite IH. reflexivity. }
  apply G.
Qed.

(** A unit: the places of what it reads, with weights; and its bias. *)
Definition wire : Type := list (nat * Z) * interval.

(** The entries of each column that are not 0, of rows from number i on. *)
Fixpoint strung (i : nat) (row : list Z) (cs : list (list (nat * Z))) : list (list (nat * Z)) :=
  match cs with
  | [] => []
  | c :: cs' =>
      match row with
      | [] => cs
      | w :: row' => (if (w =? 0)%Z then c else (i, w) :: c) :: strung i row' cs'
      end
  end.
Fixpoint threads (i : nat) (rs : list (list Z)) (n : nat) : list (list (nat * Z)) :=
  match rs with [] => repeat [] n | r :: rest => strung i r (threads (S i) rest n) end.

(** Layers that are given n numbers: the units of their weights, and their wires. *)
Definition wires (g : Z) (n : nat) (l : layer) : list wire :=
  combine (threads 0 (firstn n (rows (weight l))) (fan l))
    (map (exactly g (bias l) 0) (seq 0 (fan l))).
Fixpoint woven (g : Z) (n : nat) (ls : list layer) : list (Z * list wire) :=
  match ls with
  | [] => []
  | l :: r => (unit (weight l), wires g n l) :: woven g (fan l) r
  end.

(** The units that some outputs depend on, by their places; and the places of the inputs. *)
Fixpoint narrowed (net : list (Z * list wire)) (outs : list nat)
    : list nat * list (Z * list (nat * wire)) :=
  match net with
  | [] => (outs, [])
  | (k, ws) :: rest =>
      let c := narrowed rest outs in
      let here := filter (fun x : nat * wire => mem (fst x) (fst c))
                    (combine (seq 0 (length ws)) ws) in
      (dedup (concat (map (fun x : nat * wire => map fst (fst (snd x))) here)), (k, here) :: snd c)
  end.
Record cone := { needs : list nat; paths : list (Z * list (nat * wire)) }.
Definition cone_of (d : nat) (net : list (Z * list wire)) (outs : list nat) : cone :=
  let c := narrowed net outs in
  {| needs := filter (fun j => mem j (fst c)) (seq 0 d); paths := snd c |}.

(** What stands at the places that are read, with the weights. *)
Fixpoint meet (us : list (nat * affine)) (ws : list (nat * Z)) : option (list (Z * affine)) :=
  match ws with
  | [] => Some []
  | (j, w) :: ws' =>
      match us with
      | [] => None
      | (i, u) :: us' =>
          if (i =? j)%nat
          then match meet us' ws' with Some l => Some ((w, u) :: l) | None => None end
          else meet us' ws
      end
  end.
Fixpoint weighed_there (l : list (Z * affine)) : tally :=
  match l with
  | [] => none
  | (w, u) :: r => both (single (scaled w (range u))) (weighed_there r)
  end.
Fixpoint combined_there (l : list (Z * affine)) : list Z * interval :=
  match l with
  | [] => ([], nil_interval)
  | (w, u) :: r =>
      let c := combined_there r in let x := scaled w (rest u) in
      (added (map (Z.mul w) (slopes u)) (fst c),
       (fst x + fst (snd c), snd x + snd (snd c))%Z)
  end.

Section Flow.
Variables (A : arithmetic) (g : Z).

Definition wired (v : Z) (radii : list Z) (k : Z) (us : list (nat * affine)) (x : nat * wire)
    : option (nat * affine) :=
  match meet us (fst (snd x)) with
  | None => None
  | Some l =>
      match lift A g v radii k (snd (snd x))
              (both (coarse k (weighed_there l)) (single (snd (snd x)))) (combined_there l) with
      | Some a => Some (fst x, a) | None => None end
  end.

Fixpoint along (v : Z) (radii : list Z) (ps : list (Z * list (nat * wire)))
    (us : list (nat * affine)) : option (list (nat * interval)) :=
  match ps with
  | [] => Some (map (fun u => (fst u, nil_interval)) us)
  | (k, xs) :: r =>
      match all (wired v radii k us) xs with
      | None => None
      | Some ys =>
          match r with
          | [] => Some (map (fun y => (fst y, range (snd y))) ys)
          | _ => along (v + k) radii r (map (fun y => (fst y, activated (snd y))) ys)
          end
      end
  end.

(** The outputs, from the inputs that the cone needs. *)
Definition coned (c : cone) (xs : list interval) : option (list (nat * interval)) :=
  along 0 (map radius xs) (paths c) (combine (needs c) (inputs_from 0 xs)).

(** * Soundness *)
Fixpoint entries (i : nat) (ws : list Z) : list (nat * Z) :=
  match ws with
  | [] => [] | w :: r => if (w =? 0)%Z then entries (S i) r else (i, w) :: entries (S i) r end.

Lemma strung_length i : forall cs row, length (strung i row cs) = length cs.
Proof. induction cs as [|c cs IH]; intros [|w row]; simpl; auto. Qed.

Lemma strung_nth i : forall cs row u, (u < length cs)%nat -> nth u (strung i row cs) []
  = if (nth u row 0 =? 0)%Z then nth u cs [] else (i, nth u row 0%Z) :: nth u cs [].
Proof.
  induction cs as [|c cs IH]; intros row u L; [simpl in L; lia|].
  destruct row as [|w row]; destruct u as [|u]; simpl; auto. apply IH. simpl in L. lia.
Qed.

Lemma threads_length : forall rs i n, length (threads i rs n) = n.
Proof.
  induction rs as [|r rs IH]; intros i n; simpl; [apply repeat_length|]. rewrite strung_length.
  auto.
Qed.

Lemma threads_nth : forall rs i n u, (u < n)%nat ->
  nth u (threads i rs n) [] = entries i (map (fun r => nth u r 0%Z) rs).
Proof.
  induction rs as [|r rs IH]; intros i n u L; cbn [threads map entries].
  - rewrite nth_repeat. reflexivity.
  - rewrite strung_nth, IH by (rewrite ?threads_length; exact L). reflexivity.
Qed.

Lemma wires_nth n l j x : nth_error (wires g n l) j = Some x ->
  (j < fan l)%nat /\ x = (entries 0 (firstn n (column (weight l) j)), exactly g (bias l) 0 j).
Proof.
  unfold wires, wire in *. intros H.
  assert (L : (j < fan l)%nat).
  { assert (K : forall q : list (list (nat * Z) * interval), nth_error q j = Some x
      -> (j < length q)%nat)
      by (intros q N; apply nth_error_Some; congruence). apply K in H. clear K. rename H into K.
    rewrite combine_length, threads_length, map_length, seq_length in K. lia. }
  split; [exact L|]. apply nth_error_nth with (d := ([], exactly g (bias l) 0 0)) in H.
  rewrite combine_nth in H by (rewrite threads_length, map_length, seq_length; reflexivity).
  rewrite threads_nth in H by exact L. rewrite (map_nth (exactly g (bias l) 0)), seq_nth in H
    by exact L.
  simpl plus in H. rewrite <- H. f_equal. unfold column. rewrite firstn_map. reflexivity.
Qed.

(** What is read by place is what is read in order, if what has no weight is put between. *)
Definition standing (i : nat) (full : list affine) (us : list (nat * affine)) : Prop :=
  forall j u, In (j, u) us -> (i <= j)%nat -> (j < i + length full)%nat
    -> nth_error full (j - i) = Some u.

Lemma meet_same : forall ws full i us l, standing i full us -> (length ws <= length full)%nat ->
  meet us (entries i ws) = Some l ->
  weighed ws (map range full) = weighed_there l /\ combined ws full = combined_there l.
Proof.
  assert (SUB : forall us ws j w l, meet us ((j, w) :: ws) = Some l -> exists u us' l',
    l = (w, u) :: l' /\ In (j, u) us /\ meet us' ws = Some l' /\ forall x, In x us' -> In x us).
  { induction us as [|(i, u) us IH]; intros ws j w l H; [discriminate|]. simpl in H.
    destruct (i =? j)%nat eqn:E.
    - apply Nat.eqb_eq in E. subst. destruct (meet us ws) as [l'|] eqn:M; [|discriminate].
      inversion H; subst. exists u, us, l'. simpl. repeat split; auto.
    - destruct (IH ws j w l H) as (z & us' & l' & A1 & B & C & D). exists z, us', l'.
      simpl. repeat split; auto. }
  induction ws as [|w ws IH]; intros full i us l S L M.
  - assert (l = []) by (destruct us; simpl in M; congruence). subst. split; reflexivity.
  - destruct full as [|x full]; [simpl in L; lia|]. simpl in L.
    assert (S' : forall us', (forall y, In y us' -> In y us) -> standing (Datatypes.S i) full us').
    { intros us' I j u J G K. specialize (S j u (I _ J) ltac:(lia) ltac:(simpl; lia)).
      replace (j - i)%nat with (Datatypes.S (j - Datatypes.S i)) in S by lia. exact S. }
    cbn [entries] in M. cbn [weighed combined map]. destruct (w =? 0)%Z eqn:W.
    + apply (IH full (Datatypes.S i) us l); [apply S'; auto|lia|exact M].
    + destruct (SUB _ _ _ _ _ M) as (u & us' & l' & -> & I & M' & D).
      assert (X : Some x = Some u).
      { rewrite <- (S i u I ltac:(lia) ltac:(simpl; lia)). rewrite Nat.sub_diag. reflexivity. }
      inversion X; subst u. destruct (IH full (Datatypes.S i) us' l' (S' us' D) ltac:(lia) M')
        as (A1 & B).
      cbn [weighed_there combined_there]. rewrite A1, B. split; reflexivity.
Qed.

Lemma weighed_firstn : forall xs ws, weighed (firstn (length xs) ws) xs = weighed ws xs.
Proof.
  induction xs as [|x xs IH]; intros [|w ws]; simpl; auto. rewrite IH. reflexivity.
Qed.
Lemma combined_firstn : forall us ws, combined (firstn (length us) ws) us = combined ws us.
Proof.
  induction us as [|u us IH]; intros [|w ws]; simpl; auto. rewrite IH. reflexivity.
Qed.

(** Forms at some places, and something at all others. *)
Lemma filled d v h n (us : list (nat * affine)) : NoDup (map fst us) ->
  (forall j u, In (j, u) us -> follows g d v u (h j)) ->
  exists full, length full = n /\ standing 0 full us /\ followed g d v full h.
Proof.
  intros ND F.
  assert (ANY : forall y, exists a, follows g d v a y).
  { intros y. set (z := Zfloor (y * pow g)). assert (B := Zfloor_lb (y * pow g)).
    assert (U := Zfloor_ub (y * pow g)). fold z in B, U.
    exists {| slopes := []; rest := (z, z + 1)%Z; range := (z, z + 1)%Z |}.
    unfold follows, inside. cbn [range rest slopes fst snd slanted]. rewrite plus_IZR.
    split; [lra|]. exists (y * pow g). split; [lra|ring]. }
  assert (G : forall k i, exists full, length full = k
    /\ followed g d v full (fun j => h (i + j)%nat)
    /\ standing i full us).
  { induction k as [|k IH]; intros i.
    - exists []. split; [reflexivity|]. split; [intros j u N; destruct j; discriminate|].
      intros j u I A1 B. simpl in B. lia.
    - destruct (IH (S i)) as (full & L & FO & ST).
      assert (ONE : exists x, follows g d v x (h i) /\ forall u, In (i, u) us -> x = u).
      { destruct (in_dec Nat.eq_dec i (map fst us)) as [I|N].
        - apply in_map_iff in I. destruct I as ((i', u) & E & I). simpl in E. subst i'. exists u.
          split; [apply F; exact I|]. intros u' I'. clear - ND I I'. induction us as [|(a,
            b) r IH]; [destruct I|].
          inversion ND; subst. destruct I as [I|I], I' as [I'|I'].
          + congruence.
          + inversion I; subst. exfalso. apply H1. apply in_map_iff. exists (i, u'). auto.
          + inversion I'; subst. exfalso. apply H1. apply in_map_iff. exists (i, u). auto.
          + auto.
        - destruct (ANY (h i)) as (x & X). exists x. split; [exact X|]. intros u I. exfalso.
          apply N.
          apply in_map_iff. exists (i, u). auto. }
      destruct ONE as (x & X & U). exists (x :: full). split; [simpl; congruence|]. split.
      + intros [|j] u N; simpl in N.
        * inversion N; subst. rewrite Nat.add_0_r. exact X.
        * replace (i + S j)%nat with (S i + j)%nat by lia. apply (FO j u N).
      + intros j u I A1 B. destruct (Nat.eq_dec j i) as [->|D].
        * rewrite Nat.sub_diag. simpl. f_equal. apply U, I.
        * replace (j - i)%nat with (S (j - S i)) by lia. apply (ST j u I); [lia|simpl in B; lia]. }
  destruct (G n 0%nat) as (full & L & FO & ST). exists full. auto.
Qed.

Lemma wired_sound d v radii us l h n j x y a : nth_error (wires g n l) j = Some x ->
  wired v radii (unit (weight l)) us (j, x) = Some a -> NoDup (map fst us) ->
  (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  (forall j u, In (j, u) us -> follows g d v u (h j)) ->
  sum A (dots n h (weight l) j ++ [Number (entry (bias l) 0 j)]) y ->
  fst a = j /\ follows g d (v + unit (weight l)) (snd a) y.
Proof.
  intros X W ND R F D. apply wires_nth in X. destruct X as (_ & ->). unfold wired in W.
  cbn [fst snd] in W. destruct (meet us _) as [m|] eqn:M; [|discriminate].
  destruct (lift A g v radii _ _ _ _) as [z|] eqn:LF; [|discriminate]. inversion W; subst a.
  split; [reflexivity|]. cbn [snd].
  destruct (filled d v h n us ND F) as (full & L & ST & FO).
  destruct (meet_same (firstn n (column (weight l) j)) full 0 us m ST) as (E1 & E2); auto.
  { rewrite firstn_length. lia. }
  eapply (lifted_sound A g d v radii full (weight l) (bias l) j z h n y);
    [|exact R|exact FO|exact L|exact D].
  unfold lifted, read_by. cbn [unit_of dotted fst snd].
  rewrite <- L in E1, E2. rewrite combined_firstn in E2.
  replace (length full) with (length (map range full)) in E1 by apply map_length.
  rewrite weighed_firstn in E1. rewrite E1, E2. exact LF.
Qed.

Lemma narrowed_places net outs : match net with
  | [] => True
  | (k, ws) :: rest => exists here, snd (narrowed net outs) = (k, here) :: snd (narrowed rest outs)
      /\ NoDup (map fst here)
      /\ (forall j x, In (j, x) here -> nth_error ws j = Some x)
  end.
Proof.
  destruct net as [|(k, ws) rest]; [exact I|]. cbn [narrowed].
  set (here := filter _ (combine (seq 0 (length ws)) ws)). exists here. split; [reflexivity|].
  split.
  - assert (N : forall (l : list wire) s (q : nat * wire -> bool),
      NoDup (map fst (filter q (combine (seq s (length l)) l)))
      /\ forall x, In x (map fst (filter q (combine (seq s (length l)) l))) -> (s <= x)%nat).
    { induction l as [|y l IH]; intros s q; simpl; [split; [constructor|intros x []]|].
      destruct (IH (S s) q) as (B & C). destruct (q (s, y)); simpl.
      - split; [constructor; [intros J; apply C in J; lia|exact B]|].
        intros x [<-|J]; [lia|apply C in J; lia].
      - split; [exact B|]. intros x J. apply C in J. lia. }
    apply N.
  - intros j x J. apply filter_In in J. destruct J as (J & _). apply In_nth_error in J.
    destruct J as (q & J). destruct (nth_numbered _ _ _ _ _ _ J) as (-> & J'). exact J'.
Qed.

Lemma along_sound outs d radii : (forall i, Rabs (d i) <= IZR (nth i radii 0%Z)) ->
  forall ls v us X h n fo, along v radii (snd (narrowed (woven g n ls) outs)) us = Some X ->
  NoDup (map fst us) -> (forall j u, In (j, u) us -> follows g d v u (h j)) ->
  feeds A n h ls fo ->
  forall i x, In (i, x) X -> inside g x (fo i).
Proof.
  intros R. induction ls as [|l ls IH]; intros v us X h n fo E ND F D i z IX.
  { simpl in E, D. inversion E; subst. apply in_map_iff in IX. destruct IX as (u & Q & _).
    inversion Q; subst. rewrite D. unfold inside. simpl. lra. }
  cbn [feeds] in D. destruct D as (x & U & D).
  assert (P := narrowed_places (woven g n (l :: ls)) outs). cbn [woven] in P, E.
  destruct P as (here & P & NH & PL). rewrite P in E. cbn [along] in E.
  destruct (all (wired v radii (unit (weight l)) us) here) as [ys|] eqn:Y; [|discriminate].
  assert (ONE : forall k a, nth_error ys k = Some a -> exists w, nth_error here k = Some (fst a, w)
    /\ (fst a < fan l)%nat /\ follows g d (v + unit (weight l)) (snd a) (x (fst a))).
  { intros k a N. destruct (all_nth _ _ _ Y k a N) as ((j, w) & NU & FU).
    assert (W := PL j w (nth_error_In _ _ NU)). assert (J := wires_nth _ _ _ _ W).
    destruct (wired_sound d v radii us l h n j w (x j) a W FU ND R F (U j (proj1 J))) as (<- & G).
    exists w. split; [exact NU|]. split; [apply J|exact G]. }
  destruct ls as [|l' ls].
  - cbn [woven narrowed snd] in E. inversion E; subst X. apply in_map_iff in IX.
    destruct IX as (y & Q & IY). inversion Q; subst. apply In_nth_error in IY.
    destruct IY as (k & IY). destruct (ONE k y IY) as (w & NU & J & G).
    rewrite D by exact J. apply G.
  - assert (NE : match snd (narrowed (woven g (fan l) (l' :: ls)) outs)
      with [] => False | _ => True end).
    { cbn [woven narrowed snd]. exact I. }
    destruct (snd (narrowed (woven g (fan l) (l' :: ls)) outs)) as [|q qs] eqn:QS; [destruct NE|].
    rewrite <- QS in E. eapply IH; [exact E| | |exact D|exact IX].
    + rewrite map_map. cbn [fst]. replace (map (fun y => fst y) ys) with (map fst here);
        [exact NH|].
      clear - Y. apply all_some in Y. induction Y as [|(j, w) y xs ys W Y IH]; [reflexivity|].
      simpl.
      rewrite IH. f_equal. unfold wired in W. destruct (meet us _); [|discriminate].
      destruct (lift A g _ _ _ _ _ _); [|discriminate]. inversion W. reflexivity.
    + intros j u J. apply in_map_iff in J. destruct J as (a & E2 & J). inversion E2; subst.
      apply In_nth_error in J. destruct J as (k & J). destruct (ONE k a J) as (_ & _ & _ & G).
      apply activated_follows, G.
Qed.

Theorem coned_sound outs ls d xs X h fo : coned (cone_of d (woven g d ls) outs) xs = Some X ->
  length xs = length (needs (cone_of d (woven g d ls) outs)) ->
  (forall k j, nth_error (needs (cone_of d (woven g d ls) outs)) k = Some j ->
    exists x, nth_error xs k = Some x /\ inside g x (h j)) ->
  feeds A d h ls fo -> forall i x, In (i, x) X -> inside g x (fo i).
Proof.
  intros E XL I D. unfold coned in E. set (c := cone_of d (woven g d ls) outs) in *.
  set (off := fun k => match nth_error (needs c) k with
    | Some j => if (k <? length xs)%nat
        then h j * pow g - IZR (center (nth k xs nil_interval)) else 0
    | None => 0 end).
  assert (ND : NoDup (needs c)) by (apply NoDup_filter, seq_NoDup).
  eapply (along_sound outs off (map radius xs)); [|exact E| | |exact D].
  - intros k. unfold off. destruct (nth_error (needs c) k) as [j|] eqn:N.
    2:{ apply nth_error_None in N. rewrite nth_overflow by (rewrite map_length; lia).
        rewrite Rabs_R0. lra. }
    destruct (I k j N) as (x & XK & J1 & J2). assert (K : (k < length xs)%nat)
      by (apply nth_error_Some; congruence).
    apply Nat.ltb_lt in K. rewrite K. change 0%Z with (radius nil_interval). rewrite map_nth.
    rewrite (nth_error_nth _ _ nil_interval XK). unfold radius. apply Rabs_le.
    assert (M1 : IZR (snd x) - IZR (center x) <= IZR (Z.max (snd x - center x) (center x - fst x)))
      by (rewrite <- minus_IZR; apply IZR_le; lia).
    assert (M2 : IZR (center x) - IZR (fst x) <= IZR (Z.max (snd x - center x) (center x - fst x)))
      by (rewrite <- minus_IZR; apply IZR_le; lia). lra.
  - clear - ND. revert ND. generalize (inputs_from 0 xs). induction (needs c) as [|j l IH];
      intros us ND.
    + constructor.
    + destruct us as [|u us]; [constructor|]. inversion ND; subst. simpl. constructor; [|apply IH;
        auto].
      intros J. apply H1. apply in_map_iff in J. destruct J as ((a, b) & <- & J).
      apply in_combine_l in J. exact J.
  - intros j u J. apply In_nth_error in J. destruct J as (k & J).
    assert (NJ : nth_error (needs c) k = Some j /\ nth_error (inputs_from 0 xs) k = Some u).
    { clear - J. revert J. generalize (inputs_from 0 xs). revert k. induction (needs c)
        as [|a l IH];
        intros [|k] [|b us] J; simpl in *; try discriminate; [inversion J; auto|apply IH, J]. }
    destruct NJ as (NJ & NU). destruct (inputs_nth _ _ _ _ NU)
      as (x & M & ->). simpl plus.
    destruct (I k j NJ) as (x' & XK & JN). assert (x' = x) by congruence. subst x'.
    assert (K : (k < length xs)%nat) by (apply nth_error_Some; congruence).
    split; [exact JN|].
    exists (IZR (center x)). split; [unfold input; cbn [rest fst snd]; lra|].
    assert (O : off k = h j * pow g - IZR (center x)).
    { unfold off. rewrite NJ. apply Nat.ltb_lt in K. rewrite K, (nth_error_nth _ _ _ M).
      reflexivity. }
    unfold input. cbn [slopes]. destruct (radius x =? 0)%Z eqn:Z.
    + apply Z.eqb_eq in Z. simpl. destruct JN as (J1 & J2). unfold radius in Z.
      assert (snd x <= center x /\ center x <= fst x)%Z by lia. destruct H as (H1 & H2).
      apply IZR_le in H1, H2. lra.
    + rewrite slanted_one, O. simpl. ring.
Qed.
End Flow.
