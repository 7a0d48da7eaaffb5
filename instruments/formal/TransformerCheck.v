(** The checker: intervals for all that a Transformer may compute, channel by channel. *)
From Coq Require Import ZArith List Bool.
From Krohn Require Import Machine Program Invariant Domains Arithmetic Recurrent Transformer Bounds
  Lists Affine Mean.
Import ListNotations.

(** A number of the network that goes by the value of a channel. *)
Record form := { channel : nat; table : list (nat * interval) }.

Fixpoint found (v : nat) (t : list (nat * interval)) : option interval :=
  match t with [] => None | (u, x) :: r => if u =? v then Some x else found v r end.
Definition spanning (t : list (nat * interval)) : interval :=
  match t with
  | [] => nil_interval
  | (_, x) :: r => fold_right (fun p h => hull (snd p) h) x r
  end.
Fixpoint merged (v : nat) (x : interval) (t : list (nat * interval)) :=
  match t with
  | [] => [(v, x)]
  | (u, y) :: r => if u =? v then (u, hull x y) :: r else (u, y) :: merged v x r
  end.

Fixpoint index (c : nat) (S : list nat) : option nat :=
  match S with
  | [] => None
  | a :: r => if a =? c then Some 0
              else match index c r with Some k => Some (1 + k) | None => None end
  end.

(** A number for the rows of values of a few channels: by one of them, or whatever it is. *)
Inductive source := Fixed (x : interval) | By (k : nat) (t : list (nat * interval)).
Definition prepared (S : list nat) (F : form) : source :=
  match index (channel F) S with
  | Some k => By k (table F) | None => Fixed (spanning (table F)) end.
Definition read (row : list nat) (s : source) : option interval :=
  match s with
  | Fixed x => Some x
  | By k t => match nth_error row k with Some v => found v t | None => None end
  end.

(** How a dimension is laid out: its channel, and the channels of whose values it is known. *)
Record place := { holds_channel : nat; of_channels : list nat }.

(** What a head fetches: the channels of its query and its keys, what each of its entries
    is, and a bound of scores in units of 2^-g. If it copies, how far the right score leads;
    if it adds up, to how many times the weight of a letter all weights add up, and how far
    each is off, in units of 2^-64. *)
Record plan := { asks : list nat; offers : list nat; fetches : list nat; most : Z;
  gap : nat; shares : Z; loose : Z }.
Record step := { plans : list plan; after_heads : list place; after_mlp : list place }.
Record evidence := {
  grain : Z; token_channel : nat; position_channel : nat;
  at_first : list place; steps : list step; read_out : list nat }.

Section Checker.
Variables (f : format) (g : Z) (letters longest : nat) (p : program) (ds : list domain).
Variables (tok pos : nat).

(** The value of a channel, from those of a few. *)
Fixpoint known (fuel : nat) (S row : list nat) (c : nat) : option nat :=
  match index c S with
  | Some k => nth_error row k
  | None =>
      match fuel with
      | O => None
      | Datatypes.S fuel' =>
          match nth_error p c with
          | None => None
          | Some (Position vs) =>
              match index pos S with
              | Some k => match nth_error row k with Some t => nth_error vs t | None => None end
              | None => None
              end
          | Some o => match all (known fuel' S row) (inputs o) with
                      | Some vs => applied o vs | None => None end
          end
      end
  end.
Definition told := known (length p).

(** All values of a few channels together: at BOS, and later. *)
Definition choices (S : list nat) : option (list (list nat)) :=
  match all (nth_error ds) S with
  | Some of => Some (map fst of :: prods (map snd of)) | None => None end.
Definition at_position (t : nat) (S : list nat) : option (list (list nat)) :=
  match all (nth_error ds) S with
  | Some of => Some (prods (map (fun x : nat * domain => if fst x =? pos then [t]
                      else if t =? 0 then [fst (snd x)] else snd (snd x)) (combine S of)))
  | None => None end.

Fixpoint gathered (calc : list nat -> option (nat * interval)) (rows : list (list nat))
    (t : list (nat * interval)) : option (list (nat * interval)) :=
  match rows with
  | [] => Some t
  | r :: rest => match calc r with
                 | Some (v, x) => gathered calc rest (merged v x t) | None => None end
  end.
Definition built (S : list nat) (c : nat) (calc : list nat -> option interval) : option form :=
  match choices S with
  | None => None
  | Some rows =>
      match gathered (fun row => match told S row c, calc row with
                                 | Some v, Some x => Some (v, x) | _, _ => None end) rows [] with
      | Some t => Some {| channel := c; table := t |} | None => None end
  end.

(** * Embedding *)
Definition embedding (n : transformer) (i : nat) (l : place) : option form :=
  let S := of_channels l in
  let a := prepared S {| channel := tok;
    table := map (fun a => (a, exactly g (embed_token n) a i)) (seq 0 (1 + letters)) |} in
  let b := prepared S {| channel := pos;
    table := map (fun t => (t, exactly g (embed_position n) t i)) (seq 0 (1 + longest)) |} in
  built S (holds_channel l) (fun row =>
    match read row a, read row b with
    | Some x, Some y => rounding f g (both (single x) (single y)) | _, _ => None end).

(** * Heads *)
Definition product (xs : list interval) (w : Z * list Z) : option interval :=
  rounding f g (coarse (fst w) (weighed (snd w) xs)).

(** The vectors of a position, each with the value of a channel. *)
Definition vectors (cols : list (Z * list Z)) (S : list nat) (c : option nat)
    (sources : list source) (t : nat) : option (list (nat * list interval)) :=
  match at_position t S with
  | None => None
  | Some rows =>
      all (fun row =>
        match match c with Some c => told S row c | None => Some 0 end,
              all (read row) sources with
        | Some v, Some xs => match all (product xs) cols with
                             | Some ys => Some (v, ys) | None => None end
        | _, _ => None end) rows
  end.

Definition score (q k : list interval) : option interval :=
  rounding f g (coarse (- g) (multiplied_out q k)).

(** The scores of a row: of each position and key. *)
Definition scored (q : list interval) (ks : list (nat * (nat * list interval)))
    : option (list (nat * nat * interval)) :=
  all (fun x => match score q (snd (snd x)) with
                | Some s => Some (fst x, fst (snd x), s) | None => None end) ks.

Definition leads (o : op) (lead : Z) (t q : nat) (row : list (nat * nat * interval)) : bool :=
  forallb (fun x => let '(r, k, s) := x in
    if on o t q r k then
      forallb (fun y => let '(j, k', s') := y in
        (snd s' + lead <=? fst s)%Z || negb (beside o t q r j k') || (j =? r)) row
    else true) row.

(** All letters weigh the same, and BOS as much as those that are missing. *)
Definition share (many : Z) (t j : nat) : Z := if j =? 0 then (many - Z.of_nat t)%Z else 1%Z.
Definition level (many off : Z) (t : nat) (row : list (nat * nat * interval)) : bool :=
  forallb (fun x => let '(j, _, s) := x in let h := share many t j in
    (h * (2 ^ 64 - off) <=? exp_below g (fst s))%Z &&
    match exp_above g (snd s) with
    | Some z => (z <=? h * (2 ^ 64 + off))%Z | None => false end) row.

Definition judged (e : plan) (o : op) (t q : nat) (row : list (nat * nat * interval)) : bool :=
  forallb (fun x => (reach (snd x) <=? most e)%Z) row &&
  match o with
  | PrefixSum _ => level (shares e) (loose e) t row
  | _ => leads o (Z.of_nat (gap e) * 2 ^ g)%Z t q row
  end.

(** Operations with the same numbers prefer the same positions. *)
Definition order_of (o : op) : list nat :=
  match o with
  | Shift _ n => [1; n] | Latest _ w => [2; w] | LatestMatch _ k q => [3; k; q]
  | Earliest _ w => [4; w] | PrefixSum _ => [5] | _ => [] end.

Definition positions (t : nat) (ks : list (list (nat * list interval)))
    : list (nat * (nat * list interval)) :=
  concat (map (fun x => map (pair (fst x)) (snd x)) (combine (seq 0 (1 + t)) ks)).

Definition separates (b : block) (h : head) (e : plan) (forms : list form) (o : op) : bool :=
  let columns t := map (dotted t) (seq 0 (d_qk b)) in
  match all (vectors (columns (query h)) (asks e) (query_of o) (map (prepared (asks e)) forms))
          (seq 0 (1 + longest)),
        all (vectors (columns (key h)) (offers e) (key_of o) (map (prepared (offers e)) forms))
          (seq 0 (1 + longest)) with
  | Some qs, Some ks =>
      forallb (fun x : nat * list (nat * list interval) =>
        let seen := positions (fst x) ks in
        forallb (fun q : nat * list interval =>
          match scored (snd q) seen with
          | Some row => judged e o (fst x) (fst q) row | None => false end) (snd x))
        (combine (seq 0 (1 + longest)) qs)
  | _, _ => false
  end.

(** How far a head is off: values up to V, in units of 2^-g (Softmax.v). *)
Definition slack (lead : nat) (V : Z) : Z :=
  let n := Z.of_nat (1 + longest) in
  (up (- digits f) (5 * (n + 1) * V) + up (1 - Z.of_nat lead) (3 * n * V)
   + up (least f + digits f - 1) (16 * n * (2 ^ g + V)))%Z.
Definition sound_weights (top : Z) : bool :=
  let n := Z.of_nat (1 + longest) in
  ((0 <=? g) && (0 <=? top) && (n * 2 ^ 11 <=? 2 ^ digits f) && (0 <=? digits f)
    && (8 * (9 * top + 42 * n * 2 ^ g) <=? 2 ^ (digits f + g)))%Z.

Definition largest (t : list (nat * interval)) : Z :=
  fold_right (fun x m => Z.max (reach (snd x)) m) 0%Z t.

(** Entry c of the values: a form of the channel x. *)
Definition valued (h : head) (forms : list form) (c x : nat) : option form :=
  let w := dotted (val h) c in let sources := map (prepared [x]) forms in
  built [x] x (fun row => match all (read row) sources with
                          | Some xs => product xs w | None => None end).

Definition copied (h : head) (e : plan) (forms : list form) (c y x : nat) : option form :=
  match valued h forms c x with
  | None => None
  | Some v => Some {| channel := y; table :=
      map (fun z => (fst z, wider (slack (gap e) (largest (table v))) (snd z))) (table v) |}
  end.

(** How far values are from the numbers that they stand for. *)
Definition stray (t : list (nat * interval)) : Z :=
  fold_right (fun z m => let x := (Z.of_nat (fst z) * 2 ^ g)%Z in
    Z.max (Z.max (snd (snd z) - x) (x - fst (snd z))) m) 0%Z t.
(** By which part a mean is off, and by how much besides (Mean.v). *)
Definition skew (e : plan) : Z :=
  let n := Z.of_nat (1 + longest) in
  (up (- digits f) (5 * (n + 1) * 2 ^ g) + up (g - 64) (2 * loose e)
   + up (- digits f) (2 * (9 * most e + 42 * n * 2 ^ g)))%Z.
Definition beyond (t : list (nat * interval)) : Z :=
  let n := Z.of_nat (1 + longest) in
  (2 * stray t + up (least f + digits f - 1) (16 * n * (2 ^ g + largest t)))%Z.
Definition mean (many off : Z) (s : nat) : interval :=
  let x := Z.of_nat s in
  (x * (2 ^ g - off) / many, - (- (x * 2 ^ (2 * g)) / (many * (2 ^ g - off))))%Z.

Definition added_up (h : head) (e : plan) (forms : list form) (c y x : nat) : option form :=
  match valued h forms c x, nth_error ds x, nth_error ds y with
  | Some v, Some dx, Some dy =>
      if (fst dx =? 0) && (0 <? shares e)%Z && (0 <=? loose e)%Z && (skew e <? 2 ^ g)%Z
      then Some {| channel := y; table :=
        map (fun s => (s, wider (beyond (table v)) (mean (shares e) (skew e) s)))
            (fst dy :: snd dy) |}
      else None
  | _, _, _ => None
  end.

Definition returned (h : head) (e : plan) (forms : list form) (c y : nat) (o : op) : option form :=
  match o with
  | PrefixSum x => added_up h e forms c y x
  | _ => match source_of o with Some x => copied h e forms c y x | None => None end
  end.

Definition result (b : block) (h : head) (e : plan) (forms : list form) : option (list form) :=
  match all (nth_error p) (fetches e) with
  | Some (o :: r) =>
      if sound_weights (most e) && (length (fetches e) =? d_v b)
         && forallb (fun o' => leqb (order_of o) (order_of o')) (o :: r) && separates b h e forms o
      then all2o (fun x o' => returned h e forms (fst x) (snd x) o')
             (combine (seq 0 (d_v b)) (fetches e)) (o :: r)
      else None
  | _ => None
  end.

Fixpoint mixture (row : list nat) (i : nat) (hs : list (tensor * list source)) : option tally :=
  match hs with
  | [] => Some none
  | h :: r => match all (read row) (snd h), mixture row i r with
              | Some xs, Some m =>
                  Some (both (coarse (unit (fst h)) (weighed (column (fst h) i) xs)) m)
              | _, _ => None end
  end.

Definition after_attention (b : block) (forms : list form) (es : list plan) (ls : list place)
    : option (list form) :=
  match heads b with
  | [] => Some forms
  | _ =>
      match all2o (fun h e => result b h e forms) (heads b) es with
      | None => None
      | Some rs =>
          all2o (fun x l =>
            let S := of_channels l in
            let own := prepared S (snd x) in
            let hs := combine (map out (heads b)) (map (map (prepared S)) rs) in
            built S (holds_channel l) (fun row =>
              match read row own, mixture row (fst x) hs with
              | Some y, Some m =>
                  match rounding f g m with
                  | Some z => rounding f g (both (single y) (single z)) | None => None end
              | _, _ => None end))
            (combine (seq 0 (length forms)) forms) ls
      end
  end.

(** * MLPs *)
Definition after_layers (b : block) (forms : list form) (ls : list place) : option (list form) :=
  let net := map (ready g) (layers b) in
  all2o (fun x l =>
    let S := of_channels l in
    let sources := map (prepared S) forms in
    let own := prepared S (snd x) in
    let kept := nth (fst x) (keeps b) false in
    built S (holds_channel l) (fun row =>
      match all (read row) sources, read row own with
      | Some xs, Some y =>
          match fed f g net (fst x) xs with
          | Some z => if kept then rounding f g (both (single y) (single z)) else Some z
          | None => None end
      | _, _ => None end))
    (combine (seq 0 (length forms)) forms) ls.

Fixpoint through (bs : list block) (es : list step) (forms : list form) : option (list form) :=
  match bs, es with
  | [], [] => Some forms
  | b :: bs', e :: es' =>
      match after_attention b forms (plans e) (after_heads e) with
      | None => None
      | Some x => match after_layers b x (after_mlp e) with
                  | Some y => through bs' es' y | None => None end
      end
  | _, _ => None
  end.

(** * The read-out *)
Definition ahead (c : nat) (zs : list interval) : bool :=
  match nth_error zs c with
  | None => false
  | Some z => forallb (fun y : nat * interval => (fst y =? c) || (snd (snd y) <? fst z)%Z)
                (combine (seq 0 (length zs)) zs)
  end.
Definition right_answers (n : transformer) (outs : list nat) (decode : list (list nat * nat))
    (S : list nat) (forms : list form) : bool :=
  let sources := map (prepared S) forms in
  let units := map (unit_of g (unembed n) (answer_bias n)) (seq 0 (answers n)) in
  match all (nth_error ds) S with
  | None => false
  | Some of =>
      forallb (fun row =>
        match all (told S row) outs, all (read row) sources with
        | Some vs, Some xs =>
            match lookup decode vs, all (fired f g xs) units with
            | None, _ => true          (* the Program never says this *)
            | Some c, Some zs => ahead c zs
            | _, None => false end
        | _, _ => false end) (prods (map snd of))
  end.
End Checker.

Definition same_format (a b : format) : bool :=
  ((digits a =? digits b) && (least a =? least b) && (top a =? top b))%Z.

Definition check (A : arithmetic) (n : transformer) (m : machine) (longest : nat) (p : program)
    (outs : list nat) (decode : list (list nat * nat)) (e : evidence) : bool :=
  let f := accumulator A in
  let letters := length (moves m) in
  let tok := token_channel e in let pos := position_channel e in
  same_format f (stored A) && ordered 0 p &&
  match nth_error p tok, nth_error p pos, domains letters longest [] p with
  | Some Token, Some (Position vs), Some ds =>
      leqb vs (seq 0 (1 + longest)) && (length (at_first e) =? width n) &&
      match all (fun x => embedding f (grain e) letters longest p ds tok pos n (fst x) (snd x))
              (combine (seq 0 (width n)) (at_first e)) with
      | None => false
      | Some first =>
          match through f (grain e) longest p ds pos (blocks n) (steps e) first with
          | None => false
          | Some last => right_answers f (grain e) p ds pos n outs decode (read_out e) last
          end
      end
  | _, _, _ => false
  end.
