(** Finite sums, and vectors that an inverse which is nearly right bounds (Lemma 18f of
    docs/proofs/gated.md). *)
From Coq Require Import Reals Arith Lia Lra.
Open Scope R_scope.

Fixpoint adds (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => adds k f + f k end.

Lemma adds_same n f g : (forall i, (i < n)%nat -> f i = g i) -> adds n f = adds n g.
Proof. induction n; intros H; simpl; auto. rewrite IHn by auto. rewrite H; auto. Qed.
Lemma adds_plus n f g : adds n (fun i => f i + g i) = adds n f + adds n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma adds_times n c f : adds n (fun i => c * f i) = c * adds n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma adds_zero n : adds n (fun _ => 0) = 0.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma adds_swap n m f : adds n (fun i => adds m (f i)) = adds m (fun j => adds n (fun i => f i j)).
Proof.
  induction n; simpl; [rewrite adds_zero; reflexivity|]. rewrite IHn, <- adds_plus. reflexivity.
Qed.
Lemma adds_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> adds n f <= adds n g.
Proof.
  induction n; intros H; simpl; [lra|]. apply Rplus_le_compat; [apply IHn; auto|apply H; lia].
Qed.
Lemma adds_abs n f : Rabs (adds n f) <= adds n (fun i => Rabs (f i)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma adds_one n i f : (i < n)%nat -> adds n (fun j => (if i =? j then 1 else 0) * f j) = f i.
Proof.
  induction n; intros L; [lia|]. simpl. destruct (i =? n) eqn:E.
  - apply Nat.eqb_eq in E. subst. rewrite (adds_same n _ (fun _ => 0)).
    + rewrite adds_zero. ring.
    + intros j J. replace (n =? j) with false; [ring|]. symmetry. apply Nat.eqb_neq. lia.
  - apply Nat.eqb_neq in E. rewrite IHn by lia. ring.
Qed.
Lemma adds_first n f : adds (S n) f = f O + adds n (fun i => f (S i)).
Proof.
  induction n; [simpl; ring|]. change (adds (S (S n)) f) with (adds (S n) f + f (S n)).
  rewrite IHn. simpl. ring.
Qed.

Lemma largest n (x : nat -> R) : exists m, 0 <= m /\ (forall j, (j < n)%nat -> Rabs (x j) <= m)
  /\ (m = 0 \/ exists j, (j < n)%nat /\ Rabs (x j) = m).
Proof.
  induction n as [|n (m & P & B & E)]; [exists 0; repeat split; [lra|intros; lia|auto]|].
  destruct (Rle_dec (Rabs (x n)) m) as [L|L].
  - exists m. split; [exact P|]. split.
    + intros j J. destruct (Nat.eq_dec j n); [subst; auto|apply B; lia].
    + destruct E as [E|(j & J & E)]; [auto|right; exists j; split; [lia|auto]].
  - exists (Rabs (x n)). split; [apply Rabs_pos|]. split.
    + intros j J. destruct (Nat.eq_dec j n); [subst; lra|].
      apply Rle_trans with m; [apply B; lia|lra].
    + right. exists n. split; [lia|auto].
Qed.

(** Theorem. V is nearly the inverse of W, and x is bounded by W x. *)
Theorem near_inverse n (x y : nat -> R) (V W : nat -> nat -> R) (s : nat -> R) B :
  (forall k, (k < n)%nat -> y k = adds n (fun j => W k j * x j)) ->
  (forall i, (i < n)%nat -> adds n (fun j => Rabs ((if i =? j then 1 else 0)
     - adds n (fun k => V i k * W k j))) <= s i <= / 2) ->
  (forall i, (i < n)%nat -> Rabs (adds n (fun k => V i k * y k)) <= B) ->
  forall i, (i < n)%nat -> Rabs (x i - adds n (fun k => V i k * y k)) <= s i * (2 * B).
Proof.
  intros Y S H. destruct (largest n x) as (m & P & M & E).
  set (F := fun i j => (if i =? j then 1 else 0) - adds n (fun k => V i k * W k j)) in *.
  assert (D : forall i, (i < n)%nat -> x i - adds n (fun k => V i k * y k)
                                       = adds n (fun j => F i j * x j)).
  { intros i L. rewrite (adds_same n (fun k => V i k * y k)
      (fun k => adds n (fun j => V i k * W k j * x j))).
    2:{ intros k K. rewrite (Y k K), <- adds_times. apply adds_same. intros. ring. }
    rewrite adds_swap. unfold F.
    rewrite (adds_same n (fun j => ((if i =? j then 1 else 0) - adds n (fun k => V i k * W k j)) *
      x j)
      (fun j => (if i =? j then 1 else 0) * x j
                + - 1 * adds n (fun k => V i k * W k j * x j))).
    2:{ intros j J. rewrite (adds_same n (fun k => V i k * W k j * x j)
          (fun k => x j * (V i k * W k j))) by (intros; ring).
        rewrite adds_times. ring. }
    rewrite adds_plus, adds_times, adds_one by exact L. ring. }
  assert (G : forall i, (i < n)%nat -> Rabs (x i - adds n (fun k => V i k * y k)) <= s i * m).
  { intros i L. rewrite (D i L). eapply Rle_trans; [apply adds_abs|].
    apply Rle_trans with (adds n (fun j => m * Rabs (F i j))).
    - apply adds_le. intros j J. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat_r; [apply Rabs_pos|auto].
    - rewrite adds_times, Rmult_comm. apply Rmult_le_compat_r; [exact P|]. apply S, L. }
  assert (Q : n <> O -> m <= 2 * B).
  { intros N. destruct E as [E|(j & J & E)].
    - assert (X := H O ltac:(lia)). assert (X' := Rabs_pos (adds n (fun k => V O k * y k))). lra.
    - assert (A := H j J). assert (A' := G j J). destruct (S j J) as (_ & S').
      assert (s j * m <= / 2 * m) by (apply Rmult_le_compat_r; auto).
      assert (T := Rabs_triang (x j - adds n (fun k => V j k * y k)) (adds n (fun k => V j k * y
        k))).
      replace (x j - adds n (fun k => V j k * y k) + adds n (fun k => V j k * y k)) with (x j) in T
        by ring. lra. }
  intros i L. eapply Rle_trans; [apply G, L|]. apply Rmult_le_compat_l; [|apply Q; lia].
  destruct (S i L) as (S' & _). eapply Rle_trans; [|exact S'].
  rewrite <- (adds_zero n). apply adds_le. intros. apply Rabs_pos.
Qed.
