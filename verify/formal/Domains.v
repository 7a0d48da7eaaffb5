(** Which values the channels of a Program have, and from where those that fetch take them.

    Lemma 1 of docs/soundness.md, and the orders of its section 4.4. *)
From Coq Require Import List Arith Lia Bool.
From Krohn Require Import Machine Program Invariant.
Import ListNotations.

Definition inputs (o : op) : list nat :=
  match o with
  | Token | Position _ => []
  | Table xs _ | Sum xs => xs
  | Select i xs => i :: xs
  | Shift x _ | PrefixSum x => [x]
  | Latest x w | SiblingLatest x w _ | MarkedSum x w | Earliest x w => [x; w]
  | LatestMatch x key query => [x; key; query]
  end.

(** Every operation reads earlier channels only. *)
Fixpoint ordered (i : nat) (p : program) : bool :=
  match p with
  | [] => true
  | o :: r => forallb (fun x => x <? i) (inputs o) && ordered (S i) r
  end.

(** The value of a channel at BOS, and all those that it may have later. *)
Definition domain : Type := nat * list nat.
Definition at_bos (d : domain) : list nat := [fst d].

(** The values of an operation whose inputs have values of these lists. *)
Definition mapped (o : op) (known : list (list nat)) : option (list nat) :=
  match o with
  | Table xs rows => all (lookup rows) (prods known)
  | Sum xs => Some (map list_sum (prods known))
  | Select _ _ =>
      match known with
      | js :: of => match all (fun j => nth_error of j) js with
                    | Some l => Some (concat l) | None => None end
      | [] => None
      end
  | _ => None
  end.

Definition domain_of (letters longest : nat) (ds : list domain) (o : op) : option domain :=
  match all (nth_error ds) (inputs o) with
  | None => None
  | Some of =>
      match o, of with
      | Token, _ => Some (letters, seq 0 letters)
      | Position vs, _ =>
          match vs with
          | v :: r => if longest <=? length r then Some (v, dedup r) else None | [] => None end
      | (Table _ _ | Sum _ | Select _ _), _ =>
          match mapped o (map at_bos of), mapped o (map snd of) with
          | Some (b :: _), Some l => Some (b, dedup l) | _, _ => None end
      | Shift _ _, [x] | LatestMatch _ _ _, [x; _; _] | Earliest _ _, [x; _] => Some (fst x, dedup (fst x :: snd x))
      | Latest _ _, [x; w] =>
          if fst w =? 1 then Some (fst x, dedup (fst x :: snd x)) else None
      | _, _ => None
      end
  end.

Fixpoint domains (letters longest : nat) (ds : list domain) (p : program)
    : option (list domain) :=
  match p with
  | [] => Some ds
  | o :: r => match domain_of letters longest ds o with
              | Some d => domains letters longest (ds ++ [d]) r | None => None end
  end.

(** Which position is read: that which the order prefers. [on]: position r, with the key k,
    can be it for a query q at t; [beside]: position j, with the key k, can be there too. *)
Definition key_of (o : op) : option nat :=
  match o with
  | Latest _ w | Earliest _ w => Some w | LatestMatch _ k _ => Some k | _ => None end.
Definition query_of (o : op) : option nat :=
  match o with LatestMatch _ _ q => Some q | _ => None end.
Definition source_of (o : op) : option nat :=
  match o with
  | Shift x _ | Latest x _ | LatestMatch x _ _ | Earliest x _ => Some x | _ => None end.
Definition flagged_by (o : op) (q k : nat) : bool :=
  match o with
  | Latest _ _ | Earliest _ _ => k =? 1 | LatestMatch _ _ _ => k =? q | _ => true end.
Definition on (o : op) (t q r k : nat) : bool :=
  match o with
  | Shift _ n => r =? t - n
  | LatestMatch _ _ _ | Earliest _ _ => (r =? 0) || flagged_by o q k
  | _ => flagged_by o q k
  end.
Definition beside (o : op) (t q r j k : nat) : bool :=
  match o with
  | Shift _ _ => true
  | Earliest _ _ => negb (flagged_by o q k) || (j =? 0) || (negb (r =? 0) && (r <? j))
  | _ => negb (flagged_by o q k) || (j <? r)
  end.

#[local] Arguments dedup : simpl never.

Section Word.
Variables (letters longest : nat) (w : list nat) (p : program).
Hypothesis short : length w <= longest.
Hypothesis lettered : Forall (fun a => a < letters) w.
Hypothesis order : ordered 0 p = true.

Definition env := streams letters w p [].
Definition value_at (c t : nat) : option nat := get env c t.

Lemma streams_app q e : streams letters w q e = e ++ skipn (length e) (streams letters w q e).
Proof.
  revert e. induction q as [|o q IH]; intros e; simpl.
  - rewrite skipn_all. rewrite app_nil_r. reflexivity.
  - rewrite IH. rewrite app_length. simpl. rewrite <- app_assoc. simpl.
    rewrite skipn_app, skipn_all. simpl. replace (length e - length e) with 0 by lia. reflexivity.
Qed.

Lemma streams_length q e : length (streams letters w q e) = length e + length q.
Proof.
  revert e. induction q as [|o q IH]; intros e; simpl; [lia|]. rewrite IH, app_length. simpl. lia.
Qed.

Lemma get_before q e x t : x < length e -> get (streams letters w q e) x t = get e x t.
Proof. intros L. unfold get. rewrite streams_app, nth_error_app1 by auto. reflexivity. Qed.

Lemma gets_same e e' xs t : (forall x, In x xs -> get e x t = get e' x t) ->
  gets e xs t = gets e' xs t.
Proof.
  induction xs as [|x xs IH]; intros H; simpl; auto. rewrite H by (left; auto).
  destruct (get e' x t); auto. rewrite IH; auto. intros; apply H; right; auto.
Qed.

Lemma sem_same o e e' t : (forall x t, In x (inputs o) -> get e x t = get e' x t) ->
  sem letters w o e t = sem letters w o e' t.
Proof.
  destruct o; simpl; intros H; auto.
  - rewrite (gets_same e e'); auto.
  - rewrite (H i) by auto. destruct (get e' i t); auto. destruct (nth_error xs n) eqn:E; auto.
    apply H. right. eapply nth_error_In; eauto.
  - rewrite (gets_same e e'); auto.
  - rewrite (last_where_ext _ (fun j => is 1 (get e' w0 j))) by (intros; rewrite H; auto).
    destruct last_where; auto.
  - rewrite (H query) by auto. destruct (get e' query t); auto. unfold matched.
    rewrite (last_where_ext _ (fun j => is n (get e' key j))) by (intros; rewrite H; auto).
    destruct last_where; auto.
  - rewrite (last_where_ext _ (fun j => is 1 (get e' w0 j))) by (intros; rewrite H; auto).
    rewrite !(H x) by auto. destruct Nat.odd; auto. destruct last_where; auto.
  - apply total_ext. intros. auto.
  - apply total_ext. intros. rewrite (H w0) by auto. destruct (get e' w0 j) as [[|[|]]|]; auto.
  - rewrite (first_where_ext _ (fun j => is 1 (get e' w0 j))) by (intros; rewrite H; auto).
    destruct first_where; apply H; auto.
Qed.

Lemma meaning_from q e o i : ordered (length e) q = true -> nth_error q i = Some o ->
  forall t, get (streams letters w q e) (length e + i) t
            = sem letters w o (streams letters w q e) t.
Proof.
  revert e i. induction q as [|a q IH]; intros e i O N t; [destruct i; discriminate|].
  simpl in O. apply andb_true_iff in O. destruct O as (O & O'). simpl streams.
  set (e' := e ++ [sem letters w a e]).
  assert (L : length e' = S (length e)) by (unfold e'; rewrite app_length; simpl; lia).
  destruct i as [|i]; simpl in N.
  - inversion N; subst. rewrite get_before by lia. unfold get at 1, e'. rewrite Nat.add_0_r.
    rewrite nth_error_app2, Nat.sub_diag by lia. simpl. apply sem_same. intros x t' I.
    rewrite forallb_forall in O. apply O, Nat.ltb_lt in I. rewrite get_before; [|rewrite app_length; simpl; lia].
    unfold get, e'. rewrite nth_error_app1 by lia. reflexivity.
  - replace (length e + S i) with (length e' + i) by lia. apply IH; auto. rewrite L. exact O'.
Qed.

(** The value of a channel is what its operation makes of the others. *)
Theorem meaning i o t : nth_error p i = Some o -> value_at i t = sem letters w o env t.
Proof. intros N. apply (meaning_from p [] o i order N). Qed.

Definition fits_domain (d : domain) (c t : nat) : Prop :=
  exists v, value_at c t = Some v /\ (t = 0 -> v = fst d) /\ (1 <= t -> In v (snd d)).
Definition may_be (d : domain) (t v : nat) : Prop :=
  (t = 0 -> v = fst d) /\ (1 <= t -> In v (snd d)).

Lemma all_some {A B} (f : A -> option B) l r : all f l = Some r -> Forall2 (fun a b => f a = Some b) l r.
Proof.
  revert r. induction l as [|a l IH]; simpl; intros r H; [inversion H; constructor|].
  destruct (f a) eqn:E; [|discriminate]. destruct (all f l); [|discriminate].
  inversion H; subst. constructor; auto.
Qed.

Lemma same_length {A B} (R : A -> B -> Prop) l m : Forall2 R l m -> length l = length m.
Proof. induction 1; simpl; auto. Qed.

Lemma in_prods ls row : In row (prods ls) <-> Forall2 (fun v l => In v l) row ls.
Proof.
  revert row. induction ls as [|l ls IH]; intros row; simpl.
  - split; [intros [<-|[]]; constructor | inversion 1; auto].
  - rewrite in_flat_map. split.
    + intros (v & V & R). apply in_map_iff in R. destruct R as (r & <- & R). constructor; auto.
      apply IH, R.
    + inversion 1; subst. exists x. split; auto. apply in_map. apply IH. auto.
Qed.

Lemma all_in {A B} (f : A -> option B) l r a : all f l = Some r -> In a l ->
  exists b, f a = Some b /\ In b r.
Proof.
  intros H I. apply all_some in H. induction H; [destruct I|]; destruct I as [->|I].
  - eexists; split; eauto. left; auto.
  - destruct (IHForall2 I) as (b & F & J). exists b. split; auto. right; auto.
Qed.

Lemma dedup_in v l : In v l -> In v (dedup l).
Proof. apply nodup_In. Qed.

Lemma gets_some e xs vs t : Forall2 (fun x v => get e x t = Some v) xs vs -> gets e xs t = Some vs.
Proof. induction 1; simpl; auto. rewrite H, IHForall2. reflexivity. Qed.

(** What an operation makes of values at one position. *)
Definition applied (o : op) (vs : list nat) : option nat :=
  match o with
  | Table _ rows => lookup rows vs
  | Sum _ => Some (list_sum vs)
  | Select _ _ => match vs with j :: r => nth_error r j | [] => None end
  | _ => None
  end.

Lemma applied_sound o vs t v : Forall2 (fun x v => get env x t = Some v) (inputs o) vs ->
  applied o vs = Some v -> sem letters w o env t = Some v.
Proof.
  destruct o; simpl; intros F E; try discriminate.
  - rewrite (gets_some _ _ _ _ F). auto.
  - inversion F as [|a b l r G H]; subst. rewrite G. clear F G.
    revert E. revert b. induction H as [|x y l r X H IH]; intros b E; [destruct b; discriminate|].
    destruct b as [|b]; simpl in *; [inversion E; subst; auto | apply IH, E].
  - rewrite (gets_some _ _ _ _ F). auto.
Qed.

Lemma mapped_sound o known vs l : mapped o known = Some l ->
  Forall2 (fun v k => In v k) vs known -> exists v, applied o vs = Some v /\ In v l.
Proof.
  destruct o; simpl; intros M F; try discriminate.
  - apply in_prods in F. apply (all_in _ _ _ _ M F).
  - destruct known as [|js of]; [discriminate|]. inversion F as [|j k r q J G]; subst.
    destruct (all (fun j => nth_error of j) js) as [found|] eqn:E; [|discriminate].
    inversion M; subst. destruct (all_in _ _ _ j E J) as (b & N & I).
    clear - G N I. revert j N. induction G as [|x y l r X G IH]; intros j N;
      [destruct j; discriminate|]. destruct j as [|j]; simpl in *.
    + inversion N; subst. exists x. split; auto. apply in_concat. eauto.
    + apply IH, N.
  - inversion M; subst. apply in_prods in F. exists (list_sum vs). split; auto. apply in_map, F.
Qed.

Lemma domain_of_sound ds o d i t : t <= length w -> nth_error p i = Some o ->
  domain_of letters longest ds o = Some d ->
  (forall x e t, t <= length w -> nth_error ds x = Some e -> fits_domain e x t) ->
  fits_domain d i t.
Proof.
  intros T N D H. unfold fits_domain. rewrite (meaning i o t N).
  unfold domain_of in D. destruct (all (nth_error ds) (inputs o)) as [of|] eqn:E; [|discriminate].
  assert (E' := all_some _ _ _ E). clear E.
  assert (maps : (match mapped o (map at_bos of), mapped o (map snd of) with
          | Some (b :: _), Some l => Some (b, dedup l) | _, _ => None end) = Some d ->
          (forall ks l, mapped o (map at_bos of) = Some l -> ks = l -> length l <= 1) ->
          exists v, sem letters w o env t = Some v /\ (t = 0 -> v = fst d) /\ (1 <= t -> In v (snd d))).
  { intros M S. destruct (mapped o (map _ of)) as [[|b bs]|] eqn:B; try discriminate.
    destruct (mapped o (map snd of)) as [l|] eqn:L; [|discriminate]. inversion M; subst d. simpl.
    assert (V : exists vs, Forall2 (fun x v => get env x t = Some v) (inputs o) vs
                /\ (t = 0 -> Forall2 (fun v k => In v k) vs (map at_bos of))
                /\ (1 <= t -> Forall2 (fun v k => In v k) vs (map snd of))).
    { clear - E' H T. induction E' as [|x e xs es X F IH].
      - exists []. repeat split; constructor.
      - destruct IH as (vs & A & B & C). destruct (H x e t T X) as (v & V & V0 & V1).
        exists (v :: vs). repeat split; [constructor; auto|intros Z|intros Z]; constructor; simpl; auto.
        left. symmetry. auto. }
    destruct V as (vs & A & B0 & B1). destruct t as [|t].
    - destruct (mapped_sound o _ vs _ B (B0 eq_refl)) as (v & V & I).
      exists v. split; [eapply applied_sound; eauto|]. split; [|lia]. intros _.
      specialize (S _ _ eq_refl eq_refl). simpl in S. destruct bs; [|simpl in S; lia].
      destruct I as [<-|[]]. reflexivity.
    - destruct (mapped_sound o _ vs _ L (B1 ltac:(lia))) as (v & V & I).
      exists v. split; [eapply applied_sound; eauto|]. split; [lia|]. intros _. apply dedup_in, I. }
  assert (single : forall of : list domain, length (prods (map at_bos of)) = 1).
  { clear. induction of as [|d of IH]; simpl; auto. rewrite app_nil_r, map_length. exact IH. }
  assert (fetched : forall x e, In x (inputs o) -> nth_error ds x = Some e ->
    d = (fst e, dedup (fst e :: snd e)) ->
    forall r, r <= t -> sem letters w o env t = value_at x r ->
    exists v, sem letters w o env t = Some v /\ (t = 0 -> v = fst d) /\ (1 <= t -> In v (snd d))).
  { intros x e _ X E r R Q. subst d. rewrite Q.
    assert (G := H x e r ltac:(lia) X). unfold fits_domain in G. destruct G as (v & V & V0 & V1). exists v.
    split; auto. simpl fst. simpl snd. split; [intros; apply V0; lia|]. intros _. apply dedup_in.
    destruct r as [|r]; [left; symmetry; apply V0; lia | right; apply V1; lia]. }
  destruct o; try discriminate.
  - inversion D; subst; simpl. destruct t as [|t].
    + exists letters. repeat split; auto; lia.
    + destruct (nth_error w t) as [a|] eqn:A.
      * exists a. repeat split; auto; [lia|]. intros _. apply in_seq.
        rewrite Forall_forall in lettered. apply nth_error_In, lettered in A. lia.
      * apply nth_error_None in A. lia.
  - destruct vs as [|v r]; [discriminate|]. destruct (longest <=? length r) eqn:L; [|discriminate].
    apply Nat.leb_le in L. inversion D; subst; simpl. destruct t as [|t].
    + exists v. repeat split; auto; lia.
    + destruct (nth_error r t) as [a|] eqn:A.
      * exists a. simpl. repeat split; auto; [lia|]. intros _. apply dedup_in. eapply nth_error_In; eauto.
      * apply nth_error_None in A. lia.
  - apply maps; auto. intros _ l M _. simpl in M. apply all_some, same_length in M.
    rewrite single in M. lia.
  - apply maps; auto. intros _ l M _. simpl in M. destruct of as [|e of]; [discriminate|]. simpl in M.
    destruct (nth_error (map at_bos of) (fst e)) as [b|] eqn:B; [|discriminate].
    inversion M; subst. rewrite app_nil_r. apply nth_error_In, in_map_iff in B.
    destruct B as (f & <- & _). simpl. lia.
  - apply maps; auto. intros _ l M _. simpl in M. inversion M; subst. rewrite map_length, single. lia.
  - inversion E' as [|? e ? ? X F]; subst. inversion F; subst. injection D as D.
    exact (fetched x e (or_introl eq_refl) X (eq_sym D) (t - k) ltac:(lia) eq_refl).
  - inversion E' as [|? e ? ? X F]; subst. inversion F as [|? f ? ? Y G]; subst. inversion G; subst.
    destruct (fst f =? 1) eqn:O; [|discriminate]. apply Nat.eqb_eq in O. injection D as D.
    destruct (last_where (fun j => is 1 (get env w0 j)) 0 t) as [j|] eqn:LW.
    + apply last_where_some in LW.
      assert (Q : sem letters w (Latest x w0) env t = value_at x j).
      { simpl. destruct (last_where (fun j => is 1 (get env w0 j)) 0 t) as [k|] eqn:LW'.
        - apply last_where_some in LW'. destruct LW as ((_ & A) & B & C), LW' as ((_ & A') & B' & C').
          destruct (Nat.lt_total j k) as [l|[->|l]]; auto.
          + rewrite (C k) in B' by lia. discriminate.
          + rewrite (C' j) in B by lia. discriminate.
        - destruct LW as ((_ & A) & B & _). rewrite (last_where_none _ _ _ LW' j) in B by lia. discriminate. }
      assert (Z := fetched x e (or_introl eq_refl) X (eq_sym D) j ltac:(lia) Q).
      exact Z.
    + assert (Z := last_where_none _ _ _ LW 0 ltac:(lia)). simpl in Z.
      destruct (H w0 f 0 ltac:(lia) Y) as (v & V & V0 & _). unfold value_at in V.
      rewrite V, (V0 eq_refl), O in Z. discriminate.
  - inversion E' as [|? e ? ? X F]; subst. inversion F as [|? f ? ? Y G]; subst.
    inversion G as [|? g ? ? Z I]; subst. inversion I; subst. injection D as D.
    destruct (H query g t T Z) as (q & Q & _). unfold value_at in Q.
    assert (R : exists r, r <= t /\ sem letters w (LatestMatch x key query) env t = value_at x r).
    { simpl. rewrite Q. unfold matched.
      destruct (last_where (fun j => is q (get env key j)) 1 t) as [j|] eqn:LW.
      - apply last_where_some in LW. exists j. split; [lia|reflexivity].
      - exists 0. split; [lia|reflexivity]. }
    destruct R as (r & R & R'). exact (fetched x e (or_introl eq_refl) X (eq_sym D) r R R').
  - inversion E' as [|? e ? ? X F]; subst. inversion F as [|? f ? ? Y G]; subst.
    inversion G; subst. injection D as D.
    assert (R : exists r, r <= t /\ sem letters w (Earliest x w0) env t = value_at x r).
    { simpl. destruct (first_where (fun j => is 1 (get env w0 j)) t) as [j|] eqn:FW.
      - apply first_where_some in FW. exists j. split; [lia|reflexivity].
      - exists 0. split; [lia|reflexivity]. }
    destruct R as (r & R & R'). exact (fetched x e (or_introl eq_refl) X (eq_sym D) r R R').
Qed.

Lemma domains_from q ds found : domains letters longest ds q = Some found ->
  (exists before, p = before ++ q /\ length before = length ds) ->
  (forall x e t, t <= length w -> nth_error ds x = Some e -> fits_domain e x t) ->
  forall x e t, t <= length w -> nth_error found x = Some e -> fits_domain e x t.
Proof.
  revert ds. induction q as [|o q IH]; simpl; intros ds D (b & P & L) H.
  - inversion D; subst. exact H.
  - destruct (domain_of letters longest ds o) as [d|] eqn:O; [|discriminate].
    apply (IH (ds ++ [d]) D).
    + exists (b ++ [o]). rewrite <- app_assoc, !app_length, L. auto.
    + intros x e t T N. destruct (Nat.lt_ge_cases x (length ds)) as [l|l].
      * rewrite nth_error_app1 in N by auto. apply H; auto.
      * rewrite nth_error_app2 in N by auto. destruct (x - length ds) as [|k] eqn:K.
        -- simpl in N. inversion N; subst. apply (domain_of_sound ds o); auto.
           rewrite P, nth_error_app2 by lia. replace (x - length b) with 0 by lia. reflexivity.
        -- simpl in N. destruct k; discriminate.
Qed.

(** Theorem (Lemma 1). *)
Theorem domains_sound ds : domains letters longest [] p = Some ds ->
  forall c d t, t <= length w -> nth_error ds c = Some d -> fits_domain d c t.
Proof.
  intros D. apply (domains_from p [] ds D); [exists []; auto|].
  intros [|x]; discriminate.
Qed.

(** What a channel fetches stands at the position that its order prefers. *)
Theorem fetched_from y o x t v : nth_error p y = Some o -> source_of o = Some x ->
  value_at y t = Some v -> exists r, r <= t /\ value_at x r = Some v
    /\ (forall q k, (forall c, query_of o = Some c -> value_at c t = Some q) ->
          (forall c, key_of o = Some c -> value_at c r = Some k) -> on o t q r k = true)
    /\ (forall q j k, (forall c, query_of o = Some c -> value_at c t = Some q) ->
          j <= t -> j <> r -> (forall c, key_of o = Some c -> value_at c j = Some k) ->
          beside o t q r j k = true).
Proof.
  intros N S V. rewrite (meaning y o t N) in V. destruct o; try discriminate; simpl in S;
    inversion S; subst; simpl in V.
  - exists (t - k). repeat split; auto; [lia|]. intros. simpl. apply Nat.eqb_refl.
  - destruct (last_where (fun j => is 1 (get env w0 j)) 0 t) as [r|] eqn:LW; [|discriminate].
    apply last_where_some in LW. destruct LW as ((_ & R) & I & C). exists r. repeat split; auto.
    + intros q k _ K. specialize (K w0 eq_refl). unfold value_at in K. rewrite K in I. exact I.
    + intros q j k _ J M K. specialize (K w0 eq_refl). unfold value_at in K. simpl.
      destruct (j <? r) eqn:L; [apply orb_true_r|]. apply Nat.ltb_ge in L. specialize (C j ltac:(lia)).
      rewrite K in C. simpl in *. rewrite C. reflexivity.
  - destruct (get env query t) as [q|] eqn:Q; [|discriminate]. unfold matched in V.
    destruct (last_where (fun j => is q (get env key j)) 1 t) as [r|] eqn:LW.
    + apply last_where_some in LW. destruct LW as ((G & R) & I & C). exists r. repeat split; auto.
      * intros q' k E K. specialize (K key eq_refl). specialize (E query eq_refl).
        unfold value_at in *. rewrite Q in E. inversion E; subst q'. rewrite K in I. simpl in *.
        rewrite I. apply orb_true_r.
      * intros q' j k E J M K. specialize (K key eq_refl). specialize (E query eq_refl).
        unfold value_at in *. rewrite Q in E. inversion E; subst q'. simpl.
        destruct (j <? r) eqn:L; [apply orb_true_r|]. apply Nat.ltb_ge in L. specialize (C j ltac:(lia)).
        rewrite K in C. simpl in *. rewrite C. reflexivity.
    + exists 0. repeat split; auto; [lia|].
      intros q' j k E J M K. specialize (K key eq_refl). specialize (E query eq_refl).
      unfold value_at in *. rewrite Q in E. inversion E; subst q'. simpl.
      assert (C := last_where_none _ _ _ LW j ltac:(lia)). simpl in C. rewrite K in C. simpl in C.
      rewrite C. reflexivity.
  - destruct (first_where (fun j => is 1 (get env w0 j)) t) as [r|] eqn:FW; clear S.
    + apply first_where_some in FW. destruct FW as (R & I & C). exists r.
      split; [lia|]. split; [exact V|]. split.
      * intros q k _ K. specialize (K w0 eq_refl). unfold value_at in K. rewrite K in I.
        simpl in *. rewrite I. apply orb_true_r.
      * intros q j k _ J M K. specialize (K w0 eq_refl). unfold value_at in K. simpl.
        destruct j as [|j]; [rewrite orb_true_r; reflexivity|].
        destruct (r <? S j) eqn:L.
        -- destruct r as [|r]; [lia|]. simpl. apply orb_true_r.
        -- apply Nat.ltb_ge in L. specialize (C (S j) ltac:(lia)). rewrite K in C. simpl in *.
           rewrite C. reflexivity.
    + exists 0. split; [lia|]. split; [exact V|]. split; [reflexivity|].
      intros q j k _ J M K. specialize (K w0 eq_refl). unfold value_at in K. simpl.
      assert (C := first_where_none _ _ FW j ltac:(lia)). simpl in C. rewrite K in C. simpl in C.
      rewrite C. reflexivity.
Qed.
End Word.
