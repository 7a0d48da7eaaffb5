(** Tensors from the bits of a file: numbers of IEEE 754, as Flocq reads them. *)
From Coq Require Import Reals ZArith List Lia Lra.
From Flocq Require Import Core IEEE754.Binary IEEE754.Bits.
From Krohn Require Import Arithmetic Recurrent Invariant Lists.
Import ListNotations.
Open Scope Z_scope.

(** The number of some bits is m·2^e. [mw] and [ew] are how many bits the significand and the
    exponent have; infinities, and what is not a number, are refused. *)
Definition decoded (mw ew bits : Z) : option (Z * Z) :=
  match binary_float_of_bits_aux mw ew bits with
  | F754_zero _ => Some (0, 0)
  | F754_finite s m e => Some (cond_Zopp s (Zpos m), e)
  | _ => None
  end.

(** The same in units of 2^u; None if it is no whole number of them. *)
Definition in_units (mw ew u bits : Z) : option Z :=
  if bits =? 0 then Some 0 else
  match decoded mw ew bits with
  | Some (m, e) =>
      if u <=? e then Some (m * 2 ^ (e - u))
      else let d := 2 ^ (u - e) in if m mod d =? 0 then Some (m / d) else None
  | None => None
  end.
Definition tensor_of_bits (mw ew u : Z) (bits : list (list Z)) : option tensor :=
  match all (all (in_units mw ew u)) bits with
  | Some r => Some {| unit := u; rows := r |}
  | None => None
  end.

(** * Every entry is the number of its bits *)

Lemma decoded_right mw ew bits m e : decoded mw ew bits = Some (m, e) ->
  FF2R radix2 (binary_float_of_bits_aux mw ew bits) = (IZR m * pow e)%R.
Proof.
  unfold decoded. destruct (binary_float_of_bits_aux mw ew bits); try discriminate; intros H;
    inversion H; subst; simpl; [lra|reflexivity].
Qed.

Lemma in_units_right mw ew u bits z : in_units mw ew u bits = Some z ->
  FF2R radix2 (binary_float_of_bits_aux mw ew bits) = (IZR z * pow u)%R.
Proof.
  unfold in_units. destruct (Z.eqb_spec bits 0) as [->|_].
  { intros H. inversion H; subst. unfold binary_float_of_bits_aux, split_bits.
    rewrite !Zdiv_0_l, !Zmod_0_l. simpl. lra. }
  destruct (decoded mw ew bits) as [(m, e)|] eqn:D; [|discriminate].
  apply decoded_right in D. rewrite D. destruct (Z.leb_spec u e) as [L|L].
  - intros H. inversion H; subst. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
    rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
  - destruct (Z.eqb_spec (m mod 2 ^ (u - e)) 0) as [M|]; [|discriminate].
    intros H. inversion H; subst. assert (P : 0 < 2 ^ (u - e)) by (apply Z.pow_pos_nonneg; lia).
    assert (E : m = m / 2 ^ (u - e) * 2 ^ (u - e)).
    { assert (q := Z.div_mod m _ (Z.neq_sym _ _ (Z.lt_neq _ _ P))). lia. }
    rewrite E at 1. rewrite mult_IZR, (IZR_Zpower radix2) by lia.
    rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

(** Every entry of the tensor is the number of its bits. *)
Theorem tensor_of_bits_right mw ew u bits t i r j b :
  tensor_of_bits mw ew u bits = Some t ->
  nth_error bits i = Some r -> nth_error r j = Some b ->
  entry t i j = FF2R radix2 (binary_float_of_bits_aux mw ew b).
Proof.
  unfold tensor_of_bits. destruct (all _ bits) as [rs|] eqn:A; [|discriminate].
  intros H I J. inversion H; subst. unfold entry, row. cbn [unit rows].
  destruct (all_nth_from _ _ _ A _ _ I) as (zs & N & Z).
  destruct (all_nth_from _ _ _ Z _ _ J) as (z & M & Y).
  rewrite (nth_error_nth _ _ _ N), (nth_error_nth _ _ _ M). symmetry. eapply in_units_right, Y.
Qed.
