(** One Program instead of another: channels have counterparts that are equal at every position,
    and whose memory can be followed in fewer states (docs/proofs/invariants.md, Theorem 5f). *)
From Coq Require Import List Arith Lia Bool Wf_nat.
From Krohn Require Import Machine Program Invariant InvariantSound Domains Lists.
Import ListNotations.

Definition counterpart (kept : list (option nat)) (x : nat) : option nat :=
  match nth_error kept x with Some y => y | None => None end.
Definition goes (kept : list (option nat)) (x y : nat) : bool :=
  match counterpart kept x with Some z => z =? y | None => false end.
Definition row_eqb (a b : list nat * nat) : bool := leqb (fst a) (fst b) && (snd a =? snd b).

(** The same operation of counterparts. *)
Definition alike (kept : list (option nat)) (o o' : op) : bool :=
  let go := goes kept in
  match o, o' with
  | Token, Token => true
  | Position a, Position b => leqb a b
  | Table xs rows, Table ys rows' => all2 go xs ys && all2 row_eqb rows rows'
  | Select i xs, Select j ys => go i j && all2 go xs ys
  | Sum xs, Sum ys => all2 go xs ys
  | Shift x k, Shift y n => go x y && (k =? n)
  | Latest x m, Latest y n | MarkedSum x m, MarkedSum y n | Earliest x m, Earliest y n =>
      go x y && go m n
  | LatestMatch x k q, LatestMatch y l r => go x y && go k l && go q r
  | SiblingLatest x m l, SiblingLatest y n k => go x y && go m n && (l =? k)
  | PrefixSum x, PrefixSum y => go x y
  | _, _ => false
  end.

Definition tabled (p : program) (c : nat) : option (list nat * list (list nat * nat)) :=
  match nth_error p c with Some (Table xs rows) => Some (xs, rows) | _ => None end.

(** A channel that is 0 at BOS and 1 at every letter. *)
Definition any_letter (letters : nat) (p : program) (c : nat) : bool :=
  match tabled p c with
  | Some ([k], rows) =>
      match nth_error p k with Some Token => true | _ => false end
      && is 0 (lookup rows [letters]) && forallb (fun a => is 1 (lookup rows [a])) (seq 0 letters)
  | _ => false
  end.

(** A table that is 1 where both inputs are 1, and nowhere else. *)
Definition both (p : program) (c a b : nat) : bool :=
  match tabled p c with
  | Some ([a'; b'], rows) => (a' =? a) && (b' =? b) && is 1 (lookup rows [1; 1])
      && forallb (fun r => negb (snd r =? 1) || leqb (fst r) [1; 1]) rows
  | _ => false
  end.

(** [x]: the position before the last flag [f]; [y]: how many positions are left after the
    first flag [e]. *)
Definition pointing (L : nat) (p : program) (x y : nat) : option (nat * nat) :=
  match nth_error p x, nth_error p y with
  | Some (Latest b f), Some (Earliest l e) =>
      match nth_error p b, nth_error p l with
      | Some (Position vs), Some (Position us) =>
          if leqb vs (0 :: seq 0 L) && leqb us (0 :: map (fun t => L - t) (seq 1 L))
          then Some (f, e) else None
      | _, _ => None end
  | _, _ => None
  end.

(** In [p]: whether the last flag f stands after the first flag e, by their positions. *)
Definition tested (L : nat) (p : program) (c : nat) : option (nat * nat) :=
  match tabled p c with
  | Some ([s], rows) =>
      match nth_error p s with
      | Some (Sum [x; y]) =>
          if all2 row_eqb rows (map (fun s => ([s], if L <=? s then 1 else 0)) (seq 0 (2 * L - 1)))
          then match pointing L p x y with Some fe => Some fe | None => pointing L p y x end
          else None
      | _ => None end
  | _ => None
  end.

(** In the other Program: whether a flag f came after a flag e, by one bit for each. *)
Definition happened (letters : nat) (p : program) (c f e : nat) : bool :=
  match nth_error p c with
  | Some (Earliest one m) =>
      match tabled p m with
      | Some ([_; g], _) =>
          match nth_error p g with
          | Some (Shift y 1) =>
              match nth_error p y with
              | Some (Earliest one' e') => any_letter letters p one && any_letter letters p one'
                  && (e' =? e) && both p m f g
              | _ => false end
          | _ => false end
      | _ => false end
  | _ => false
  end.

Definition same (letters L : nat) (ds : list domain) (p p' : program) (kept : list (option nat))
    (c : nat) : bool :=
  match counterpart kept c with
  | None => true
  | Some c' =>
      match nth_error p c, nth_error p' c' with
      | Some o, Some o' => alike kept o o'
          || match tested L p c with
             | Some (f, e) =>
                 match counterpart kept f, counterpart kept e with
                 | Some f', Some e' => happened letters p' c' f' e'
                     && match nth_error ds f' with Some d => fst d =? 1 | None => false end
                 | _, _ => false end
             | None => false end
      | _, _ => false end
  end.

Definition instead (letters L : nat) (p p' : program) (kept : list (option nat)) : bool :=
  ordered 0 p && ordered 0 p' && (1 <=? L)
  && match domains letters L [] p' with
     | Some ds => forallb (same letters L ds p p' kept) (seq 0 (length p)) | None => false end.

(** * Soundness *)
Lemma all2_each {A B} (f : A -> B -> bool) : forall l m, all2 f l m = true ->
  Forall2 (fun a b => f a b = true) l m.
Proof.
  induction l as [|a l IH]; intros [|b m] H; simpl in H; try discriminate; constructor;
    apply andb_true_iff in H; [apply H|apply IH, H].
Qed.

Lemma rows_same a b : all2 row_eqb a b = true -> a = b.
Proof.
  intros H. apply all2_each in H. induction H as [|(x, u) (y, v) l m E H IH]; [reflexivity|].
  unfold row_eqb in E. apply andb_true_iff in E. destruct E as (E & F). cbn [fst snd] in *.
  apply leqb_eq in E. apply Nat.eqb_eq in F. congruence.
Qed.

Lemma get_listed (rows : list (list nat * nat)) k v : lookup rows k = Some v -> In (k, v) rows.
Proof.
  induction rows as [|(a, b) rows IH]; simpl; [discriminate|]. destruct (leqb a k) eqn:E.
  - apply leqb_eq in E. intros H. inversion H; subst. left; reflexivity.
  - intros H. right. auto.
Qed.

Lemma nth_error_map_seq {B} (h : nat -> B) k n i : i < n ->
  nth_error (map h (seq k n)) i = Some (h (k + i)).
Proof.
  revert k i. induction n as [|n IH]; intros k i L; [lia|]. destruct i as [|i]; simpl.
  - rewrite Nat.add_0_r. reflexivity.
  - rewrite IH by lia. f_equal. f_equal. lia.
Qed.

Lemma lookup_seq (h : nat -> nat) n s : s < n ->
  lookup (map (fun s => ([s], h s)) (seq 0 n)) [s] = Some (h s).
Proof.
  assert (G : forall k, k <= s < k + n ->
    lookup (map (fun s => ([s], h s)) (seq k n)) [s] = Some (h s)).
  { induction n as [|n IH]; intros k K; [lia|]. cbn [seq map lookup leqb].
    destruct (k =? s) eqn:E; cbn [andb].
    - apply Nat.eqb_eq in E. subst. reflexivity.
    - apply Nat.eqb_neq in E. apply IH. lia. }
  intros K. apply G. lia.
Qed.

Lemma reads_before p c o x : ordered 0 p = true -> nth_error p c = Some o ->
  In x (inputs o) -> x < c.
Proof.
  assert (G : forall q i c o, ordered i q = true -> nth_error q c = Some o ->
    forall x, In x (inputs o) -> x < i + c).
  { induction q as [|a q IH]; intros i k o' H N z I; [destruct k; discriminate|].
    simpl in H. apply andb_true_iff in H. destruct H as (H & H'). destruct k as [|k]; simpl in N.
    - inversion N; subst. rewrite forallb_forall in H. apply H, Nat.ltb_lt in I. lia.
    - specialize (IH (S i) k o' H' N z I). lia. }
  intros O P I. apply (G p 0 c o O P x I).
Qed.

(** Flags stand before what is computed from them. *)
Lemma tested_before L p c f e : ordered 0 p = true -> tested L p c = Some (f, e) -> f < c /\ e < c.
Proof.
  intros O. unfold tested, tabled. intros H.
  destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
  destruct xs as [|s [|]]; try discriminate.
  destruct (nth_error p s) as [[]|] eqn:S; try discriminate.
  destruct xs as [|x [|y [|]]]; try discriminate.
  destruct (all2 row_eqb rows _) in H; [|discriminate].
  assert (SC := reads_before p c _ s O P (or_introl eq_refl)).
  assert (XS := reads_before p s _ x O S (or_introl eq_refl)).
  assert (YS := reads_before p s _ y O S (or_intror (or_introl eq_refl))).
  assert (PT : forall x y, pointing L p x y = Some (f, e) -> x < s -> y < s -> f < c /\ e < c).
  { clear - O SC. unfold pointing. intros x y H XS YS.
    destruct (nth_error p x) as [[]|] eqn:X; try discriminate.
    destruct (nth_error p y) as [[]|] eqn:Y; try discriminate.
    destruct (nth_error p x0) as [[]|]; try discriminate.
    destruct (nth_error p x1) as [[]|]; try discriminate.
    destruct (leqb vs _ && _) in H; [|discriminate]. inversion H; subst.
    assert (A := reads_before p x _ f O X (or_intror (or_introl eq_refl))).
    assert (B := reads_before p y _ e O Y (or_intror (or_introl eq_refl))). lia. }
  destruct (pointing L p x y) as [fe|] eqn:Q.
  - inversion H; subst fe. apply (PT x y Q XS YS).
  - apply (PT y x H YS XS).
Qed.

(** Equal inputs up to a position, equal values there. *)
Lemma alike_same kept letters w o o' e e' t :
  (forall x y r, In x (inputs o) -> goes kept x y = true -> r <= t -> get e x r = get e' y r) ->
  alike kept o o' = true -> sem letters w o e t = sem letters w o' e' t.
Proof.
  intros H A.
  assert (LISTS : forall xs ys, (forall x, In x xs -> In x (inputs o)) ->
    all2 (goes kept) xs ys = true ->
    gets e xs t = gets e' ys t).
  { intros xs ys I G. apply all2_each in G. induction G as [|x y xs ys G F IH]; simpl; auto.
    rewrite (H x y t (I x (or_introl eq_refl)) G (le_n _)), IH by (intros; apply I; right; auto).
    reflexivity. }
  destruct o, o'; cbn [alike] in A; try discriminate; rewrite ?andb_true_iff in A;
    cbn [inputs] in H.
  - reflexivity.
  - apply leqb_eq in A. subst. reflexivity.
  - destruct A as (A & B). apply rows_same in B. subst. simpl. rewrite (LISTS xs xs0); auto.
  - destruct A as (A & B). simpl. rewrite (H i i0 t (or_introl eq_refl) A (le_n _)).
    destruct (get e' i0 t) as [j|]; auto. apply all2_each in B.
    assert (I : forall x, In x xs -> In x (i :: xs)) by (intros; right; auto).
    revert H I. generalize (i :: xs). intros l H I. clear A LISTS. revert j.
    induction B as [|x y xs ys G F IH]; intros [|j]; simpl; auto.
    + apply (H x y t); auto. apply I. left. reflexivity.
    + apply IH. intros; apply I; right; auto.
  - simpl. rewrite (LISTS xs xs0); auto.
  - destruct A as (A & B). apply Nat.eqb_eq in B. subst. simpl.
    apply (H x x0); auto; [left; reflexivity|lia].
  - destruct A as (A & B). simpl.
    rewrite (last_where_ext _ (fun j => is 1 (get e' w1 j)))
      by (intros j J; rewrite (H w0 w1 j) by (simpl; auto); reflexivity).
    destruct last_where eqn:W; auto. apply last_where_some in W. apply (H x x0); simpl; auto. lia.
  - destruct A as ((A & B) & C). simpl. rewrite (H query query0 t) by (simpl; auto).
    destruct (get e' query0 t) as [v|]; auto. unfold matched.
    rewrite (last_where_ext _ (fun j => is v (get e' key0 j)))
      by (intros j J; rewrite (H key key0 j) by (simpl; auto); reflexivity).
    destruct last_where eqn:W; [apply last_where_some in W|]; apply (H x x0); simpl; auto; lia.
  - destruct A as ((A & B) & C). apply Nat.eqb_eq in C. subst. simpl.
    assert (LE : t / 2 ^ level0 * 2 ^ level0 - 1 <= t).
    { assert (Q := Nat.mul_div_le t (2 ^ level0) ltac:(apply Nat.pow_nonzero; lia)). lia. }
    destruct (Nat.odd _); [|apply (H x x0); simpl; auto; lia].
    rewrite (last_where_ext _ (fun j => is 1 (get e' w1 j)))
      by (intros j J; rewrite (H w0 w1 j) by (simpl; auto; lia); reflexivity).
    destruct last_where eqn:W; [apply last_where_some in W|]; apply (H x x0); simpl; auto; lia.
  - simpl. apply total_ext. intros j J. apply (H x x0); simpl; auto.
  - destruct A as (A & B). simpl. apply total_ext. intros j J.
    rewrite (H w0 w1 j) by (simpl; auto). destruct (get e' w1 j) as [[|[|]]|]; auto.
    apply (H x x0); simpl; auto.
  - destruct A as (A & B). simpl.
    rewrite (first_where_ext _ (fun j => is 1 (get e' w1 j)))
      by (intros j J; rewrite (H w0 w1 j) by (simpl; auto); reflexivity).
    destruct first_where eqn:W; [apply first_where_some in W|]; apply (H x x0); simpl; auto; lia.
Qed.

(** At r a flag f comes after a flag e. *)
Definition came (f e : nat -> bool) (r : nat) : bool :=
  f r && match first_where e (r - 1) with Some _ => true | None => false end.

Section Word.
Variables (letters L : nat) (w : list nat).
Hypothesis short : length w <= L.
Hypothesis lettered : Forall (fun a => a < letters) w.
Hypothesis long : 1 <= L.

Notation value p := (value_at letters w p).
Notation flag p c := (fun j => is 1 (value p c j)).

Section Other.
Variable p : program.
Hypothesis order : ordered 0 p = true.

Lemma means c o t : nth_error p c = Some o -> value p c t = sem letters w o (env letters w p) t.
Proof. intros N. apply (meaning letters L w p short order c o t N). Qed.

Lemma any_letter_value c t : any_letter letters p c = true -> t <= length w ->
  value p c t = Some (match t with 0 => 0 | _ => 1 end).
Proof.
  unfold any_letter, tabled. intros H T. destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
  destruct xs as [|k [|]]; try discriminate.
  destruct (nth_error p k) as [[]|] eqn:K; try discriminate.
  cbn [andb] in H. apply andb_true_iff in H. destruct H as (Z & H). rewrite forallb_forall in H.
  rewrite (means c _ t P). cbn [sem gets]. change (get (env letters w p) k t) with (value p k t).
  rewrite (means k _ t K). cbn [sem].
  assert (IS : forall v o, is v o = true -> o = Some v).
  { intros v [u|] E; simpl in E; [apply Nat.eqb_eq in E; congruence|discriminate]. }
  destruct t as [|t]; [apply IS, Z|]. destruct (nth_error w t) as [a|] eqn:A.
  - apply IS, H, in_seq. rewrite Forall_forall in lettered. apply nth_error_In, lettered in A. lia.
  - apply nth_error_None in A. lia.
Qed.

Lemma both_value c a b t : both p c a b = true -> flag p c t = flag p a t && flag p b t.
Proof.
  unfold both, tabled. intros H. destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
  destruct xs as [|a' [|b' [|]]]; try discriminate. rewrite !andb_true_iff in H.
  destruct H as (((A & B) & O) & R). apply Nat.eqb_eq in A, B. subst a' b'.
  rewrite (means c _ t P). cbn [sem gets].
  change (get (env letters w p) a t) with (value p a t).
  change (get (env letters w p) b t) with (value p b t).
  destruct (value p a t) as [u|]; [|reflexivity].
  destruct (value p b t) as [v|]; [|rewrite andb_false_r; reflexivity]. cbn [is].
  destruct (lookup rows [u; v]) as [r|] eqn:K.
  - destruct (r =? 1) eqn:E.
    + apply get_listed in K. rewrite forallb_forall in R. specialize (R _ K). cbn [fst snd] in R.
      rewrite E in R. cbn [negb orb leqb] in R. rewrite !andb_true_iff in R.
      destruct R as (U & V & _). cbn [is]. rewrite U, V, E. reflexivity.
    + cbn [is]. rewrite E. destruct (u =? 1) eqn:U; [|reflexivity].
      destruct (v =? 1) eqn:V; [|reflexivity].
      apply Nat.eqb_eq in U, V. subst. rewrite K in O. cbn [is] in O. congruence.
  - destruct (u =? 1) eqn:U; [|reflexivity]. destruct (v =? 1) eqn:V; [|reflexivity].
    apply Nat.eqb_eq in U, V. subst. rewrite K in O. discriminate.
Qed.

(** Whether a flag f came after a flag e. *)
Lemma happened_value c f e t : happened letters p c f e = true -> t <= length w ->
  value p c t = Some (match first_where (came (flag p f) (flag p e)) t with
                      | Some _ => 1 | None => 0 end).
Proof.
  unfold happened. intros H T. destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
  destruct (tabled p w0) as [([|a [|g [|]]], rows)|] eqn:M; try discriminate.
  destruct (nth_error p g) as [[]|] eqn:G; try discriminate. destruct k as [|[|]]; try discriminate.
  destruct (nth_error p x0) as [[]|] eqn:Y; try discriminate.
  rewrite !andb_true_iff in H. destruct H as (((O & O') & E) & B). apply Nat.eqb_eq in E. subst w1.
  assert (SEEN : forall r, r <= length w ->
    flag p g r = match first_where (flag p e) (r - 1) with Some _ => true | None => false end).
  { intros r R. rewrite (means g _ r G). cbn [sem].
    change (get (env letters w p) x0 (r - 1)) with (value p x0 (r - 1)).
    rewrite (means x0 _ (r - 1) Y). cbn [sem].
    change (fun j => is 1 (get (env letters w p) e j)) with (flag p e).
    destruct (first_where (flag p e) (r - 1)) as [j|] eqn:F.
    - apply first_where_some in F. change (get (env letters w p) x1 j) with (value p x1 j).
      rewrite (any_letter_value x1 j O') by lia. destruct j; [lia|reflexivity].
    - change (get (env letters w p) x1 0) with (value p x1 0).
      rewrite (any_letter_value x1 0 O') by lia. reflexivity. }
  rewrite (means c _ t P). cbn [sem].
  rewrite (first_where_ext _ (came (flag p f) (flag p e))).
  - destruct first_where as [j|] eqn:F.
    + apply first_where_some in F. change (get (env letters w p) x j) with (value p x j).
      rewrite (any_letter_value x j O) by lia. destruct j; [lia|reflexivity].
    + change (get (env letters w p) x 0) with (value p x 0).
      rewrite (any_letter_value x 0 O) by lia. reflexivity.
  - intros r R. etransitivity; [exact (both_value w0 f g r B)|]. cbn beta in *.
    unfold came. rewrite SEEN by lia. reflexivity.
Qed.

(** Whether the last flag f stands after the first flag e, by their positions. *)
Lemma tested_value c f e t : tested L p c = Some (f, e) -> t <= length w -> flag p f 0 = true ->
  exists j, last_where (flag p f) 0 t = Some j /\
  value p c t = Some (match first_where (flag p e) t with
                      | Some i => if i <? j then 1 else 0 | None => 0 end).
Proof.
  unfold tested, tabled. intros H T Z. destruct (nth_error p c) as [[]|] eqn:P; try discriminate.
  destruct xs as [|s [|]]; try discriminate.
  destruct (nth_error p s) as [[]|] eqn:S; try discriminate.
  destruct xs as [|x [|y [|]]]; try discriminate.
  destruct (all2 row_eqb rows _) eqn:R in H; [|discriminate]. apply rows_same in R. subst rows.
  destruct (last_where (flag p f) 0 t) as [j|] eqn:W.
  2:{ rewrite (last_where_none _ _ _ W 0) in Z by lia. discriminate. }
  exists j. split; [reflexivity|]. assert (W' := last_where_some _ _ _ _ W).
  assert (PT : forall x y, pointing L p x y = Some (f, e) ->
    value p x t = Some (j - 1) /\ value p y t = Some (match first_where (flag p e) t with
                                                      | Some i => L - i | None => 0 end)).
  { clear P S H x y. unfold pointing. intros x y H.
    destruct (nth_error p x) as [[]|] eqn:X; try discriminate.
    destruct (nth_error p y) as [[]|] eqn:Y; try discriminate.
    destruct (nth_error p x0) as [[]|] eqn:X0; try discriminate.
    destruct (nth_error p x1) as [[]|] eqn:X1; try discriminate.
    destruct (leqb vs _ && _) eqn:V in H; [|discriminate]. inversion H; subst.
    apply andb_true_iff in V. destruct V as (V & U). apply leqb_eq in V, U. subst.
    split.
    - rewrite (means x _ t X). cbn [sem].
      change (fun j => is 1 (get (env letters w p) f j)) with (flag p f). rewrite W.
      change (get (env letters w p) x0 j) with (value p x0 j). rewrite (means x0 _ j X0). cbn [sem].
      destruct j as [|j]; [reflexivity|]. cbn [nth_error].
      rewrite <- (map_id (seq 0 L)), nth_error_map_seq by lia. f_equal. lia.
    - rewrite (means y _ t Y). cbn [sem].
      change (fun j => is 1 (get (env letters w p) e j)) with (flag p e).
      destruct (first_where (flag p e) t) as [i|] eqn:F.
      + apply first_where_some in F. change (get (env letters w p) x1 i) with (value p x1 i).
        rewrite (means x1 _ i X1). cbn [sem]. destruct i as [|i]; [lia|]. cbn [nth_error].
        rewrite nth_error_map_seq by lia. reflexivity.
      + change (get (env letters w p) x1 0) with (value p x1 0).
        rewrite (means x1 _ 0 X1). reflexivity. }
  assert (SUM : value p s t = Some (j - 1 + match first_where (flag p e) t with
                                            | Some i => L - i | None => 0 end)).
  { rewrite (means s _ t S). cbn [sem gets].
    change (get (env letters w p) x t) with (value p x t).
    change (get (env letters w p) y t) with (value p y t).
    destruct (pointing L p x y) as [fe|] eqn:Q.
    - inversion H; subst fe. destruct (PT x y Q) as (-> & ->). simpl. f_equal. lia.
    - destruct (PT y x H) as (-> & ->). simpl. f_equal. lia. }
  rewrite (means c _ t P). cbn [sem gets]. change (get (env letters w p) s t) with (value p s t).
  rewrite SUM. destruct (first_where (flag p e) t) as [i|] eqn:F.
  - apply first_where_some in F. rewrite (lookup_seq (fun s => if L <=? s then 1 else 0)) by lia.
    f_equal. destruct (i <? j) eqn:I; [apply Nat.ltb_lt in I|apply Nat.ltb_ge in I];
      (destruct (L <=? _) eqn:K; [apply Nat.leb_le in K|apply Nat.leb_gt in K]); lia.
  - rewrite (lookup_seq (fun s => if L <=? s then 1 else 0)) by lia. f_equal.
    destruct (L <=? _) eqn:K; [apply Nat.leb_le in K; lia|reflexivity].
Qed.
End Other.

(** The two are the same. *)
Lemma one_bit (f e : nat -> bool) t j : last_where f 0 t = Some j ->
  match first_where (came f e) t with Some _ => 1 | None => 0 end
  = match first_where e t with Some i => if i <? j then 1 else 0 | None => 0 end.
Proof.
  intros W. apply last_where_some in W. destruct W as ((_ & JT) & J & W).
  destruct (first_where (came f e) t) as [r|] eqn:G.
  - apply first_where_some in G. destruct G as (R & G & _). unfold came in G.
    apply andb_true_iff in G. destruct G as (FR & G).
    destruct (first_where e (r - 1)) as [q|] eqn:Q; [|discriminate]. apply first_where_some in Q.
    assert (RJ : r <= j).
    { destruct (Nat.le_gt_cases r j); auto. rewrite W in FR by lia. discriminate. }
    destruct (first_where e t) as [i|] eqn:E.
    + apply first_where_some in E. destruct E as (_ & _ & E).
      assert (i <= q).
      { destruct (Nat.le_gt_cases i q); auto. rewrite E in Q by lia.
        destruct Q as (_ & Q & _). discriminate. }
      assert (K : i <? j = true) by (apply Nat.ltb_lt; lia). rewrite K. reflexivity.
    + destruct Q as (Q & Q' & _). rewrite (first_where_none _ _ E) in Q' by lia. discriminate.
  - destruct (first_where e t) as [i|] eqn:E; [|reflexivity]. apply first_where_some in E.
    destruct (i <? j) eqn:I; [|reflexivity]. apply Nat.ltb_lt in I.
    assert (G' := first_where_none _ _ G j ltac:(lia)). unfold came in G'. rewrite J in G'.
    destruct (first_where e (j - 1)) as [q|] eqn:Q; [discriminate|].
    destruct E as (Q' & E & _). rewrite (first_where_none _ _ Q) in E by lia. discriminate.
Qed.

Variables (p p' : program) (kept : list (option nat)).
Hypothesis checked : instead letters L p p' kept = true.

Lemma instead_value : forall c c', counterpart kept c = Some c' -> c < length p ->
  forall t, t <= length w -> value p c t = value p' c' t.
Proof.
  unfold instead in checked. rewrite !andb_true_iff in checked.
  destruct checked as (((O & O') & _) & D).
  destruct (domains letters L [] p') as [ds|] eqn:DS; [|discriminate].
  rewrite forallb_forall in D.
  induction c as [c IH] using lt_wf_ind. intros c' C CP t T.
  assert (S := D c ltac:(apply in_seq; lia)). unfold same in S. rewrite C in S.
  destruct (nth_error p c) as [o|] eqn:P; [|discriminate].
  destruct (nth_error p' c') as [o'|] eqn:P'; [|discriminate].
  apply orb_true_iff in S. destruct S as [S|S].
  - rewrite (means p O c o t P), (means p' O' c' o' t P'). apply (alike_same kept); auto.
    intros x y r I G R. unfold goes in G.
    destruct (counterpart kept x) as [z|] eqn:X; [|discriminate].
    apply Nat.eqb_eq in G. subst z. assert (XC := reads_before p c o x O P I).
    apply (IH x XC y X ltac:(lia) r). lia.
  - destruct (tested L p c) as [(f, e)|] eqn:TE; [|discriminate].
    destruct (counterpart kept f) as [f'|] eqn:F; [|discriminate].
    destruct (counterpart kept e) as [e'|] eqn:E; [|discriminate].
    apply andb_true_iff in S. destruct S as (H & S).
    destruct (nth_error ds f') as [d|] eqn:DF; [|discriminate]. apply Nat.eqb_eq in S.
    assert (LT := tested_before L p c f e O TE).
    destruct LT as (FC & EC).
    assert (SF : forall r, r <= t -> flag p f r = flag p' f' r).
    { intros r R. cbn beta. rewrite (IH f FC f' F) by lia. reflexivity. }
    assert (SE : forall r, r <= t -> flag p e r = flag p' e' r).
    { intros r R. cbn beta. rewrite (IH e EC e' E) by lia. reflexivity. }
    destruct (domains_sound letters L w p' short lettered O' ds DS f' d 0 ltac:(lia) DF)
      as (v & V & V0 & _).
    specialize (V0 eq_refl). rewrite S in V0. subst v.
    assert (Z : flag p f 0 = true) by (rewrite SF by lia; cbn beta; rewrite V; reflexivity).
    destruct (tested_value p O c f e t TE T Z) as (j & W & ->).
    rewrite (happened_value p' O' c' f' e' t H T). f_equal.
    rewrite (last_where_ext _ _ 0 t SF) in W.
    rewrite (one_bit (flag p' f') (flag p' e') t j W).
    rewrite (first_where_ext (flag p e) (flag p' e') t SE). reflexivity.
Qed.
End Word.

(** What the other Program computes, this one does. *)
Theorem instead_sound m L p p' kept outs outs' decode :
  instead (length (moves m)) L p p' kept = true ->
  all2 (goes kept) outs outs' = true -> forallb (fun x => x <? length p) outs = true ->
  computes m p' outs' decode L -> computes m p outs decode L.
Proof.
  intros I G B C w t c W T R E. destruct (C w t c W T R E) as (vs & V & D). exists vs.
  split; [|exact D]. rewrite <- V. unfold outputs_at. apply all2_each in G.
  rewrite forallb_forall in B. clear - I G B W T R.
  induction G as [|x y outs outs' X G IH]; [reflexivity|].
  simpl. unfold goes in X. destruct (counterpart kept x) as [z|] eqn:K; [|discriminate].
  apply Nat.eqb_eq in X. subst z.
  assert (LP := B x (or_introl eq_refl)). apply Nat.ltb_lt in LP.
  assert (L1 : 1 <= L) by lia.
  assert (Q : get (streams (length (moves m)) w p []) x t
    = get (streams (length (moves m)) w p' []) y t)
    by exact (instead_value _ L w T W L1 p p' kept I x y K LP t ltac:(lia)).
  rewrite Q, IH by (intros; apply B; right; auto). reflexivity.
Qed.
Print Assumptions instead_sound.
