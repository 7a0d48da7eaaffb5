(** The checker of state space models: each level as a finite machine, and all levels beside
    the machine (Theorem D9 of docs/proofs/state_space.md). *)
From Coq Require Import ZArith List Bool.
From Krohn Require Import Machine Arithmetic Recurrent Recurrence StateSpace.
Import ListNotations.

(** What a level can hold, in units; how the table tells it from others; the least number of
    letters after which it may be held; and what is held after each letter. *)
Record held_point := {
  at_vector : list Z; of_mode : nat; earliest : nat; to_points : list nat }.
(** All points that the table does not tell apart: what is said at each letter, if anything
    is claimed of it, and the mode after it. *)
Record mode := { mode_says : list (option nat); mode_leads : list nat }.
Record level_evidence := { point_unit : Z; points : list held_point; modes : list mode }.

(** A mode of each level, beside a state of the machine. *)
Record joint := {
  joint_modes : list nat; joint_state : nat; joint_earliest : nat; joint_next : list nat }.

(** After so many letters a word has ended with the next one. *)
Definition ended (longest : option nat) (t : nat) : bool :=
  match longest with Some T => T <=? S t | None => false end.

Definition ones (k s : nat) : list Z := map (fun i => if i =? s then 1%Z else 0%Z) (seq 0 k).

Fixpoint same (x y : list Z) : bool :=
  match x, y with
  | [], [] => true
  | a :: x', b :: y' => (a =? b)%Z && same x' y'
  | _, _ => false
  end.

Definition finer (d : Z) (v : list Z) : list Z :=
  if (d =? 0)%Z then v else map (Z.mul (2 ^ d)) v.

(** All partial sums of numbers that add up to these totals, and whose absolute values add up
    to these sizes, are below the digits of the formats. *)
Fixpoint between (A : arithmetic) (totals sizes : list Z) : bool :=
  match totals, sizes with
  | a :: totals', b :: sizes' => (b + Z.abs a <? 2 * 2 ^ precision A)%Z && between A totals' sizes'
  | [], _ => true
  | _, [] => false
  end.

(** Numbers in units of a power of two. *)
Definition numbers : Type := (list Z * Z)%type.

(** An affine map with the absolute values of its matrix. *)
Definition sized : Type := (affine_map * list (list Z))%type.
Definition with_sizes (f : affine_map) : sized := (f, magnitudes (rows (factors f))).

(** What it makes of v, by sums that are exact. *)
Definition mapped (A : arithmetic) (f : sized) (positive : bool) (x : numbers) : option numbers :=
  let '(f, sizes) := f in
  let d := Z.max 0 (snd x + unit (factors f) - unit (shifts f)) in
  let g := (snd x - d + unit (factors f))%Z in
  let v := finer d (fst x) in
  let more := finer (unit (shifts f) - g) (row (shifts f) 0) in
  let y := firstn (fan_out f) (sums v (rows (factors f)) more) in
  if fine A g && (length v =? fan_in f) && (length y =? fan_out f)
     && between A y (sums (map Z.abs v) sizes (map Z.abs more))
  then Some (if positive then map (fun a => Z.max a 0) y else y, g) else None.

Fixpoint decoded (A : arithmetic) (fs : list sized) (x : numbers) : option numbers :=
  match fs with
  | [] => Some x
  | f :: fs' => match mapped A f true x with Some y => decoded A fs' y | None => None end
  end.

(** The unit vector of letter s, and numbers behind it. *)
Definition beside (k s : nat) (x : numbers) : numbers :=
  let g := Z.min 0 (snd x) in (finer (- g) (ones k s) ++ finer (snd x - g) (fst x), g).

(** Where letter s is read and x is decoded, r is said: a unit vector; or the logit r is ahead. *)
Definition answers_right (A : arithmetic) (l : ssm_level) (table : sized * sized) (last : bool)
    (s : nat) (x : numbers) (r : nat) : bool :=
  match mapped A (fst table) true (beside (reads l) s x) with
  | Some u =>
      match mapped A (snd table) false u with
      | Some (y, g) => (r <? fan_out (table_outer l))
          && if last then below (nth r y 0%Z) y r 0
             else (g <=? 0)%Z && same y (finer (- g) (ones (fan_out (table_outer l)) r))
      | None => false
      end
  | None => false
  end.

(** A number of a tensor that sums leave as it is, as the only one that is not 0. *)
Definition alone (A : arithmetic) (u m : Z) : bool :=
  let k := Z.max 0 (Z.log2 (Z.abs m) + 1 - precision A) in
  fine A (u + k) && (m mod 2 ^ k =? 0)%Z.

(** a h + b is z: exactly, or in whatever way it is rounded. *)
Definition stepped (A : arithmetic) (g : Z) (exactly : bool) (p b z : Z) : bool :=
  (exactly && (Z.abs p + Z.abs b <? 2 ^ precision A) && (p + b =? z))%Z || settles A g p b z.

(** All numbers of a vector, in units of 2^u, step from v to w. *)
Fixpoint moved_to (A : arithmetic) (g : Z) (exactly : bool) (p b z : Z) (v w decays more : list Z)
    : bool :=
  match v, w, decays, more with
  | x :: v', y :: w', a :: decays', c :: more' =>
      stepped A g exactly (a * x * p) (c * b) (y * z)
      && moved_to A g exactly p b z v' w' decays' more'
  | [], [], _, _ => true
  | _, _, _, _ => false
  end.

Section Level.
Variables (A : arithmetic) (longest : option nat) (last : bool) (l : ssm_level) (e : level_evidence).

Definition leads_to (u : Z) (s : nat) (v w : list Z) : bool :=
  let product := (u + unit (decay l))%Z in
  let g := Z.min u (Z.min product (unit (addend l))) in
  moved_to A g (fine A g) (2 ^ (product - g)) (2 ^ (unit (addend l) - g)) (2 ^ (u - g)) v w
    (row (decay l) (if selective l then s else 0)) (row (addend l) s).

(** All about one point: what is said after it, and where letters lead. *)
Definition point_right (ds : list sized) (table : sized * sized) (x : held_point) : bool :=
  (length (at_vector x) =? coordinates l) &&
  match nth_error (modes e) (of_mode x), decoded A ds (at_vector x, point_unit e) with
  | Some c, Some d =>
      forallb (fun s => match nth_error (mode_says c) s with
                        | Some (Some r) => answers_right A l table last s d r
                        | _ => true
                        end) (seq 0 (reads l))
      && (ended longest (earliest x)
          || forallb (fun s =>
               match nth_error (to_points x) s, nth_error (mode_leads c) s with
               | Some j, Some k =>
                   match nth_error (points e) j with
                   | Some y => (of_mode y =? k) && (earliest y <=? S (earliest x))
                       && leads_to (point_unit e) s (at_vector x) (at_vector y)
                   | None => false
                   end
               | _, _ => false
               end) (seq 0 (reads l)))
  | _, _ => false
  end.

Definition tensor_alone (t : tensor) : bool :=
  forallb (fun s => forallb (fun k => alone A (unit t) (nth k (row t s) 0%Z))
                      (seq 0 (coordinates l))) (seq 0 (reads l)).

Definition begins (x : held_point) : bool :=
  let u := point_unit e in
  (earliest x =? 0) && (u <=? unit (initial l))%Z
  && same (at_vector x) (finer (unit (initial l) - u) (row (initial l) 0)).

Definition level_right : bool :=
  let ds := map with_sizes (decoders l) in
  let table := (with_sizes (table_inner l), with_sizes (table_outer l)) in
  tensor_alone (addend l) && (negb (selective l) || tensor_alone (decay l))
  && match points e with x :: _ => begins x | [] => false end
  && forallb (point_right ds table) (points e).
End Level.

Fixpoint levels_right (A : arithmetic) (longest : option nat) (count : nat) (ls : list ssm_level)
    (es : list level_evidence) : bool :=
  match ls, es with
  | [l], [e] => level_right A longest true l e && (fan_out (table_outer l) =? count)
  | l :: (l' :: _) as ls', e :: es' => level_right A longest false l e
      && (fan_out (table_outer l) =? reads l') && levels_right A longest count ls' es'
  | _, _ => false
  end.

(** What the last level says where the first one reads s, and the modes then. *)
Fixpoint run (es : list level_evidence) (cs : list nat) (s : nat)
    : option (nat * list (option nat)) :=
  match es, cs with
  | [], [] => Some (s, [])
  | e :: es', c :: cs' =>
      match nth_error (modes e) c with
      | Some x =>
          match nth_error (mode_says x) s with
          | Some (Some r) =>
              match run es' cs' r with
              | Some (z, to) => Some (z, nth_error (mode_leads x) s :: to)
              | None => None
              end
          | _ => None
          end
      | None => None
      end
  | _, _ => None
  end.

Fixpoint agree (to : list (option nat)) (cs : list nat) : bool :=
  match to, cs with
  | [], [] => true
  | Some k :: to', c :: cs' => (k =? c) && agree to' cs'
  | _, _ => false
  end.

Definition joint_right (m : machine) (longest : option nat) (es : list level_evidence)
    (nodes : list joint) (x : joint) (a : nat) : bool :=
  match run es (joint_modes x) a, nth_error (moves m) a with
  | Some (said, to), Some states =>
      match nth_error states (joint_state x) with
      | Some q =>
          match nth_error (shows m) q with Some c => c =? said | None => false end
          && (ended longest (joint_earliest x)
              || match nth_error (joint_next x) a with
                 | Some j =>
                     match nth_error nodes j with
                     | Some y => (joint_state y =? q)
                         && (joint_earliest y <=? S (joint_earliest x))
                         && agree to (joint_modes y)
                     | None => false
                     end
                 | None => false
                 end)
      | None => false
      end
  | _, _ => false
  end.

Definition first_mode (e : level_evidence) : option nat :=
  match points e with x :: _ => Some (of_mode x) | [] => None end.

Definition check (A : arithmetic) (n : state_space) (m : machine) (longest : option nat)
    (es : list level_evidence) (nodes : list joint) : bool :=
  coarser A && levels_right A longest (logit_count n) (levels n) es
  && match levels n with l :: _ => reads l =? length (moves m) | [] => false end
  && match nodes with
     | x :: _ => (joint_state x =? start m) && (joint_earliest x =? 0)
         && agree (map first_mode es) (joint_modes x)
     | [] => false
     end
  && forallb (fun x => forallb (joint_right m longest es nodes x) (seq 0 (length (moves m))))
       nodes.
