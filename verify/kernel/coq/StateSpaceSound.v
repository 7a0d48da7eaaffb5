(** The checker of state space models is sound (Theorem D9 of docs/proofs/state_space.md). *)
From Coq Require Import Reals ZArith List Bool Lia Lra.
From Flocq Require Import Core.
From Krohn Require Import Machine Arithmetic Recurrent RecurrentSound Recurrence StateSpace
  StateSpaceCheck.
Import ListNotations.
Open Scope R_scope.

#[local] Opaque round_at settles.

(** x is what these numbers are. *)
Definition known (x : nat -> R) (v : numbers) : Prop :=
  forall i, (i < length (fst v))%nat -> x i = IZR (nth i (fst v) 0%Z) * pow (snd v).

Lemma nth_finer d v i : nth i (finer d v) 0%Z = (nth i v 0 * if d =? 0 then 1 else 2 ^ d)%Z.
Proof.
  unfold finer. destruct (Z.eqb_spec d 0) as [->|_]; [lia|]. rewrite nth_scaled. lia.
Qed.

Lemma finer_length d v : length (finer d v) = length v.
Proof. unfold finer. destruct (d =? 0)%Z; [reflexivity|apply map_length]. Qed.

Lemma finer_value d v i u : (0 <= d)%Z ->
  IZR (nth i (finer d v) 0%Z) * pow (u - d) = IZR (nth i v 0%Z) * pow u.
Proof.
  intros D. rewrite nth_finer, mult_IZR, Rmult_assoc. f_equal.
  destruct (Z.eqb_spec d 0) as [->|_].
  - rewrite Rmult_1_l. f_equal. lia.
  - rewrite (IZR_Zpower radix2) by lia. rewrite <- bpow_plus. f_equal. lia.
Qed.

Lemma known_finer d x v u : (0 <= d)%Z -> known x (v, u) -> known x (finer d v, (u - d)%Z).
Proof.
  intros D H i L. simpl in L. rewrite finer_length in L. simpl. rewrite finer_value by exact D.
  apply H. exact L.
Qed.

Lemma same_eq : forall x y, same x y = true -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y] H; simpl in H; try discriminate; [reflexivity|].
  apply andb_true_iff in H. destruct H as (E & H). apply Z.eqb_eq in E. subst. f_equal. auto.
Qed.

Lemma nth_ones k s i : (i < k)%nat -> nth i (ones k s) 0%Z = if (i =? s)%nat then 1%Z else 0%Z.
Proof.
  intros L. unfold ones.
  rewrite (nth_indep _ 0%Z ((fun i => if (i =? s)%nat then 1%Z else 0%Z) 0%nat))
    by (rewrite map_length, seq_length; exact L).
  rewrite (map_nth (fun i => if (i =? s)%nat then 1%Z else 0%Z)), seq_nth by exact L. reflexivity.
Qed.

Lemma ones_length k s : length (ones k s) = k.
Proof. unfold ones. rewrite map_length. apply seq_length. Qed.

Lemma known_ones k s : known (letter s) (ones k s, 0%Z).
Proof.
  intros i L. simpl in *. rewrite ones_length in L. rewrite nth_ones by exact L.
  unfold letter. destruct (i =? s)%nat; ring.
Qed.

Lemma between_nth A : forall x y j, between A x y = true -> (j < length x)%nat ->
  (nth j y 0 + Z.abs (nth j x 0) < 2 * 2 ^ precision A)%Z.
Proof.
  induction x as [|a x IH]; intros [|b y] j H L; simpl in H, L; try discriminate; try lia.
  apply andb_true_iff in H. destruct H as (E & H). apply Z.ltb_lt in E.
  destruct j; cbn [nth]; [exact E|]. apply IH; [exact H|lia].
Qed.

Lemma mapped_sound A f positive x v y v' :
  mapped A (with_sizes f) positive v = Some v' -> known x v -> maps A f positive x y ->
  known y v' /\ length (fst v') = fan_out f.
Proof.
  destruct v as (v, u). unfold mapped, with_sizes. cbn [fst snd].
  set (d := Z.max 0 (u + unit (factors f) - unit (shifts f))).
  set (g := (u - d + unit (factors f))%Z).
  set (w := finer d v). set (more := finer (unit (shifts f) - g) (row (shifts f) 0)).
  set (z := firstn (fan_out f) _).
  destruct (_ && _) eqn:C; [|discriminate]. intros E K M. injection E as <-.
  rewrite !andb_true_iff, !Nat.eqb_eq in C. destruct C as (((F & LV) & LZ) & S).
  assert (P := precise A g F).
  assert (N : forall j, (j < fan_out f)%nat ->
            nth j z 0%Z = (nth j (weigh w (rows (factors f))) 0 + nth j more 0)%Z).
  { intros j L. rewrite <- nth_sums. unfold z in *.
    rewrite <- (firstn_skipn (fan_out f) (sums w (rows (factors f)) more)) at 2.
    symmetry. apply app_nth1. rewrite LZ. exact L. }
  assert (V : forall j, (j < fan_out f)%nat ->
            y j = IZR (if positive then Z.max (nth j z 0%Z) 0 else nth j z 0%Z) * pow g).
  { intros j L. destruct (M j L) as (t & T & ->).
    assert (B : t = IZR (nth j z 0%Z) * pow g).
    { rewrite (N j L). replace (nth j more 0%Z) with (zsum [nth j more 0%Z]) by (simpl; lia).
      apply (exactly_between A (fan_in f) x w (u - d)) with
        (more := [Number (entry (shifts f) 0 j)]); auto.
      - intros i I. apply (known_finer d x v u); [lia|exact K|]. simpl. fold w. lia.
      - lia.
      - constructor; [|constructor]. f_equal. unfold entry, more. fold g.
        replace g with (unit (shifts f) - (unit (shifts f) - g))%Z at 2 by lia.
        symmetry. apply finer_value. unfold g. lia.
      - apply (between_nth A _ _ j) in S; [|rewrite LZ; exact L].
        rewrite nth_sums, nth_abs, (N j L) in S. simpl. rewrite !Z.add_0_r. exact S. }
    rewrite B. destruct positive; [apply positive_part|reflexivity]. }
  destruct positive; cbn [fst snd].
  - split; [|rewrite map_length; exact LZ]. intros i L. cbn [fst snd] in *.
    rewrite map_length, LZ in L. rewrite (V i L).
    do 2 f_equal. symmetry. exact (map_nth (fun a => Z.max a 0%Z) z 0%Z i).
  - split; [|exact LZ]. intros i L. cbn [fst snd] in *. rewrite LZ in L. apply V, L.
Qed.

Lemma decoded_sound A : forall fs h v s v', decoded A (map with_sizes fs) v = Some v' ->
  known h v -> decodes A fs h s -> known s v'.
Proof.
  induction fs as [|f fs IH]; intros h v s v' D K M.
  - simpl in *. injection D as <-. subst. exact K.
  - cbn [map decoded decodes] in *. destruct (mapped _ _ _ _) as [w|] eqn:E; [|discriminate].
    destruct M as (y & M & M'). apply (IH y w s v' D); [|exact M'].
    apply (mapped_sound A f true h v y w E K M).
Qed.

Lemma beside_known k s v x y : known y v ->
  (forall i, (i < k)%nat -> x i = letter s i) ->
  known (fun i => if (i <? k)%nat then x i else y (i - k)%nat) (beside k s v).
Proof.
  intros K X i L. unfold beside in *. cbn [fst snd] in *.
  rewrite app_length, !finer_length, ones_length in L.
  destruct (Nat.ltb_spec i k) as [I|I].
  - rewrite app_nth1 by (rewrite finer_length, ones_length; exact I).
    replace (Z.min 0 (snd v)) with (0 - (- Z.min 0 (snd v)))%Z at 2 by lia.
    rewrite finer_value by lia. rewrite (X i I). apply (known_ones k s). simpl.
    rewrite ones_length. exact I.
  - rewrite app_nth2 by (rewrite finer_length, ones_length; exact I).
    rewrite finer_length, ones_length.
    replace (Z.min 0 (snd v)) with (snd v - (snd v - Z.min 0 (snd v)))%Z at 2 by lia.
    rewrite finer_value by lia. apply K. lia.
Qed.

(** What a level says: a letter; or a logit is ahead of all others. *)
Definition said (k : nat) (last : bool) (y : nat -> R) (r : nat) : Prop :=
  (r < k)%nat /\ if last then forall d, (d < k)%nat -> d <> r -> y d < y r
                 else forall i, (i < k)%nat -> y i = letter r i.

Lemma answers_sound A l last s v r x y h t :
  answers_right A l (with_sizes (table_inner l), with_sizes (table_outer l)) last s v r = true ->
  known t v -> (forall i, (i < reads l)%nat -> x i = letter s i) ->
  decodes A (decoders l) h t ->
  (exists u, maps A (table_inner l) true
     (fun i => if (i <? reads l)%nat then x i else t (i - reads l)%nat) u
     /\ maps A (table_outer l) false u y) ->
  said (fan_out (table_outer l)) last y r.
Proof.
  intros C K X _ (u & U & Y). unfold answers_right in C. cbn [fst snd] in C.
  destruct (mapped A (with_sizes (table_inner l)) true _) as [w|] eqn:E; [|discriminate].
  destruct (mapped A (with_sizes (table_outer l)) false w) as [(z, g)|] eqn:E'; [|discriminate].
  assert (KU := proj1 (mapped_sound _ _ _ _ _ _ _ E (beside_known _ _ _ _ _ K X) U)).
  destruct (mapped_sound _ _ _ _ _ _ _ E' KU Y) as (KY & L). cbn [fst snd] in *.
  apply andb_true_iff in C. destruct C as (R & C). apply Nat.ltb_lt in R. split; [exact R|].
  destruct last.
  - intros d D N. rewrite (KY d), (KY r) by (simpl; lia). cbn [fst snd].
    apply Rmult_lt_compat_r; [apply bpow_gt_0|]. apply IZR_lt.
    apply (below_nth _ r _ 0 C); lia.
  - apply andb_true_iff in C. destruct C as (G & C). apply Z.leb_le in G. apply same_eq in C.
    intros i I. rewrite (KY i) by (simpl; lia). cbn [fst snd]. rewrite C.
    replace g with (0 - - g)%Z at 2 by lia. rewrite finer_value by lia.
    symmetry. apply (known_ones (fan_out (table_outer l)) r). simpl. rewrite ones_length. exact I.
Qed.

Lemma zsum_one c s : forall k a, zsum (map (fun i => if (i =? s)%nat then c else 0%Z) (seq a k))
  = if ((a <=? s) && (s <? a + k))%nat then c else 0%Z.
Proof.
  induction k as [|k IH]; intros a.
  - simpl. destruct (Nat.leb_spec a s), (Nat.ltb_spec s (a + 0)); simpl; auto; lia.
  - cbn [seq map zsum fold_right]. fold (zsum (map (fun i => if (i =? s)%nat then c else 0%Z) (seq (S a) k))).
    rewrite IH.
    destruct (Nat.eqb_spec a s), (Nat.leb_spec a s), (Nat.leb_spec (S a) s),
      (Nat.ltb_spec s (a + S k)), (Nat.ltb_spec s (S a + k)); cbn [andb]; lia.
Qed.

(** Sums of one number and of products that are 0 are that number. *)
Lemma alone_sound A k x t s j y : alone A (unit t) (nth j (row t s) 0%Z) = true ->
  (s < k)%nat -> (forall i, (i < k)%nat -> x i = letter s i) ->
  sum A (dots k x t j) y -> y = entry t s j.
Proof.
  intros C L X D. unfold alone in C. set (m := nth j (row t s) 0%Z) in *.
  set (d := Z.max 0 (Z.log2 (Z.abs m) + 1 - precision A)) in *.
  apply andb_true_iff in C. destruct C as (F & C). apply Z.eqb_eq in C.
  assert (P := precise A _ F).
  set (g := fun i => if (i =? s)%nat then m else 0%Z).
  assert (V : forall i, In i (seq 0 k) ->
            value (Product (x i) (entry t i j)) = IZR (g i) * pow (unit t)).
  { intros i I. apply in_seq in I. simpl. rewrite X by lia. unfold letter, entry, g, m.
    destruct (Nat.eqb_spec i s) as [->|_]; ring. }
  assert (B : (0 < 2 ^ d)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (W : IZR m * pow (unit t) = IZR (m / 2 ^ d) * pow (unit t + d)).
  { rewrite (Z.div_mod m (2 ^ d)) at 1 by lia. rewrite C, Z.add_0_r, mult_IZR.
    rewrite (IZR_Zpower radix2) by lia. rewrite bpow_plus. ring. }
  unfold fine in F. apply andb_true_iff in F. destruct F as (FA & FS).
  apply fits_holds in FA, FS.
  assert (Z1 : zsum (map g (seq 0 k)) = m).
  { unfold g. rewrite zsum_one. replace ((0 <=? s)%nat) with true by reflexivity.
    rewrite (proj2 (Nat.ltb_lt _ _)) by lia. reflexivity. }
  rewrite (sum_exact A (precision A) (unit t + d) (dots k x t j) y FA FS); [| | |exact D].
  - unfold dots. rewrite (total_sequence _ g (unit t) _ V), Z1. reflexivity.
  - apply Forall_forall. intros w I. apply in_map_iff in I. destruct I as (i & <- & I).
    rewrite (V i I). unfold g. destruct (i =? s)%nat.
    + exists (m / 2 ^ d)%Z. exact W.
    + exists 0%Z. ring.
  - unfold dots. rewrite (size_sequence _ g (unit t) _ V).
    rewrite (map_ext _ (fun i => if (i =? s)%nat then Z.abs m else 0%Z))
      by (intros i; unfold g; destruct (i =? s)%nat; reflexivity).
    rewrite zsum_one. replace ((0 <=? s)%nat) with true by reflexivity.
    rewrite (proj2 (Nat.ltb_lt _ _)) by lia. cbn [andb].
    replace (precision A + (unit t + d))%Z with ((precision A + d) + unit t)%Z by lia.
    rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|].
    rewrite <- (IZR_Zpower radix2) by lia. apply IZR_lt. change (radix_val radix2) with 2%Z.
    destruct (Z.eq_dec m 0) as [->|N]; [apply Z.pow_pos_nonneg; lia|].
    destruct (Z.log2_spec (Z.abs m)) as (_ & U); [lia|].
    eapply Z.lt_le_trans; [exact U|]. apply Z.pow_le_mono_r; lia.
Qed.

Lemma stepped_sound A g e p b z a h x y : coarser A = true -> (e = true -> fine A g = true) ->
  stepped A g e p b z = true -> a * h = IZR p * pow g ->
  sum A [Product a h; Number (IZR b * pow g)] x -> rounded (stored A) x y -> y = IZR z * pow g.
Proof.
  intros C F S E D R. unfold stepped in S. apply orb_true_iff in S.
  destruct S as [S|S]; [|apply (settles_right A g p b z a h x y C S E D R)].
  rewrite !andb_true_iff, Z.ltb_lt, Z.eqb_eq in S. destruct S as ((F' & S) & <-).
  specialize (F F'). assert (P := precise A g F). unfold fine in F. apply andb_true_iff in F.
  destruct F as (FA & FS). apply fits_holds in FA, FS.
  assert (G : Rabs (IZR (p + b) * pow g) < pow (precision A + g)).
  { rewrite Rabs_units, bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|].
    rewrite <- (IZR_Zpower radix2) by lia. apply IZR_lt. change (radix_val radix2) with 2%Z.
    lia. }
  assert (X : x = IZR (p + b) * pow g).
  { rewrite (sum_exact A (precision A) g [Product a h; Number (IZR b * pow g)] x FA FS);
      [| | |exact D].
    - unfold total. simpl. rewrite E, plus_IZR. ring.
    - repeat constructor; [exists p; exact E|exists b; reflexivity].
    - unfold size. cbn [map fold_right value]. rewrite E, !Rabs_units, Rplus_0_r, <- Rmult_plus_distr_r, <- plus_IZR.
      rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|].
      rewrite <- (IZR_Zpower radix2) by lia. apply IZR_lt. exact S. }
  subst x. apply (rounded_exact (stored A) (precision A) g); auto.
  exists (p + b)%Z. reflexivity.
Qed.

Lemma moved_to_nth A g e p b z : forall v w ds more k, moved_to A g e p b z v w ds more = true ->
  (k < length v)%nat ->
  length w = length v /\
  stepped A g e (nth k ds 0 * nth k v 0 * p)%Z (nth k more 0 * b)%Z (nth k w 0 * z)%Z = true.
Proof.
  induction v as [|x v IH]; intros [|y w] [|d ds] [|c more] k H L; simpl in H, L;
    try discriminate; try lia.
  apply andb_true_iff in H. destruct H as (S & H). destruct k as [|k].
  - split; [|exact S]. simpl. destruct v as [|x' v].
    + destruct w; [reflexivity|destruct ds, more; discriminate].
    + f_equal. apply (IH w ds more 0%nat H). simpl. lia.
  - destruct (IH w ds more k H ltac:(lia)) as (E & S'). split; [simpl; lia|exact S'].
Qed.

Section Levels.
Variables (A : arithmetic) (longest : option nat).
Hypothesis coarse : coarser A = true.

(** After t letters the level can hold h, as a point of this mode. *)
Definition stands (t : nat) (l : ssm_level) (e : level_evidence) (c : nat) (h : nat -> R) : Prop :=
  exists x, In x (points e) /\ of_mode x = c /\ (earliest x <= t)%nat
    /\ forall k, (k < coordinates l)%nat ->
         h k = IZR (nth k (at_vector x) 0%Z) * pow (point_unit e).

Lemma ended_later e t : (e <= t)%nat -> ended longest e = true -> ended longest t = true.
Proof.
  unfold ended. destruct longest; [|discriminate]. intros L H. apply Nat.leb_le in H.
  apply Nat.leb_le. lia.
Qed.

Lemma scaled_down (m : Z) (u g : Z) : (g <= u)%Z ->
  IZR (m * 2 ^ (u - g)) * pow g = IZR m * pow u.
Proof.
  intros L. rewrite mult_IZR, (IZR_Zpower radix2) by lia. rewrite Rmult_assoc, <- bpow_plus.
  do 2 f_equal. lia.
Qed.

Lemma leads_sound l e s v w x h h' :
  tensor_alone A l (addend l) = true -> (selective l = true -> tensor_alone A l (decay l) = true) ->
  leads_to A l (point_unit e) s v w = true -> length v = coordinates l ->
  (s < reads l)%nat -> (forall i, (i < reads l)%nat -> x i = letter s i) ->
  (forall k, (k < coordinates l)%nat -> h k = IZR (nth k v 0%Z) * pow (point_unit e)) ->
  steps A l x h h' ->
  forall k, (k < coordinates l)%nat -> h' k = IZR (nth k w 0%Z) * pow (point_unit e).
Proof.
  intros TA TD M L S X K D k I. destruct (D k I) as (a & b & y & HA & HB & Y & R). clear D.
  unfold leads_to in M. set (u := point_unit e) in *.
  set (pu := (u + unit (decay l))%Z) in *. set (g := Z.min u (Z.min pu (unit (addend l)))) in *.
  destruct (moved_to_nth A g _ _ _ _ _ _ _ _ k M ltac:(lia)) as (_ & H). clear M.
  assert (alike : forall t, tensor_alone A l t = true ->
            alone A (unit t) (nth k (row t s) 0%Z) = true).
  { intros t T. unfold tensor_alone in T. rewrite forallb_forall in T.
    specialize (T s ltac:(apply in_seq; lia)). rewrite forallb_forall in T.
    apply T. apply in_seq. lia. }
  assert (B : b = entry (addend l) s k)
    by (apply (alone_sound A (reads l) x); auto).
  set (r := if selective l then s else 0%nat) in *.
  assert (AA : a = entry (decay l) r k).
  { unfold r. destruct (selective l); [|exact HA]. apply (alone_sound A (reads l) x); auto. }
  rewrite <- (scaled_down _ u g) by lia.
  eapply (stepped_sound A g _ _ _ _ a (h k) y); [exact coarse| |exact H| | |exact R].
  - auto.
  - rewrite AA, (K k I). unfold entry.
    replace (IZR (nth k (row (decay l) r) 0%Z) * pow (unit (decay l))
             * (IZR (nth k v 0%Z) * pow u))
      with (IZR (nth k (row (decay l) r) 0%Z * nth k v 0%Z) * pow pu)
      by (unfold pu; rewrite mult_IZR, bpow_plus; ring).
    symmetry. apply scaled_down. lia.
  - rewrite scaled_down by lia. rewrite B in Y. exact Y.
Qed.

Lemma level_sound last l e t c s x h y k :
  level_right A longest last l e = true -> stands t l e c h ->
  (s < reads l)%nat -> (forall i, (i < reads l)%nat -> x i = letter s i) ->
  says A l x h y -> steps A l x h k ->
  exists m, nth_error (modes e) c = Some m
    /\ (forall r, nth_error (mode_says m) s = Some (Some r) -> said (fan_out (table_outer l)) last y r)
    /\ (ended longest t = false ->
        exists c', nth_error (mode_leads m) s = Some c' /\ stands (S t) l e c' k).
Proof.
  intros C (p & I & E & T & K) S X (v & u & D & U & Y) M. unfold level_right in C.
  rewrite !andb_true_iff in C. destruct C as (((TA & TD) & _) & C).
  rewrite forallb_forall in C. specialize (C p I). unfold point_right in C.
  apply andb_true_iff in C. destruct C as (L & C). apply Nat.eqb_eq in L. rewrite E in C.
  destruct (nth_error (modes e) c) as [m|] eqn:MC; [|discriminate].
  destruct (decoded A _ _) as [d|] eqn:DE; [|discriminate].
  apply andb_true_iff in C. destruct C as (W & C). rewrite forallb_forall in W.
  specialize (W s ltac:(apply in_seq; lia)).
  exists m. split; [reflexivity|]. split.
  - intros r MS. rewrite MS in W. apply (answers_sound A l last s d r x y h v W); auto.
    + apply (decoded_sound A (decoders l) h (at_vector p, point_unit e) v d DE); auto.
      intros i J. cbn [fst snd] in *. apply K. lia.
    + exists u. auto.
  - intros N. apply orb_true_iff in C. destruct C as [C|C].
    { rewrite (ended_later _ _ T C) in N. discriminate. }
    rewrite forallb_forall in C. specialize (C s ltac:(apply in_seq; lia)).
    destruct (nth_error (to_points p) s) as [j|]; [|discriminate].
    destruct (nth_error (mode_leads m) s) as [c'|] eqn:ML; [|discriminate].
    destruct (nth_error (points e) j) as [q|] eqn:PJ; [|discriminate].
    rewrite !andb_true_iff, Nat.eqb_eq, Nat.leb_le in C. destruct C as ((Q & LE) & C).
    exists c'. split; [reflexivity|]. exists q. split; [eapply nth_error_In; eauto|].
    split; [exact Q|]. split; [lia|].
    apply (leads_sound l e s (at_vector p) (at_vector q) x h k); auto.
    intros CH. rewrite CH in TD. exact TD.
Qed.

Inductive all_stand (t : nat) : list ssm_level -> list level_evidence -> list nat ->
    list (nat -> R) -> Prop :=
| none_stands : all_stand t [] [] [] []
| more_stand l e c h ls es cs hs : stands t l e c h -> all_stand t ls es cs hs ->
    all_stand t (l :: ls) (e :: es) (c :: cs) (h :: hs).

Lemma passes_sound count : forall ls es t cs hs ks x z s l,
  levels_right A longest count ls es = true -> all_stand t ls es cs hs ->
  hd_error ls = Some l -> (s < reads l)%nat -> (forall i, (i < reads l)%nat -> x i = letter s i) ->
  passes A ls x hs ks z -> forall r to, run es cs s = Some (r, to) -> said count true z r
    /\ (ended longest t = false -> exists cs', to = map Some cs' /\ all_stand (S t) ls es cs' ks).
Proof.
  induction ls as [|l ls IH]; intros es t cs hs ks x z s l0 C H E S X P r to RU; [discriminate|].
  injection E as <-. inversion H as [|? e c h ? es' cs' hs' ST HS]; subst; clear H.
  cbn [passes] in P. destruct ks as [|k ks]; [contradiction|].
  destruct P as (y & Y & M & P).
  cbn [run] in RU. destruct (nth_error (modes e) c) as [m|] eqn:MC; [|discriminate].
  destruct (nth_error (mode_says m) s) as [[r1|]|] eqn:MS; try discriminate.
  destruct (run es' cs' r1) as [(z1, to1)|] eqn:RU1; [|discriminate]. injection RU as <- <-.
  destruct ls as [|l' ls].
  - inversion HS; subst. cbn [levels_right] in C. apply andb_true_iff in C. destruct C as (C & N).
    apply Nat.eqb_eq in N. subst count. cbn [passes] in P. destruct ks; [|contradiction]. subst z.
    destruct (level_sound true l e t c s x h y k C ST S X Y M) as (m' & MC' & SA & G).
    rewrite MC in MC'. injection MC' as <-. cbn [run] in RU1. injection RU1 as <- <-.
    split; [apply SA, MS|]. intros N. destruct (G N) as (c' & ML & ST'). exists [c'].
    rewrite ML. split; [reflexivity|]. constructor; [exact ST'|constructor].
  - change (level_right A longest false l e && (fan_out (table_outer l) =? reads l')%nat
            && levels_right A longest count (l' :: ls) es' = true) in C.
    rewrite !andb_true_iff, Nat.eqb_eq in C. destruct C as ((C & N) & C').
    destruct (level_sound false l e t c s x h y k C ST S X Y M) as (m' & MC' & SA & G).
    rewrite MC in MC'. injection MC' as <-. destruct (SA r1 MS) as (R & SA'). rewrite N in *.
    destruct (IH es' t cs' hs' ks y z r1 l' C' HS eq_refl R SA' P z1 to1 RU1) as (SA2 & G').
    split; [exact SA2|]. intros Q.
    destruct (G Q) as (c' & ML & ST'). destruct (G' Q) as (cs2 & -> & ST2).
    exists (c' :: cs2). rewrite ML. split; [reflexivity|]. constructor; auto.
Qed.
End Levels.

Lemma agree_eq : forall cs to, agree (map Some cs) to = true -> to = cs.
Proof.
  induction cs as [|c cs IH]; intros [|d to] H; simpl in H; try discriminate; [reflexivity|].
  apply andb_true_iff in H. destruct H as (E & H). apply Nat.eqb_eq in E. subst. f_equal. auto.
Qed.

Lemma stand_at_first A longest count : forall ls es cs hs,
  levels_right A longest count ls es = true -> agree (map first_mode es) cs = true ->
  Forall2 (fun l h => forall k, (k < coordinates l)%nat -> h k = entry (initial l) 0 k) ls hs ->
  all_stand 0 ls es cs hs.
Proof.
  assert (one : forall last l e c h, level_right A longest last l e = true ->
            first_mode e = Some c ->
            (forall k, (k < coordinates l)%nat -> h k = entry (initial l) 0 k) ->
            stands 0 l e c h).
  { intros last l e c h C F H. unfold level_right in C. rewrite !andb_true_iff in C.
    destruct C as ((_ & B) & _). unfold first_mode in F.
    destruct (points e) as [|x l'] eqn:P; [discriminate|]. injection F as F. exists x.
    split; [rewrite P; left; reflexivity|]. split; [exact F|].
    unfold begins in B. rewrite !andb_true_iff, Nat.eqb_eq, Z.leb_le in B.
    destruct B as ((E & U) & B). apply same_eq in B. split; [lia|].
    intros k K. rewrite (H k K), B. unfold entry.
    replace (point_unit e) with (unit (initial l) - (unit (initial l) - point_unit e))%Z at 2 by lia.
    symmetry. apply finer_value. lia. }
  induction ls as [|l ls IH]; intros es cs hs C F H.
  - destruct es; discriminate.
  - destruct es as [|e es]; [destruct ls; discriminate|].
    inversion H as [|? h ? hs' H1 H2]; subst. cbn [map agree] in F.
    destruct (first_mode e) as [c0|] eqn:E; [|destruct cs; discriminate].
    destruct cs as [|c cs]; [discriminate|].
    apply andb_true_iff in F. destruct F as (Q & F). apply Nat.eqb_eq in Q. subst c0.
    destruct ls as [|l' ls].
    + destruct es; [|discriminate]. cbn [levels_right] in C. apply andb_true_iff in C.
      inversion H2; subst. destruct cs; [|discriminate].
      constructor; [eapply one; [apply C|exact E|exact H1]|constructor].
    + change (level_right A longest false l e && (fan_out (table_outer l) =? reads l')%nat
              && levels_right A longest count (l' :: ls) es = true) in C.
      rewrite !andb_true_iff in C. destruct C as ((C & _) & C').
      constructor; [eapply one; [apply C|exact E|exact H1]|]. apply IH; auto.
Qed.

Section Network.
Variables (A : arithmetic) (n : state_space) (m : machine) (longest : option nat)
  (es : list level_evidence) (nodes : list joint).
Hypothesis checked : check A n m longest es nodes = true.

Let right : coarser A = true /\ levels_right A longest (logit_count n) (levels n) es = true
  /\ (exists l, hd_error (levels n) = Some l /\ reads l = length (moves m))
  /\ (exists x, In x nodes /\ joint_state x = start m /\ joint_earliest x = 0%nat
        /\ agree (map first_mode es) (joint_modes x) = true)
  /\ forall x a, In x nodes -> (a < length (moves m))%nat ->
       joint_right m longest es nodes x a = true.
Proof.
  assert (H := checked). unfold check in H. rewrite !andb_true_iff in H.
  destruct H as ((((C & L) & R) & F) & J). split; [exact C|]. split; [exact L|]. split; [|split].
  - destruct (levels n) as [|l ls]; [discriminate|]. exists l. split; [reflexivity|].
    apply Nat.eqb_eq, R.
  - destruct nodes as [|x l]; [discriminate|]. exists x. split; [left; reflexivity|].
    rewrite !andb_true_iff, !Nat.eqb_eq in F. tauto.
  - intros x a I A'. rewrite forallb_forall in J. specialize (J x I).
    rewrite forallb_forall in J. apply J. apply in_seq. lia.
Qed.

(** What the word w leads to, where another letter may follow. *)
Lemma nodes_hold w hs q : remembers A n w hs -> word m w -> leads m w q ->
  match longest with Some T => (length w < T)%nat | None => True end ->
  exists x, In x nodes /\ joint_state x = q /\ (joint_earliest x <= length w)%nat
    /\ all_stand (length w) (levels n) es (joint_modes x) hs.
Proof.
  intros D. revert q. destruct right as (CO & L & (l & HD & RE) & (x0 & I0 & S0 & E0 & F0) & J).
  induction D as [hs H|w a hs ks z D IH P]; intros q W Q T.
  - exists x0. split; [exact I0|]. inversion Q; subst; [|destruct w; discriminate].
    split; [exact S0|]. split; [simpl; lia|].
    apply (stand_at_first A longest (logit_count n)); auto.
  - apply Forall_app in W. destruct W as (W & W'). inversion W'; subst.
    rewrite app_length in T |- *. simpl in T |- *.
    inversion Q as [E|v b p r s Q' R S E]; [destruct w; discriminate|].
    apply app_inj_tail in E. destruct E; subst v b r.
    assert (T' : match longest with Some T => (length w < T)%nat | None => True end)
      by (destruct longest; [lia|exact I]).
    destruct (IH p W Q' T') as (x & I & X & E & ST).
    specialize (J x a I H1). unfold joint_right in J. rewrite R, X, S in J.
    destruct (run es (joint_modes x) a) as [(r', to)|] eqn:RU; [|discriminate].
    destruct (passes_sound A longest CO (logit_count n) (levels n) es _ _ hs ks (letter a) z a l
                L ST HD ltac:(lia) ltac:(reflexivity) P r' to RU) as (_ & G).
    apply andb_true_iff in J. destruct J as (_ & J).
    assert (N : ended longest (length w) = false).
    { unfold ended. destruct longest; [|reflexivity]. apply Nat.leb_gt. lia. }
    apply orb_true_iff in J. destruct J as [J|J].
    { rewrite (ended_later longest _ _ E J) in N. discriminate. }
    destruct (nth_error (joint_next x) a) as [j|]; [|discriminate].
    destruct (nth_error nodes j) as [y|] eqn:Y; [|discriminate].
    rewrite !andb_true_iff, Nat.eqb_eq, Nat.leb_le in J. destruct J as ((Q1 & Q2) & Q3).
    destruct (G N) as (cs' & -> & ST'). apply agree_eq in Q3.
    exists y. split; [eapply nth_error_In; eauto|]. split; [exact Q1|]. split; [lia|].
    rewrite Q3, Nat.add_1_r. exact ST'.
Qed.

Theorem check_sound : StateSpace.correct A n m longest.
Proof.
  intros w a z c W T (hs & ks & D & P) (q & Q & S).
  destruct right as (CO & L & (l & HD & RE) & _ & J).
  apply Forall_app in W. destruct W as (W & W'). inversion W' as [|? ? W1 _]; subst.
  inversion Q as [E|v b p r s Q' R S' E]; [destruct w; discriminate|].
  apply app_inj_tail in E. destruct E; subst v b r.
  destruct (nodes_hold w hs p D W Q' T) as (x & I & X & _ & ST).
  specialize (J x a I W1). unfold joint_right in J. rewrite R, X, S' in J.
  destruct (run es (joint_modes x) a) as [(r', to)|] eqn:RU; [|discriminate].
  destruct (passes_sound A longest CO (logit_count n) (levels n) es _ _ hs ks (letter a) z a l
              L ST HD ltac:(lia) ltac:(reflexivity) P r' to RU) as (SA & _).
  apply andb_true_iff in J. destruct J as (J & _).
  rewrite S in J. apply Nat.eqb_eq in J. subst r'. exact SA.
Qed.
End Network.
