(** Invariants in parts, each of which shows some of the outputs (docs/proofs/invariants.md). *)
From Coq Require Import List Arith Lia Bool.
From Krohn Require Import Machine Program Invariant InvariantSound Lists.
Import ListNotations.

Definition fact_eqb (x y : nat * list nat) : bool := (fst x =? fst y) && leqb (snd x) (snd y).
Fixpoint distinct_facts (l acc : list (nat * list nat)) : list (nat * list nat) :=
  match l with
  | [] => acc
  | x :: r => distinct_facts r (if existsb (fact_eqb x) acc then acc else x :: acc)
  end.
Fixpoint combos (ls : list (list (list nat))) : list (list nat) :=
  match ls with [] => [[]] | l :: r => let c := combos r in flat_map (fun v => map (app v) c) l end.
Definition shown_at (q : nat) (facts : list (nat * list nat)) : list (list nat) :=
  map snd (filter (fun x => fst x =? q) facts).

Definition check_parts (m : machine) (p : program) (longest : nat) (decode : list (list nat * nat))
    (Ps : list part) : bool :=
  forallb (fun P => len P =? longest) Ps
  && match all (shown m p) Ps with
     | Some fs => let fs := map (fun f => distinct_facts f []) fs in
         forallb (fun q => forallb (fun vs => reads_ok m decode (q, vs)) (combos (map (shown_at q) fs)))
           (seq 0 (length (shows m)))
     | None => false end.

Lemma distinct_facts_in x : forall l acc, In x l \/ In x acc -> In x (distinct_facts l acc).
Proof.
  induction l as [|y l IH]; intros acc H; simpl; [destruct H as [[]|H]; exact H|].
  apply IH. destruct H as [[->|H]|H]; [|left; exact H|].
  - right. destruct (existsb (fact_eqb x) acc) eqn:E; [|left; reflexivity].
    apply existsb_exists in E. destruct E as ((q, vs) & I & E). unfold fact_eqb in E.
    apply andb_true_iff in E. destruct E as (E & F). apply Nat.eqb_eq in E. apply leqb_eq in F.
    destruct x; simpl in *; subst. exact I.
  - right. destruct (existsb (fact_eqb y) acc); [exact H|right; exact H].
Qed.

Lemma combos_in : forall ls vs, Forall2 (fun v l => In v l) vs ls -> In (concat vs) (combos ls).
Proof.
  induction ls as [|l ls IH]; intros vs H; inversion H; subst; simpl; [left; reflexivity|].
  apply in_flat_map. exists x. split; auto. apply in_map. apply IH. assumption.
Qed.

Lemma gets_concat e t : forall xss vss, Forall2 (fun xs vs => gets e xs t = Some vs) xss vss ->
  gets e (concat xss) t = Some (concat vss).
Proof.
  assert (APP : forall xs ys vs us, gets e xs t = Some vs -> gets e ys t = Some us ->
    gets e (xs ++ ys) t = Some (vs ++ us)).
  { induction xs as [|x xs IH]; intros ys vs us A B; simpl in *; [inversion A; subst; exact B|].
    destruct (get e x t) as [v|]; [|discriminate]. destruct (gets e xs t) as [l|]; [|discriminate].
    inversion A; subst. rewrite (IH ys l us eq_refl B). reflexivity. }
  induction 1; simpl; auto.
Qed.

Theorem check_parts_sound m p longest decode Ps : check_parts m p longest decode Ps = true ->
  computes m p (concat (map outs Ps)) decode longest.
Proof.
  unfold check_parts. intros H. apply andb_true_iff in H. destruct H as (L & H).
  destruct (all (shown m p) Ps) as [fs|] eqn:F; [|discriminate]. cbv zeta in H.
  rewrite forallb_forall in L, H. intros w t c W LW T (q & Q & C).
  assert (D : exists vss, Forall2 (fun P vs => outputs_at (length (moves m)) p (outs P) w t = Some vs) Ps vss
    /\ Forall2 (fun v l => In v l) vss (map (shown_at q) (map (fun f => distinct_facts f []) fs))).
  { clear H. revert fs F. induction Ps as [|P Ps IH]; intros fs F; simpl in F.
    - inversion F; subst. exists []. split; constructor.
    - destruct (shown m p P) as [f|] eqn:E; [|discriminate]. destruct (all (shown m p) Ps) as [r|] eqn:R; [|discriminate].
      inversion F; subst. destruct (IH ltac:(intros; apply L; right; auto) r eq_refl) as (vss & A & B).
      assert (LP := L P (or_introl eq_refl)). apply Nat.eqb_eq in LP.
      destruct (shown_ok m p P w f E W ltac:(lia) t T) as (q' & vs & Q' & O & I).
      rewrite (leads_unique _ _ _ Q' _ Q) in I. exists (vs :: vss). split; constructor; auto.
      unfold shown_at. apply in_map_iff. exists (q, vs). split; [reflexivity|]. apply filter_In.
      split; [apply distinct_facts_in; left; exact I|apply Nat.eqb_refl]. }
  destruct D as (vss & A & B). exists (concat vss). split.
  - unfold outputs_at in *. apply gets_concat. clear - A. induction A; simpl; constructor; auto.
  - assert (QI : In q (seq 0 (length (shows m)))) by (apply in_seq; split; [lia|]; apply nth_error_Some; congruence).
    specialize (H q QI). rewrite forallb_forall in H. specialize (H _ (combos_in _ _ B)).
    unfold reads_ok in H. cbn [fst snd] in H. rewrite C in H.
    destruct (lookup decode (concat vss)) as [d|]; [|discriminate]. apply Nat.eqb_eq in H. congruence.
Qed.
Print Assumptions check_parts_sound.
