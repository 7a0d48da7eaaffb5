(** The checker of invariants is sound (Theorems 2.1 to 2.3 of docs/recheck.md). *)
From Coq Require Import List Arith Lia Bool.
From Krohn Require Import Machine Program Invariant.
Import ListNotations.

Definition sat (o : option nat) (l : aset) : Prop := exists v, o = Some v /\ In v l.

Lemma mem_in v l : mem v l = true <-> In v l.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros (x & I & E). apply Nat.eqb_eq in E. subst; auto.
  - intros I. exists v. split; auto. apply Nat.eqb_refl.
Qed.

Lemma subset_sat o a b : subset a b = true -> sat o a -> sat o b.
Proof.
  unfold subset. rewrite forallb_forall. intros H (v & E & I). exists v. split; auto.
  apply mem_in; auto.
Qed.

Lemma sat_dedup o l : sat o l -> sat o (dedup l).
Proof. intros (v & E & I). exists v. split; auto. apply nodup_In; auto. Qed.

Lemma sat_app_l o a b : sat o a -> sat o (a ++ b).
Proof. intros (v & E & I). exists v. split; auto. apply in_or_app; auto. Qed.
Lemma sat_app_r o a b : sat o b -> sat o (a ++ b).
Proof. intros (v & E & I). exists v. split; auto. apply in_or_app; auto. Qed.

Lemma has_sat o l : has o l = true -> sat o l.
Proof. destruct o; simpl; intros H; [|discriminate]. exists n; split; auto. apply mem_in; auto. Qed.

Lemma all_in {A B} (f : A -> option B) l r x : all f l = Some r -> In x l ->
  exists y, f x = Some y /\ In y r.
Proof.
  revert r; induction l; simpl; intros r H I; [tauto|].
  destruct (f a) eqn:E; [|discriminate]. destruct (all f l) eqn:F; [|discriminate].
  injection H; intros <-. destruct I as [->|I].
  - exists b; simpl; auto.
  - destruct (IHl _ eq_refl I) as (y & ? & ?). exists y; simpl; auto.
Qed.

(** What is known of the channels at a position. *)
Definition fits (t : nat) (s : stream) (k : option aset) : Prop :=
  match k with None => True | Some l => sat (s t) l end.
Definition Rel (env : list stream) (known : list (option aset)) (t : nat) := Forall2 (fits t) env known.

Lemma kget_sat env known t x l : Rel env known t -> kget known x = Some l -> sat (get env x t) l.
Proof.
  unfold kget, get. intros R; revert x. induction R; intros x0; destruct x0; simpl; try discriminate; auto.
  destruct y; [|discriminate]. intros E; injection E; intros <-; auto.
Qed.

Lemma kgets_in env known t xs ls : Rel env known t -> all (kget known) xs = Some ls ->
  exists vs, gets env xs t = Some vs /\ In vs (prods ls).
Proof.
  intros R; revert ls. induction xs; simpl; intros ls H.
  - injection H; intros <-. exists []; simpl; auto.
  - destruct (kget known a) eqn:E; [|discriminate]. destruct (all (kget known) xs); [|discriminate].
    injection H; intros <-. destruct (kget_sat _ _ _ _ _ R E) as (v & -> & I).
    destruct (IHxs _ eq_refl) as (vs & -> & J). exists (v :: vs). split; auto.
    simpl. apply in_flat_map. exists v. split; auto. apply in_map; auto.
Qed.

(** What a sum is, given its lowered value. *)
Definition above (tau least s u : nat) := s = u \/ (least <= u /\ exists j, s = u + j * tau).

Lemma above_lower tau least s u v : above tau least s u ->
  above tau least (s + v) (lower tau least (u + v)).
Proof.
  unfold above, lower. intros H.
  set (k := (u + v - least) / tau).
  assert (K : k * tau <= u + v - least).
  { unfold k. destruct tau; [simpl; lia|]. rewrite Nat.mul_comm. apply Nat.mul_div_le; lia. }
  destruct (Nat.eq_dec (k * tau) 0) as [Z|Z].
  - destruct H as [->|(L & j & ->)]; [left; lia|right; split; [lia|exists j; lia]].
  - right. destruct H as [->|(L & j & ->)]; split; try lia.
    + exists k; lia.
    + exists (j + k); lia.
Qed.

Lemma above_raise tau least max s u : above tau least s u -> s <= max -> In s (raise tau least max u).
Proof.
  unfold above, raise. intros H M.
  destruct (least <=? u) eqn:E; cbn [andb].
  - apply Nat.leb_le in E. destruct (0 <? tau) eqn:F.
    + apply Nat.ltb_lt in F. apply filter_In. split; [|apply Nat.leb_le; auto].
      apply in_map_iff. destruct H as [->|(_ & j & ->)].
      * exists 0; split; [lia|]. apply in_seq; lia.
      * exists j; split; [lia|]. apply in_seq. split; [lia|].
        assert (j <= max / tau); [|lia]. apply Nat.div_le_lower_bound; lia.
    + apply Nat.ltb_ge in F. simpl. destruct H as [->|(_ & j & ->)]; [auto|].
      replace tau with 0 by lia. left; lia.
  - apply Nat.leb_gt in E. simpl. destruct H as [->|(L & _)]; [auto|lia].
Qed.

Section Word.
Variables (letters L : nat) (w : list nat) (ex : bool).

(** What the cells of a channel mean after t letters. *)
Definition cell_ok (env : list stream) (o : op) (h : ann) (t : nat) (cs : list aset) : Prop :=
  match h, o with
  | Hidden, _ => True
  | Mapped, (Token | Position _ | Table _ _ | Select _ _ | Sum _) => True
  | Cells, Shift x k =>
      length cs = k /\ 0 < k /\ forall i, i < k -> sat (get env x (t + 1 + i - k)) (nth i cs [])
  | Cells, Latest _ _ => sat (sem letters w o env t) (nth 0 cs [])
  | Lowered tau least most, (PrefixSum _ | MarkedSum _ _) =>
      exists s u, sem letters w o env t = Some s /\ In u (nth 0 cs []) /\
                  above tau least s u /\ s <= most * t
  | Keyed keys, LatestMatch x key _ =>
      length cs = length keys + 1 /\
      (forall i kap, nth_error keys i = Some kap -> sat (matched env x key kap t) (nth i cs [])) /\
      (forall v, ~ In v keys -> matched env x key v t = get env x 0) /\
      sat (get env x 0) (nth (length keys) cs [])
  | _, _ => False
  end.

Fixpoint holds (p : program) (hs : list (ann * bool)) (cs : list (list aset)) (t : nat)
    (env : list stream) : Prop :=
  match p, hs, cs with
  | [], [], [] => True
  | o :: p', (h, _) :: hs', c :: cs' =>
      cell_ok env o h t c /\ holds p' hs' cs' t (env ++ [sem letters w o env])
  | _, _, _ => False
  end.

Lemma nth_tl (r : list aset) l i : nth i (r ++ [l]) [] = if i <? length r then nth i r [] else
   if i =? length r then l else [].
Proof.
  destruct (i <? length r) eqn:E.
  - apply Nat.ltb_lt in E. apply app_nth1; auto.
  - apply Nat.ltb_ge in E. rewrite app_nth2 by auto. destruct (i =? length r) eqn:F.
    + apply Nat.eqb_eq in F. subst. replace (length r - length r) with 0 by lia. auto.
    + apply Nat.eqb_neq in F. destruct (i - length r) eqn:G; [lia|]. simpl. destruct n; auto.
Qed.

Lemma flagged_yes fl yes no o : In 1 fl -> sat o yes -> sat o (flagged fl yes no).
Proof.
  unfold flagged. intros I S. apply sat_app_l. destruct (mem 1 fl) eqn:E; auto.
  apply mem_in in I. congruence.
Qed.
Lemma flagged_no fl yes no o v : In v fl -> v <> 1 -> sat o no -> sat o (flagged fl yes no).
Proof.
  unfold flagged. intros I N S. apply sat_app_r.
  destruct (existsb (fun v => negb (v =? 1)) fl) eqn:E; auto.
  exfalso. assert (T : existsb (fun v => negb (v =? 1)) fl = true).
  { apply existsb_exists. exists v. split; auto. apply negb_true_iff, Nat.eqb_neq; auto. }
  congruence.
Qed.

Lemma counted_ok tau least most cs add k after t s f :
  counted tau least most L cs add = Some (k, after) -> S t <= L ->
  sat (f (S t)) add ->
  (exists u, total f t = Some s /\ In u (nth 0 cs []) /\ above tau least s u /\ s <= most * t) ->
  exists s' u, total f (S t) = Some s' /\ In u (nth 0 after []) /\
    above tau least s' u /\ s' <= most * (S t) /\
    match k with None => True | Some l => In s' l end.
Proof.
  unfold counted. intros C TL (v & V & I) (u & Ts & U & A & Bd).
  destruct (forallb _ add) eqn:F; [|discriminate]. injection C; intros <- <-; clear C.
  rewrite forallb_forall in F. specialize (F _ I). apply Nat.leb_le in F.
  exists (s + v), (lower tau least (u + v)).
  assert (In (lower tau least (u + v)) (sums tau least (nth 0 cs []) add)).
  { unfold sums. apply nodup_In. apply in_map. apply in_flat_map. exists u. split; auto.
    apply in_map; auto. }
  assert (A' := above_lower tau least s u v A).
  repeat split; auto.
  - simpl. rewrite V, Ts. auto.
  - lia.
  - apply nodup_In. apply in_flat_map. eexists. split; [eassumption|]. apply above_raise; auto. nia.
Qed.

Lemma matched_S env x key v t : matched env x key v (S t) =
  if is v (get env key (S t)) then get env x (S t) else matched env x key v t.
Proof. unfold matched. simpl. destruct (is v (get env key (S t))); auto. Qed.

Lemma latest_S env x m t : sem letters w (Latest x m) env (S t) =
  if is 1 (get env m (S t)) then get env x (S t) else sem letters w (Latest x m) env t.
Proof. unfold sem; simpl. destruct (is 1 (get env m (S t))); auto. Qed.

Lemma is_eq v u : is v (Some u) = (u =? v). Proof. reflexivity. Qed.

(** One operation, one letter. *)
Lemma aop_ok env known o h cs a t d k after :
  (ex = true -> d = S t) -> Rel env known (S t) -> nth_error w t = Some a -> S t <= L ->
  cell_ok env o h t cs ->
  aop letters L ex o h cs a d known = Some (k, after) ->
  cell_ok env o h (S t) after /\ fits (S t) (sem letters w o env) k.
Proof.
  intros DT R W TL C H. destruct h; cbn [aop] in H.
  - injection H; intros <- <-. simpl. auto.
  - destruct o; try discriminate; cbn [cell_ok fits].
    + injection H; intros <- <-. split; auto. exists a. simpl; auto.
    + destruct ex; [|discriminate]. rewrite DT in H by reflexivity.
      destruct (nth_error vs (S t)) eqn:E; [|discriminate].
      injection H; intros <- <-. split; auto. exists n. unfold sem. rewrite E. simpl; auto.
    + destruct (all (kget known) xs) eqn:E; [|discriminate].
      destruct (all (lookup rows) (prods l)) eqn:F; [|discriminate].
      injection H; intros <- <-. split; auto. destruct (kgets_in _ _ _ _ _ R E) as (vs & G & I).
      simpl. unfold sem. rewrite G. destruct (all_in _ _ _ _ F I) as (y & -> & J).
      apply sat_dedup. exists y; auto.
    + destruct (kget known i) eqn:E; [|discriminate].
      destruct (all _ a0) eqn:F in H; [|discriminate]. injection H; intros <- <-. split; auto.
      destruct (kget_sat _ _ _ _ _ R E) as (j & G & I). simpl. unfold sem. rewrite G.
      destruct (all_in _ _ _ _ F I) as (s & K & J). destruct (nth_error xs j); [|discriminate].
      destruct (kget_sat _ _ _ _ _ R K) as (v & V & Q). apply sat_dedup. exists v. split; auto.
      apply in_concat. exists s; auto.
    + destruct (all (kget known) xs) eqn:E; [|discriminate].
      injection H; intros <- <-. split; auto. destruct (kgets_in _ _ _ _ _ R E) as (vs & G & I).
      simpl. unfold sem. rewrite G. apply sat_dedup. exists (list_sum vs). split; auto. apply in_map; auto.
  - destruct o; try discriminate.
    + destruct (kget known x) eqn:E; [|discriminate]. destruct cs as [|c r]; [discriminate|].
      injection H; intros <- <-. destruct C as (Hl & K0 & C). cbn [length] in Hl. split.
      * split; [rewrite app_length; simpl; lia|]. split; auto. intros i Hi. rewrite nth_tl.
        destruct (i <? length r) eqn:F.
        -- apply Nat.ltb_lt in F. specialize (C (S i)). cbn [nth] in C.
           replace (S t + 1 + i - k0) with (t + 1 + S i - k0) by lia. apply C. lia.
        -- apply Nat.ltb_ge in F. replace i with (length r) by lia. rewrite Nat.eqb_refl.
           replace (S t + 1 + length r - k0) with (S t) by lia. eapply kget_sat; eauto.
      * cbn [fits]. unfold sem. specialize (C 0 K0). cbn [nth] in C.
        replace (S t - k0) with (t + 1 + 0 - k0) by lia. auto.
    + destruct (kget known x) eqn:E; [|discriminate]. destruct (kget known w0) eqn:F; [|discriminate].
      injection H; intros <- <-. simpl in C.
      assert (G : sat (sem letters w (Latest x w0) env (S t)) (dedup (flagged a1 a0 (nth 0 cs [])))).
      { apply sat_dedup. rewrite latest_S. destruct (kget_sat _ _ _ _ _ R F) as (v & -> & I).
        rewrite is_eq. destruct (v =? 1) eqn:V.
        - apply Nat.eqb_eq in V; subst. apply flagged_yes; auto. eapply kget_sat; eauto.
        - apply Nat.eqb_neq in V. eapply flagged_no; eauto. }
      split; simpl; auto.
  - destruct o; try discriminate.
    + destruct (kget known x) eqn:E; [|discriminate]. destruct C as (s & u & Ts & C).
      destruct (counted_ok _ _ _ _ _ _ _ t s (fun j => get env x j) H TL) as (s' & u' & A & B & D & F & G).
      { eapply kget_sat; eauto. }
      { exists u. tauto. }
      split; [exists s', u'; auto|]. destruct k; simpl; auto. exists s'; auto.
    + destruct (kget known x) eqn:E; [|discriminate]. destruct (kget known w0) eqn:E2; [|discriminate].
      destruct C as (s & u & Ts & C).
      destruct (counted_ok _ _ _ _ _ _ _ t s (fun j => match get env w0 j with
                      | Some 1 => get env x j | Some _ => Some 0 | None => None end) H TL)
        as (s' & u' & A & B & D & F & G).
      { destruct (kget_sat _ _ _ _ _ R E2) as (v & -> & I). destruct (Nat.eq_dec v 1) as [->|N].
        - apply flagged_yes; auto. eapply kget_sat; eauto.
        - eapply flagged_no; eauto. exists 0. split; [|simpl; auto].
          destruct v as [|[|v]]; auto. lia. }
      { exists u. tauto. }
      split; [exists s', u'; auto|]. destruct k; simpl; auto. exists s'; auto.
  - destruct o; try discriminate.
    destruct (kget known x) as [src|] eqn:E; [|discriminate].
    destruct (kget known key) as [ks|] eqn:E2; [|discriminate].
    destruct (kget known query) as [asked|] eqn:E3; [|discriminate].
    destruct (forallb (fun v => mem v keys) ks) eqn:F; [|discriminate].
    injection H; intros <- <-; clear H. destruct C as (Cl & C1 & C2 & C3).
    destruct (kget_sat _ _ _ _ _ R E2) as (kv & KV & KI).
    rewrite forallb_forall in F. assert (KK := F _ KI). apply mem_in in KK.
    assert (Sx := kget_sat _ _ _ _ _ R E).
    set (front := firstn (length keys) cs). set (def := nth (length keys) cs []) in *.
    assert (Lf : length front = length keys) by (apply firstn_length_le; lia).
    assert (Ln : length (rekeyed src ks keys front) = length keys).
    { unfold rekeyed. rewrite map_length, combine_length, Lf. lia. }
    assert (N : forall i kap, nth_error keys i = Some kap ->
              sat (matched env x key kap (S t)) (nth i (rekeyed src ks keys front) [])).
    { intros i kap Hi.
      assert (Il : i < length keys) by (apply nth_error_Some; congruence).
      unfold rekeyed.
      rewrite nth_indep with (d' := rekey src ks (0, [])) by (rewrite map_length, combine_length, Lf, Nat.min_id; lia).
      rewrite map_nth, combine_nth by (symmetry; exact Lf).
      rewrite (nth_error_nth _ _ 0 Hi). unfold rekey. cbn [fst snd].
      assert (O := C1 i kap Hi).
      assert (O' : sat (matched env x key kap t) (nth i front [])).
      { unfold front. rewrite <- (firstn_skipn (length keys) cs) in O. rewrite app_nth1 in O; auto. rewrite firstn_length_le by lia. exact Il. }
      rewrite matched_S, KV, is_eq. destruct (kv =? kap) eqn:Q.
      - apply Nat.eqb_eq in Q; subst kv. destruct (mem kap ks) eqn:M.
        + apply sat_app_l; auto.
        + apply mem_in in KI. congruence.
      - apply Nat.eqb_neq in Q. destruct (mem kap ks) eqn:M; auto. apply sat_app_r.
        destruct (forallb (Nat.eqb kap) ks) eqn:A; auto. rewrite forallb_forall in A.
        specialize (A _ KI). apply Nat.eqb_eq in A. congruence. }
    assert (D : forall v, ~ In v keys -> matched env x key v (S t) = get env x 0).
    { intros v NI. rewrite matched_S, KV, is_eq. destruct (kv =? v) eqn:Q; auto.
      apply Nat.eqb_eq in Q; subst; tauto. }
    split.
    + simpl. split; [rewrite app_length; simpl; lia|]. split; [|split; auto].
      * intros i kap Hi. assert (i < length keys) by (apply nth_error_Some; congruence).
        rewrite app_nth1 by (rewrite Ln; assumption). auto.
      * rewrite app_nth2 by (rewrite Ln; auto). rewrite Ln. replace (length keys - length keys) with 0 by lia. simpl. auto.
    + simpl. apply sat_dedup. unfold sem.
      destruct (kget_sat _ _ _ _ _ R E3) as (v & -> & I).
      assert (G : sat (matched env x key v (S t)) (answer keys (rekeyed src ks keys front) def v)).
      { unfold answer. destruct (mem v keys) eqn:M.
        - apply mem_in in M. destruct (In_nth_error _ _ M) as (i & Hi). destruct (N i v Hi) as (z & Z & J).
          exists z. split; auto. simpl. apply in_flat_map.
          exists (v, nth i (rekeyed src ks keys front) []). simpl. rewrite Nat.eqb_refl. split; auto.
          assert (i < length keys) by (apply nth_error_Some; congruence).
          rewrite <- (nth_error_nth _ _ 0 Hi). rewrite <- combine_nth by (symmetry; exact Ln).
          apply nth_In. rewrite combine_length, Ln, Nat.min_id. assumption.
        - apply sat_app_l. rewrite D; auto. intros NI. apply mem_in in NI. congruence. }
      destruct G as (z & Z & J). exists z. split; auto. apply in_flat_map. exists v; auto.
Qed.

(** One letter, all channels. *)
Lemma astep_ok a t d : (ex = true -> d = S t) -> nth_error w t = Some a -> S t <= L ->
  forall p hs cs env known ws,
  Rel env known (S t) -> holds p hs cs t env ->
  astep letters L ex p hs cs a d known = Some ws ->
  exists wd, In wd ws /\ Rel (streams letters w p env) (fst wd) (S t) /\ holds p hs (snd wd) (S t) env.
Proof.
  intros DT W TL. induction p as [|o p IH]; intros hs cs env known ws R C H.
  - destruct hs, cs; try discriminate. simpl in H. injection H; intros <-.
    exists (known, []). simpl. auto.
  - destruct hs as [|[h sp] hs]; [discriminate|]. destruct cs as [|c cs]; [discriminate|].
    cbn [astep] in H. destruct C as (C & Cs).
    destruct (aop letters L ex o h c a d known) as [[k after]|] eqn:A; [|discriminate].
    destruct (aop_ok _ _ _ _ _ _ _ _ _ _ DT R W TL C A) as (C' & F).
    set (cases := match sp, k with true, Some l => map (fun v => Some [v]) l | _, _ => [k] end) in H.
    destruct (all (fun k => astep letters L ex p hs cs a d (known ++ [k])) cases) as [wss|] eqn:G; [|discriminate].
    injection H; intros <-; clear H.
    assert (E : exists k', In k' cases /\ fits (S t) (sem letters w o env) k').
    { unfold cases. destruct sp.
      - destruct k as [l|].
        + destruct F as (v & V & I). exists (Some [v]). split.
          * apply (in_map (fun v => Some [v])); auto.
          * exists v; simpl; auto.
        + exists None; simpl; auto.
      - exists k; simpl; auto. }
    destruct E as (k' & I & F'). destruct (all_in _ _ _ _ G I) as (ws & Y & J).
    destruct (IH hs cs (env ++ [sem letters w o env]) (known ++ [k']) ws) as (wd & I2 & R2 & H2); auto.
    { apply Forall2_app; auto. }
    exists (fst wd, after :: snd wd). split; [|split].
    + apply in_map_iff. exists wd. split; auto. apply in_concat. exists ws; auto.
    + exact R2.
    + simpl. auto.
Qed.

(** Larger sets. *)
Lemma all2_nth (a b : list aset) : all2 subset a b = true ->
  length a = length b /\ forall i, subset (nth i a []) (nth i b []) = true.
Proof.
  revert b; induction a; intros [|y b]; simpl; try discriminate.
  - split; auto. intros []; auto.
  - intros H. apply andb_true_iff in H. destruct H as (H & K). destruct (IHa _ K) as (E & N).
    split; auto. intros []; auto.
Qed.

Lemma cell_mono env o h t a b : all2 subset a b = true -> cell_ok env o h t a -> cell_ok env o h t b.
Proof.
  intros H. destruct (all2_nth _ _ H) as (E & N). unfold aset in *. destruct h; simpl; auto.
  - destruct o; auto.
    + intros (A & B & C). split; [exact (eq_trans (eq_sym E) A)|]. split; auto. intros i Hi. eapply subset_sat; [apply N|auto].
    + apply subset_sat, N.
  - assert (U : forall u, In u (nth 0 a []) -> In u (nth 0 b [])).
    { intros u I. specialize (N 0). unfold subset in N. rewrite forallb_forall in N. apply mem_in; auto. }
    destruct o; auto; intros (s & u & A & B & C); exists s, u; auto.
  - destruct o; auto. intros (A & B & C & D). split; [exact (eq_trans (eq_sym E) A)|]. split; [|split; auto].
    + intros i kap Hi. eapply subset_sat; [apply N|]. auto.
    + eapply subset_sat; [apply N|]. auto.
Qed.

Lemma holds_mono t p hs : forall a b env, within a b = true -> holds p hs a t env -> holds p hs b t env.
Proof.
  revert hs. induction p as [|o p IH]; intros [|[h sp] hs] [|x a] [|y b] env; simpl; try tauto; try discriminate.
  intros H. apply andb_true_iff in H. destruct H as (H & K). intros (A & B). split.
  - eapply cell_mono; eauto.
  - apply (IH hs a); auto.
Qed.

(** BOS. *)
Definition same0 := Forall2 (fun s s' : stream => s 0 = s' 0).
Lemma get0 env env' x : same0 env env' -> get env x 0 = get env' x 0.
Proof. unfold get. intros H; revert x. induction H; intros []; simpl; auto. Qed.

Lemma sem0 o env env' : same0 env env' -> sem letters w o env 0 = sem letters [] o env' 0.
Proof.
  intros H. assert (G := fun x => get0 _ _ x H). destruct o; unfold sem; auto.
  - rewrite (gets_ext env env' xs 0 0); auto.
  - rewrite G. destruct (get env' i 0); auto. destruct (nth_error xs n); auto.
  - rewrite (gets_ext env env' xs 0 0); auto.
  - simpl. rewrite !G. destruct (is 1 (get env' w0 0)); auto.
  - rewrite G. destruct (get env' query 0); auto. unfold matched; simpl. auto.
  - rewrite Nat.div_0_l by (apply Nat.pow_nonzero; lia). simpl. auto.
  - simpl. rewrite G; auto.
  - simpl. rewrite !G; auto.
Qed.

Lemma forallb_nth (f : aset -> bool) l i : forallb f l = true -> i < length l -> f (nth i l []) = true.
Proof. rewrite forallb_forall. intros H L'. apply H, nth_In; auto. Qed.

Lemma starts_ok o h cs env env' : same0 env env' -> starts letters o h cs env' = true ->
  cell_ok env o h 0 cs.
Proof.
  intros R H. assert (G := fun x => get0 _ _ x R). assert (S0 := sem0 o _ _ R).
  unfold starts in H; cbv zeta in H. destruct h; cbn [cell_ok]; auto.
  - destruct o; auto; discriminate.
  - destruct o; try discriminate.
    + apply andb_true_iff in H. destruct H as (H & K). apply andb_true_iff in H. destruct H as (H & M).
      apply Nat.eqb_eq in H. apply Nat.ltb_lt in M. split; auto. split; auto. intros i Hi.
      replace (0 + 1 + i - k) with 0 by lia. rewrite G. apply has_sat.
      apply (forallb_nth (has (get env' x 0))); auto. unfold aset in *; lia.
    + rewrite S0. apply has_sat; auto.
  - destruct o; try discriminate; apply andb_true_iff in H; destruct H as (H & K);
      unfold is in H; rewrite <- S0 in H;
      (destruct (sem letters w _ env 0) eqn:E; [|discriminate]); apply Nat.eqb_eq in H; subst;
      exists 0, 0; (split; [auto|]); (split; [apply mem_in; auto|]); (split; [left; auto|lia]).
  - destruct o; try discriminate. apply andb_true_iff in H. destruct H as (H & K).
    apply Nat.eqb_eq in H. split; auto. unfold matched; simpl.
    split; [|split; auto].
    + intros i kap Hi. assert (i < length keys) by (apply nth_error_Some; congruence).
      rewrite G. apply has_sat. apply (forallb_nth (has (get env' x 0))); auto. unfold aset in *; lia.
    + rewrite G. apply has_sat. apply (forallb_nth (has (get env' x 0))); auto. unfold aset in *; lia.
Qed.

Lemma begins_ok p hs : forall cs env env', same0 env env' -> begins letters p hs cs env' = true ->
  holds p hs cs 0 env.
Proof.
  revert hs. induction p as [|o p IH]; intros [|[h sp] hs] [|c cs] env env' R H; simpl in *; auto; try discriminate.
  apply andb_true_iff in H. destruct H as (H & K). split.
  - eapply starts_ok; eauto.
  - eapply IH; [|exact K]. apply Forall2_app; auto. constructor; auto. unfold const. apply sem0; auto.
Qed.
End Word.

Lemma leads_unique m w q : leads m w q -> forall r, leads m w r -> q = r.
Proof.
  induction 1 as [|w a q r row L IH A R]; intros s H.
  - inversion H; subst; auto. destruct w; discriminate.
  - inversion H as [E|v b p t l L' A' R' E].
    + destruct w; discriminate.
    + apply app_inj_tail in E. destruct E; subst. rewrite (IH _ L') in R. congruence.
Qed.

Lemma firstn_snoc (w : list nat) n a : nth_error w n = Some a -> firstn (S n) w = firstn n w ++ [a].
Proof.
  revert n; induction w as [|b w IH]; intros [|n] H; try discriminate.
  - injection H as ->. reflexivity.
  - change (b :: firstn (S n) w = b :: (firstn n w ++ [a])). rewrite IH; auto.
Qed.

(** Theorem 2.1 of docs/recheck.md. *)
Section Part.
Variables (m : machine) (p : program) (P : part) (w : list nat) (facts : list (nat * list nat)).
Let letters := length (moves m).
Hypothesis Hs : shown m p P = Some facts.
Hypothesis Hw : Forall (fun a => a < letters) w.
Hypothesis Hl : length w <= len P.

Definition held (n s : nat) : Prop := exists q d cs,
  nth_error (qs P) s = Some q /\ nth_error (depths P) s = Some d /\ nth_error (cells P) s = Some cs /\
  holds letters w p (anns P) cs n [] /\ leads m (firstn n w) q /\
  d <= n /\ (exact P = true -> d = n).

Lemma held_0 : held 0 0.
Proof.
  unfold shown in Hs. unfold held.
  destruct (qs P) as [|q ?] eqn:Q; [discriminate|]. destruct (depths P) as [|d ?] eqn:D; [discriminate|].
  destruct (cells P) as [|cs ?] eqn:C; [discriminate|].
  destruct ((q =? start m) && (d =? 0) && _) eqn:E in Hs; [|discriminate].
  apply andb_true_iff in E. destruct E as (E & B). apply andb_true_iff in E. destruct E as (E & F).
  apply Nat.eqb_eq in E. apply Nat.eqb_eq in F. subst.
  exists (start m), 0, cs. repeat split; auto; [|constructor].
  eapply begins_ok; [|exact B]. constructor.
Qed.

Lemma held_S n s a : held n s -> nth_error w n = Some a ->
  exists s' q vs, held (S n) s' /\ leads m (firstn (S n) w) q /\
    outputs_at letters p (outs P) w (S n) = Some vs /\ In (q, vs) facts.
Proof.
  intros (q & d & cs & Q & D & C & H & R & Dn & Dx) A.
  assert (An : n < length w) by (apply nth_error_Some; congruence).
  assert (Al : a < letters).
  { rewrite Forall_forall in Hw. apply Hw. eapply nth_error_In; eauto. }
  unfold shown in Hs.
  destruct (qs P) as [|q0 ?] eqn:Q0; [discriminate|]. destruct (depths P) as [|d0 ?] eqn:D0; [discriminate|].
  destruct (cells P) as [|c0 ?] eqn:C0; [discriminate|].
  destruct ((q0 =? start m) && _ && _) in Hs; [|discriminate].
  rewrite <- Q0, <- D0, <- C0 in *. clear Q0 D0 C0.
  destruct (all _ (filter _ _)) as [ls|] eqn:F in Hs; [|discriminate]. injection Hs; intros <-.
  assert (I : In s (filter (fun s => nth s (depths P) 0 <? len P) (seq 0 (length (qs P))))).
  { apply filter_In. split.
    - apply in_seq. assert (s < length (qs P)) by (apply nth_error_Some; congruence). lia.
    - apply Nat.ltb_lt. rewrite (nth_error_nth _ _ 0 D). lia. }
  destruct (all_in _ _ _ _ F I) as (ll & G & J).
  assert (I2 : In a (seq 0 (length (moves m)))) by (apply in_seq; unfold letters in Al; lia).
  destruct (all_in _ _ _ _ G I2) as (lm & G2 & J2).
  unfold arrow in G2. rewrite Q, D, C in G2.
  destruct (stepped m q a) as [q'|] eqn:St; [|discriminate].
  destruct (nth_error (follow P) s) as [row|]; [|discriminate].
  destruct (nth_error row a) as [s'|]; [|discriminate].
  destruct (nth_error (qs P) s') as [q2|] eqn:Q2; [|discriminate].
  destruct (nth_error (depths P) s') as [d'|] eqn:D2; [|discriminate].
  destruct (nth_error (cells P) s') as [cs'|] eqn:C2; [|discriminate].
  destruct ((q2 =? q') && _) eqn:B in G2; [|discriminate].
  apply andb_true_iff in B. destruct B as (B1 & B2). apply Nat.eqb_eq in B1. subst q2.
  destruct (astep _ _ _ _ _ _ _ _ _) as [ws|] eqn:W in G2; [|discriminate].
  match type of G2 with (if ?b then _ else _) = _ => destruct b eqn:K; [|discriminate] end.
  match type of G2 with match ?b with _ => _ end = _ => destruct b as [os|] eqn:O; [|discriminate] end.
  injection G2; intros <-.
  destruct (astep_ok letters (len P) w (exact P) a n (S d)) with (p := p) (hs := anns P) (cs := cs)
    (env := @nil stream) (known := @nil (option aset)) (ws := ws) as (wd & Iw & Rw & Hwd); auto.
  all: try lia. all: try (intros X; rewrite Dx by auto; reflexivity). all: try constructor.
  rewrite forallb_forall in K. specialize (K _ Iw).
  destruct (all_in _ _ _ _ O Iw) as (o & Ko & Io).
  destruct (kgets_in _ _ _ _ _ Rw Ko) as (vs & Vs & Ivs).
  assert (Rn : leads m (firstn (S n) w) q').
  { rewrite (firstn_snoc _ _ _ A). unfold stepped in St.
    destruct (nth_error (moves m) a) eqn:M; [|discriminate]. eapply leads_on; eauto. }
  exists s', q', vs. split; [|split; [|split]]; auto.
  - exists q', d', cs'. repeat split; auto.
    + eapply holds_mono; eauto.
    + destruct (exact P); [apply Nat.eqb_eq in B2; rewrite Dx in B2 by auto; lia|apply Nat.leb_le in B2; lia].
    + intros X. rewrite X in B2. apply Nat.eqb_eq in B2. rewrite Dx in B2; auto.
  - apply in_concat. exists (map (pair q') (flat_map prods os)). split.
    + apply in_concat. exists ll; auto.
    + apply in_map. apply in_flat_map. exists o; auto.
Qed.

Theorem shown_ok t : 1 <= t <= length w ->
  exists q vs, leads m (firstn t w) q /\
    outputs_at letters p (outs P) w t = Some vs /\ In (q, vs) facts.
Proof.
  assert (H : forall n, n <= length w -> exists s, held n s).
  { induction n; intros L. { exists 0; apply held_0. }
    destruct IHn as (s & Hn); [lia|]. destruct (nth_error w n) as [a|] eqn:A.
    - destruct (held_S n s a Hn A) as (s' & _ & _ & H & _). exists s'; auto.
    - apply nth_error_None in A. lia. }
  intros T. destruct t as [|n]; [lia|]. destruct (H n) as (s & Hn); [lia|].
  destruct (nth_error w n) as [a|] eqn:A; [|apply nth_error_None in A; lia].
  destruct (held_S n s a Hn A) as (s' & q & vs & _ & X). exists q, vs; auto.
Qed.
End Part.

(** The checker is sound. *)
Theorem check_sound m p decode P : check m p decode P = true ->
  computes m p (outs P) decode (len P).
Proof.
  unfold check, computes. destruct (shown m p P) as [facts|] eqn:S; [|discriminate].
  rewrite forallb_forall. intros H w t c W L T (q & Q & C).
  destruct (shown_ok m p P w facts S W L t T) as (r & vs & R & O & I).
  rewrite (leads_unique _ _ _ R _ Q) in I. exists vs. split; [exact O|].
  specialize (H _ I). unfold reads_ok in H. simpl in H. rewrite C in H.
  destruct (lookup decode vs) as [d|]; [|discriminate]. apply Nat.eqb_eq in H. congruence.
Qed.
