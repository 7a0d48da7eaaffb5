(** The checker of Elman networks, LSTMs and GRUs: sets of all that can be remembered, each
    with a state of the machine, that letters lead from one into another. *)
From Coq Require Import ZArith List Bool Arith.
From Krohn Require Import Machine Arithmetic Recurrent Invariant Lists Forms Gated.
Import ListNotations.
Open Scope Z_scope.

Notation "'do' x <- a ; b" := (match a with Some x => b | None => None end)
  (at level 200, x pattern, right associativity).

(** * Sums: a form of their total, the sum of absolute values, and how many terms there are *)

Record part := { value : form; bulk : Z; count : Z }.

Definition up (d z : Z) : Z := - (- z / d).
Definition join (p q : part) : part :=
  {| value := plus (value p) (value q); bulk := bulk p + bulk q; count := count p + count q |}.
Definition whole (z : Z) : part :=
  {| value := point (z * 2 ^ 64); bulk := Z.abs z * 2 ^ 64; count := 1 |}.
Definition of_number (x : form) : part := {| value := x; bulk := magnitude x; count := 1 |}.
Definition of_product (x y : form) : part :=
  {| value := multiply x y; bulk := up (2 ^ 64) (magnitude x * magnitude y); count := 1 |}.

(** More terms, each an entry of a row times a number; these stand with their magnitudes. *)
Fixpoint dot (row : list Z) (box : list (form * Z)) (p : part) : part :=
  match box with
  | [] => p
  | (x, b) :: box' =>
      let w := hd 0 row in
      dot (tl row) box'
        (if w =? 0 then p
         else {| value := plus_times (value p) w x; bulk := bulk p + Z.abs w * b;
                 count := count p + 1 |})
  end.

(** In units of 2^-64 what was in units of 2^(u - 64). *)
Definition settle (u : Z) (p : part) : part :=
  {| value := over (2 ^ (- u)) (value p); bulk := up (2 ^ (- u)) (bulk p); count := count p |}.

(** * Roundings *)

(** Exponents K for which numbers up to 2^K, b units or a little more, may be rounded; and how
    far an operation goes with a store of its result. *)
Definition alike (A : arithmetic) : bool :=
  (digits (stored A) =? digits (accumulator A)) && (least (stored A) =? least (accumulator A))
    && (top (stored A) =? top (accumulator A)).
Definition quantum (A : arithmetic) (K : Z) : Z :=
  2 ^ (K + 63 - digits (accumulator A))
    + (if alike A then 0 else 2 ^ (K + 63 - digits (stored A))).
Definition grants (A : arithmetic) (K : Z) : bool :=
  let f := accumulator A in let g := stored A in
  (0 <? digits f) && (0 <? digits g) && (least f + 2 * digits f <=? K)
    && (least g + 2 * digits g <=? K) && (K <? top f) && (K <? top g)
    && (digits g <=? digits f) && (least f <=? least g) && (digits f <=? 63)
    && (digits f <=? K + 63).
Definition reach (A : arithmetic) (b : Z) : list Z :=
  let f := accumulator A in let g := stored A in
  let k := Z.max (Z.log2 b - 63) (Z.max (digits f - 63)
    (Z.max (least f + 2 * digits f) (least g + 2 * digits g))) in [k; k + 1; k + 2].

Definition summed (A : arithmetic) (p : part) : option form :=
  match find (fun K => grants A K
      && (bulk p + 2 * (count p * quantum A K) <=? 2 ^ (K + 64))) (reach A (bulk p)) with
  | Some K => Some (wider (2 * (count p * quantum A K)) (value p))
  | None => None
  end.
Definition keeps (A : arithmetic) (x : form) : option form :=
  let b := magnitude x in
  match find (fun K => grants A K && (b <=? 2 ^ (K + 64))) (reach A b) with
  | Some K => Some (wider (quantum A K) x)
  | None => None
  end.
Definition through (A : arithmetic) (curve : form -> form) (x : form) : option form :=
  keeps A (wider (2 ^ (67 - digits (accumulator A))) (curve x)).
Definition gate_at (A : arithmetic) (curve : form -> form) (p : part) : option form :=
  do x <- summed A p; through A curve x.

(** * A step of one unit: sums by the letter and by the past, gate by gate; h and c *)

Definition stepped (A : arithmetic) (k : kind) (ls ps : list part) (h c : form)
    : option (form * form) :=
  match k, ls, ps with
  | Elman, [l], [p] => do y <- gate_at A tangent (join l p); Some (y, c)
  | Lstm, [l0; l1; l2; l3], [p0; p1; p2; p3] =>
      do i <- gate_at A logistic (join l0 p0);
      do f <- gate_at A logistic (join l1 p1);
      do g <- gate_at A tangent (join l2 p2);
      do o <- gate_at A logistic (join l3 p3);
      do x <- summed A (join (of_product f c) (of_product i g));
      do c' <- keeps A x;
      do t <- through A tangent x;
      do y <- summed A (of_product o t);
      Some (y, c')
  | Gru, [l0; l1; l2], [p0; p1; p2] =>
      do r <- gate_at A logistic (join l0 p0);
      do z <- gate_at A logistic (join l1 p1);
      do p <- summed A p2;
      do g <- gate_at A tangent (join (of_product r p) l2);
      do w <- summed A (join (of_number (point (2 ^ 64))) (of_number (times (-1) z)));
      do y <- summed A (join (of_product w g) (of_product z h));
      do d <- summed A (join (of_number h) (of_number (times (-1) g)));
      do y' <- summed A (join (of_number g) (of_product z d));
      Some (either y y', c)
  | _, _, _ => None
  end.

(** * Tables, made once *)

Definition gates (k : kind) : nat := match k with Elman => 1 | Lstm => 4 | Gru => 3 end%nat.
Record wire := { weights : list Z; added : Z }.
Definition wire_of (w b : tensor) (j : nat) : wire :=
  {| weights := row w j; added := nth j (row b 0) 0 |}.
Definition unit_rows (n : gated) (u : nat) : list nat :=
  map (fun g => g * hidden n + u)%nat (seq 0 (gates (cell_kind n))).
Definition by_units {B} (n : gated) (f : nat -> B) : list (list B) :=
  map (fun u => map f (unit_rows n u)) (seq 0 (hidden n)).

Definition drive (u : Z) (w : wire) (box : list (form * Z)) : part :=
  settle u (dot (weights w) box (whole (added w))).
Definition sized (x : form) : form * Z := (x, magnitude x).
Definition entered (u z : Z) : form := over (2 ^ (- u)) (point (z * 2 ^ 64)).

Definition letter_part (n : gated) (a j : nat) : part :=
  let w := wire_of (weight_ih n) (bias_ih n) j in
  let u := unit (weight_ih n) in
  match letter_table n with
  | None => settle u (join (whole (added w)) (whole (nth a (weights w) 0)))
  | Some (d, t) =>
      drive u w (map (fun i => sized (entered (unit t) (nth i (row t a) 0))) (seq 0 d))
  end.

Record tables := { by_letters : list (list (list part)); wires : list (list wire);
                   columns : list wire }.
Definition prepare (n : gated) (letters : nat) : tables :=
  {| by_letters := map (fun a => by_units n (letter_part n a)) (seq 0 letters);
     wires := by_units n (wire_of (weight_hh n) (bias_hh n));
     columns := map (fun k =>
       {| weights := map (fun r => nth k r 0) (rows (read_weight n));
          added := nth k (row (read_bias n) 0) 0 |}) (seq 0 (outcomes n)) |}.

(** * Sets of what is remembered: a form for each unit, and after these for each cell *)

Definition has_cells (n : gated) : bool := match cell_kind n with Lstm => true | _ => false end.
Definition width (n : gated) : nat := if has_cells n then hidden n + hidden n else hidden n.

Definition before (n : gated) (T : tables) (x : list form) : list (list part) :=
  let s := map sized (firstn (hidden n) x) in
  map (map (fun w => drive (unit (weight_hh n)) w s)) (wires T).
Definition after (A : arithmetic) (n : gated) (letter past : list (list part)) (x : list form)
    : option (list form) :=
  let h := firstn (hidden n) x in
  let c := if has_cells n then skipn (hidden n) x else h in
  do z <- all2o (fun l y => stepped A (cell_kind n) l (fst y) (fst (snd y)) (snd (snd y)))
            letter (combine past (combine h c));
  Some (map fst z ++ if has_cells n then map snd z else []).

(** Class k is ahead. *)
Definition ahead (z : list form) (k : nat) : bool :=
  match nth_error z k with
  | None => false
  | Some x => forallb (fun d => match nth_error z d with
      | Some y => (d =? k)%nat || (0 <? least_of (plus x (times (-1) y)))
      | None => false end) (seq 0 (length z))
  end.
Definition says (A : arithmetic) (n : gated) (T : tables) (x : list form) (k : nat) : bool :=
  let s := map sized (firstn (hidden n) x) in
  match all (fun w => summed A (drive (unit (read_weight n)) w s)) (columns T) with
  | Some z => ahead z k
  | None => false
  end.

(** New noises for the widths of all forms; of the old ones some are kept. *)
Fixpoint chosen (keep : list bool) (s : list Z) : list Z * Z :=
  match s with
  | [] => ([], 0)
  | a :: s' =>
      let (t, lost) := chosen (tl keep) s' in
      if hd true keep then (a :: t, lost) else (t, lost + Z.abs a)
  end.
Definition anew (keep : list bool) (k i : nat) (x : form) : form :=
  let (t, lost) := chosen keep (slopes x) in
  let m := halfway x in
  {| lo := m; hi := m;
     slopes := repeat 0 i ++ (Z.max (hi x - m) (m - lo x) + lost) :: repeat 0 (k - S i) ++ t |}.
Definition afresh (keep : list bool) (x : list form) : list form :=
  map (fun y => anew keep (length x) (fst y) (snd y)) (combine (seq 0 (length x)) x).

(** A box; or all x for which W x is within bounds, W a matrix with nearly the inverse V, of
    which V W differs by half at most (Lemma 18f). *)
Record turned := { turns : list (list Z); turn_unit : Z; backs : list (list Z); back_unit : Z;
                   turned_bounds : list (Z * Z) }.
Inductive region := Plain (bounds : list (Z * Z)) | Turned (p : turned).

Definition boxed (l : list (Z * Z)) : list form :=
  map (fun b => {| lo := fst b; hi := snd b; slopes := [] |}) l.
Definition product_with (u : Z) (s : list (form * Z)) (w : list Z) : part :=
  settle u (dot w s (whole 0)).
Fixpoint inner (x y : list Z) : Z :=
  match x, y with a :: x', b :: y' => a * b + inner x' y' | _, _ => 0 end.
(** By how much row v of V W differs from row i of the identity. *)
Definition leftover (u : Z) (cols : list (list Z)) (i : nat) (v : list Z) : Z :=
  fold_right Z.add 0 (map (fun c =>
    Z.abs ((if (i =? fst c)%nat then 2 ^ (- u) else 0) - inner v (snd c)))
    (combine (seq 0 (length cols)) cols)).
Definition unturned (p : turned) : list form :=
  let w := length (turns p) in
  let u := turn_unit p + back_unit p in
  let s := map sized (afresh [] (boxed (turned_bounds p))) in
  let parts := map (product_with (back_unit p) s) (backs p) in
  let top := fold_right Z.max 0 (map bulk parts) in
  let cols := map (fun j => map (fun r => nth j r 0) (turns p)) (seq 0 w) in
  let rest := map (fun v => leftover u cols (fst v) (snd v)) (combine (seq 0 w) (backs p)) in
  if (turn_unit p <=? 0) && (back_unit p <=? 0) && (length (backs p) =? w)%nat
       && (length (turned_bounds p) =? w)%nat && forallb (fun r => 2 * r <=? 2 ^ (- u)) rest
  then map (fun z => wider (up (2 ^ (- u)) (snd z * (2 * top))) (value (fst z)))
         (combine parts rest)
  else [].

Definition entering (s : region) : list form :=
  match s with Plain l => boxed l | Turned p => unturned p end.
Fixpoint within (x : list form) (l : list (Z * Z)) : bool :=
  match x, l with
  | [], [] => true
  | y :: x', (a, b) :: l' => (a <=? least_of y) && (most_of y <=? b) && within x' l'
  | _, _ => false
  end.
Definition inside (x : list form) (s : region) : bool :=
  match s with
  | Plain l => within x l
  | Turned p => let s := map sized x in
      within (map (fun w => value (product_with (turn_unit p) s w)) (turns p)) (turned_bounds p)
  end.

(** Where letters lead: into a set that is known, or from there on by more letters. *)
Inductive tree := Into (k : nat) | On (keep : list bool) (next : list tree).
Record gated_node := { set_of : region; state_of : nat; next_of : list tree }.

Section Check.
Variables (A : arithmetic) (n : gated) (m : machine) (T : tables) (nodes : list gated_node).

(** From x, where the machine is in state q, the letters from number a on lead on. *)
Definition branches (follow : tree -> list form -> nat -> bool) (q : nat) (x : list form)
    (past : list (list part)) : nat -> list tree -> bool :=
  fix go a l :=
    match l with
    | [] => (a =? length (moves m))%nat
    | t :: l' =>
        match nth_error (moves m) a, nth_error (by_letters T) a with
        | Some r, Some letter =>
            match nth_error r q, after A n letter past x with
            | Some q', Some y =>
                match nth_error (shows m) q' with
                | Some k => says A n T y k && follow t y q' && go (S a) l'
                | None => false
                end
            | _, _ => false
            end
        | _, _ => false
        end
    end.
Fixpoint follow (t : tree) (x : list form) (q : nat) : bool :=
  match t with
  | Into k => match nth_error nodes k with
              | Some y => (q =? state_of y)%nat && inside x (set_of y)
              | None => false
              end
  | On keep next => let y := afresh keep x in branches follow q y (before n T y) 0 next
  end.
Definition closed (x : gated_node) : bool :=
  let y := entering (set_of x) in
  (length y =? width n)%nat && branches follow (state_of x) y (before n T y) 0 (next_of x).
End Check.

Definition units_agree (n : gated) : bool :=
  let u := unit (weight_ih n) in let r := unit (read_weight n) in
  (u <=? 0) && (unit (weight_hh n) =? u) && (unit (bias_ih n) =? u) && (unit (bias_hh n) =? u)
    && (r <=? 0) && (unit (read_bias n) =? r)
    && (unit (start_hidden n) <=? 0) && (unit (start_cell n) <=? 0)
    && match letter_table n with Some (_, t) => unit t <=? 0 | None => true end.

Definition beginning (n : gated) : list form :=
  let start t := map (fun u => entered (unit t) (nth u (row t 0) 0)) (seq 0 (hidden n)) in
  start (start_hidden n) ++ if has_cells n then start (start_cell n) else [].

Definition check (A : arithmetic) (n : gated) (m : machine) (nodes : list gated_node) : bool :=
  let T := prepare n (length (moves m)) in
  units_agree n
    && match nodes with
       | [] => false
       | x :: _ => (state_of x =? start m)%nat && inside (beginning n) (set_of x)
       end
    && forallb (closed A n m T nodes) nodes.
