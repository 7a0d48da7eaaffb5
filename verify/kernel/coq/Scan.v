(** Scans: windows that double until they show what all letters so far do (Theorem 2 of
    docs/proofs/invariants.md), for Programs of any length of words. *)
From Coq Require Import List Arith Lia Bool Wf_nat.
From Krohn Require Import Machine Program Invariant InvariantSound Domains Lists.
Import ListNotations.

(** Evidence: the channels that say what a letter makes of each point; for each channel that
    is a window its point and its width; and the states of the machine, each with what the
    outputs are then. *)
Record scan := {
  family : list nat; windows : list (option (nat * nat)); pairs : list (nat * list nat) }.

(** What letter a makes of the point v. *)
Definition act (p : program) (fam : list nat) (a v : nat) : option nat :=
  match nth_error fam v with
  | Some c => match nth_error p c with
              | Some (Table [k] rows) =>
                  match nth_error p k with Some Token => lookup rows [a] | _ => None end
              | _ => None end
  | None => None end.

Definition claimed (ws : list (option (nat * nat))) (c : nat) : option (nat * nat) :=
  match nth_error ws c with Some x => x | None => None end.
(** So it is of any width if no letter moves its point. *)
Definition is_window (letters : nat) (p : program) (S : scan) (c v n : nat) : bool :=
  match claimed (windows S) c with Some (v', n') => (v' =? v) && (n' =? n) | None => false end
  || match nth_error (family S) v with
     | Some c' => (c' =? c) && forallb (fun a =>
         match act p (family S) a v with Some u => u =? v | None => false end) (seq 0 letters)
     | None => false end.

(** A member itself; or a window of the last a letters of what one of those before says. *)
Definition window_ok (letters : nat) (p : program) (S : scan) (c : nat) : bool :=
  match claimed (windows S) c with
  | None => true
  | Some (v, n) =>
      match nth_error (family S) v with Some m => (m =? c) && (n =? 1) | None => false end ||
      match nth_error p c with
      | Some (Select i xs) =>
          match nth_error p i with
          | Some (Shift x a) =>
              is_window letters p S x v (n - a) && (a <=? n) && (x <? c) && (length xs =? length (family S))
              && forallb (fun y => is_window letters p S (snd y) (fst y) a && (snd y <? c))
                   (combine (seq 0 (length xs)) xs)
          | _ => false end
      | _ => false end
  end.

Definition pair_eqb (x y : nat * list nat) : bool := (fst x =? fst y) && leqb (snd x) (snd y).

Definition scan_step (m : machine) (p : program) (decode : list (list nat * nat)) (S : scan)
    (x : nat * list nat) (a : nat) : bool :=
  match stepped m (fst x) a, all (act p (family S) a) (snd x) with
  | Some q, Some vs =>
      existsb (pair_eqb (q, vs)) (pairs S) && reads_ok m decode (q, vs)
  | _, _ => false
  end.

Definition check_scan (m : machine) (p : program) (longest : nat) (outs : list nat)
    (decode : list (list nat * nat)) (S : scan) : bool :=
  let letters := length (moves m) in
  let k := length (family S) in
  ordered 0 p
  && forallb (fun v => match act p (family S) letters v with Some u => u =? v | None => false end) (seq 0 k)
  && forallb (fun a => forallb (fun v => match act p (family S) a v with Some u => u <? k | None => false end)
                         (seq 0 k)) (seq 0 letters)
  && forallb (window_ok letters p S) (seq 0 (length p))
  && match all (claimed (windows S)) outs with
     | Some cs => forallb (fun x => (fst x <? k) && (longest <=? snd x)) cs
                  && forallb (fun x => x <? length p) outs
                  && existsb (pair_eqb (start m, map fst cs)) (pairs S)
     | None => false end
  && forallb (fun x => forallb (scan_step m p decode S x) (seq 0 letters)) (pairs S).

(** * Soundness *)
Section Word.
Variables (m : machine) (p : program) (longest : nat) (S : scan) (w : list nat).
Let letters := length (moves m).
Let k := length (family S).
Hypothesis short : length w <= longest.
Hypothesis lettered : Forall (fun a => a < letters) w.
Hypothesis order : ordered 0 p = true.
Hypothesis still : forall v, v < k -> act p (family S) letters v = Some v.
Hypothesis closed : forall a v, a < letters -> v < k ->
  exists u, act p (family S) a v = Some u /\ u < k.
Hypothesis right : forall c, c < length p -> window_ok letters p S c = true.

(** What the last n letters of the first t make of v. *)
Fixpoint win (n t v : nat) : option nat :=
  match n with
  | 0 => Some v
  | Datatypes.S n' =>
      match t with
      | 0 => Some v
      | Datatypes.S t' =>
          match win n' t' v, nth_error w t' with
          | Some u, Some a => act p (family S) a u | _, _ => None end
      end
  end.

Lemma win_0 n v : win n 0 v = Some v.
Proof. destruct n; reflexivity. Qed.

Lemma win_there : forall n t v, t <= length w -> v < k -> exists u, win n t v = Some u /\ u < k.
Proof.
  induction n as [|n IH]; intros [|t] v T V; simpl; eauto.
  destruct (IH t v ltac:(lia) V) as (u & -> & U). destruct (nth_error w t) as [a|] eqn:A.
  - apply closed; auto. rewrite Forall_forall in lettered. apply lettered. eapply nth_error_In; eauto.
  - apply nth_error_None in A. lia.
Qed.

Lemma win_app a b : forall t v, win (a + b) t v
  = match win b (t - a) v with Some u => win a t u | None => None end.
Proof.
  induction a as [|a IH]; intros t v; simpl.
  - rewrite Nat.sub_0_r. destruct (win b t v); reflexivity.
  - destruct t as [|t]; [rewrite win_0; reflexivity|]. simpl. rewrite IH.
    destruct (win b (t - a) v); reflexivity.
Qed.

Lemma win_long : forall t n v, t <= n -> win n t v = win t t v.
Proof.
  clear short lettered order still closed right. induction t as [|t IH]; intros n v L; [apply win_0|]. destruct n as [|n]; [lia|].
  simpl. rewrite IH by lia. reflexivity.
Qed.

Notation val := (value_at letters w p).

Lemma member_value v c t : nth_error (family S) v = Some c -> v < k -> t <= length w ->
  val c t = win 1 t v.
Proof.
  intros F V T. destruct t as [|t].
  - simpl. assert (Q := still v V). unfold act in Q. rewrite F in Q.
    destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
    destruct xs as [|x [|]]; try discriminate. destruct (nth_error p x) as [[]|] eqn:X; try discriminate.
    rewrite (meaning letters longest w p short order c _ 0 P). cbn [sem gets].
    change (get (env letters w p) x 0) with (val x 0).
    rewrite (meaning letters longest w p short order x _ 0 X). exact Q.
  - simpl. destruct (nth_error w t) as [a|] eqn:A; [|apply nth_error_None in A; lia].
    assert (AL : a < letters) by (rewrite Forall_forall in lettered; apply lettered; eapply nth_error_In; eauto).
    destruct (closed a v AL V) as (u & Q & _). rewrite Q. unfold act in Q. rewrite F in Q.
    destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
    destruct xs as [|x [|]]; try discriminate. destruct (nth_error p x) as [[]|] eqn:X; try discriminate.
    rewrite (meaning letters longest w p short order c _ (Datatypes.S t) P). cbn [sem gets].
    change (get (env letters w p) x (Datatypes.S t)) with (val x (Datatypes.S t)).
    rewrite (meaning letters longest w p short order x _ (Datatypes.S t) X). cbn [sem].
    rewrite A. exact Q.
Qed.

Lemma is_window_value c v n t : is_window letters p S c v n = true -> v < k -> t <= length w ->
  (claimed (windows S) c = Some (v, n) -> val c t = win n t v) -> val c t = win n t v.
Proof.
  unfold is_window. intros W V T H. apply orb_true_iff in W. destruct W as [W|W].
  - destruct (claimed (windows S) c) as [(v', n')|]; [|discriminate].
    apply andb_true_iff in W. destruct W as (E1 & E2). apply Nat.eqb_eq in E1, E2. subst. auto.
  - destruct (nth_error (family S) v) as [c'|] eqn:F; [|discriminate].
    apply andb_true_iff in W. destruct W as (E & W). apply Nat.eqb_eq in E. subst c'.
    rewrite forallb_forall in W.
    assert (ST : forall n t, t <= length w -> win n t v = Some v).
    { induction n0 as [|n0 IH]; intros [|t0] T0; simpl; auto. rewrite IH by lia.
      destruct (nth_error w t0) as [a|] eqn:A; [|apply nth_error_None in A; lia].
      assert (AL : a < letters) by (rewrite Forall_forall in lettered; apply lettered; eapply nth_error_In; eauto).
      specialize (W a ltac:(apply in_seq; lia)). destruct (act p (family S) a v); [|discriminate].
      apply Nat.eqb_eq in W. congruence. }
    rewrite (member_value v c t F V T), !ST by auto. reflexivity.
Qed.

Lemma window_value : forall c v n, c < length p -> claimed (windows S) c = Some (v, n) -> v < k ->
  forall t, t <= length w -> val c t = win n t v.
Proof.
  induction c as [c IH] using lt_wf_ind. intros v n C Q V t T. assert (W := right c C).
  unfold window_ok in W. rewrite Q in W. apply orb_true_iff in W. destruct W as [W|W].
  - destruct (nth_error (family S) v) as [c'|] eqn:F; [|discriminate].
    apply andb_true_iff in W. destruct W as (W & N). apply Nat.eqb_eq in W, N. subst.
    apply member_value; auto.
  - destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
    destruct (nth_error p i) as [[]|] eqn:PI; try discriminate. rename k0 into a.
    rewrite !andb_true_iff in W. destruct W as ((((W1 & W2) & W3) & W4) & W5).
    apply Nat.leb_le in W2. apply Nat.ltb_lt in W3. apply Nat.eqb_eq in W4.
    rewrite (meaning letters longest w p short order c _ t P). cbn [sem].
    change (get (env letters w p) i t) with (val i t).
    rewrite (meaning letters longest w p short order i _ t PI). cbn [sem].
    change (get (env letters w p) x (t - a)) with (val x (t - a)).
    rewrite (is_window_value x v (n - a) (t - a) W1 V ltac:(lia)
      (fun X => IH x W3 v (n - a) ltac:(lia) X V (t - a) ltac:(lia))).
    destruct (win_there (n - a) (t - a) v ltac:(lia) V) as (u & U & UK). rewrite U.
    destruct (nth_error xs u) as [y|] eqn:Y; [|apply nth_error_None in Y; fold k in W4; lia].
    change (get (env letters w p) y t) with (val y t).
    rewrite forallb_forall in W5.
    assert (IN := nth_error_In _ _ (numbered_nth xs 0 (length xs) u y ltac:(fold k in W4; lia) Y)).
    specialize (W5 _ IN). cbn [fst snd plus] in W5. apply andb_true_iff in W5. destruct W5 as (W5 & W6).
    apply Nat.ltb_lt in W6.
    rewrite (is_window_value y u a t W5 UK T (fun YC => IH y W6 u a ltac:(lia) YC UK t T)).
    replace n with (a + (n - a)) at 1 by lia. rewrite win_app, U. reflexivity.
Qed.
End Word.

Lemma all_each {A B} (h : A -> option B) l r : all h l = Some r ->
  Forall2 (fun a b => h a = Some b) l r.
Proof.
  revert r. induction l as [|a l IH]; simpl; intros r H; [inversion H; constructor|].
  destruct (h a) eqn:E; [|discriminate]. destruct (all h l); [|discriminate].
  inversion H; subst. constructor; auto.
Qed.

Lemma gets_each e xs vs t : Forall2 (fun x v => get e x t = Some v) xs vs -> gets e xs t = Some vs.
Proof. induction 1; simpl; auto. rewrite H, IHForall2. reflexivity. Qed.

Lemma pair_eqb_in x l : existsb (pair_eqb x) l = true -> In x l.
Proof.
  intros H. apply existsb_exists in H. destruct H as ((q, vs) & I & E). unfold pair_eqb in E.
  apply andb_true_iff in E. destruct E as (E & F). apply Nat.eqb_eq in E. apply leqb_eq in F.
  destruct x; simpl in *; subst. exact I.
Qed.

Theorem check_scan_sound m p longest outs decode S :
  check_scan m p longest outs decode S = true -> computes m p outs decode longest.
Proof.
  unfold check_scan. cbv zeta. rewrite !andb_true_iff. intros (((((O & ST) & CL) & WI) & OU) & PA).
  destruct (all (claimed (windows S)) outs) as [cs|] eqn:CS; [|discriminate].
  rewrite !andb_true_iff in OU. destruct OU as ((OU & PLACES) & BEGIN). apply pair_eqb_in in BEGIN.
  rewrite forallb_forall in ST, CL, WI, OU, PLACES, PA. intros w t c W L T (q & Q & C).
  assert (still : forall v, v < length (family S) -> act p (family S) (length (moves m)) v = Some v).
  { intros v V. specialize (ST v ltac:(apply in_seq; lia)).
    destruct (act p (family S) _ v); [|discriminate]. apply Nat.eqb_eq in ST. congruence. }
  assert (closed : forall a v, a < length (moves m) -> v < length (family S) ->
    exists u, act p (family S) a v = Some u /\ u < length (family S)).
  { intros a v A V. specialize (CL a ltac:(apply in_seq; lia)). rewrite forallb_forall in CL.
    specialize (CL v ltac:(apply in_seq; lia)). destruct (act p (family S) a v) as [u|]; [|discriminate].
    exists u. apply Nat.ltb_lt in CL. auto. }
  assert (right : forall c, c < length p -> window_ok (length (moves m)) p S c = true).
  { intros c' C'. apply WI, in_seq. lia. }
  (* all letters so far, as windows and as the machine *)
  assert (RUN : forall t, t <= length w -> exists r vs, leads m (firstn t w) r /\ In (r, vs) (pairs S)
    /\ Forall2 (fun x u => win p S w t t (fst x) = Some u) cs vs
    /\ (1 <= t -> reads_ok m decode (r, vs) = true)).
  { induction t0 as [|n IH]; intros N.
    - exists (start m), (map fst cs). split; [constructor|]. split; [exact BEGIN|]. split; [|lia].
      clear. induction cs; simpl; constructor; auto.
    - destruct IH as (r & vs & R & I & F & _); [lia|].
      destruct (nth_error w n) as [a|] eqn:A; [|apply nth_error_None in A; lia].
      assert (AL : a < length (moves m)).
      { unfold word in W. rewrite Forall_forall in W. apply W. eapply nth_error_In; eauto. }
      specialize (PA _ I). rewrite forallb_forall in PA. specialize (PA a ltac:(apply in_seq; lia)).
      unfold scan_step in PA. cbn [fst snd] in PA. destruct (stepped m r a) as [r'|] eqn:SR; [|discriminate].
      destruct (all (act p (family S) a) vs) as [vs'|] eqn:AV; [|discriminate].
      apply andb_true_iff in PA. destruct PA as (IN & RD). apply pair_eqb_in in IN.
      exists r', vs'. split; [|split; [exact IN|split; [|auto]]].
      + rewrite (firstn_snoc _ _ _ A). unfold stepped in SR.
        destruct (nth_error (moves m) a) eqn:M; [|discriminate]. eapply leads_on; eauto.
      + apply all_each in AV. clear - F AV A. revert vs' AV. induction F as [|x u cs vs E F IH]; intros vs' AV.
        * inversion AV; constructor.
        * inversion AV; subst. constructor; [simpl; rewrite E, A; assumption|auto]. }
  destruct (RUN t ltac:(lia)) as (r & vs & R & _ & F & RD). rewrite (leads_unique _ _ _ R _ Q) in RD.
  exists vs. split.
  - unfold outputs_at. apply gets_each. apply all_each in CS. clear RUN BEGIN RD R.
    revert vs F. induction CS as [|x (v, n) outs cs E CS IH]; intros vs F; [inversion F; constructor|].
    inversion F as [|y u l l' G F']; subst. constructor; [|apply IH; auto; intros; [apply OU|apply PLACES]; right; auto].
    specialize (OU _ (or_introl eq_refl)). cbn [fst snd] in *. apply andb_true_iff in OU.
    destruct OU as (V & LN). apply Nat.ltb_lt in V. apply Nat.leb_le in LN.
    assert (X : x < length p) by (apply Nat.ltb_lt, PLACES; left; reflexivity).
    assert (VV := window_value m p longest S w L W O still closed right x v n X E V t ltac:(lia)).
    unfold value_at, env in VV. rewrite VV.
    assert (E2 : win p S w n t v = win p S w t t v) by (eapply win_long; try exact m; lia).
    rewrite E2. exact G.
  - specialize (RD ltac:(lia)). unfold reads_ok in RD. cbn [fst snd] in RD. rewrite C in RD.
    destruct (lookup decode vs) as [d|]; [|discriminate]. apply Nat.eqb_eq in RD. congruence.
Qed.
Print Assumptions check_scan_sound.
