
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type ('a, 'b) sum =
| Inl of 'a
| Inr of 'b

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Checked.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val add : int -> int -> int **)

let rec add n m =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> m)
    (fun p -> Checked.succ (add p m))
    n

(** val mul : int -> int -> int **)

let rec mul n m =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> 0)
    (fun p -> add m (mul p m))
    n

(** val sub : int -> int -> int **)

let rec sub n m =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> n)
    (fun k ->
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> n)
      (fun l -> sub k l)
      m)
    n

(** val max : int -> int -> int **)

let rec max n m =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> m)
    (fun n' ->
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> n)
      (fun m' -> Checked.succ (max n' m'))
      m)
    n

module Nat =
 struct
  (** val add : int -> int -> int **)

  let rec add = Checked.add

  (** val mul : int -> int -> int **)

  let rec mul = Checked.mul

  (** val even : int -> bool **)

  let rec even n =
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> true)
      (fun n0 ->
      (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
        (fun _ -> false)
        (fun n' -> even n')
        n0)
      n

  (** val odd : int -> bool **)

  let odd n =
    negb (even n)

  (** val pow : int -> int -> int **)

  let rec pow n m =
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> Checked.succ 0)
      (fun m0 -> mul n (pow n m0))
      m

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q u =
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> (q, u))
      (fun x' ->
      (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
        (fun _ -> divmod x' y (Checked.succ q) y)
        (fun u' -> divmod x' y q u')
        u)
      x

  (** val div : int -> int -> int **)

  let div x y =
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> y)
      (fun y' -> fst (divmod x y' 0 y'))
      y
 end

module Pos =
 struct
  (** val succ : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec succ = Big_int_Z.succ_big_int

  (** val add :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec add = Big_int_Z.add_big_int

  (** val add_carry :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  and add_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add_carry p q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add p q))
        (fun _ -> Big_int_Z.mult_int_big_int 2 (succ p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (succ q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)
        y)
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pred_double x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 p))
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (pred_double p))
      (fun _ -> Big_int_Z.unit_big_int)
      x

  (** val mul :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec mul = Big_int_Z.mult_big_int

  (** val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1 **)

  let rec iter f x n =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun n' -> f (iter f (iter f x n') n'))
      (fun n' -> iter f (iter f x n') n')
      (fun _ -> f x)
      n

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> p0)
      (fun p0 -> p0)
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2_up p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> succ p0)
      (fun p0 -> p0)
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val size : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec size p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> succ (size p0))
      (fun p0 -> succ (size p0))
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val compare_cont :
      comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let rec compare_cont = (fun c x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then c else if s < 0 then Lt else Gt)

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let rec eqb p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        (fun _ -> false)
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> false)
        (fun _ -> true)
        q)
      p

  (** val of_succ_nat : int -> Big_int_Z.big_int **)

  let rec of_succ_nat n =
    (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun x -> succ (of_succ_nat x))
      n

  (** val eq_dec : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let rec eq_dec p x0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun p1 -> eq_dec p0 p1)
        (fun _ -> false)
        (fun _ -> false)
        x0)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun p1 -> eq_dec p0 p1)
        (fun _ -> false)
        x0)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> false)
        (fun _ -> true)
        x0)
      p
 end

module Z =
 struct
  (** val double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p -> (Big_int_Z.mult_int_big_int 2 p))
      (fun p -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2 p))
      x

  (** val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p))
      (fun p -> Big_int_Z.minus_big_int (Pos.pred_double p))
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
      (fun p -> (Pos.pred_double p))
      (fun p -> Big_int_Z.minus_big_int
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x)) p))
      x

  (** val pos_sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pos_sub x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double (pos_sub p q))
        (fun q -> succ_double (pos_sub p q))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> pred_double (pos_sub p q))
        (fun q -> double (pos_sub p q))
        (fun _ -> (Pos.pred_double p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
        q))
        (fun q -> Big_int_Z.minus_big_int (Pos.pred_double q))
        (fun _ -> Big_int_Z.zero_big_int)
        y)
      x

  (** val pow_pos :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow_pos z0 =
    Pos.iter (Whole.mul z0) Big_int_Z.unit_big_int

  (** val pow :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow = Whole.pow

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val of_nat : int -> Big_int_Z.big_int **)

  let of_nat = Big_int_Z.big_int_of_int

  (** val pos_div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let rec pos_div_eucl a b =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Whole.add
          (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r)
          Big_int_Z.unit_big_int
      in
      if Whole.lt r' b
      then ((Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              q), r')
      else ((Whole.add
              (Whole.mul (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Whole.sub r' b)))
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r
      in
      if Whole.lt r' b
      then ((Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              q), r')
      else ((Whole.add
              (Whole.mul (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Whole.sub r' b)))
      (fun _ ->
      if Whole.leq (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) b
      then (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)
      else (Big_int_Z.unit_big_int, Big_int_Z.zero_big_int))
      a

  (** val div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let div_eucl = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> (zero_big_int, x)
  | 1 -> quomod_big_int x y
  | _ -> let (q, r) = quomod_big_int (add_int_big_int (-1) x) y in
          (add_int_big_int (-1) q, add_big_int (add_int_big_int 1 y) r))

  (** val div :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> zero_big_int
  | 1 -> div_big_int x y
  | _ -> add_int_big_int (-1) (div_big_int (add_int_big_int (-1) x) y))

  (** val modulo :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let modulo = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> x
  | 1 -> mod_big_int x y
  | _ -> add_big_int y (add_int_big_int 1 (mod_big_int (add_int_big_int (-1) x) y)))

  (** val even : Big_int_Z.big_int -> bool **)

  let even z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> true)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> true)
        (fun _ -> false)
        p)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> true)
        (fun _ -> false)
        p)
      z0

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> (Pos.div2 p))
        (fun _ -> (Pos.div2 p))
        (fun _ -> Big_int_Z.zero_big_int)
        p)
      (fun p -> Big_int_Z.minus_big_int (Pos.div2_up p))
      z0

  (** val log2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let log2 = Whole.log2

  (** val shiftl :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftl = Big_int_Z.(fun x y ->
  let y = int_of_big_int y in
  if y < 0 then shift_right_big_int x (-y)
  else shift_left_big_int x y)

  (** val shiftr :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftr = Big_int_Z.(fun x y ->
  let y = int_of_big_int y in
  if y < 0 then shift_left_big_int x (-y)
  else shift_right_big_int x y)

  (** val eq_dec : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let eq_dec = Big_int_Z.eq_big_int
 end

(** val zeq_bool : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let zeq_bool x y =
  match Z.compare x y with
  | Eq -> true
  | _ -> false

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val tl : 'a1 list -> 'a1 list **)

let tl = function
| [] -> []
| _ :: m -> m

(** val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool **)

let rec in_dec h a = function
| [] -> false
| y :: l0 -> let s = h y a in if s then true else in_dec h a l0

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n l default =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t -> nth m t default)
    n

(** val nth_error : 'a1 list -> int -> 'a1 option **)

let rec nth_error l n =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> match l with
              | [] -> None
              | x :: _ -> Some x)
    (fun n0 -> match l with
               | [] -> None
               | _ :: l0 -> nth_error l0 n0)
    n

(** val count_occ : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 -> int **)

let rec count_occ eq_dec0 l x =
  match l with
  | [] -> 0
  | y :: tl0 ->
    let n = count_occ eq_dec0 tl0 x in
    if eq_dec0 y x then Checked.succ n else n

(** val rev : 'a1 list -> 'a1 list **)

let rec rev = function
| [] -> []
| x :: l' -> app (rev l') (x :: [])

(** val concat : 'a1 list list -> 'a1 list **)

let rec concat = function
| [] -> []
| x :: l0 -> app x (concat l0)

(** val list_eq_dec : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec list_eq_dec eq_dec0 l l' =
  match l with
  | [] -> (match l' with
           | [] -> true
           | _ :: _ -> false)
  | y :: l0 ->
    (match l' with
     | [] -> false
     | a :: l1 -> if eq_dec0 y a then list_eq_dec eq_dec0 l0 l1 else false)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl0 -> if f x then Some x else find f tl0

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl0 ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl0 tl'))

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n l =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> [])
    (fun n0 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n0 l0))
    n

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n l =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> l)
    (fun n0 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n0 l0)
    n

(** val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec nodup decA = function
| [] -> []
| x :: xs -> if in_dec decA x xs then nodup decA xs else x :: (nodup decA xs)

(** val seq : int -> int -> int list **)

let rec seq start0 len0 =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> [])
    (fun len1 -> start0 :: (seq (Checked.succ start0) len1))
    len0

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat x n =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> [])
    (fun k -> x :: (repeat x k))
    n

(** val list_sum : int list -> int **)

let list_sum l =
  fold_right add 0 l

(** val list_max : int list -> int **)

let list_max l =
  fold_right max 0 l

(** val emin : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let emin prec emax =
  Whole.sub
    (Whole.sub
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      Big_int_Z.unit_big_int) emax) prec

(** val cond_Zopp : bool -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let cond_Zopp b m =
  if b then Whole.neg m else m

type full_float =
| F754_zero of bool
| F754_infinity of bool
| F754_nan of bool * Big_int_Z.big_int
| F754_finite of bool * Big_int_Z.big_int * Big_int_Z.big_int

(** val split_bits :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (bool * Big_int_Z.big_int) * Big_int_Z.big_int **)

let split_bits mw ew x =
  let mm = Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) mw in
  let em = Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) ew in
  (((Whole.leq (Whole.mul mm em) x), (Z.modulo x mm)),
  (Z.modulo (Z.div x mm) em))

(** val binary_float_of_bits_aux :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> full_float **)

let binary_float_of_bits_aux mw ew =
  let prec = Whole.add mw Big_int_Z.unit_big_int in
  let emax =
    Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub ew Big_int_Z.unit_big_int)
  in
  (fun x ->
  let (p, ex) = split_bits mw ew x in
  let (sx, mx) = p in
  if zeq_bool ex Big_int_Z.zero_big_int
  then ((fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
          (fun _ -> F754_zero sx)
          (fun px -> F754_finite (sx, px, (emin prec emax)))
          (fun _ -> F754_nan (false, Big_int_Z.unit_big_int))
          mx)
  else if zeq_bool ex
            (Whole.sub
              (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) ew)
              Big_int_Z.unit_big_int)
       then ((fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
               (fun _ -> F754_infinity sx)
               (fun plx -> F754_nan (sx, plx))
               (fun _ -> F754_nan (false, Big_int_Z.unit_big_int))
               mx)
       else ((fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
               (fun _ -> F754_nan (false, Big_int_Z.unit_big_int))
               (fun px -> F754_finite (sx, px,
               (Whole.sub (Whole.add ex (emin prec emax))
                 Big_int_Z.unit_big_int)))
               (fun _ -> F754_nan (false,
               Big_int_Z.unit_big_int))
               (Whole.add mx
                 (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                   mw))))

type format = { digits : Big_int_Z.big_int; least : Big_int_Z.big_int;
                top : Big_int_Z.big_int }

(** val binary64 : format **)

let binary64 =
  { digits =
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))); least = (Big_int_Z.minus_big_int
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))))))))); top = (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))))) }

(** val binary32 : format **)

let binary32 =
  { digits = (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int)))); least = (Big_int_Z.minus_big_int
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))))); top = (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))))) }

(** val bfloat16 : format **)

let bfloat16 =
  { digits = (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))); least =
    (Big_int_Z.minus_big_int
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))))); top = (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))))) }

(** val binary16 : format **)

let binary16 =
  { digits =
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))); least =
    (Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))); top = (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))) }

type arithmetic = { accumulator : format; stored : format }

(** val float64 : arithmetic **)

let float64 =
  { accumulator = binary64; stored = binary64 }

(** val float32 : arithmetic **)

let float32 =
  { accumulator = binary32; stored = binary32 }

(** val float_bf16 : arithmetic **)

let float_bf16 =
  { accumulator = binary32; stored = bfloat16 }

(** val float16 : arithmetic **)

let float16 =
  { accumulator = binary32; stored = binary16 }

type machine = { start : int; moves : int list list; shows : int list }

type tensor = { unit0 : Big_int_Z.big_int; rows : Big_int_Z.big_int list list }

(** val row : tensor -> int -> Big_int_Z.big_int list **)

let row t i =
  nth i t.rows []

type network = { units : int; letters : int; classes : int;
                 hidden_start : tensor; hidden_weight : tensor;
                 hidden_bias : tensor; input_weight : tensor;
                 unembed_weight : tensor; unembed_bias : tensor }

type node = { vector : Big_int_Z.big_int list; state : int; next : int list }

(** val add0 :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec add0 x y =
  match x with
  | [] -> y
  | a :: x' ->
    (match y with
     | [] -> x
     | b :: y' -> (Whole.add a b) :: (add0 x' y'))

(** val weigh :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list **)

let rec weigh v m =
  match v with
  | [] -> []
  | a :: v' ->
    (match m with
     | [] -> []
     | r :: m' ->
       if Whole.equal a Big_int_Z.zero_big_int
       then weigh v' m'
       else add0 (map (Whole.mul a) r) (weigh v' m'))

(** val sums :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let sums v m more =
  add0 (weigh v m) more

(** val fits : format -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let fits f p g =
  (&&)
    ((&&)
      ((&&) (Whole.lt Big_int_Z.zero_big_int f.digits) (Whole.leq p f.digits))
      (Whole.leq
        (Whole.sub (Whole.add f.least f.digits) Big_int_Z.unit_big_int) g))
    (Whole.leq (Whole.add p g) f.top)

(** val precision : arithmetic -> Big_int_Z.big_int **)

let precision a =
  Whole.min a.accumulator.digits a.stored.digits

(** val fine : arithmetic -> Big_int_Z.big_int -> bool **)

let fine a g =
  (&&) (fits a.accumulator (precision a) g) (fits a.stored (precision a) g)

(** val small : arithmetic -> Big_int_Z.big_int list -> bool **)

let small a x =
  forallb (fun s ->
    Whole.lt s
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (precision a))) x

(** val reached :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    bool **)

let rec reached scale x v =
  match x with
  | [] -> forallb (Whole.equal Big_int_Z.zero_big_int) v
  | a :: x' ->
    (match v with
     | [] -> forallb (fun a0 -> Whole.leq a0 Big_int_Z.zero_big_int) x
     | b :: v' ->
       (&&)
         (Whole.equal (Whole.max a Big_int_Z.zero_big_int)
           (Whole.mul b scale)) (reached scale x' v'))

(** val below :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> int -> int -> bool **)

let rec below top0 z0 c at_ =
  match z0 with
  | [] -> true
  | a :: z' ->
    (&&) ((||) (Checked.equal at_ c) (Whole.lt a top0))
      (below top0 z' c (Checked.succ at_))

(** val magnitudes :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list **)

let magnitudes m =
  map (map Whole.abs) m

(** val says :
    arithmetic -> network -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list -> int -> bool **)

let says a n sizes v c =
  let bias0 = row n.unembed_bias 0 in
  let z0 = firstn n.classes (sums v n.unembed_weight.rows bias0) in
  (&&)
    ((&&)
      ((&&) (Checked.less c n.classes) (Checked.equal (length z0) n.classes))
      (below (nth c z0 Big_int_Z.zero_big_int) z0 c 0))
    (small a (sums (map Whole.abs v) sizes (map Whole.abs bias0)))

(** val moved :
    arithmetic -> network -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list -> int -> Big_int_Z.big_int list -> bool **)

let moved a n sizes v a0 w =
  let bias0 = row n.hidden_bias 0 in
  let letter = row n.input_weight a0 in
  (&&)
    (reached
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Whole.neg n.hidden_weight.unit0))
      (sums v n.hidden_weight.rows (add0 bias0 letter)) w)
    (small a
      (sums (map Whole.abs v) sizes
        (add0 (map Whole.abs bias0) (map Whole.abs letter))))

(** val edge :
    arithmetic -> network -> machine -> node list -> bool list ->
    Big_int_Z.big_int list list -> node -> int -> bool **)

let edge a n m nodes right sizes x a0 =
  match nth_error x.next a0 with
  | Some k ->
    (match nth_error m.moves a0 with
     | Some r ->
       (match nth_error nodes k with
        | Some y ->
          (match nth_error r x.state with
           | Some q ->
             (&&) ((&&) (Checked.equal q y.state) (nth k right false))
               (moved a n sizes x.vector a0 y.vector)
           | None -> false)
        | None -> false)
     | None -> false)
  | None -> false

(** val units_agree : arithmetic -> network -> bool **)

let units_agree a n =
  let s = n.hidden_start.unit0 in
  let g = Whole.add s n.hidden_weight.unit0 in
  let r = Whole.add s n.unembed_weight.unit0 in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (Whole.leq n.hidden_weight.unit0 Big_int_Z.zero_big_int)
            (Whole.equal n.hidden_bias.unit0 g))
          (Whole.equal n.input_weight.unit0 g))
        (Whole.equal n.unembed_bias.unit0 r)) (fine a g)) (fine a r)

(** val check : arithmetic -> network -> machine -> node list -> bool **)

let check a n m nodes =
  let sizes = magnitudes n.hidden_weight.rows in
  let read0 = magnitudes n.unembed_weight.rows in
  let right =
    map (fun x ->
      match nth_error m.shows x.state with
      | Some c -> says a n read0 x.vector c
      | None -> false) nodes
  in
  (&&)
    ((&&)
      ((&&) (units_agree a n)
        (forallb (fun x -> Checked.leq (length x.vector) n.units) nodes))
      (match nodes with
       | [] -> false
       | x :: _ ->
         (&&) (Checked.equal x.state m.start)
           (if list_eq_dec Z.eq_dec x.vector (row n.hidden_start 0)
            then true
            else false)))
    (forallb (fun x ->
      forallb (edge a n m nodes right sizes x) (seq 0 (length m.moves)))
      nodes)

type stream = int -> int option

type op =
| Token
| Position of int list
| Table of int list * (int list * int) list
| Select of int * int list
| Sum of int list
| Shift of int * int
| Latest of int * int
| LatestMatch of int * int * int
| SiblingLatest of int * int * int
| PrefixSum of int
| MarkedSum of int * int
| Earliest of int * int

type program = op list

(** val get : stream list -> int -> int -> int option **)

let get env x t =
  match nth_error env x with
  | Some s -> s t
  | None -> None

(** val gets : stream list -> int list -> int -> int list option **)

let rec gets env xs t =
  match xs with
  | [] -> Some []
  | x :: r ->
    (match get env x t with
     | Some v ->
       (match gets env r t with
        | Some l -> Some (v :: l)
        | None -> None)
     | None -> None)

(** val leqb : int list -> int list -> bool **)

let rec leqb a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a' ->
    (match b with
     | [] -> false
     | y :: b' -> (&&) (Checked.equal x y) (leqb a' b'))

(** val lookup : (int list * 'a1) list -> int list -> 'a1 option **)

let rec lookup rows0 k =
  match rows0 with
  | [] -> None
  | p :: r -> let (a, b) = p in if leqb a k then Some b else lookup r k

(** val is : int -> int option -> bool **)

let is v = function
| Some u -> Checked.equal u v
| None -> false

(** val last_where : (int -> bool) -> int -> int -> int option **)

let rec last_where p lo0 t =
  if Checked.less t lo0
  then None
  else if p t
       then Some t
       else ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
               (fun _ -> None)
               (fun t' -> last_where p lo0 t')
               t)

(** val first_where : (int -> bool) -> int -> int option **)

let rec first_where p t =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> None)
    (fun t' ->
    match first_where p t' with
    | Some j -> Some j
    | None -> if p t then Some t else None)
    t

(** val total : (int -> int option) -> int -> int option **)

let rec total f t =
  match f t with
  | Some v ->
    ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
       (fun _ -> Some v)
       (fun t' ->
       match total f t' with
       | Some s -> Some (add s v)
       | None -> None)
       t)
  | None -> None

(** val matched : stream list -> int -> int -> int -> int -> int option **)

let matched env x key0 v t =
  match last_where (fun j -> is v (get env key0 j)) (Checked.succ 0) t with
  | Some j -> get env x j
  | None -> get env x 0

(** val sem : int -> int list -> op -> stream list -> stream **)

let sem letters0 w o env t =
  match o with
  | Token ->
    ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
       (fun _ -> Some letters0)
       (fun i -> nth_error w i)
       t)
  | Position vs -> nth_error vs t
  | Table (xs, rows0) ->
    (match gets env xs t with
     | Some a -> lookup rows0 a
     | None -> None)
  | Select (i, xs) ->
    (match get env i t with
     | Some j ->
       (match nth_error xs j with
        | Some x -> get env x t
        | None -> None)
     | None -> None)
  | Sum xs ->
    (match gets env xs t with
     | Some l -> Some (list_sum l)
     | None -> None)
  | Shift (x, k) -> get env x (sub t k)
  | Latest (x, m) ->
    (match last_where (fun j -> is (Checked.succ 0) (get env m j)) 0 t with
     | Some j -> get env x j
     | None -> None)
  | LatestMatch (x, key0, q) ->
    (match get env q t with
     | Some v -> matched env x key0 v t
     | None -> None)
  | SiblingLatest (x, m, l) ->
    let b = Nat.div t (Nat.pow (Checked.succ (Checked.succ 0)) l) in
    if Nat.odd b
    then (match last_where (fun j -> is (Checked.succ 0) (get env m j))
                  (mul (sub b (Checked.succ 0))
                    (Nat.pow (Checked.succ (Checked.succ 0)) l))
                  (sub (mul b (Nat.pow (Checked.succ (Checked.succ 0)) l))
                    (Checked.succ 0)) with
          | Some j -> get env x j
          | None -> get env x 0)
    else get env x 0
  | PrefixSum x -> total (fun j -> get env x j) t
  | MarkedSum (x, m) ->
    total (fun j ->
      match get env m j with
      | Some n ->
        ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
           (fun _ -> Some 0)
           (fun n0 ->
           (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
             (fun _ -> get env x j)
             (fun _ -> Some 0)
             n0)
           n)
      | None -> None) t
  | Earliest (x, m) ->
    (match first_where (fun j -> is (Checked.succ 0) (get env m j)) t with
     | Some j -> get env x j
     | None -> get env x 0)

type aset = int list

(** val mem : int -> aset -> bool **)

let mem v l =
  existsb (Checked.equal v) l

(** val subset : aset -> aset -> bool **)

let subset a b =
  forallb (fun v -> mem v b) a

(** val dedup : aset -> aset **)

let dedup l =
  nodup Checked.equal l

type ann =
| Hidden
| Mapped
| Cells
| Lowered of int * int * int
| Keyed of int list

type part = { outs : int list; len : int; exact : bool;
              anns : (ann * bool) list; qs : int list; depths : int list;
              follow : int list list; cells : aset list list list }

(** val all : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option **)

let rec all f = function
| [] -> Some []
| x :: r ->
  (match f x with
   | Some y -> (match all f r with
                | Some s -> Some (y :: s)
                | None -> None)
   | None -> None)

(** val kget : aset option list -> int -> aset option **)

let kget known0 x =
  match nth_error known0 x with
  | Some k -> k
  | None -> None

(** val prods : aset list -> int list list **)

let rec prods = function
| [] -> [] :: []
| l :: r -> let p = prods r in flat_map (fun v -> map (fun x -> v :: x) p) l

(** val lower : int -> int -> int -> int **)

let lower tau least0 u =
  sub u (mul (Nat.div (sub u least0) tau) tau)

(** val raise : int -> int -> int -> int -> aset **)

let raise tau least0 max0 u =
  if (&&) (Checked.leq least0 u) (Checked.less 0 tau)
  then filter (fun v -> Checked.leq v max0)
         (map (fun j -> add u (mul j tau))
           (seq 0 (Checked.succ (Nat.div max0 tau))))
  else u :: []

(** val sums0 : int -> int -> aset -> aset -> aset **)

let sums0 tau least0 old add1 =
  dedup
    (map (lower tau least0)
      (flat_map (fun u -> map (fun v -> add u v) add1) old))

(** val flagged : aset -> aset -> aset -> aset **)

let flagged fl yes no =
  app (if mem (Checked.succ 0) fl then yes else [])
    (if existsb (fun v -> negb (Checked.equal v (Checked.succ 0))) fl
     then no
     else [])

(** val counted :
    int -> int -> int -> int -> aset list -> aset -> (aset option * aset
    list) option **)

let counted tau least0 most0 l cs add1 =
  let new0 = sums0 tau least0 (nth 0 cs []) add1 in
  if forallb (fun v -> Checked.leq v most0) add1
  then Some ((Some (dedup (flat_map (raise tau least0 (mul most0 l)) new0))),
         (new0 :: []))
  else None

(** val rekey : aset -> aset -> (int * aset) -> aset **)

let rekey src ks p =
  if mem (fst p) ks
  then app src (if forallb (Checked.equal (fst p)) ks then [] else snd p)
  else snd p

(** val rekeyed : aset -> aset -> int list -> aset list -> aset list **)

let rekeyed src ks keys cs =
  map (rekey src ks) (combine keys cs)

(** val answer : int list -> aset list -> aset -> int -> aset **)

let answer keys cs default v =
  app (if mem v keys then [] else default)
    (flat_map (fun p -> if Checked.equal (fst p) v then snd p else [])
      (combine keys cs))

(** val aop :
    int -> int -> bool -> op -> ann -> aset list -> int -> int -> aset option
    list -> (aset option * aset list) option **)

let aop _ l ex o h cs a t known0 =
  match h with
  | Hidden -> Some (None, [])
  | Mapped ->
    (match o with
     | Token -> Some ((Some (a :: [])), [])
     | Position vs ->
       if ex
       then (match nth_error vs t with
             | Some v -> Some ((Some (v :: [])), [])
             | None -> None)
       else None
     | Table (xs, rows0) ->
       (match all (kget known0) xs with
        | Some ls ->
          (match all (lookup rows0) (prods ls) with
           | Some l0 -> Some ((Some (dedup l0)), [])
           | None -> None)
        | None -> None)
     | Select (i, xs) ->
       (match kget known0 i with
        | Some js ->
          (match all (fun j ->
                   match nth_error xs j with
                   | Some x -> kget known0 x
                   | None -> None) js with
           | Some l0 -> Some ((Some (dedup (concat l0))), [])
           | None -> None)
        | None -> None)
     | Sum xs ->
       (match all (kget known0) xs with
        | Some ls -> Some ((Some (dedup (map list_sum (prods ls)))), [])
        | None -> None)
     | _ -> None)
  | Cells ->
    (match o with
     | Shift (x, _) ->
       (match kget known0 x with
        | Some l0 ->
          (match cs with
           | [] -> None
           | c :: r -> Some ((Some c), (app r (l0 :: []))))
        | None -> None)
     | Latest (x, m) ->
       (match kget known0 x with
        | Some l0 ->
          (match kget known0 m with
           | Some fl ->
             let new0 = dedup (flagged fl l0 (nth 0 cs [])) in
             Some ((Some new0), (new0 :: []))
           | None -> None)
        | None -> None)
     | Earliest (x, m) ->
       (match kget known0 x with
        | Some l0 ->
          (match kget known0 m with
           | Some fl ->
             let seen = nth 0 cs [] in
             let unseen = nth (Checked.succ 0) cs [] in
             let new0 =
               dedup
                 (app seen
                   (flagged fl (match unseen with
                                | [] -> []
                                | _ :: _ -> l0) []))
             in
             let left = flagged fl [] unseen in
             Some ((Some (dedup (app new0 left))), (new0 :: (left :: [])))
           | None -> None)
        | None -> None)
     | _ -> None)
  | Lowered (tau, least0, most0) ->
    (match o with
     | PrefixSum x ->
       (match kget known0 x with
        | Some add1 -> counted tau least0 most0 l cs add1
        | None -> None)
     | MarkedSum (x, m) ->
       (match kget known0 x with
        | Some l0 ->
          (match kget known0 m with
           | Some fl ->
             counted tau least0 most0 l cs (flagged fl l0 (0 :: []))
           | None -> None)
        | None -> None)
     | _ -> None)
  | Keyed keys ->
    (match o with
     | LatestMatch (x, key0, q) ->
       (match kget known0 x with
        | Some src ->
          (match kget known0 key0 with
           | Some ks ->
             (match kget known0 q with
              | Some asked ->
                let front = firstn (length keys) cs in
                let default = nth (length keys) cs [] in
                let new0 = rekeyed src ks keys front in
                if forallb (fun v -> mem v keys) ks
                then Some ((Some
                       (dedup (flat_map (answer keys new0 default) asked))),
                       (app new0 (default :: [])))
                else None
              | None -> None)
           | None -> None)
        | None -> None)
     | _ -> None)

type world = aset option list * aset list list

(** val astep :
    int -> int -> bool -> program -> (ann * bool) list -> aset list list ->
    int -> int -> aset option list -> world list option **)

let rec astep letters0 l ex p hs cs a t known0 =
  match p with
  | [] ->
    (match hs with
     | [] -> (match cs with
              | [] -> Some ((known0, []) :: [])
              | _ :: _ -> None)
     | _ :: _ -> None)
  | o :: p' ->
    (match hs with
     | [] -> None
     | p0 :: hs' ->
       let (h, sp) = p0 in
       (match cs with
        | [] -> None
        | c :: cs' ->
          (match aop letters0 l ex o h c a t known0 with
           | Some p1 ->
             let (k, after0) = p1 in
             let cases0 =
               if sp
               then (match k with
                     | Some l0 -> map (fun v -> Some (v :: [])) l0
                     | None -> k :: [])
               else k :: []
             in
             (match all (fun k0 ->
                      astep letters0 l ex p' hs' cs' a t
                        (app known0 (k0 :: []))) cases0 with
              | Some ws ->
                Some
                  (map (fun w -> ((fst w), (after0 :: (snd w)))) (concat ws))
              | None -> None)
           | None -> None)))

(** val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool **)

let rec all2 f l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | x :: l' ->
    (match m with
     | [] -> false
     | y :: m' -> (&&) (f x y) (all2 f l' m'))

(** val within : aset list list -> aset list list -> bool **)

let within a b =
  all2 (all2 subset) a b

(** val const : int option -> stream **)

let const o _ =
  o

(** val has : int option -> aset -> bool **)

let has o l =
  match o with
  | Some v -> mem v l
  | None -> false

(** val starts : int -> op -> ann -> aset list -> stream list -> bool **)

let starts letters0 o h cs env =
  let here = sem letters0 [] o env 0 in
  (match h with
   | Hidden -> true
   | Mapped ->
     (match o with
      | Token -> true
      | Position _ -> true
      | Table (_, _) -> true
      | Select (_, _) -> true
      | Sum _ -> true
      | _ -> false)
   | Cells ->
     (match o with
      | Shift (x, k) ->
        (&&) ((&&) (Checked.equal (length cs) k) (Checked.less 0 k))
          (forallb (has (get env x 0)) cs)
      | Latest (_, _) -> has here (nth 0 cs [])
      | Earliest (x, _) -> has (get env x 0) (nth (Checked.succ 0) cs [])
      | _ -> false)
   | Lowered (_, _, _) ->
     (match o with
      | PrefixSum _ -> (&&) (is 0 here) (mem 0 (nth 0 cs []))
      | MarkedSum (_, _) -> (&&) (is 0 here) (mem 0 (nth 0 cs []))
      | _ -> false)
   | Keyed keys ->
     (match o with
      | LatestMatch (x, _, _) ->
        (&&) (Checked.equal (length cs) (add (length keys) (Checked.succ 0)))
          (forallb (has (get env x 0)) cs)
      | _ -> false))

(** val begins :
    int -> program -> (ann * bool) list -> aset list list -> stream list ->
    bool **)

let rec begins letters0 p hs cs env =
  match p with
  | [] ->
    (match hs with
     | [] -> (match cs with
              | [] -> true
              | _ :: _ -> false)
     | _ :: _ -> false)
  | o :: p' ->
    (match hs with
     | [] -> false
     | p0 :: hs' ->
       let (h, _) = p0 in
       (match cs with
        | [] -> false
        | c :: cs' ->
          (&&) (starts letters0 o h c env)
            (begins letters0 p' hs' cs'
              (app env ((const (sem letters0 [] o env 0)) :: [])))))

(** val stepped : machine -> int -> int -> int option **)

let stepped m q a =
  match nth_error m.moves a with
  | Some row0 -> nth_error row0 q
  | None -> None

(** val arrow :
    machine -> program -> part -> int -> int -> (int * int list) list option **)

let arrow m p p0 s a =
  match nth_error p0.qs s with
  | Some q ->
    (match nth_error p0.depths s with
     | Some d ->
       (match nth_error p0.cells s with
        | Some cs ->
          (match stepped m q a with
           | Some q' ->
             (match nth_error p0.follow s with
              | Some row0 ->
                (match nth_error row0 a with
                 | Some s' ->
                   (match nth_error p0.qs s' with
                    | Some q2 ->
                      (match nth_error p0.depths s' with
                       | Some d' ->
                         (match nth_error p0.cells s' with
                          | Some cs' ->
                            if (&&) (Checked.equal q2 q')
                                 (if p0.exact
                                  then Checked.equal d' (Checked.succ d)
                                  else Checked.leq d' (Checked.succ d))
                            then (match astep (length m.moves) p0.len
                                          p0.exact p p0.anns cs a
                                          (Checked.succ d) [] with
                                  | Some ws ->
                                    if forallb (fun w -> within (snd w) cs')
                                         ws
                                    then (match all (fun w ->
                                                  all (kget (fst w)) p0.outs)
                                                  ws with
                                          | Some ls ->
                                            Some
                                              (map (fun x -> (q', x))
                                                (flat_map prods ls))
                                          | None -> None)
                                    else None
                                  | None -> None)
                            else None
                          | None -> None)
                       | None -> None)
                    | None -> None)
                 | None -> None)
              | None -> None)
           | None -> None)
        | None -> None)
     | None -> None)
  | None -> None

(** val shown : machine -> program -> part -> (int * int list) list option **)

let shown m p p0 =
  match p0.qs with
  | [] -> None
  | q :: _ ->
    (match p0.depths with
     | [] -> None
     | d :: _ ->
       (match p0.cells with
        | [] -> None
        | cs :: _ ->
          if (&&) ((&&) (Checked.equal q m.start) (Checked.equal d 0))
               (begins (length m.moves) p p0.anns cs [])
          then (match all (fun s ->
                        all (arrow m p p0 s) (seq 0 (length m.moves)))
                        (filter (fun s ->
                          Checked.less (nth s p0.depths 0) p0.len)
                          (seq 0 (length p0.qs))) with
                | Some ls -> Some (concat (concat ls))
                | None -> None)
          else None))

(** val reads_ok :
    machine -> (int list * int) list -> (int * int list) -> bool **)

let reads_ok m decode r =
  match nth_error m.shows (fst r) with
  | Some c ->
    (match lookup decode (snd r) with
     | Some c' -> Checked.equal c c'
     | None -> false)
  | None -> false

(** val check0 :
    machine -> program -> (int list * int) list -> part -> bool **)

let check0 m p decode p0 =
  match shown m p p0 with
  | Some l -> forallb (reads_ok m decode) l
  | None -> false

(** val inputs : op -> int list **)

let inputs = function
| Table (xs, _) -> xs
| Select (i, xs) -> i :: xs
| Sum xs -> xs
| Shift (x, _) -> x :: []
| Latest (x, w) -> x :: (w :: [])
| LatestMatch (x, key0, query0) -> x :: (key0 :: (query0 :: []))
| SiblingLatest (x, w, _) -> x :: (w :: [])
| PrefixSum x -> x :: []
| MarkedSum (x, w) -> x :: (w :: [])
| Earliest (x, w) -> x :: (w :: [])
| _ -> []

(** val ordered : int -> program -> bool **)

let rec ordered i = function
| [] -> true
| o :: r ->
  (&&) (forallb (fun x -> Checked.less x i) (inputs o))
    (ordered (Checked.succ i) r)

type domain = int * int list

(** val at_bos : domain -> int list **)

let at_bos d =
  (fst d) :: []

(** val mapped : op -> int list list -> int list option **)

let mapped o known0 =
  match o with
  | Table (_, rows0) -> all (lookup rows0) (prods known0)
  | Select (_, _) ->
    (match known0 with
     | [] -> None
     | js :: of0 ->
       (match all (fun j -> nth_error of0 j) js with
        | Some l -> Some (concat l)
        | None -> None))
  | Sum _ -> Some (map list_sum (prods known0))
  | _ -> None

(** val marks : program -> int -> int list option **)

let marks p w =
  match nth_error p w with
  | Some o ->
    (match o with
     | Position vs -> (match vs with
                       | [] -> None
                       | _ :: l -> Some l)
     | _ -> None)
  | None -> None

(** val heard : int -> int list -> int **)

let heard t l =
  count_occ Checked.equal (firstn t l) (Checked.succ 0)

(** val domain_of :
    int -> int -> program -> domain list -> op -> domain option **)

let domain_of letters0 longest p ds o =
  match all (nth_error ds) (inputs o) with
  | Some of0 ->
    (match o with
     | Token -> Some (letters0, (seq 0 letters0))
     | Position vs ->
       (match vs with
        | [] -> None
        | v :: r ->
          if Checked.leq longest (length r) then Some (v, (dedup r)) else None)
     | Shift (_, _) ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] -> Some ((fst x), (dedup ((fst x) :: (snd x))))
           | _ :: _ -> None))
     | Latest (_, _) ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] -> None
           | w :: l0 ->
             (match l0 with
              | [] ->
                if Checked.equal (fst w) (Checked.succ 0)
                then Some ((fst x), (dedup ((fst x) :: (snd x))))
                else None
              | _ :: _ -> None)))
     | LatestMatch (_, _, _) ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] -> None
           | _ :: l0 ->
             (match l0 with
              | [] -> None
              | _ :: l1 ->
                (match l1 with
                 | [] -> Some ((fst x), (dedup ((fst x) :: (snd x))))
                 | _ :: _ -> None))))
     | SiblingLatest (_, _, _) -> None
     | PrefixSum _ ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] ->
             if Checked.equal (fst x) 0
             then Some (0,
                    (seq 0
                      (add (Checked.succ 0) (mul longest (list_max (snd x))))))
             else None
           | _ :: _ -> None))
     | MarkedSum (_, w) ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] -> None
           | _ :: l0 ->
             (match l0 with
              | [] ->
                (match marks p w with
                 | Some l1 ->
                   if Checked.equal (fst x) 0
                   then Some (0,
                          (seq 0
                            (add (Checked.succ 0)
                              (mul (heard longest l1) (list_max (snd x))))))
                   else None
                 | None -> None)
              | _ :: _ -> None)))
     | Earliest (_, _) ->
       (match of0 with
        | [] -> None
        | x :: l ->
          (match l with
           | [] -> None
           | _ :: l0 ->
             (match l0 with
              | [] -> Some ((fst x), (dedup ((fst x) :: (snd x))))
              | _ :: _ -> None)))
     | _ ->
       (match mapped o (map at_bos of0) with
        | Some l0 ->
          (match l0 with
           | [] -> None
           | b :: _ ->
             (match mapped o (map snd of0) with
              | Some l -> Some (b, (dedup l))
              | None -> None))
        | None -> None))
  | None -> None

(** val domains_in :
    int -> int -> program -> domain list -> program -> domain list option **)

let rec domains_in letters0 longest p ds = function
| [] -> Some ds
| o :: r ->
  (match domain_of letters0 longest p ds o with
   | Some d -> domains_in letters0 longest p (app ds (d :: [])) r
   | None -> None)

(** val domains :
    int -> int -> domain list -> program -> domain list option **)

let domains letters0 longest ds p =
  domains_in letters0 longest p ds p

(** val key_of : op -> int option **)

let key_of = function
| Latest (_, w) -> Some w
| LatestMatch (_, k, _) -> Some k
| MarkedSum (_, w) -> Some w
| Earliest (_, w) -> Some w
| _ -> None

(** val query_of : op -> int option **)

let query_of = function
| LatestMatch (_, _, q) -> Some q
| _ -> None

(** val source_of : op -> int option **)

let source_of = function
| Shift (x, _) -> Some x
| Latest (x, _) -> Some x
| LatestMatch (x, _, _) -> Some x
| Earliest (x, _) -> Some x
| _ -> None

(** val flagged_by : op -> int -> int -> bool **)

let flagged_by o q k =
  match o with
  | Latest (_, _) -> Checked.equal k (Checked.succ 0)
  | LatestMatch (_, _, _) -> Checked.equal k q
  | Earliest (_, _) -> Checked.equal k (Checked.succ 0)
  | _ -> true

(** val on : op -> int -> int -> int -> int -> bool **)

let on o t q r k =
  match o with
  | Shift (_, n) -> Checked.equal r (sub t n)
  | LatestMatch (_, _, _) -> (||) (Checked.equal r 0) (flagged_by o q k)
  | Earliest (_, _) -> (||) (Checked.equal r 0) (flagged_by o q k)
  | _ -> flagged_by o q k

(** val beside : op -> int -> int -> int -> int -> int -> bool **)

let beside o _ q r j k =
  match o with
  | Shift (_, _) -> true
  | Earliest (_, _) ->
    (||) ((||) (negb (flagged_by o q k)) (Checked.equal j 0))
      ((&&) (negb (Checked.equal r 0)) (Checked.less r j))
  | _ -> (||) (negb (flagged_by o q k)) (Checked.less j r)

(** val applied : op -> int list -> int option **)

let applied o vs =
  match o with
  | Table (_, rows0) -> lookup rows0 vs
  | Select (_, _) -> (match vs with
                      | [] -> None
                      | j :: r -> nth_error r j)
  | Sum _ -> Some (list_sum vs)
  | _ -> None

(** val all2o :
    ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option **)

let rec all2o h l m =
  match l with
  | [] -> (match m with
           | [] -> Some []
           | _ :: _ -> None)
  | x :: l' ->
    (match m with
     | [] -> None
     | y :: m' ->
       (match h x y with
        | Some z0 ->
          (match all2o h l' m' with
           | Some r -> Some (z0 :: r)
           | None -> None)
        | None -> None))

(** val decoded :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let decoded mw ew bits =
  match binary_float_of_bits_aux mw ew bits with
  | F754_zero _ -> Some (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
  | F754_finite (s, m, e) -> Some ((cond_Zopp s m), e)
  | _ -> None

(** val in_units :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int option **)

let in_units mw ew u bits =
  if Whole.equal bits Big_int_Z.zero_big_int
  then Some Big_int_Z.zero_big_int
  else (match decoded mw ew bits with
        | Some p ->
          let (m, e) = p in
          if Whole.leq u e
          then Some
                 (Whole.mul m
                   (Z.pow (Big_int_Z.mult_int_big_int 2
                     Big_int_Z.unit_big_int) (Whole.sub e u)))
          else let d =
                 Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                   (Whole.sub u e)
               in
               if Whole.equal (Z.modulo m d) Big_int_Z.zero_big_int
               then Some (Z.div m d)
               else None
        | None -> None)

(** val tensor_of_bits :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> tensor option **)

let tensor_of_bits mw ew u bits =
  match all (all (in_units mw ew u)) bits with
  | Some r -> Some { unit0 = u; rows = r }
  | None -> None

type scan = { family : int list; windows : (int * int) option list;
              pairs : (int * int list) list }

(** val act : program -> int list -> int -> int -> int option **)

let act p fam a v =
  match nth_error fam v with
  | Some c ->
    (match nth_error p c with
     | Some o ->
       (match o with
        | Table (xs, rows0) ->
          (match xs with
           | [] -> None
           | k :: l ->
             (match l with
              | [] ->
                (match nth_error p k with
                 | Some o0 ->
                   (match o0 with
                    | Token -> lookup rows0 (a :: [])
                    | _ -> None)
                 | None -> None)
              | _ :: _ -> None))
        | _ -> None)
     | None -> None)
  | None -> None

(** val claimed : (int * int) option list -> int -> (int * int) option **)

let claimed ws c =
  match nth_error ws c with
  | Some x -> x
  | None -> None

(** val is_window : int -> program -> scan -> int -> int -> int -> bool **)

let is_window letters0 p s c v n =
  (||)
    (match claimed s.windows c with
     | Some p0 ->
       let (v', n') = p0 in (&&) (Checked.equal v' v) (Checked.equal n' n)
     | None -> false)
    (match nth_error s.family v with
     | Some c' ->
       (&&) (Checked.equal c' c)
         (forallb (fun a ->
           match act p s.family a v with
           | Some u -> Checked.equal u v
           | None -> false) (seq 0 letters0))
     | None -> false)

(** val window_ok : int -> program -> scan -> int -> bool **)

let window_ok letters0 p s c =
  match claimed s.windows c with
  | Some p0 ->
    let (v, n) = p0 in
    (||)
      (match nth_error s.family v with
       | Some m -> (&&) (Checked.equal m c) (Checked.equal n (Checked.succ 0))
       | None -> false)
      (match nth_error p c with
       | Some o ->
         (match o with
          | Select (i, xs) ->
            (match nth_error p i with
             | Some o0 ->
               (match o0 with
                | Shift (x, a) ->
                  (&&)
                    ((&&)
                      ((&&)
                        ((&&) (is_window letters0 p s x v (sub n a))
                          (Checked.leq a n)) (Checked.less x c))
                      (Checked.equal (length xs) (length s.family)))
                    (forallb (fun y ->
                      (&&) (is_window letters0 p s (snd y) (fst y) a)
                        (Checked.less (snd y) c))
                      (combine (seq 0 (length xs)) xs))
                | _ -> false)
             | None -> false)
          | _ -> false)
       | None -> false)
  | None -> true

(** val pair_eqb : (int * int list) -> (int * int list) -> bool **)

let pair_eqb x y =
  (&&) (Checked.equal (fst x) (fst y)) (leqb (snd x) (snd y))

(** val scan_step :
    machine -> program -> (int list * int) list -> scan -> (int * int list)
    -> int -> bool **)

let scan_step m p decode s x a =
  match stepped m (fst x) a with
  | Some q ->
    (match all (act p s.family a) (snd x) with
     | Some vs ->
       (&&) (existsb (pair_eqb (q, vs)) s.pairs) (reads_ok m decode (q, vs))
     | None -> false)
  | None -> false

(** val check_scan :
    machine -> program -> int -> int list -> (int list * int) list -> scan ->
    bool **)

let check_scan m p longest outs0 decode s =
  let letters0 = length m.moves in
  let k = length s.family in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (ordered 0 p)
            (forallb (fun v ->
              match act p s.family letters0 v with
              | Some u -> Checked.equal u v
              | None -> false) (seq 0 k)))
          (forallb (fun a ->
            forallb (fun v ->
              match act p s.family a v with
              | Some u -> Checked.less u k
              | None -> false) (seq 0 k)) (seq 0 letters0)))
        (forallb (window_ok letters0 p s) (seq 0 (length p))))
      (match all (claimed s.windows) outs0 with
       | Some cs ->
         (&&)
           ((&&)
             (forallb (fun x ->
               (&&) (Checked.less (fst x) k) (Checked.leq longest (snd x)))
               cs) (forallb (fun x -> Checked.less x (length p)) outs0))
           (existsb (pair_eqb (m.start, (map fst cs))) s.pairs)
       | None -> false))
    (forallb (fun x -> forallb (scan_step m p decode s x) (seq 0 letters0))
      s.pairs)

(** val fact_eqb : (int * int list) -> (int * int list) -> bool **)

let fact_eqb x y =
  (&&) (Checked.equal (fst x) (fst y)) (leqb (snd x) (snd y))

(** val distinct_facts :
    (int * int list) list -> (int * int list) list -> (int * int list) list **)

let rec distinct_facts l acc =
  match l with
  | [] -> acc
  | x :: r ->
    distinct_facts r (if existsb (fact_eqb x) acc then acc else x :: acc)

(** val combos : int list list list -> int list list **)

let rec combos = function
| [] -> [] :: []
| l :: r -> let c = combos r in flat_map (fun v -> map (app v) c) l

(** val shown_at : int -> (int * int list) list -> int list list **)

let shown_at q facts =
  map snd (filter (fun x -> Checked.equal (fst x) q) facts)

(** val check_parts :
    machine -> program -> int -> (int list * int) list -> part list -> bool **)

let check_parts m p longest decode ps =
  (&&) (forallb (fun p0 -> Checked.equal p0.len longest) ps)
    (match all (shown m p) ps with
     | Some fs ->
       let fs0 = map (fun f -> distinct_facts f []) fs in
       forallb (fun q ->
         forallb (fun vs -> reads_ok m decode (q, vs))
           (combos (map (shown_at q) fs0))) (seq 0 (length m.shows))
     | None -> false)

(** val counterpart : int option list -> int -> int option **)

let counterpart kept0 x =
  match nth_error kept0 x with
  | Some y -> y
  | None -> None

(** val goes : int option list -> int -> int -> bool **)

let goes kept0 x y =
  match counterpart kept0 x with
  | Some z0 -> Checked.equal z0 y
  | None -> false

(** val row_eqb : (int list * int) -> (int list * int) -> bool **)

let row_eqb a b =
  (&&) (leqb (fst a) (fst b)) (Checked.equal (snd a) (snd b))

(** val alike : int option list -> op -> op -> bool **)

let alike kept0 o o' =
  let go = goes kept0 in
  (match o with
   | Token -> (match o' with
               | Token -> true
               | _ -> false)
   | Position a -> (match o' with
                    | Position b -> leqb a b
                    | _ -> false)
   | Table (xs, rows0) ->
     (match o' with
      | Table (ys, rows') -> (&&) (all2 go xs ys) (all2 row_eqb rows0 rows')
      | _ -> false)
   | Select (i, xs) ->
     (match o' with
      | Select (j, ys) -> (&&) (go i j) (all2 go xs ys)
      | _ -> false)
   | Sum xs -> (match o' with
                | Sum ys -> all2 go xs ys
                | _ -> false)
   | Shift (x, k) ->
     (match o' with
      | Shift (y, n) -> (&&) (go x y) (Checked.equal k n)
      | _ -> false)
   | Latest (x, m) ->
     (match o' with
      | Latest (y, n) -> (&&) (go x y) (go m n)
      | _ -> false)
   | LatestMatch (x, k, q) ->
     (match o' with
      | LatestMatch (y, l, r) -> (&&) ((&&) (go x y) (go k l)) (go q r)
      | _ -> false)
   | SiblingLatest (x, m, l) ->
     (match o' with
      | SiblingLatest (y, n, k) ->
        (&&) ((&&) (go x y) (go m n)) (Checked.equal l k)
      | _ -> false)
   | PrefixSum x -> (match o' with
                     | PrefixSum y -> go x y
                     | _ -> false)
   | MarkedSum (x, m) ->
     (match o' with
      | MarkedSum (y, n) -> (&&) (go x y) (go m n)
      | _ -> false)
   | Earliest (x, m) ->
     (match o' with
      | Earliest (y, n) -> (&&) (go x y) (go m n)
      | _ -> false))

(** val tabled :
    program -> int -> (int list * (int list * int) list) option **)

let tabled p c =
  match nth_error p c with
  | Some o -> (match o with
               | Table (xs, rows0) -> Some (xs, rows0)
               | _ -> None)
  | None -> None

(** val any_letter : int -> program -> int -> bool **)

let any_letter letters0 p c =
  match tabled p c with
  | Some p0 ->
    let (l, rows0) = p0 in
    (match l with
     | [] -> false
     | k :: l0 ->
       (match l0 with
        | [] ->
          (&&)
            ((&&)
              (match nth_error p k with
               | Some o -> (match o with
                            | Token -> true
                            | _ -> false)
               | None -> false) (is 0 (lookup rows0 (letters0 :: []))))
            (forallb (fun a -> is (Checked.succ 0) (lookup rows0 (a :: [])))
              (seq 0 letters0))
        | _ :: _ -> false))
  | None -> false

(** val both : program -> int -> int -> int -> bool **)

let both p c a b =
  match tabled p c with
  | Some p0 ->
    let (l, rows0) = p0 in
    (match l with
     | [] -> false
     | a' :: l0 ->
       (match l0 with
        | [] -> false
        | b' :: l1 ->
          (match l1 with
           | [] ->
             (&&)
               ((&&) ((&&) (Checked.equal a' a) (Checked.equal b' b))
                 (is (Checked.succ 0)
                   (lookup rows0 ((Checked.succ 0) :: ((Checked.succ
                     0) :: [])))))
               (forallb (fun r ->
                 (||) (negb (Checked.equal (snd r) (Checked.succ 0)))
                   (leqb (fst r) ((Checked.succ 0) :: ((Checked.succ
                     0) :: [])))) rows0)
           | _ :: _ -> false)))
  | None -> false

(** val pointing : int -> program -> int -> int -> (int * int) option **)

let pointing l p x y =
  match nth_error p x with
  | Some o ->
    (match o with
     | Latest (b, f) ->
       (match nth_error p y with
        | Some o0 ->
          (match o0 with
           | Earliest (l0, e) ->
             (match nth_error p b with
              | Some o1 ->
                (match o1 with
                 | Position vs ->
                   (match nth_error p l0 with
                    | Some o2 ->
                      (match o2 with
                       | Position us ->
                         if (&&) (leqb vs (0 :: (seq 0 l)))
                              (leqb us
                                (0 :: (map (fun t -> sub l t)
                                        (seq (Checked.succ 0) l))))
                         then Some (f, e)
                         else None
                       | _ -> None)
                    | None -> None)
                 | _ -> None)
              | None -> None)
           | _ -> None)
        | None -> None)
     | _ -> None)
  | None -> None

(** val tested : int -> program -> int -> (int * int) option **)

let tested l p c =
  match tabled p c with
  | Some p0 ->
    let (l0, rows0) = p0 in
    (match l0 with
     | [] -> None
     | s :: l1 ->
       (match l1 with
        | [] ->
          (match nth_error p s with
           | Some o ->
             (match o with
              | Sum xs ->
                (match xs with
                 | [] -> None
                 | x :: l2 ->
                   (match l2 with
                    | [] -> None
                    | y :: l3 ->
                      (match l3 with
                       | [] ->
                         if all2 row_eqb rows0
                              (map (fun s0 -> ((s0 :: []),
                                (if Checked.leq l s0
                                 then Checked.succ 0
                                 else 0)))
                                (seq 0
                                  (sub
                                    (mul (Checked.succ (Checked.succ 0)) l)
                                    (Checked.succ 0))))
                         then (match pointing l p x y with
                               | Some fe -> Some fe
                               | None -> pointing l p y x)
                         else None
                       | _ :: _ -> None)))
              | _ -> None)
           | None -> None)
        | _ :: _ -> None))
  | None -> None

(** val happened : int -> program -> int -> int -> int -> bool **)

let happened letters0 p c f e =
  match nth_error p c with
  | Some o ->
    (match o with
     | Earliest (one, m) ->
       (match tabled p m with
        | Some p0 ->
          let (l, _) = p0 in
          (match l with
           | [] -> false
           | _ :: l1 ->
             (match l1 with
              | [] -> false
              | g :: l2 ->
                (match l2 with
                 | [] ->
                   (match nth_error p g with
                    | Some o0 ->
                      (match o0 with
                       | Shift (y, k) ->
                         ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
                            (fun _ -> false)
                            (fun n ->
                            (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
                              (fun _ ->
                              match nth_error p y with
                              | Some o1 ->
                                (match o1 with
                                 | Earliest (one', e') ->
                                   (&&)
                                     ((&&)
                                       ((&&) (any_letter letters0 p one)
                                         (any_letter letters0 p one'))
                                       (Checked.equal e' e)) (both p m f g)
                                 | _ -> false)
                              | None -> false)
                              (fun _ -> false)
                              n)
                            k)
                       | _ -> false)
                    | None -> false)
                 | _ :: _ -> false)))
        | None -> false)
     | _ -> false)
  | None -> false

(** val same :
    int -> int -> domain list -> program -> program -> int option list -> int
    -> bool **)

let same letters0 l ds p p' kept0 c =
  match counterpart kept0 c with
  | Some c' ->
    (match nth_error p c with
     | Some o ->
       (match nth_error p' c' with
        | Some o' ->
          (||) (alike kept0 o o')
            (match tested l p c with
             | Some p0 ->
               let (f, e) = p0 in
               (match counterpart kept0 f with
                | Some f' ->
                  (match counterpart kept0 e with
                   | Some e' ->
                     (&&) (happened letters0 p' c' f' e')
                       (match nth_error ds f' with
                        | Some d -> Checked.equal (fst d) (Checked.succ 0)
                        | None -> false)
                   | None -> false)
                | None -> false)
             | None -> false)
        | None -> false)
     | None -> false)
  | None -> true

(** val instead :
    int -> int -> program -> program -> int option list -> bool **)

let instead letters0 l p p' kept0 =
  (&&)
    ((&&) ((&&) (ordered 0 p) (ordered 0 p'))
      (Checked.leq (Checked.succ 0) l))
    (match domains letters0 l [] p' with
     | Some ds -> forallb (same letters0 l ds p p' kept0) (seq 0 (length p))
     | None -> false)

(** val ordinary : format -> bool **)

let ordinary f =
  (&&)
    ((&&)
      (Whole.leq
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))) f.digits)
      (Whole.leq
        (Whole.add f.digits (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)) f.top))
    (Whole.leq
      (Whole.add f.least
        (Whole.mul
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int) f.digits)) Big_int_Z.zero_big_int)

type head = { query : tensor; key : tensor; val0 : tensor; out : tensor }

type layer = { fan : int; weight : tensor; bias : tensor }

type block = { heads : head list; d_qk : int; d_v : int; layers : layer list;
               keeps : bool list }

type transformer = { width : int; answers : int; embed_token : tensor;
                     embed_position : tensor; blocks : block list;
                     unembed : tensor; answer_bias : tensor }

type interval = Big_int_Z.big_int * Big_int_Z.big_int

(** val nil_interval : interval **)

let nil_interval =
  (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)

(** val reach : interval -> Big_int_Z.big_int **)

let reach x =
  Whole.max (Whole.abs (fst x)) (Whole.abs (snd x))

(** val hull : interval -> interval -> interval **)

let hull x y =
  ((Whole.min (fst x) (fst y)), (Whole.max (snd x) (snd y)))

(** val wider : Big_int_Z.big_int -> interval -> interval **)

let wider e x =
  ((Whole.sub (fst x) e), (Whole.add (snd x) e))

(** val scaled : Big_int_Z.big_int -> interval -> interval **)

let scaled k x =
  if Whole.leq Big_int_Z.zero_big_int k
  then ((Whole.mul k (fst x)), (Whole.mul k (snd x)))
  else ((Whole.mul k (snd x)), (Whole.mul k (fst x)))

(** val times : interval -> interval -> interval **)

let times x y =
  let a = Whole.mul (fst x) (fst y) in
  let b = Whole.mul (fst x) (snd y) in
  let c = Whole.mul (snd x) (fst y) in
  let d = Whole.mul (snd x) (snd y) in
  ((Whole.min (Whole.min a b) (Whole.min c d)),
  (Whole.max (Whole.max a b) (Whole.max c d)))

(** val positive_part : interval -> interval **)

let positive_part x =
  ((Whole.max (fst x) Big_int_Z.zero_big_int),
    (Whole.max (snd x) Big_int_Z.zero_big_int))

(** val down : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let down u x =
  Z.shiftl x u

(** val up : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let up u x =
  Whole.neg (down u (Whole.neg x))

(** val up_to :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let up_to k x =
  Z.shiftl (up (Whole.neg k) x) k

(** val halved :
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec halved steps0 x =
  match steps0 with
  | [] -> Big_int_Z.zero_big_int
  | s :: r ->
    let y = Z.shiftr x s in
    if Whole.equal (Z.shiftl y s) x
    then Whole.add s (halved r y)
    else halved r x

(** val twos : Big_int_Z.big_int -> Big_int_Z.big_int **)

let twos =
  halved ((Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))))) :: ((Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))) :: ((Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))) :: ((Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))) :: ((Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))) :: ((Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)) :: ((Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int) :: (Big_int_Z.unit_big_int :: []))))))))

(** val nicest :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let nicest l h =
  let k = Z.log2 (Whole.sub h l) in
  let m = up_to (Whole.add k Big_int_Z.unit_big_int) l in
  if Whole.leq m h
  then m
  else let m' = up_to k l in if Whole.leq m' h then m' else l

(** val nice : interval -> Big_int_Z.big_int **)

let nice x =
  if Whole.equal (fst x) (snd x)
  then fst x
  else if Whole.leq (fst x) Big_int_Z.zero_big_int
       then if Whole.leq Big_int_Z.zero_big_int (snd x)
            then Big_int_Z.zero_big_int
            else Whole.neg (nicest (Whole.neg (snd x)) (Whole.neg (fst x)))
       else nicest (fst x) (snd x)

type tally = { count : Big_int_Z.big_int; bulk : Big_int_Z.big_int;
               sums1 : interval; pitch : Big_int_Z.big_int;
               farthest : Big_int_Z.big_int; moving : Big_int_Z.big_int;
               middle : interval }

(** val none : tally **)

let none =
  { count = Big_int_Z.zero_big_int; bulk = Big_int_Z.zero_big_int; sums1 =
    nil_interval; pitch = (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))));
    farthest = Big_int_Z.zero_big_int; moving = Big_int_Z.zero_big_int;
    middle = nil_interval }

(** val single : interval -> tally **)

let single x =
  if (&&) (Whole.equal (fst x) Big_int_Z.zero_big_int)
       (Whole.equal (snd x) Big_int_Z.zero_big_int)
  then none
  else let c = nice x in
       { count = Big_int_Z.unit_big_int; bulk = (reach x); sums1 = x; pitch =
       (twos c); farthest =
       (Whole.max (Whole.sub (snd x) c) (Whole.sub c (fst x))); moving =
       (if Whole.equal (fst x) (snd x)
        then Big_int_Z.zero_big_int
        else Big_int_Z.unit_big_int); middle = (c, c) }

(** val both0 : tally -> tally -> tally **)

let both0 a b =
  { count = (Whole.add a.count b.count); bulk = (Whole.add a.bulk b.bulk);
    sums1 = ((Whole.add (fst a.sums1) (fst b.sums1)),
    (Whole.add (snd a.sums1) (snd b.sums1))); pitch =
    (Whole.min a.pitch b.pitch); farthest =
    (Whole.max a.farthest b.farthest); moving =
    (Whole.add a.moving b.moving); middle =
    ((Whole.add (fst a.middle) (fst b.middle)),
    (Whole.add (snd a.middle) (snd b.middle))) }

(** val coarse : Big_int_Z.big_int -> tally -> tally **)

let coarse u a =
  { count = a.count; bulk = (up u a.bulk); sums1 = ((down u (fst a.sums1)),
    (up u (snd a.sums1))); pitch = (Whole.add a.pitch u); farthest =
    (up u a.farthest); moving = a.moving; middle = ((down u (fst a.middle)),
    (up u (snd a.middle))) }

(** val wide_enough :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
    format -> bool **)

let wide_enough g b w a f =
  (&&)
    ((&&)
      ((&&)
        ((&&) (Whole.lt Big_int_Z.zero_big_int f.digits)
          (Whole.leq f.least (Whole.sub b g)))
        (Whole.leq (Whole.add f.least f.digits) (Whole.sub a.pitch g)))
      (Whole.lt w (Whole.add f.digits a.pitch)))
    (Whole.lt w (Whole.add f.top g))

(** val settled :
    arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option **)

let settled a g a0 =
  let n = a0.moving in
  let least_of1 = Whole.max a.accumulator.least a.stored.least in
  let b =
    if Whole.equal n Big_int_Z.zero_big_int
    then Whole.min
           (Whole.sub a0.pitch (Big_int_Z.mult_int_big_int 2
             Big_int_Z.unit_big_int)) g
    else Whole.max
           (Z.log2
             (Whole.sub
               (Whole.mul (Big_int_Z.mult_int_big_int 2
                 Big_int_Z.unit_big_int) a0.farthest) Big_int_Z.unit_big_int))
           (Whole.add least_of1 g)
  in
  let w =
    Z.log2
      (Whole.add (Whole.add a0.bulk (Whole.mul n a0.farthest))
        (Z.shiftl Big_int_Z.unit_big_int
          (Whole.max Big_int_Z.zero_big_int (Whole.add b n))))
  in
  if (&&)
       ((&&)
         ((&&) (Whole.leq Big_int_Z.zero_big_int n)
           (Whole.leq
             (Whole.add (Whole.add b (Whole.max Big_int_Z.unit_big_int n))
               Big_int_Z.unit_big_int) a0.pitch))
         (wide_enough g b w a0 a.accumulator)) (wide_enough g b w a0 a.stored)
  then Some
         (if Whole.equal n Big_int_Z.zero_big_int
          then Big_int_Z.zero_big_int
          else Z.shiftl Big_int_Z.unit_big_int
                 (Whole.sub (Whole.add b n) Big_int_Z.unit_big_int))
  else None

(** val same_format : format -> format -> bool **)

let same_format a b =
  (&&) ((&&) (Whole.equal a.digits b.digits) (Whole.equal a.least b.least))
    (Whole.equal a.top b.top)

(** val wide_for :
    Big_int_Z.big_int -> Big_int_Z.big_int -> format -> bool **)

let wide_for g k f =
  (&&)
    ((&&) (Whole.lt Big_int_Z.zero_big_int f.digits)
      (Whole.leq
        (Whole.add f.least
          (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            f.digits)) (Whole.sub k g))) (Whole.lt (Whole.sub k g) f.top)

(** val slack_of :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let slack_of a g k a0 =
  let f = a.accumulator in
  let s = a.stored in
  let e = fun f0 ->
    Z.shiftl Big_int_Z.unit_big_int
      (Whole.max (Whole.sub (Whole.sub k f0.digits) Big_int_Z.unit_big_int)
        Big_int_Z.zero_big_int)
  in
  let u = fun f0 x -> up (Whole.neg f0.digits) x in
  let h =
    up
      (Whole.sub (Whole.add (Whole.add g f.least) f.digits)
        Big_int_Z.unit_big_int) a0.count
  in
  if same_format f s
  then ((e f),
         (Whole.add (Whole.add (Whole.mul a0.count (e f)) (u f a0.bulk)) h))
  else ((Whole.add (e f) (e s)),
         (Whole.add
           (Whole.add (Whole.mul a0.count (Whole.add (e f) (e s)))
             (Whole.add (u s a0.bulk)
               (u f
                 (Whole.mul (Big_int_Z.mult_int_big_int 2
                   Big_int_Z.unit_big_int) a0.bulk))))
           (Whole.add (up (Whole.add g s.least) a0.count)
             (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
               h))))

(** val slip_to :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
    Big_int_Z.big_int option **)

let slip_to a g k a0 =
  let f = a.accumulator in
  let s = a.stored in
  let c = slack_of a g k a0 in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&) ((&&) (wide_for g k f) (wide_for g k s))
               (Whole.leq s.digits f.digits)) (Whole.leq f.least s.least))
           (Whole.leq Big_int_Z.unit_big_int a0.count))
         (Whole.leq Big_int_Z.zero_big_int k))
       (Whole.leq (Whole.add a0.bulk (snd c))
         (Z.shiftl Big_int_Z.unit_big_int k))
  then Some (Whole.sub (snd c) (fst c))
  else None

(** val slip :
    arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option **)

let slip a g a0 =
  let s = a.stored in
  let k =
    Whole.max
      (Whole.add
        (Z.log2
          (Whole.add a0.bulk
            (Z.shiftr a0.bulk (Big_int_Z.mult_int_big_int 2
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              Big_int_Z.unit_big_int))))) Big_int_Z.unit_big_int)
      (Whole.add
        (Whole.add s.least
          (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            s.digits)) g)
  in
  (match slip_to a g k a0 with
   | Some e -> Some e
   | None -> slip_to a g (Whole.add k Big_int_Z.unit_big_int) a0)

(** val rounding :
    arithmetic -> Big_int_Z.big_int -> tally -> interval option **)

let rounding a g a0 =
  match settled a g a0 with
  | Some m ->
    let x = wider m a0.middle in
    if Whole.equal m Big_int_Z.zero_big_int
    then Some x
    else (match slip a g a0 with
          | Some e ->
            let y = wider e a0.sums1 in
            Some ((Whole.max (fst x) (fst y)), (Whole.min (snd x) (snd y)))
          | None -> Some x)
  | None ->
    (match slip a g a0 with
     | Some e -> Some (wider e a0.sums1)
     | None -> None)

(** val weighed : Big_int_Z.big_int list -> interval list -> tally **)

let rec weighed ws xs =
  match ws with
  | [] -> none
  | w :: ws' ->
    (match xs with
     | [] -> none
     | x :: xs' ->
       if Whole.equal w Big_int_Z.zero_big_int
       then weighed ws' xs'
       else both0 (single (scaled w x)) (weighed ws' xs'))

(** val multiplied_out : interval list -> interval list -> tally **)

let rec multiplied_out xs ys =
  match xs with
  | [] -> none
  | x :: xs' ->
    (match ys with
     | [] -> none
     | y :: ys' -> both0 (single (times x y)) (multiplied_out xs' ys'))

(** val column : tensor -> int -> Big_int_Z.big_int list **)

let column t j =
  map (fun r -> nth j r Big_int_Z.zero_big_int) t.rows

(** val exactly : Big_int_Z.big_int -> tensor -> int -> int -> interval **)

let exactly g t i j =
  let x = nth j (row t i) Big_int_Z.zero_big_int in
  ((down (Whole.add t.unit0 g) x), (up (Whole.add t.unit0 g) x))

type affine = { slopes : Big_int_Z.big_int list; rest : interval;
                range : interval }

(** val center : interval -> Big_int_Z.big_int **)

let center x =
  Z.div (Whole.add (fst x) (snd x)) (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)

(** val radius : interval -> Big_int_Z.big_int **)

let radius x =
  Whole.max (Whole.sub (snd x) (center x)) (Whole.sub (center x) (fst x))

(** val input : int -> interval -> affine **)

let input i x =
  { slopes =
    (if Whole.equal (radius x) Big_int_Z.zero_big_int
     then []
     else app (repeat Big_int_Z.zero_big_int i) (Big_int_Z.unit_big_int :: []));
    rest = ((center x), (center x)); range = x }

(** val inputs_from : int -> interval list -> affine list **)

let rec inputs_from i = function
| [] -> []
| x :: r -> (input i x) :: (inputs_from (Checked.succ i) r)

(** val added :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec added a b =
  match a with
  | [] -> b
  | x :: a' ->
    (match b with
     | [] -> a
     | y :: b' -> (Whole.add x y) :: (added a' b'))

(** val drift :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec drift ks radii =
  match ks with
  | [] -> Big_int_Z.zero_big_int
  | k :: ks' ->
    (match radii with
     | [] -> Big_int_Z.zero_big_int
     | r :: radii' -> Whole.add (Whole.mul (Whole.abs k) r) (drift ks' radii'))

(** val activated : affine -> affine **)

let activated a =
  if Whole.leq Big_int_Z.zero_big_int (fst a.range)
  then a
  else let x = positive_part a.range in { slopes = []; rest = x; range = x }

(** val dotted :
    tensor -> int -> Big_int_Z.big_int * Big_int_Z.big_int list **)

let dotted t j =
  (t.unit0, (column t j))

(** val unit_of :
    Big_int_Z.big_int -> tensor -> tensor -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) * interval **)

let unit_of g w b u =
  ((dotted w u), (exactly g b 0 u))

(** val read_by :
    interval list -> ((Big_int_Z.big_int * Big_int_Z.big_int
    list) * interval) -> tally **)

let read_by xs u =
  both0 (coarse (fst (fst u)) (weighed (snd (fst u)) xs)) (single (snd u))

(** val fired :
    arithmetic -> Big_int_Z.big_int -> interval list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) -> interval
    option **)

let fired a g xs u =
  rounding a g (read_by xs u)

(** val still : interval -> affine **)

let still x =
  { slopes = []; rest = x; range = x }

(** val sloped :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    interval -> (Big_int_Z.big_int list * interval) -> Big_int_Z.big_int ->
    affine **)

let sloped v radii k b c e =
  let r =
    wider e ((Whole.add (down k (fst (snd c))) (fst b)),
      (Whole.add (up k (snd (snd c))) (snd b)))
  in
  { slopes = (fst c); rest = r; range =
  (wider (up (Whole.add v k) (drift (fst c) radii)) r) }

(** val lift :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> Big_int_Z.big_int -> interval -> tally -> (Big_int_Z.big_int
    list * interval) -> affine option **)

let lift a g v radii k b a0 c =
  match settled a g a0 with
  | Some m ->
    (match slip a g a0 with
     | Some e ->
       Some
         (if Whole.leq m e
          then still (wider m a0.middle)
          else sloped v radii k b c e)
     | None -> Some (still (wider m a0.middle)))
  | None ->
    (match slip a g a0 with
     | Some e -> Some (sloped v radii k b c e)
     | None -> None)

(** val idle :
    (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
    list) * interval) list) list -> int -> interval option **)

let rec idle ls i =
  match ls with
  | [] -> None
  | l :: r ->
    (match r with
     | [] ->
       (match nth_error (snd l) i with
        | Some u ->
          if forallb (Whole.equal Big_int_Z.zero_big_int) (snd (fst u))
          then Some (snd u)
          else None
        | None -> None)
     | _ :: _ -> idle r i)

(** val stacked :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list **)

let rec stacked r = function
| [] -> []
| c :: cs' ->
  (match r with
   | [] -> (Big_int_Z.zero_big_int :: c) :: (stacked [] cs')
   | x :: r' -> (x :: c) :: (stacked r' cs'))

(** val upright :
    Big_int_Z.big_int list list -> int -> Big_int_Z.big_int list list **)

let rec upright rs n =
  match rs with
  | [] -> repeat [] n
  | r :: rest0 -> stacked r (upright rest0 n)

(** val readied :
    Big_int_Z.big_int -> layer ->
    Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
    list) * interval) list **)

let readied g l =
  let k = l.weight.unit0 in
  (k,
  (map (fun x -> ((k, (fst x)), (exactly g l.bias 0 (snd x))))
    (combine (upright l.weight.rows l.fan) (seq 0 l.fan))))

type wire = (int * Big_int_Z.big_int) list * interval

(** val strung :
    int -> Big_int_Z.big_int list -> (int * Big_int_Z.big_int) list list ->
    (int * Big_int_Z.big_int) list list **)

let rec strung i row0 cs = match cs with
| [] -> []
| c :: cs' ->
  (match row0 with
   | [] -> cs
   | w :: row' ->
     (if Whole.equal w Big_int_Z.zero_big_int then c else (i, w) :: c) :: 
       (strung i row' cs'))

(** val threads :
    int -> Big_int_Z.big_int list list -> int -> (int * Big_int_Z.big_int)
    list list **)

let rec threads i rs n =
  match rs with
  | [] -> repeat [] n
  | r :: rest0 -> strung i r (threads (Checked.succ i) rest0 n)

(** val wires : Big_int_Z.big_int -> int -> layer -> wire list **)

let wires g n l =
  combine (threads 0 (firstn n l.weight.rows) l.fan)
    (map (exactly g l.bias 0) (seq 0 l.fan))

(** val woven :
    Big_int_Z.big_int -> int -> layer list -> (Big_int_Z.big_int * wire list)
    list **)

let rec woven g n = function
| [] -> []
| l :: r -> (l.weight.unit0, (wires g n l)) :: (woven g l.fan r)

(** val narrowed :
    (Big_int_Z.big_int * wire list) list -> int list -> int
    list * (Big_int_Z.big_int * (int * wire) list) list **)

let rec narrowed net outs0 =
  match net with
  | [] -> (outs0, [])
  | p :: rest0 ->
    let (k, ws) = p in
    let c = narrowed rest0 outs0 in
    let here =
      filter (fun x -> mem (fst x) (fst c)) (combine (seq 0 (length ws)) ws)
    in
    ((dedup (concat (map (fun x -> map fst (fst (snd x))) here))), ((k,
    here) :: (snd c)))

type cone = { needs : int list;
              paths : (Big_int_Z.big_int * (int * wire) list) list }

(** val cone_of :
    int -> (Big_int_Z.big_int * wire list) list -> int list -> cone **)

let cone_of d net outs0 =
  let c = narrowed net outs0 in
  { needs = (filter (fun j -> mem j (fst c)) (seq 0 d)); paths = (snd c) }

(** val meet :
    (int * affine) list -> (int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * affine) list option **)

let rec meet us ws = match ws with
| [] -> Some []
| p :: ws' ->
  let (j, w) = p in
  (match us with
   | [] -> None
   | p0 :: us' ->
     let (i, u) = p0 in
     if Checked.equal i j
     then (match meet us' ws' with
           | Some l -> Some ((w, u) :: l)
           | None -> None)
     else meet us' ws)

(** val weighed_there : (Big_int_Z.big_int * affine) list -> tally **)

let rec weighed_there = function
| [] -> none
| p :: r ->
  let (w, u) = p in both0 (single (scaled w u.range)) (weighed_there r)

(** val combined_there :
    (Big_int_Z.big_int * affine) list -> Big_int_Z.big_int list * interval **)

let rec combined_there = function
| [] -> ([], nil_interval)
| p :: r ->
  let (w, u) = p in
  let c = combined_there r in
  let x = scaled w u.rest in
  ((added (map (Whole.mul w) u.slopes) (fst c)),
  ((Whole.add (fst x) (fst (snd c))), (Whole.add (snd x) (snd (snd c)))))

(** val wired :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> Big_int_Z.big_int -> (int * affine) list -> (int * wire) ->
    (int * affine) option **)

let wired a g v radii k us x =
  match meet us (fst (snd x)) with
  | Some l ->
    (match lift a g v radii k (snd (snd x))
             (both0 (coarse k (weighed_there l)) (single (snd (snd x))))
             (combined_there l) with
     | Some a0 -> Some ((fst x), a0)
     | None -> None)
  | None -> None

(** val along :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> (Big_int_Z.big_int * (int * wire) list) list -> (int * affine)
    list -> (int * interval) list option **)

let rec along a g v radii ps us =
  match ps with
  | [] -> Some (map (fun u -> ((fst u), nil_interval)) us)
  | p :: r ->
    let (k, xs) = p in
    (match all (wired a g v radii k us) xs with
     | Some ys ->
       (match r with
        | [] -> Some (map (fun y -> ((fst y), (snd y).range)) ys)
        | _ :: _ ->
          along a g (Whole.add v k) radii r
            (map (fun y -> ((fst y), (activated (snd y)))) ys))
     | None -> None)

(** val coned :
    arithmetic -> Big_int_Z.big_int -> cone -> interval list ->
    (int * interval) list option **)

let coned a g c xs =
  along a g Big_int_Z.zero_big_int (map radius xs) c.paths
    (combine c.needs (inputs_from 0 xs))

(** val less :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec less a b =
  match a with
  | [] -> map Whole.neg b
  | x :: a' ->
    (match b with
     | [] -> a
     | y :: b' -> (Whole.sub x y) :: (less a' b'))

(** val error :
    arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option **)

let error a g a0 =
  match settled a g a0 with
  | Some m ->
    (match slip a g a0 with
     | Some e ->
       Some (Whole.min e (Whole.add m (Whole.mul a0.moving a0.farthest)))
     | None -> Some (Whole.add m (Whole.mul a0.moving a0.farthest)))
  | None -> slip a g a0

type answer0 =
  ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) * (interval * Big_int_Z.big_int)

(** val answer_of :
    arithmetic -> Big_int_Z.big_int -> interval list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) -> answer0
    option **)

let answer_of a g xs u =
  match fired a g xs u with
  | Some x ->
    (match error a g (read_by xs u) with
     | Some e -> Some (u, (x, e))
     | None -> None)
  | None -> None

(** val above : interval list -> answer0 -> answer0 -> bool **)

let above xs x y =
  let (u, p) = x in
  let (v, q) = y in
  (||) (Whole.lt (snd (fst q)) (fst (fst p)))
    (Whole.lt (Whole.add (Whole.add (snd p) (snd q)) (snd (snd v)))
      (Whole.add
        (fst
          (coarse (fst (fst u))
            (weighed (less (snd (fst u)) (snd (fst v))) xs)).sums1)
        (fst (snd u))))

(** val ahead :
    arithmetic -> Big_int_Z.big_int -> int -> interval list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) list -> bool **)

let ahead a g c xs units0 =
  match all (answer_of a g xs) units0 with
  | Some zs ->
    (match nth_error zs c with
     | Some z0 ->
       forallb (fun y ->
         (||) (Checked.equal (fst y) c) (above xs z0 (snd y)))
         (combine (seq 0 (length zs)) zs)
     | None -> false)
  | None -> false

(** val squared : int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec squared k z0 =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> z0)
    (fun k' ->
    squared k'
      (Z.div (Whole.mul z0 z0)
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)))))))))
    k

(** val exp_below :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let exp_below g x =
  if Whole.equal x Big_int_Z.zero_big_int
  then Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int))))))
  else squared (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         (Checked.succ (Checked.succ (Checked.succ (Checked.succ
         0))))))))))))))))))))))))))))
         (Whole.max Big_int_Z.zero_big_int
           (Whole.add
             (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               Big_int_Z.unit_big_int)))))))
             (Z.div
               (Whole.mul x
                 (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2
                   ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))
               (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g))))

(** val exp_above :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let exp_above g x =
  if Whole.equal x Big_int_Z.zero_big_int
  then Some
         (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int)))))))
  else let z0 = exp_below g (Whole.neg x) in
       if Whole.lt Big_int_Z.zero_big_int z0
       then Some
              (Whole.add
                (Z.div
                  (Z.pow (Big_int_Z.mult_int_big_int 2
                    Big_int_Z.unit_big_int) (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    Big_int_Z.unit_big_int)))))))) z0) Big_int_Z.unit_big_int)
       else None

type box = interval list

(** val hulls : box -> box -> box **)

let rec hulls a b =
  match a with
  | [] -> []
  | x :: a' ->
    (match b with
     | [] -> []
     | y :: b' -> (hull x y) :: (hulls a' b'))

(** val between : interval -> interval -> Big_int_Z.big_int **)

let between x y =
  Whole.max Big_int_Z.zero_big_int
    (Whole.max (Whole.sub (fst x) (snd y)) (Whole.sub (fst y) (snd x)))

type class0 = { corners : box; heft : Big_int_Z.big_int;
                floor : Big_int_Z.big_int }

(** val joined : class0 -> class0 -> class0 **)

let joined a b =
  { corners = (hulls a.corners b.corners); heft = (Whole.max a.heft b.heft);
    floor = (Whole.min a.floor b.floor) }

type ranked =
| Tip of int * class0
| Fork of class0 * ranked * ranked

(** val root : ranked -> class0 **)

let root = function
| Tip (_, c) -> c
| Fork (c, _, _) -> c

(** val above0 : ranked -> ranked -> ranked **)

let above0 a b =
  Fork ((joined (root a) (root b)), a, b)

(** val coupled : ranked list -> ranked list **)

let rec coupled l = match l with
| [] -> l
| a :: l0 -> (match l0 with
              | [] -> l
              | b :: r -> (above0 a b) :: (coupled r))

(** val grown : int -> ranked list -> ranked list **)

let rec grown fuel l =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> l)
    (fun n ->
    match l with
    | [] -> l
    | _ :: l0 -> (match l0 with
                  | [] -> l
                  | _ :: _ -> grown n (coupled l)))
    fuel

(** val below0 :
    bool list -> box -> box -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let rec below0 moves0 q k sum0 bar =
  match moves0 with
  | [] -> Whole.leq sum0 bar
  | b :: m ->
    (match q with
     | [] -> false
     | x :: q' ->
       (match k with
        | [] -> false
        | y :: k' ->
          below0 m q' k'
            (if b
             then let d = between x y in Whole.sub sum0 (Whole.mul d d)
             else Whole.add sum0
                    (Whole.mul (Big_int_Z.mult_int_big_int 2
                      Big_int_Z.unit_big_int) (snd (times x y)))) bar))

(** val behind : bool list -> class0 -> class0 -> bool **)

let behind moves0 q k =
  below0 moves0 q.corners k.corners (Whole.add q.heft k.heft) q.floor

(** val parted : bool list -> ranked -> ranked -> bool **)

let rec parted moves0 q =
  let rec inner0 k =
    (||) (behind moves0 (root q) (root k))
      (match q with
       | Tip (r, _) ->
         (match k with
          | Tip (j, _) -> Checked.equal r j
          | Fork (_, a, b) -> (&&) (inner0 a) (inner0 b))
       | Fork (_, u, v) ->
         (match k with
          | Tip (_, _) -> (&&) (parted moves0 u k) (parted moves0 v k)
          | Fork (_, a, b) ->
            (&&)
              ((&&) ((&&) (parted moves0 u a) (parted moves0 u b))
                (parted moves0 v a)) (parted moves0 v b)))
  in inner0

(** val energy_of : bool list -> box -> Big_int_Z.big_int **)

let rec energy_of moves0 x =
  match moves0 with
  | [] -> Big_int_Z.zero_big_int
  | b :: m ->
    (match x with
     | [] -> Big_int_Z.zero_big_int
     | i :: r ->
       if b
       then let y = reach i in Whole.add (Whole.mul y y) (energy_of m r)
       else energy_of m r)

(** val least_of : box -> box -> Big_int_Z.big_int **)

let rec least_of q k =
  match q with
  | [] -> Big_int_Z.zero_big_int
  | x :: q' ->
    (match k with
     | [] -> Big_int_Z.zero_big_int
     | y :: k' -> Whole.add (fst (times x y)) (least_of q' k'))

(** val reach_of : box -> box -> Big_int_Z.big_int **)

let rec reach_of q k =
  match q with
  | [] -> Big_int_Z.zero_big_int
  | x :: q' ->
    (match k with
     | [] -> Big_int_Z.zero_big_int
     | y :: k' -> Whole.add (reach (times x y)) (reach_of q' k'))

(** val fixed_of : bool list -> box -> box -> Big_int_Z.big_int **)

let rec fixed_of moves0 q k =
  match moves0 with
  | [] -> Big_int_Z.zero_big_int
  | b :: m ->
    (match q with
     | [] -> Big_int_Z.zero_big_int
     | x :: q' ->
       (match k with
        | [] -> Big_int_Z.zero_big_int
        | y :: k' ->
          if b
          then fixed_of m q' k'
          else Whole.add
                 (Whole.mul (Big_int_Z.mult_int_big_int 2
                   Big_int_Z.unit_big_int) (reach (times x y)))
                 (fixed_of m q' k')))

(** val within0 :
    bool list -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> (int * box)
    -> bool **)

let within0 moves0 most0 q bound x =
  let k = snd x in
  (||)
    (Whole.leq
      (Whole.add (Whole.add most0 (energy_of moves0 k)) (fixed_of moves0 q k))
      bound)
    (Whole.leq
      (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (reach_of q k)) bound)

type vectors_at = (int * box) list

(** val gist :
    bool list -> (box -> Big_int_Z.big_int) -> (int * box) -> class0 **)

let gist moves0 fl x =
  { corners = (snd x); heft = (energy_of moves0 (snd x)); floor =
    (fl (snd x)) }

(** val leaf :
    bool list -> (box -> Big_int_Z.big_int) -> int -> vectors_at -> ranked
    list **)

let leaf moves0 fl j = function
| [] -> []
| x :: r ->
  (Tip (j,
    (fold_right (fun y c -> joined (gist moves0 fl y) c) (gist moves0 fl x) r))) :: []

(** val least_over : box -> vectors_at -> Big_int_Z.big_int **)

let least_over q = function
| [] -> Big_int_Z.zero_big_int
| x :: r ->
  fold_right (fun y m -> Whole.min (least_of q (snd y)) m)
    (least_of q (snd x)) r

(** val with_right :
    int -> vectors_at -> vectors_at list -> vectors_at list ->
    (vectors_at * vectors_at) list **)

let rec with_right n first0 qs0 ks =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> combine qs0 ks)
    (fun m ->
    match qs0 with
    | [] -> combine qs0 ks
    | q :: r -> (q, first0) :: (with_right m first0 r ks))
    n

(** val wide : vectors_at list -> box **)

let wide l =
  match concat l with
  | [] -> []
  | x :: r -> fold_left (fun b y -> hulls b (snd y)) r (snd x)

(** val wanders : interval -> bool **)

let wanders x =
  Whole.lt (reach x)
    (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub (snd x) (fst x)))

(** val loss :
    arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option **)

let loss a g a0 =
  match settled a g a0 with
  | Some m ->
    (match slip a g a0 with
     | Some e ->
       Some (Whole.min (Whole.add m (Whole.mul a0.moving a0.farthest)) e)
     | None -> Some (Whole.add m (Whole.mul a0.moving a0.farthest)))
  | None -> slip a g a0

(** val shifted_apart :
    arithmetic -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> vectors_at list -> vectors_at list -> bool **)

let shifted_apart a g d n lead top0 qs0 ks =
  let q = wide qs0 in
  let k = wide ks in
  let moves0 = map wanders q in
  (match loss a g (coarse (Whole.neg g) (multiplied_out q k)) with
   | Some e ->
     let lost =
       Z.shiftl
         (Whole.add
           (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) e)
           lead) (Whole.add g Big_int_Z.unit_big_int)
     in
     let queries =
       concat
         (map (fun x ->
           leaf moves0 (fun v ->
             Whole.sub
               (Whole.mul (Big_int_Z.mult_int_big_int 2
                 Big_int_Z.unit_big_int) (least_over v (snd (snd x)))) lost)
             (sub (fst x) n) (fst (snd x)))
           (combine (seq 0 (length qs0)) (with_right n (hd [] ks) qs0 ks)))
     in
     let keys =
       concat
         (map (fun x ->
           leaf moves0 (fun _ -> Big_int_Z.zero_big_int) (fst x) (snd x))
           (combine (seq 0 (length ks)) ks))
     in
     (match grown (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              (Checked.succ (Checked.succ (Checked.succ (Checked.succ
              0))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
              keys with
      | [] -> false
      | v :: l ->
        (match l with
         | [] ->
           (&&)
             ((&&)
               ((&&) (Checked.equal (length q) d)
                 (Checked.equal (length k) d))
               (Whole.leq Big_int_Z.zero_big_int g))
             (forallb (fun u ->
               (&&)
                 (forallb
                   (forallb
                     (within0 moves0 (root u).heft q
                       (Z.shiftl (Whole.sub top0 e)
                         (Whole.add g Big_int_Z.unit_big_int)))) ks)
                 (parted moves0 u v))
               (app
                 (grown (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ
                   0))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
                   (firstn n queries))
                 (grown (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ (Checked.succ (Checked.succ (Checked.succ
                   (Checked.succ
                   0))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
                   (skipn n queries))))
         | _ :: _ -> false))
   | None -> false)

(** val coarser : Big_int_Z.big_int -> (int * box) -> int * box **)

let coarser s x =
  ((fst x),
    (map (fun i -> ((down (Whole.neg s) (fst i)),
      (up (Whole.neg s) (snd i)))) (snd x)))

(** val apart :
    arithmetic -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> vectors_at list -> vectors_at list -> bool **)

let apart a g d n lead top0 qs0 ks =
  let s =
    Whole.max Big_int_Z.zero_big_int
      (Whole.sub g (Big_int_Z.mult_int_big_int 2
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))
  in
  shifted_apart a (Whole.sub g s) d n (up (Whole.neg s) lead)
    (down (Whole.neg s) top0) (map (map (coarser s)) qs0)
    (map (map (coarser s)) ks)

(** val storing : arithmetic -> bool **)

let storing a =
  (&&)
    ((&&)
      ((&&)
        (Whole.leq (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int))) a.stored.digits)
        (Whole.lt a.stored.digits a.accumulator.digits))
      (Whole.leq
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int) a.stored.top))
    (Whole.leq (Whole.add a.stored.least a.accumulator.digits)
      Big_int_Z.zero_big_int)

type form = { channel : int; table : (int * interval) list }

(** val found : int -> (int * interval) list -> interval option **)

let rec found v = function
| [] -> None
| p :: r -> let (u, x) = p in if Checked.equal u v then Some x else found v r

(** val spanning : (int * interval) list -> interval **)

let spanning = function
| [] -> nil_interval
| p :: r -> let (_, x) = p in fold_right (fun p0 h -> hull (snd p0) h) x r

(** val merged :
    int -> interval -> (int * interval) list -> (int * interval) list **)

let rec merged v x = function
| [] -> (v, x) :: []
| p :: r ->
  let (u, y) = p in
  if Checked.equal u v then (u, (hull x y)) :: r else (u, y) :: (merged v x r)

(** val index : int -> int list -> int option **)

let rec index c = function
| [] -> None
| a :: r ->
  if Checked.equal a c
  then Some 0
  else (match index c r with
        | Some k -> Some (add (Checked.succ 0) k)
        | None -> None)

type source =
| Fixed of interval
| By of int * (int * interval) list

(** val prepared : int list -> form -> source **)

let prepared s f =
  match index f.channel s with
  | Some k -> By (k, f.table)
  | None -> Fixed (spanning f.table)

(** val read : int list -> source -> interval option **)

let read row0 = function
| Fixed x -> Some x
| By (k, t) ->
  (match nth_error row0 k with
   | Some v -> found v t
   | None -> None)

(** val spanned : form -> form * interval **)

let spanned f =
  (f, (spanning f.table))

(** val prepared_by : int list -> (form * interval) -> source **)

let prepared_by s x =
  match index (fst x).channel s with
  | Some k -> By (k, (fst x).table)
  | None -> Fixed (snd x)

type cursor = source * (int * interval) list

(** val current : int -> cursor -> source **)

let current t c =
  match snd c with
  | [] -> fst c
  | p :: _ -> let (u, x) = p in if Checked.equal u t then Fixed x else fst c

(** val moved0 : int -> cursor -> cursor **)

let moved0 t c =
  match snd c with
  | [] -> c
  | p :: r -> let (u, _) = p in if Checked.equal u t then ((fst c), r) else c

(** val listed :
    Big_int_Z.big_int -> int -> int -> int -> Big_int_Z.big_int list list ->
    (int * interval) list **)

let rec listed u i k n rs =
  (fun fO fS n -> if n = 0 then fO () else fS (n - 1))
    (fun _ -> [])
    (fun n' ->
    let x = nth i (hd [] rs) Big_int_Z.zero_big_int in
    (k, ((down u x),
    (up u x))) :: (listed u i (add (Checked.succ 0) k) n' (tl rs)))
    n

(** val thinned :
    Big_int_Z.big_int list -> int -> (int * Big_int_Z.big_int) list **)

let rec thinned ws zeros =
  match ws with
  | [] -> []
  | w :: r ->
    if Whole.equal w Big_int_Z.zero_big_int
    then thinned r (add (Checked.succ 0) zeros)
    else (zeros, w) :: (thinned r 0)

(** val weighed_thinly :
    (int * Big_int_Z.big_int) list -> interval list -> interval **)

let rec weighed_thinly ws xs =
  match ws with
  | [] -> nil_interval
  | p :: r ->
    let (n, w) = p in
    (match skipn n xs with
     | [] -> nil_interval
     | x :: xs' ->
       let a = scaled w x in
       let b = weighed_thinly r xs' in
       ((Whole.add (fst a) (fst b)), (Whole.add (snd a) (snd b))))

type place = { holds_channel : int; of_channels : int list;
               cases : (int * int list) list }

type plan = { asks : int list; offers : int list; fetches : int list;
              most : Big_int_Z.big_int; gap : int;
              shares : Big_int_Z.big_int; loose : Big_int_Z.big_int }

type step = { plans : plan list; after_heads : place list;
              after_mlp : place list }

type evidence = { grain : Big_int_Z.big_int; token_channel : int;
                  position_channel : int; at_first : place list;
                  steps : step list; read_out : int list }

(** val known :
    program -> int -> int -> int list -> int list -> int -> int option **)

let rec known p pos fuel s row0 c =
  match index c s with
  | Some k -> nth_error row0 k
  | None ->
    ((fun fO fS n -> if n = 0 then fO () else fS (n - 1))
       (fun _ -> None)
       (fun fuel' ->
       match nth_error p c with
       | Some o ->
         (match o with
          | Position vs ->
            (match index pos s with
             | Some k ->
               (match nth_error row0 k with
                | Some t -> nth_error vs t
                | None -> None)
             | None -> None)
          | Select (i, xs) ->
            (match known p pos fuel' s row0 i with
             | Some j ->
               (match nth_error xs j with
                | Some x -> known p pos fuel' s row0 x
                | None -> None)
             | None -> None)
          | _ ->
            (match all (known p pos fuel' s row0) (inputs o) with
             | Some vs -> applied o vs
             | None -> None))
       | None -> None)
       fuel)

(** val told : program -> int -> int list -> int list -> int -> int option **)

let told p pos =
  known p pos (length p)

(** val agrees :
    program -> int -> int -> int list -> int list -> int -> bool **)

let agrees p tok pos s row0 a =
  forallb (fun x ->
    match nth_error p (fst x) with
    | Some o ->
      (match o with
       | Token -> Checked.equal (snd x) a
       | _ ->
         (match all (known p pos 0 (tok :: s) (a :: row0)) (inputs o) with
          | Some vs ->
            (match applied o vs with
             | Some v -> Checked.equal (snd x) v
             | None -> true)
          | None -> true))
    | None -> true) (combine s row0)

(** val choices :
    int -> program -> domain list -> int -> int -> int list -> int list list
    option **)

let choices letters0 p ds tok pos s =
  match all (nth_error ds) s with
  | Some of0 ->
    Some
      ((map fst of0) :: (filter (fun row0 ->
                          existsb (agrees p tok pos s row0) (seq 0 letters0))
                          (prods (map snd of0))))
  | None -> None

(** val at_position :
    domain list -> int -> int -> int list -> int list list option **)

let at_position ds pos t s =
  match all (nth_error ds) s with
  | Some of0 ->
    Some
      (prods
        (map (fun x ->
          if Checked.equal (fst x) pos
          then t :: []
          else if Checked.equal t 0 then (fst (snd x)) :: [] else snd (snd x))
          (combine s of0)))
  | None -> None

(** val gathered :
    ('a1 -> (int * interval) option) -> 'a1 list -> (int * interval) list ->
    (int * interval) list option **)

let rec gathered calc rows0 t =
  match rows0 with
  | [] -> Some t
  | r :: rest0 ->
    (match calc r with
     | Some p0 -> let (v, x) = p0 in gathered calc rest0 (merged v x t)
     | None -> None)

(** val built :
    int -> program -> domain list -> int -> int -> int list -> int -> (int
    list -> interval option) -> form option **)

let built letters0 p ds tok pos s c calc =
  match choices letters0 p ds tok pos s with
  | Some rows0 ->
    (match gathered (fun row0 ->
             match told p pos s row0 c with
             | Some v ->
               (match calc row0 with
                | Some x -> Some (v, x)
                | None -> None)
             | None -> None) rows0 [] with
     | Some t -> Some { channel = c; table = t }
     | None -> None)
  | None -> None

(** val case_of : int -> (int * int list) list -> int list option **)

let rec case_of v = function
| [] -> None
| p0 :: r ->
  let (u, of0) = p0 in if Checked.equal u v then Some of0 else case_of v r

(** val rows_of :
    int -> program -> domain list -> int -> int -> int -> (int * int list)
    list -> int -> (int list * int list) list option **)

let rows_of letters0 p ds tok pos i cs v =
  match case_of v cs with
  | Some of0 ->
    (match index i of0 with
     | Some k ->
       (match choices letters0 p ds tok pos of0 with
        | Some rows0 ->
          Some
            (map (fun x -> (of0, x))
              (filter (fun row0 ->
                match nth_error row0 k with
                | Some u -> Checked.equal u v
                | None -> false) rows0))
        | None -> None)
     | None -> None)
  | None -> None

(** val cased :
    int -> program -> domain list -> int -> int -> place -> (int list -> int
    list -> interval option) -> form option **)

let cased letters0 p ds tok pos l calc =
  match l.of_channels with
  | [] -> None
  | i :: l0 ->
    (match l0 with
     | [] ->
       (match nth_error ds i with
        | Some d ->
          (match all (rows_of letters0 p ds tok pos i l.cases)
                   ((fst d) :: (snd d)) with
           | Some lists ->
             (match gathered (fun x ->
                      match told p pos (fst x) (snd x) l.holds_channel with
                      | Some v ->
                        (match calc (fst x) (snd x) with
                         | Some y -> Some (v, y)
                         | None -> None)
                      | None -> None) (concat lists) [] with
              | Some t -> Some { channel = l.holds_channel; table = t }
              | None -> None)
           | None -> None)
        | None -> None)
     | _ :: _ -> None)

(** val embedding :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> transformer -> int -> place -> form option **)

let embedding a g letters0 longest p ds tok pos n i l =
  let s = l.of_channels in
  let a0 =
    prepared s { channel = tok; table =
      (map (fun a0 -> (a0, (exactly g n.embed_token a0 i)))
        (seq 0 (add (Checked.succ 0) letters0))) }
  in
  let rows0 =
    listed (Whole.add n.embed_position.unit0 g) i 0
      (add (Checked.succ 0) longest) n.embed_position.rows
  in
  if (&&) (leqb s (pos :: [])) (Checked.equal l.holds_channel pos)
  then (match read [] a0 with
        | Some x ->
          (match all (fun y ->
                   match rounding a g (both0 (single x) (single (snd y))) with
                   | Some z0 -> Some ((fst y), z0)
                   | None -> None) rows0 with
           | Some t -> Some { channel = pos; table = t }
           | None -> None)
        | None -> None)
  else let b = prepared s { channel = pos; table = rows0 } in
       built letters0 p ds tok pos s l.holds_channel (fun row0 ->
         match read row0 a0 with
         | Some x ->
           (match read row0 b with
            | Some y -> rounding a g (both0 (single x) (single y))
            | None -> None)
         | None -> None)

(** val many : int **)

let many =
  Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ
    0)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val passed :
    arithmetic -> Big_int_Z.big_int -> form -> interval -> form option **)

let passed a g f y =
  match skipn many f.table with
  | [] ->
    (match all (fun z0 ->
             match rounding a g (both0 (single (snd z0)) (single y)) with
             | Some x -> Some ((fst z0), x)
             | None -> None) f.table with
     | Some t -> Some { channel = f.channel; table = t }
     | None -> None)
  | _ :: _ ->
    (match loss a g (both0 (single (spanning f.table)) (single y)) with
     | Some e ->
       Some { channel = f.channel; table =
         (map (fun z0 -> ((fst z0),
           (wider e ((Whole.add (fst (snd z0)) (fst y)),
             (Whole.add (snd (snd z0)) (snd y)))))) f.table) }
     | None -> None)

(** val product :
    arithmetic -> Big_int_Z.big_int -> interval list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) -> interval option **)

let product a g xs w =
  rounding a g (coarse (fst w) (weighed (snd w) xs))

(** val slim :
    arithmetic -> Big_int_Z.big_int -> interval list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) ->
    ((Big_int_Z.big_int * (int * Big_int_Z.big_int)
    list) * Big_int_Z.big_int) option **)

let slim a g spans w =
  match loss a g (coarse (fst w) (weighed (snd w) spans)) with
  | Some e -> Some (((fst w), (thinned (snd w) 0)), e)
  | None -> None

(** val produced :
    interval list -> ((Big_int_Z.big_int * (int * Big_int_Z.big_int)
    list) * Big_int_Z.big_int) -> interval **)

let produced xs = function
| (p0, e) ->
  let (u, ws) = p0 in
  let s = weighed_thinly ws xs in wider e ((down u (fst s)), (up u (snd s)))

type recipe =
  (((Big_int_Z.big_int * (int * Big_int_Z.big_int) list) * Big_int_Z.big_int)
  list, (Big_int_Z.big_int * Big_int_Z.big_int list) list) sum

(** val recipe_of :
    arithmetic -> Big_int_Z.big_int -> bool -> interval list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> recipe **)

let recipe_of a g roughly spans cols =
  match if roughly then all (slim a g spans) cols else None with
  | Some ws -> Inl ws
  | None -> Inr cols

(** val made :
    arithmetic -> Big_int_Z.big_int -> recipe -> interval list -> interval
    list option **)

let made a g r xs =
  match r with
  | Inl ws -> Some (map (produced xs) ws)
  | Inr cols -> all (product a g xs) cols

(** val cursor_of : int -> int list -> (form * interval) -> cursor **)

let cursor_of pos s x =
  ((prepared_by s x),
    (if Checked.equal (fst x).channel pos then (fst x).table else []))

(** val along0 :
    program -> domain list -> int -> (interval list -> interval list option)
    -> int list -> int option -> int list -> cursor list -> (int * interval
    list) list list option **)

let rec along0 p ds pos make s c ts cs =
  match ts with
  | [] -> Some []
  | t :: r ->
    (match at_position ds pos t s with
     | Some rows0 ->
       let now = map (current t) cs in
       (match all (fun row0 ->
                match match c with
                      | Some c0 -> told p pos s row0 c0
                      | None -> Some 0 with
                | Some v ->
                  (match all (read row0) now with
                   | Some xs ->
                     (match make xs with
                      | Some ys -> Some (v, ys)
                      | None -> None)
                   | None -> None)
                | None -> None) rows0 with
        | Some l ->
          (match along0 p ds pos make s c r (map (moved0 t) cs) with
           | Some m -> Some (l :: m)
           | None -> None)
        | None -> None)
     | None -> None)

(** val score :
    arithmetic -> Big_int_Z.big_int -> interval list -> interval list ->
    interval option **)

let score a g q k =
  rounding a g (coarse (Whole.neg g) (multiplied_out q k))

(** val scored :
    arithmetic -> Big_int_Z.big_int -> interval list ->
    (int * (int * interval list)) list -> ((int * int) * interval) list option **)

let scored a g q ks =
  all (fun x ->
    match score a g q (snd (snd x)) with
    | Some s -> Some (((fst x), (fst (snd x))), s)
    | None -> None) ks

(** val leads_from :
    op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
    ((int * int) * interval) list -> bool **)

let leads_from o lead t q row0 from =
  forallb (fun x ->
    let (y, s) = x in
    let (r, k) = y in
    if on o t q r k
    then forallb (fun y0 ->
           let (y1, s') = y0 in
           let (j, k') = y1 in
           (||)
             ((||) (Whole.leq (Whole.add (snd s') lead) (fst s))
               (negb (beside o t q r j k'))) (Checked.equal j r)) row0
    else true) from

(** val leads :
    op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
    bool **)

let leads o lead t q row0 =
  leads_from o lead t q row0 row0

(** val at_start :
    ((int * int) * interval) list -> ((int * int) * interval) list **)

let at_start row0 =
  filter (fun x -> Checked.equal (fst (fst x)) 0) row0

(** val larger :
    Big_int_Z.big_int option -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let larger m z0 =
  match m with
  | Some y -> Some (Whole.max y z0)
  | None -> Some z0

(** val largest_of :
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let largest_of m = function
| Some z0 -> larger m z0
| None -> m

(** val clear :
    Big_int_Z.big_int -> Big_int_Z.big_int option -> interval -> bool **)

let clear lead m s =
  match m with
  | Some z0 -> Whole.leq (Whole.add z0 lead) (fst s)
  | None -> true

(** val sweep :
    (int -> bool) -> (int -> int -> bool) -> Big_int_Z.big_int ->
    Big_int_Z.big_int option -> int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> ((int * int) * interval) list -> bool **)

let rec sweep fl lt lead low cur past here = function
| [] -> true
| p0 :: rest0 ->
  let (p1, s) = p0 in
  let (j, k) = p1 in
  if Checked.equal cur j
  then (&&)
         (if (&&) (fl k) (negb (Checked.equal j 0))
          then (&&) (clear lead low s) (clear lead past s)
          else true)
         (sweep fl lt lead low cur past
           (if fl k then larger here (snd s) else here) rest0)
  else let past' = largest_of past here in
       (&&)
         ((&&) (lt cur j)
           (if (&&) (fl k) (negb (Checked.equal j 0))
            then (&&) (clear lead low s) (clear lead past' s)
            else true))
         (sweep fl lt lead low j past' (if fl k then Some (snd s) else None)
           rest0)

(** val lowest :
    (int -> int -> bool) -> ((int * int) * interval) list ->
    Big_int_Z.big_int option **)

let lowest low row0 =
  fold_right (fun x m ->
    let (y, s) = x in
    let (j, k) = y in if low j k then larger m (snd s) else m) None row0

(** val swept :
    (int -> bool) -> (int -> int -> bool) -> (int -> int -> bool) ->
    Big_int_Z.big_int -> ((int * int) * interval) list -> bool **)

let swept fl lt low lead row0 = match row0 with
| [] -> true
| p0 :: _ ->
  let (p1, _) = p0 in
  let (j, _) = p1 in sweep fl lt lead (lowest low row0) j None None row0

(** val leads_quickly :
    op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
    bool **)

let leads_quickly o lead t q row0 =
  let fl = flagged_by o q in
  (match o with
   | Latest (_, _) ->
     (&&) (swept fl Checked.less (fun _ k -> negb (fl k)) lead row0)
       (leads_from o lead t q row0 (at_start row0))
   | LatestMatch (_, _, _) ->
     (&&) (swept fl Checked.less (fun _ k -> negb (fl k)) lead row0)
       (leads_from o lead t q row0 (at_start row0))
   | Earliest (_, _) ->
     (&&)
       (swept fl (fun a b -> Checked.less b a) (fun j k ->
         (||) (negb (fl k)) (Checked.equal j 0)) lead (rev row0))
       (leads_from o lead t q row0 (at_start row0))
   | _ -> leads o lead t q row0)

(** val faint : Big_int_Z.big_int **)

let faint =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))

(** val hears : program -> op -> int -> Big_int_Z.big_int option **)

let hears p o t =
  match o with
  | MarkedSum (_, w) ->
    (match marks p w with
     | Some l -> Some (Z.of_nat (heard t l))
     | None -> None)
  | _ -> Some (Z.of_nat t)

(** val suits : op -> int -> bool **)

let suits o k =
  match o with
  | MarkedSum (_, _) -> Checked.equal k (Checked.succ 0)
  | _ -> true

(** val level :
    Big_int_Z.big_int -> program -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    op -> int -> ((int * int) * interval) list -> bool **)

let level g p many0 off o t row0 =
  match hears p o t with
  | Some n ->
    forallb (fun x ->
      let (y, s) = x in
      let (j, k) = y in
      if (||) (Checked.equal j 0) (suits o k)
      then let h =
             if Checked.equal j 0
             then Whole.sub many0 n
             else Big_int_Z.unit_big_int
           in
           (&&)
             (Whole.leq
               (Whole.mul h
                 (Whole.sub
                   (Z.pow (Big_int_Z.mult_int_big_int 2
                     Big_int_Z.unit_big_int) (Big_int_Z.mult_int_big_int 2
                     (Big_int_Z.mult_int_big_int 2
                     (Big_int_Z.mult_int_big_int 2
                     (Big_int_Z.mult_int_big_int 2
                     (Big_int_Z.mult_int_big_int 2
                     (Big_int_Z.mult_int_big_int 2
                     Big_int_Z.unit_big_int))))))) off))
               (exp_below g (fst s)))
             (match exp_above g (snd s) with
              | Some z0 ->
                Whole.leq z0
                  (Whole.mul h
                    (Whole.add
                      (Z.pow (Big_int_Z.mult_int_big_int 2
                        Big_int_Z.unit_big_int) (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        Big_int_Z.unit_big_int))))))) off))
              | None -> false)
      else (match exp_above g (snd s) with
            | Some z0 -> Whole.leq z0 faint
            | None -> false)) row0
  | None -> false

(** val resting : ((int * int) * interval) list -> Big_int_Z.big_int **)

let resting row0 =
  match find (fun x ->
          let (y, s) = x in
          let (j, _) = y in
          (&&) (negb (Checked.equal j 0))
            (negb (Whole.equal (fst s) Big_int_Z.zero_big_int))) row0 with
  | Some p0 -> let (_, s) = p0 in fst s
  | None -> Big_int_Z.zero_big_int

(** val calm : ((int * int) * interval) list -> bool **)

let calm row0 =
  let z0 = resting row0 in
  forallb (fun x ->
    let (y, s) = x in
    let (j, _) = y in
    (||) (Checked.equal j 0)
      ((&&) (Whole.equal (fst s) (snd s))
        ((||) (Whole.equal (fst s) Big_int_Z.zero_big_int)
          (Whole.equal (fst s) z0)))) row0

(** val judged :
    Big_int_Z.big_int -> program -> plan -> op -> int -> int ->
    ((int * int) * interval) list -> bool **)

let judged g p e o t q row0 =
  (&&) (forallb (fun x -> Whole.leq (reach (snd x)) e.most) row0)
    (match o with
     | PrefixSum _ -> (&&) (level g p e.shares e.loose o t row0) (calm row0)
     | MarkedSum (_, _) ->
       (&&) (level g p e.shares e.loose o t row0) (calm row0)
     | _ ->
       leads_quickly o
         (Whole.mul (Z.of_nat e.gap)
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g)) t
         q row0)

(** val order_of : op -> int list **)

let order_of = function
| Shift (_, n) -> (Checked.succ 0) :: (n :: [])
| Latest (_, w) -> (Checked.succ (Checked.succ 0)) :: (w :: [])
| LatestMatch (_, k, q) ->
  (Checked.succ (Checked.succ (Checked.succ 0))) :: (k :: (q :: []))
| PrefixSum _ ->
  (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    0))))) :: []
| MarkedSum (_, w) ->
  (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ 0)))))) :: (w :: [])
| Earliest (_, w) ->
  (Checked.succ (Checked.succ (Checked.succ (Checked.succ 0)))) :: (w :: [])
| _ -> []

(** val positions :
    int -> (int * interval list) list list -> (int * (int * interval list))
    list **)

let positions t ks =
  concat
    (map (fun x -> map (fun x0 -> ((fst x), x0)) (snd x))
      (combine (seq 0 (add (Checked.succ 0) t)) ks))

(** val put : int -> box -> (int * box) list -> (int * box) list **)

let rec put v x = function
| [] -> (v, x) :: []
| p0 :: r ->
  let (u, y) = p0 in
  if Checked.equal u v then (u, (hulls y x)) :: r else (u, y) :: (put v x r)

(** val grouped : (int * box) list -> (int * box) list **)

let grouped qs0 =
  fold_left (fun l x -> put (fst x) (snd x) l) qs0 []

(** val at_once :
    arithmetic -> Big_int_Z.big_int -> int -> program -> int -> plan -> op ->
    (int * interval list) list list -> (int * interval list) list list -> bool **)

let at_once a g longest p d e o qs0 ks =
  match o with
  | Shift (_, n) ->
    apart a g d n
      (Whole.mul (Z.of_nat e.gap)
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g))
      e.most qs0 ks
  | PrefixSum _ -> false
  | MarkedSum (_, _) -> false
  | _ ->
    let seen = positions longest ks in
    forallb (fun q ->
      (&&) (Checked.equal (length (snd q)) d)
        (match scored a g (snd q) seen with
         | Some row0 -> judged g p e o longest (fst q) row0
         | None -> false)) (grouped (concat qs0))

(** val separates :
    arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int
    -> block -> head -> plan -> form list -> op -> bool **)

let separates a g longest p ds pos b h e forms o =
  let columns0 = fun t -> map (dotted t) (seq 0 b.d_qk) in
  let known0 = map spanned forms in
  let spans = map snd known0 in
  let roughly =
    match o with
    | Shift (_, _) -> Checked.less many longest
    | _ -> false
  in
  (match along0 p ds pos
           (made a g (recipe_of a g roughly spans (columns0 h.query))) e.asks
           (query_of o) (seq 0 (add (Checked.succ 0) longest))
           (map (cursor_of pos e.asks) known0) with
   | Some qs0 ->
     (match along0 p ds pos
              (made a g (recipe_of a g roughly spans (columns0 h.key)))
              e.offers (key_of o) (seq 0 (add (Checked.succ 0) longest))
              (map (cursor_of pos e.offers) known0) with
      | Some ks ->
        (||) (at_once a g longest p b.d_qk e o qs0 ks)
          (forallb (fun x ->
            let seen = positions (fst x) ks in
            forallb (fun q ->
              match scored a g (snd q) seen with
              | Some row0 -> judged g p e o (fst x) (fst q) row0
              | None -> false) (snd x))
            (combine (seq 0 (add (Checked.succ 0) longest)) qs0))
      | None -> false)
   | None -> false)

(** val slack :
    Big_int_Z.big_int -> int -> format -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let slack g longest f lead v =
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  Whole.add
    (Whole.add
      (up (Whole.neg f.digits)
        (Whole.mul
          (Whole.mul
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
            (Whole.add n Big_int_Z.unit_big_int)) v))
      (up (Whole.sub Big_int_Z.unit_big_int (Z.of_nat lead))
        (Whole.mul
          (Whole.mul
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            Big_int_Z.unit_big_int) n) v)))
    (up (Whole.sub (Whole.add f.least f.digits) Big_int_Z.unit_big_int)
      (Whole.mul
        (Whole.mul (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))) n)
        (Whole.add
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g) v)))

(** val sound_weights :
    Big_int_Z.big_int -> int -> format -> Big_int_Z.big_int -> bool **)

let sound_weights g longest f top0 =
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  (&&)
    ((&&)
      ((&&)
        ((&&) (Whole.leq Big_int_Z.zero_big_int g)
          (Whole.leq Big_int_Z.zero_big_int top0))
        (Whole.leq
          (Whole.mul n
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            f.digits))) (Whole.leq Big_int_Z.zero_big_int f.digits))
    (Whole.leq
      (Whole.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))
        (Whole.add
          (Whole.mul
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            Big_int_Z.unit_big_int))) top0)
          (Whole.mul
            (Whole.mul (Big_int_Z.mult_int_big_int 2
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              (Big_int_Z.mult_int_big_int 2
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))) n)
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g))))
      (Whole.mul
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int)))
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Whole.add f.digits g))))

(** val largest : (int * interval) list -> Big_int_Z.big_int **)

let largest t =
  fold_right (fun x m -> Whole.max (reach (snd x)) m) Big_int_Z.zero_big_int t

(** val valued :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> head -> form list -> int -> int -> form option **)

let valued a g letters0 longest p ds tok pos h forms c x =
  let w = dotted h.val0 c in
  let sources = map (prepared (x :: [])) forms in
  (match built letters0 p ds tok pos (x :: []) x (fun row0 ->
           match all (read row0) sources with
           | Some xs -> product a g xs w
           | None -> None) with
   | Some v ->
     if Whole.leq
          (Whole.mul
            (Whole.mul (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))
              (Z.of_nat (add (Checked.succ 0) longest)))
            (Whole.add
              (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g)
              (largest v.table)))
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Whole.add a.accumulator.top g))
     then Some v
     else None
   | None -> None)

(** val wandering :
    arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let wandering a g longest top0 =
  Whole.add
    (up (Whole.neg a.accumulator.digits)
      (Whole.mul
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))) top0))
    (up
      (Whole.sub g (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)))))
      (Whole.mul
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))
        (Whole.add (Z.of_nat (add (Checked.succ 0) longest))
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))

(** val settling :
    arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> bool **)

let settling a g longest top0 =
  (&&) (storing a)
    (Whole.leq
      (Whole.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))
        (wandering a g longest top0))
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g))

(** val heaviness :
    arithmetic -> Big_int_Z.big_int -> plan -> Big_int_Z.big_int **)

let heaviness a g e =
  Whole.add
    (up
      (Whole.sub g (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int))))
    (up (Whole.neg a.accumulator.digits)
      (Whole.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int)) e.most))

(** val store_bound :
    arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int **)

let store_bound a g longest e =
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  Whole.min (up (Whole.sub g a.stored.digits) Big_int_Z.unit_big_int)
    (Whole.add
      (Whole.add (heaviness a g e)
        (up (Whole.sub g a.accumulator.digits)
          (Whole.mul (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
            (Whole.add n Big_int_Z.unit_big_int))))
      (up (Whole.sub (Whole.add g Big_int_Z.unit_big_int) (Z.of_nat e.gap))
        (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) n)))

(** val slack_stored :
    arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let slack_stored a g longest e v =
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  Whole.add
    (Whole.add
      (Whole.add
        (Whole.add
          (up (Whole.neg a.accumulator.digits)
            (Whole.mul
              (Whole.mul
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
                (Whole.add n Big_int_Z.unit_big_int)) v))
          (up
            (Whole.sub (Whole.neg g)
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              Big_int_Z.unit_big_int)))
            (Whole.mul
              (Whole.add
                (Whole.mul (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int))))))) (heaviness a g e))
                (Whole.mul
                  ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                  ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))
                  (store_bound a g longest e))) v)))
        (up (Whole.sub Big_int_Z.unit_big_int (Z.of_nat e.gap))
          (Whole.mul
            (Whole.mul
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              Big_int_Z.unit_big_int) n) v)))
      (up
        (Whole.sub (Whole.add a.accumulator.least a.accumulator.digits)
          Big_int_Z.unit_big_int)
        (Whole.mul
          (Whole.mul (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))) n)
          (Whole.add
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g) v))))
    (up a.stored.least (Whole.mul n v))

(** val kept_value :
    arithmetic -> Big_int_Z.big_int -> (int * interval) -> (int * interval)
    option **)

let kept_value a g z0 =
  match rounding a g (single (snd z0)) with
  | Some x -> Some ((fst z0), x)
  | None -> None

(** val kept :
    arithmetic -> Big_int_Z.big_int -> int -> (int * interval) list -> form
    option **)

let kept a g y l =
  if same_format a.accumulator a.stored
  then Some { channel = y; table = l }
  else (match all (kept_value a g) l with
        | Some k -> Some { channel = y; table = k }
        | None -> None)

(** val copied :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> head -> plan -> form list -> int -> int -> int -> form
    option **)

let copied a g letters0 longest p ds tok pos h e forms c y x =
  match valued a g letters0 longest p ds tok pos h forms c x with
  | Some v ->
    let off =
      if same_format a.accumulator a.stored
      then slack g longest a.accumulator e.gap (largest v.table)
      else slack_stored a g longest e (largest v.table)
    in
    kept a g y (map (fun z0 -> ((fst z0), (wider off (snd z0)))) v.table)
  | None -> None

(** val stray :
    Big_int_Z.big_int -> (int * interval) list -> Big_int_Z.big_int **)

let stray g t =
  fold_right (fun z0 m ->
    let x =
      Whole.mul (Z.of_nat (fst z0))
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g)
    in
    Whole.max
      (Whole.max (Whole.sub (snd (snd z0)) x) (Whole.sub x (fst (snd z0)))) m)
    Big_int_Z.zero_big_int t

(** val skew :
    arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int **)

let skew a g longest e =
  let f = a.accumulator in
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  Whole.add
    (Whole.add
      (Whole.add
        (up (Whole.neg f.digits)
          (Whole.mul
            (Whole.mul
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
              (Whole.add n Big_int_Z.unit_big_int))
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g)))
        (up
          (Whole.sub g (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))
          (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            e.loose)))
      (up
        (Whole.sub g (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))) n))
    (if same_format f a.stored
     then up (Whole.neg f.digits)
            (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              (Whole.add
                (Whole.mul
                  ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int))) e.most)
                (Whole.mul
                  (Whole.mul (Big_int_Z.mult_int_big_int 2
                    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                    (Big_int_Z.mult_int_big_int 2
                    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))
                    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                    Big_int_Z.unit_big_int))
                  (Z.pow (Big_int_Z.mult_int_big_int 2
                    Big_int_Z.unit_big_int) g))))
     else Whole.add
            (up
              (Whole.sub (Whole.neg a.stored.digits)
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                Big_int_Z.unit_big_int)))
              (Whole.mul
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int)))))))
                (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                  g)))
            (Whole.mul
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
              (wandering a g longest e.most)))

(** val beyond :
    arithmetic -> Big_int_Z.big_int -> int -> (int * interval) list ->
    Big_int_Z.big_int **)

let beyond a g longest t =
  let f = a.accumulator in
  let n = Z.of_nat (add (Checked.succ 0) longest) in
  Whole.add
    (Whole.add
      (Whole.add
        (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (stray g t))
        (up (Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))
          (Whole.mul
            (Whole.mul (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int))) n) (largest t))))
      (up (Whole.sub (Whole.add f.least f.digits) Big_int_Z.unit_big_int)
        (Whole.mul
          (Whole.mul (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))) n)
          (Whole.add
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g)
            (largest t)))))
    (if same_format f a.stored
     then Big_int_Z.zero_big_int
     else up a.stored.least (Whole.mul n (largest t)))

(** val mean :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    interval **)

let mean g many0 off s =
  let x = Z.of_nat s in
  ((Z.div
     (Whole.mul x
       (Whole.sub
         (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g) off))
     many0),
  (Whole.neg
    (Z.div
      (Whole.neg
        (Whole.mul x
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              g))))
      (Whole.mul many0
        (Whole.sub
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) g) off)))))

(** val added_up :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> head -> plan -> form list -> int -> int -> int -> form
    option **)

let added_up a g letters0 longest p ds tok pos h e forms c y x =
  match valued a g letters0 longest p ds tok pos h forms c x with
  | Some v ->
    (match nth_error ds x with
     | Some dx ->
       (match nth_error ds y with
        | Some dy ->
          if (&&)
               ((&&)
                 ((&&)
                   ((&&) (Checked.equal (fst dx) 0)
                     (Whole.lt Big_int_Z.zero_big_int e.shares))
                   (Whole.leq Big_int_Z.zero_big_int e.loose))
                 (Whole.lt (skew a g longest e)
                   (Z.pow (Big_int_Z.mult_int_big_int 2
                     Big_int_Z.unit_big_int) g)))
               (Checked.leq (Checked.succ (Checked.succ 0)) longest)
          then let off = beyond a g longest v.table in
               let part1 = skew a g longest e in
               kept a g y
                 (map (fun s -> (s, (wider off (mean g e.shares part1 s))))
                   ((fst dy) :: (snd dy)))
          else None
        | None -> None)
     | None -> None)
  | None -> None

(** val returned :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> head -> plan -> form list -> int -> int -> op -> form
    option **)

let returned a g letters0 longest p ds tok pos h e forms c y o = match o with
| PrefixSum x -> added_up a g letters0 longest p ds tok pos h e forms c y x
| MarkedSum (x, _) ->
  added_up a g letters0 longest p ds tok pos h e forms c y x
| _ ->
  (match source_of o with
   | Some x -> copied a g letters0 longest p ds tok pos h e forms c y x
   | None -> None)

(** val bounded :
    arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> bool **)

let bounded a g longest top0 =
  (&&) (ordinary a.accumulator)
    ((||) (same_format a.accumulator a.stored) (settling a g longest top0))

(** val result :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> block -> head -> plan -> form list -> form list option **)

let result a g letters0 longest p ds tok pos b h e forms =
  match all (nth_error p) e.fetches with
  | Some l ->
    (match l with
     | [] -> None
     | o :: r ->
       if (&&)
            ((&&)
              ((&&)
                ((&&) (sound_weights g longest a.accumulator e.most)
                  (bounded a g longest e.most))
                (Checked.equal (length e.fetches) b.d_v))
              (forallb (fun o' -> leqb (order_of o) (order_of o')) (o :: r)))
            (separates a g longest p ds pos b h e forms o)
       then all2o (fun x o' ->
              returned a g letters0 longest p ds tok pos h e forms (fst x)
                (snd x) o') (combine (seq 0 b.d_v) e.fetches) (o :: r)
       else None)
  | None -> None

(** val with_gap : plan -> int -> plan **)

let with_gap e k =
  { asks = e.asks; offers = e.offers; fetches = e.fetches; most = e.most;
    gap = k; shares = e.shares; loose = e.loose }

(** val first : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 option **)

let rec first calc = function
| [] -> None
| x :: r -> (match calc x with
             | Some y -> Some y
             | None -> first calc r)

(** val led :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> block -> head -> plan -> form list -> form list option **)

let led a g letters0 longest p ds tok pos b h e forms =
  first (fun k ->
    result a g letters0 longest p ds tok pos b h (with_gap e (sub e.gap k))
      forms) (0 :: ((Checked.succ (Checked.succ (Checked.succ (Checked.succ
    0)))) :: ((Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    0)))))))) :: ((Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ 0)))))))))))) :: ((Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    0)))))))))))))))) :: ((Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ (Checked.succ (Checked.succ (Checked.succ
    (Checked.succ (Checked.succ 0)))))))))))))))))))) :: []))))))

(** val mixture :
    int list -> int -> (tensor * source list) list -> tally option **)

let rec mixture row0 i = function
| [] -> Some none
| h :: r ->
  (match all (read row0) (snd h) with
   | Some xs ->
     (match mixture row0 i r with
      | Some m ->
        Some (both0 (coarse (fst h).unit0 (weighed (column (fst h) i) xs)) m)
      | None -> None)
   | None -> None)

(** val after_attention :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> block -> form list -> plan list -> place list -> form
    list option **)

let after_attention a g letters0 longest p ds tok pos b forms es ls =
  match b.heads with
  | [] -> Some forms
  | _ :: _ ->
    (match all2o (fun h e ->
             led a g letters0 longest p ds tok pos b h e forms) b.heads es with
     | Some rs ->
       all2o (fun x l ->
         let s = l.of_channels in
         if (&&) (Checked.equal l.holds_channel (snd x).channel)
              (forallb (fun h ->
                forallb (Whole.equal Big_int_Z.zero_big_int)
                  (column h.out (fst x))) b.heads)
         then (match rounding a g none with
               | Some z0 -> passed a g (snd x) z0
               | None -> None)
         else let own = prepared s (snd x) in
              let hs =
                combine (map (fun h -> h.out) b.heads)
                  (map (map (prepared s)) rs)
              in
              built letters0 p ds tok pos s l.holds_channel (fun row0 ->
                match read row0 own with
                | Some y ->
                  (match mixture row0 (fst x) hs with
                   | Some m ->
                     (match rounding a g m with
                      | Some z0 -> rounding a g (both0 (single y) (single z0))
                      | None -> None)
                   | None -> None)
                | None -> None)) (combine (seq 0 (length forms)) forms) ls
     | None -> None)

(** val outcome :
    arithmetic -> Big_int_Z.big_int -> bool -> int -> (int * interval) list
    option -> interval option -> interval option **)

let outcome a g kept0 i made0 own =
  match made0 with
  | Some zs ->
    (match own with
     | Some y ->
       (match found i zs with
        | Some z0 ->
          if kept0
          then rounding a g (both0 (single y) (single z0))
          else Some z0
        | None -> None)
     | None -> None)
  | None -> None

(** val yielded :
    arithmetic -> Big_int_Z.big_int -> cone -> source list -> int list ->
    (int * interval) list option **)

let yielded a g c sources row0 =
  match all (read row0) sources with
  | Some xs -> coned a g c xs
  | None -> None

(** val cone_layers :
    arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int
    -> int -> block -> (Big_int_Z.big_int * wire list) list -> form list ->
    (int * form) -> place -> form option **)

let cone_layers a g letters0 p ds tok pos b net forms x l =
  let c = cone_of (length forms) net ((fst x) :: []) in
  (match all (nth_error forms) c.needs with
   | Some read_forms ->
     cased letters0 p ds tok pos l (fun of0 ->
       let sources = map (prepared of0) read_forms in
       let own = prepared of0 (snd x) in
       (fun row0 ->
       outcome a g (nth (fst x) b.keeps false) (fst x)
         (yielded a g c sources row0) (read row0 own)))
   | None -> None)

(** val steady :
    arithmetic -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
    list) * interval) list) list -> int -> interval option **)

let steady a g net i =
  match net with
  | [] -> Some nil_interval
  | _ :: _ ->
    (match idle net i with
     | Some b -> rounding a g (single b)
     | None -> None)

(** val goes_on :
    arithmetic -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
    list) * interval) list) list -> bool -> int -> form -> place -> interval
    option **)

let goes_on a g net kept0 i f l =
  if (&&) kept0 (Checked.equal l.holds_channel f.channel)
  then steady a g net i
  else None

type worked = (int list * (int * interval) list option) list

(** val workings :
    arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int
    -> int -> (Big_int_Z.big_int * wire list) list -> (form * interval) list
    -> int list -> int list -> worked option **)

let workings a g letters0 p ds tok pos net forms s dims =
  let c = cone_of (length forms) net dims in
  (match all (nth_error forms) c.needs with
   | Some read_forms ->
     (match choices letters0 p ds tok pos s with
      | Some rows0 ->
        let sources = map (prepared_by s) read_forms in
        Some (map (fun row0 -> (row0, (yielded a g c sources row0))) rows0)
      | None -> None)
   | None -> None)

(** val distinct : int list list -> int list list **)

let rec distinct = function
| [] -> []
| x :: r -> let d = distinct r in if existsb (leqb x) d then d else x :: d

(** val at_work :
    arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int
    -> int -> (Big_int_Z.big_int * wire list) list -> (form * interval) list
    -> (int * int list) list -> (int list * worked option) list **)

let at_work a g letters0 p ds tok pos net forms busy =
  map (fun s -> (s,
    (workings a g letters0 p ds tok pos net forms s
      (map fst (filter (fun x -> leqb (snd x) s) busy)))))
    (distinct (map snd busy))

(** val after_layers :
    arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int
    -> int -> block -> form list -> place list -> form list option **)

let after_layers a g letters0 p ds tok pos b forms ls =
  let net = map (readied g) b.layers in
  let kept0 = fun i -> nth i b.keeps false in
  let threaded = woven g (length forms) b.layers in
  let numbered = combine (seq 0 (length forms)) forms in
  let busy =
    filter (fun x ->
      let i = fst (fst x) in
      (match (snd x).cases with
       | [] ->
         (match goes_on a g net (kept0 i) i (snd (fst x)) (snd x) with
          | Some _ -> false
          | None -> true)
       | _ :: _ -> false)) (combine numbered ls)
  in
  let cache =
    at_work a g letters0 p ds tok pos threaded (map spanned forms)
      (map (fun x -> ((fst (fst x)), (snd x).of_channels)) busy)
  in
  all2o (fun x l ->
    match goes_on a g net (kept0 (fst x)) (fst x) (snd x) l with
    | Some z0 -> passed a g (snd x) z0
    | None ->
      (match l.cases with
       | [] ->
         let s = l.of_channels in
         let own = prepared s (snd x) in
         (match lookup cache s with
          | Some o ->
            (match o with
             | Some rows0 ->
               (match gathered (fun work ->
                        match told p pos s (fst work) l.holds_channel with
                        | Some v ->
                          (match outcome a g (kept0 (fst x)) (fst x)
                                   (snd work) (read (fst work) own) with
                           | Some y -> Some (v, y)
                           | None -> None)
                        | None -> None) rows0 [] with
                | Some t -> Some { channel = l.holds_channel; table = t }
                | None -> None)
             | None -> None)
          | None -> None)
       | _ :: _ -> cone_layers a g letters0 p ds tok pos b threaded forms x l))
    numbered ls

(** val through :
    arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list
    -> int -> int -> block list -> step list -> form list -> form list option **)

let rec through a g letters0 longest p ds tok pos bs es forms =
  match bs with
  | [] -> (match es with
           | [] -> Some forms
           | _ :: _ -> None)
  | b :: bs' ->
    (match es with
     | [] -> None
     | e :: es' ->
       (match after_attention a g letters0 longest p ds tok pos b forms
                e.plans e.after_heads with
        | Some x ->
          (match after_layers a g letters0 p ds tok pos b x e.after_mlp with
           | Some y -> through a g letters0 longest p ds tok pos bs' es' y
           | None -> None)
        | None -> None))

(** val right_answers :
    arithmetic -> Big_int_Z.big_int -> program -> domain list -> int ->
    transformer -> int list -> (int list * int) list -> int list -> form list
    -> bool **)

let right_answers a g p ds pos n outs0 decode s forms =
  let sources = map (prepared s) forms in
  let units0 = map (unit_of g n.unembed n.answer_bias) (seq 0 n.answers) in
  (match all (nth_error ds) s with
   | Some of0 ->
     forallb (fun row0 ->
       match all (told p pos s row0) outs0 with
       | Some vs ->
         (match all (read row0) sources with
          | Some xs ->
            (match lookup decode vs with
             | Some c -> ahead a g c xs units0
             | None -> true)
          | None -> false)
       | None -> false) (prods (map snd of0))
   | None -> false)

(** val check1 :
    arithmetic -> transformer -> machine -> int -> program -> int list ->
    (int list * int) list -> evidence -> bool **)

let check1 a n m longest p outs0 decode e =
  let letters0 = length m.moves in
  let tok = e.token_channel in
  let pos = e.position_channel in
  (&&) (ordered 0 p)
    (match nth_error p tok with
     | Some o ->
       (match o with
        | Token ->
          (match nth_error p pos with
           | Some o0 ->
             (match o0 with
              | Position vs ->
                (match domains letters0 longest [] p with
                 | Some ds ->
                   (&&)
                     ((&&) (leqb vs (seq 0 (add (Checked.succ 0) longest)))
                       (Checked.equal (length e.at_first) n.width))
                     (match all (fun x ->
                              embedding a e.grain letters0 longest p ds tok
                                pos n (fst x) (snd x))
                              (combine (seq 0 n.width) e.at_first) with
                      | Some first0 ->
                        (match through a e.grain letters0 longest p ds tok
                                 pos n.blocks e.steps first0 with
                         | Some last ->
                           right_answers a e.grain p ds pos n outs0 decode
                             e.read_out last
                         | None -> false)
                      | None -> false)
                 | None -> false)
              | _ -> false)
           | None -> false)
        | _ -> false)
     | None -> false)

(** val sigma_below :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let sigma_below g x =
  match exp_above g (Whole.neg x) with
  | Some e ->
    Z.div
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))
      (Whole.add
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int))))))) e)
  | None -> Big_int_Z.zero_big_int

(** val sigma_above :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let sigma_above g x =
  Whole.add
    (Z.div
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))
      (Whole.add
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int))))))) (exp_below g (Whole.neg x))))
    Big_int_Z.unit_big_int

type kind =
| Elman
| Lstm
| Gru

type gated = { cell_kind : kind; hidden : int; outcomes : int;
               letter_table : (int * tensor) option; start_hidden : tensor;
               start_cell : tensor; weight_ih : tensor; weight_hh : tensor;
               bias_ih : tensor; bias_hh : tensor; read_weight : tensor;
               read_bias : tensor }

type form0 = { lo : Big_int_Z.big_int; hi : Big_int_Z.big_int;
               slopes0 : Big_int_Z.big_int list }

(** val spread : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec spread = function
| [] -> Big_int_Z.zero_big_int
| a :: r -> Whole.add (Whole.abs a) (spread r)

(** val point : Big_int_Z.big_int -> form0 **)

let point z0 =
  { lo = z0; hi = z0; slopes0 = [] }

(** val plus : form0 -> form0 -> form0 **)

let plus x y =
  { lo = (Whole.add x.lo y.lo); hi = (Whole.add x.hi y.hi); slopes0 =
    (add0 x.slopes0 y.slopes0) }

(** val times0 : Big_int_Z.big_int -> form0 -> form0 **)

let times0 w x =
  { lo =
    (if Whole.lt w Big_int_Z.zero_big_int
     then Whole.mul w x.hi
     else Whole.mul w x.lo); hi =
    (if Whole.lt w Big_int_Z.zero_big_int
     then Whole.mul w x.lo
     else Whole.mul w x.hi); slopes0 = (map (Whole.mul w) x.slopes0) }

(** val add_times :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec add_times w s t =
  match s with
  | [] -> t
  | a :: s' ->
    (match t with
     | [] -> map (Whole.mul w) s
     | b :: t' -> (Whole.add (Whole.mul w a) b) :: (add_times w s' t'))

(** val plus_times : form0 -> Big_int_Z.big_int -> form0 -> form0 **)

let plus_times x w y =
  { lo =
    (Whole.add x.lo
      (if Whole.lt w Big_int_Z.zero_big_int
       then Whole.mul w y.hi
       else Whole.mul w y.lo)); hi =
    (Whole.add x.hi
      (if Whole.lt w Big_int_Z.zero_big_int
       then Whole.mul w y.lo
       else Whole.mul w y.hi)); slopes0 = (add_times w y.slopes0 x.slopes0) }

(** val wider0 : Big_int_Z.big_int -> form0 -> form0 **)

let wider0 d x =
  { lo = (Whole.sub x.lo d); hi = (Whole.add x.hi d); slopes0 = x.slopes0 }

(** val least_of0 : form0 -> Big_int_Z.big_int **)

let least_of0 x =
  Whole.sub x.lo (spread x.slopes0)

(** val most_of : form0 -> Big_int_Z.big_int **)

let most_of x =
  Whole.add x.hi (spread x.slopes0)

(** val magnitude : form0 -> Big_int_Z.big_int **)

let magnitude x =
  let s = spread x.slopes0 in
  Whole.max (Whole.abs (Whole.sub x.lo s)) (Whole.abs (Whole.add x.hi s))

(** val over : Big_int_Z.big_int -> form0 -> form0 **)

let over d x =
  let k = Z.of_nat (length x.slopes0) in
  { lo = (Whole.sub (Z.div x.lo d) k); hi =
  (Whole.add (Whole.neg (Z.div (Whole.neg x.hi) d)) k); slopes0 =
  (map (fun s -> Z.div s d) x.slopes0) }

(** val least4 :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let least4 a b c d =
  Whole.min (Whole.min a b) (Whole.min c d)

(** val most4 :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let most4 a b c d =
  Whole.max (Whole.max a b) (Whole.max c d)

(** val crossed :
    Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int **)

let rec crossed s t =
  match s with
  | [] ->
    ((Big_int_Z.zero_big_int, Big_int_Z.zero_big_int),
      (Whole.mul (spread s) (spread t)))
  | a :: s' ->
    (match t with
     | [] ->
       ((Big_int_Z.zero_big_int, Big_int_Z.zero_big_int),
         (Whole.mul (spread s) (spread t)))
     | b :: t' ->
       let (p, rest0) = crossed s' t' in
       let (least0, most0) = p in
       let c = Whole.mul a b in
       (((if Whole.lt c Big_int_Z.zero_big_int
          then Whole.add least0 c
          else least0),
       (if Whole.lt c Big_int_Z.zero_big_int then most0 else Whole.add most0 c)),
       (Whole.add (Whole.add rest0 (Whole.mul (Whole.abs a) (spread t')))
         (Whole.mul (Whole.abs b) (spread s')))))

(** val halfway : form0 -> Big_int_Z.big_int **)

let halfway x =
  Z.div (Whole.add x.lo x.hi) (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)

(** val multiply : form0 -> form0 -> form0 **)

let multiply x y =
  let a = Whole.mul x.lo y.lo in
  let b = Whole.mul x.lo y.hi in
  let c = Whole.mul x.hi y.lo in
  let d = Whole.mul x.hi y.hi in
  let base = { lo = (least4 a b c d); hi = (most4 a b c d); slopes0 = [] } in
  (match x.slopes0 with
   | [] ->
     let s = [] in
     (match y.slopes0 with
      | [] ->
        over
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            Big_int_Z.unit_big_int))))))) base
      | z0 :: l ->
        let t = z0 :: l in
        let m = halfway x in
        let k = halfway y in
        let (p, rest0) = crossed s t in
        let (least0, most0) = p in
        let off =
          Whole.add
            (Whole.add
              (Whole.mul (Whole.max (Whole.sub x.hi m) (Whole.sub m x.lo))
                (spread t))
              (Whole.mul (Whole.max (Whole.sub y.hi k) (Whole.sub k y.lo))
                (spread s))) rest0
        in
        over
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            Big_int_Z.unit_big_int)))))))
          (wider0 off { lo = (Whole.add base.lo least0); hi =
            (Whole.add base.hi most0); slopes0 =
            (add0 (map (Whole.mul m) t) (map (Whole.mul k) s)) }))
   | z0 :: l ->
     let s = z0 :: l in
     let m = halfway x in
     let k = halfway y in
     let (p, rest0) = crossed s y.slopes0 in
     let (least0, most0) = p in
     let off =
       Whole.add
         (Whole.add
           (Whole.mul (Whole.max (Whole.sub x.hi m) (Whole.sub m x.lo))
             (spread y.slopes0))
           (Whole.mul (Whole.max (Whole.sub y.hi k) (Whole.sub k y.lo))
             (spread s))) rest0
     in
     over
       (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)))))))
       (wider0 off { lo = (Whole.add base.lo least0); hi =
         (Whole.add base.hi most0); slopes0 =
         (add0 (map (Whole.mul m) y.slopes0) (map (Whole.mul k) s)) }))

(** val either : form0 -> form0 -> form0 **)

let either x y =
  let d =
    spread
      (add0 y.slopes0
        (map (Whole.mul (Big_int_Z.minus_big_int Big_int_Z.unit_big_int))
          x.slopes0))
  in
  { lo = (Whole.min x.lo (Whole.sub y.lo d)); hi =
  (Whole.max x.hi (Whole.add y.hi d)); slopes0 = x.slopes0 }

(** val far : Big_int_Z.big_int **)

let far =
  Whole.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int)))))))

(** val sigma_far : Big_int_Z.big_int **)

let sigma_far =
  sigma_below (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))) far

(** val sigma_small : Big_int_Z.big_int **)

let sigma_small =
  sigma_above (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)))))) (Whole.neg far)

(** val sigma_low : Big_int_Z.big_int -> Big_int_Z.big_int **)

let sigma_low x =
  if Whole.leq x (Whole.neg far)
  then Big_int_Z.zero_big_int
  else if Whole.leq far x
       then sigma_far
       else sigma_below (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))) x

(** val sigma_high : Big_int_Z.big_int -> Big_int_Z.big_int **)

let sigma_high x =
  if Whole.leq far x
  then Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int))))))
  else if Whole.leq x (Whole.neg far)
       then sigma_small
       else sigma_above (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))) x

(** val slope_at : Big_int_Z.big_int -> Big_int_Z.big_int **)

let slope_at y =
  Whole.mul y
    (Whole.sub
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))))))) y)

(** val logistic : form0 -> form0 **)

let logistic x =
  let l = least_of0 x in
  let u = most_of x in
  let p = Whole.max Big_int_Z.zero_big_int (sigma_low l) in
  let q =
    Whole.min
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))))))) (sigma_high u)
  in
  let plain = { lo = p; hi = q; slopes0 = [] } in
  (match x.slopes0 with
   | [] -> plain
   | _ :: _ ->
     let m =
       Z.div (Whole.add l u) (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)
     in
     let r = Whole.max (Whole.sub u m) (Whole.sub m l) in
     let d =
       Z.div (Whole.min (slope_at p) (slope_at q))
         (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int)))))))
     in
     let top0 =
       if (&&)
            (Whole.leq p
              (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                Big_int_Z.unit_big_int)))))))
            (Whole.leq
              (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                Big_int_Z.unit_big_int)))))) q)
       then Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              (Big_int_Z.mult_int_big_int 2
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              Big_int_Z.unit_big_int))))))
       else Whole.max (slope_at p) (slope_at q)
     in
     let e =
       Whole.add
         (Z.div top0
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             Big_int_Z.unit_big_int)))))))) Big_int_Z.unit_big_int
     in
     let k =
       Z.div (Whole.add d e) (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)
     in
     let off =
       Whole.add
         (Z.div (Whole.mul (Whole.max (Whole.sub e k) (Whole.sub k d)) r)
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
             Big_int_Z.unit_big_int)))))))) Big_int_Z.unit_big_int
     in
     if Whole.leq (Whole.sub q p)
          (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            off)
     then plain
     else plus
            (wider0 off
              (over
                (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int)))))))
                (times0 k (plus x (point (Whole.neg m)))))) { lo =
            (sigma_low m); hi = (sigma_high m); slopes0 = [] })

(** val tangent : form0 -> form0 **)

let tangent x =
  plus
    (times0 (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (logistic
        (times0 (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) x)))
    (point
      (Whole.neg
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)))))))))

type part0 = { value : form0; bulk0 : Big_int_Z.big_int;
               count0 : Big_int_Z.big_int }

(** val up0 : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let up0 d z0 =
  Whole.neg (Z.div (Whole.neg z0) d)

(** val join : part0 -> part0 -> part0 **)

let join p q =
  { value = (plus p.value q.value); bulk0 = (Whole.add p.bulk0 q.bulk0);
    count0 = (Whole.add p.count0 q.count0) }

(** val whole : Big_int_Z.big_int -> part0 **)

let whole z0 =
  { value =
    (point
      (Whole.mul z0
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int))))))))); bulk0 =
    (Whole.mul (Whole.abs z0)
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int)))))))); count0 = Big_int_Z.unit_big_int }

(** val of_number : form0 -> part0 **)

let of_number x =
  { value = x; bulk0 = (magnitude x); count0 = Big_int_Z.unit_big_int }

(** val of_product : form0 -> form0 -> part0 **)

let of_product x y =
  { value = (multiply x y); bulk0 =
    (up0
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))))))) (Whole.mul (magnitude x) (magnitude y)));
    count0 = Big_int_Z.unit_big_int }

(** val dot :
    Big_int_Z.big_int list -> (form0 * Big_int_Z.big_int) list -> part0 ->
    part0 **)

let rec dot row0 box0 p =
  match box0 with
  | [] -> p
  | p0 :: box' ->
    let (x, b) = p0 in
    let w = hd Big_int_Z.zero_big_int row0 in
    dot (tl row0) box'
      (if Whole.equal w Big_int_Z.zero_big_int
       then p
       else { value = (plus_times p.value w x); bulk0 =
              (Whole.add p.bulk0 (Whole.mul (Whole.abs w) b)); count0 =
              (Whole.add p.count0 Big_int_Z.unit_big_int) })

(** val settle : Big_int_Z.big_int -> part0 -> part0 **)

let settle u p =
  { value =
    (over
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Whole.neg u)) p.value); bulk0 =
    (up0
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Whole.neg u)) p.bulk0); count0 = p.count0 }

(** val alike0 : arithmetic -> bool **)

let alike0 a =
  (&&)
    ((&&) (Whole.equal a.stored.digits a.accumulator.digits)
      (Whole.equal a.stored.least a.accumulator.least))
    (Whole.equal a.stored.top a.accumulator.top)

(** val quantum : arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let quantum a k =
  Whole.add
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub
        (Whole.add k
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int)))))) a.accumulator.digits))
    (if alike0 a
     then Big_int_Z.zero_big_int
     else Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Whole.sub
              (Whole.add k
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                Big_int_Z.unit_big_int)))))) a.stored.digits))

(** val grants : arithmetic -> Big_int_Z.big_int -> bool **)

let grants a k =
  let f = a.accumulator in
  let g = a.stored in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&) (Whole.lt Big_int_Z.zero_big_int f.digits)
                    (Whole.lt Big_int_Z.zero_big_int g.digits))
                  (Whole.leq
                    (Whole.add f.least
                      (Whole.mul (Big_int_Z.mult_int_big_int 2
                        Big_int_Z.unit_big_int) f.digits)) k))
                (Whole.leq
                  (Whole.add g.least
                    (Whole.mul (Big_int_Z.mult_int_big_int 2
                      Big_int_Z.unit_big_int) g.digits)) k))
              (Whole.lt k f.top)) (Whole.lt k g.top))
          (Whole.leq g.digits f.digits)) (Whole.leq f.least g.least))
      (Whole.leq f.digits
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)))))))
    (Whole.leq f.digits
      (Whole.add k
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)))))))

(** val reach0 : arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int list **)

let reach0 a b =
  let f = a.accumulator in
  let g = a.stored in
  let k =
    Whole.max
      (Whole.sub (Z.log2 b)
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int))))))
      (Whole.max
        (Whole.sub f.digits
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int))))))
        (Whole.max
          (Whole.add f.least
            (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              f.digits))
          (Whole.add g.least
            (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              g.digits))))
  in
  k :: ((Whole.add k Big_int_Z.unit_big_int) :: ((Whole.add k
                                                   (Big_int_Z.mult_int_big_int 2
                                                   Big_int_Z.unit_big_int)) :: []))

(** val summed : arithmetic -> part0 -> form0 option **)

let summed a p =
  match find (fun k ->
          (&&) (grants a k)
            (Whole.leq
              (Whole.add p.bulk0
                (Whole.mul (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int) (Whole.mul p.count0 (quantum a k))))
              (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                (Whole.add k (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))))
          (reach0 a p.bulk0) with
  | Some k ->
    Some
      (wider0
        (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Whole.mul p.count0 (quantum a k))) p.value)
  | None -> None

(** val keeps0 : arithmetic -> form0 -> form0 option **)

let keeps0 a x =
  let b = magnitude x in
  (match find (fun k ->
           (&&) (grants a k)
             (Whole.leq b
               (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                 (Whole.add k (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2
                   (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))))
           (reach0 a b) with
   | Some k -> Some (wider0 (quantum a k) x)
   | None -> None)

(** val through0 : arithmetic -> (form0 -> form0) -> form0 -> form0 option **)

let through0 a curve x =
  keeps0 a
    (wider0
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (Whole.sub
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)))))) a.accumulator.digits)) (curve x))

(** val gate_at : arithmetic -> (form0 -> form0) -> part0 -> form0 option **)

let gate_at a curve p =
  match summed a p with
  | Some x -> through0 a curve x
  | None -> None

(** val stepped0 :
    arithmetic -> kind -> part0 list -> part0 list -> form0 -> form0 ->
    (form0 * form0) option **)

let stepped0 a k ls ps h c =
  match k with
  | Elman ->
    (match ls with
     | [] -> None
     | l :: l0 ->
       (match l0 with
        | [] ->
          (match ps with
           | [] -> None
           | p :: l1 ->
             (match l1 with
              | [] ->
                (match gate_at a tangent (join l p) with
                 | Some y -> Some (y, c)
                 | None -> None)
              | _ :: _ -> None))
        | _ :: _ -> None))
  | Lstm ->
    (match ls with
     | [] -> None
     | l0 :: l ->
       (match l with
        | [] -> None
        | l1 :: l4 ->
          (match l4 with
           | [] -> None
           | l2 :: l5 ->
             (match l5 with
              | [] -> None
              | l3 :: l6 ->
                (match l6 with
                 | [] ->
                   (match ps with
                    | [] -> None
                    | p0 :: l7 ->
                      (match l7 with
                       | [] -> None
                       | p1 :: l8 ->
                         (match l8 with
                          | [] -> None
                          | p2 :: l9 ->
                            (match l9 with
                             | [] -> None
                             | p3 :: l10 ->
                               (match l10 with
                                | [] ->
                                  (match gate_at a logistic (join l0 p0) with
                                   | Some i ->
                                     (match gate_at a logistic (join l1 p1) with
                                      | Some f ->
                                        (match gate_at a tangent (join l2 p2) with
                                         | Some g ->
                                           (match gate_at a logistic
                                                    (join l3 p3) with
                                            | Some o ->
                                              (match summed a
                                                       (join (of_product f c)
                                                         (of_product i g)) with
                                               | Some x ->
                                                 (match keeps0 a x with
                                                  | Some c' ->
                                                    (match through0 a tangent
                                                             x with
                                                     | Some t ->
                                                       (match summed a
                                                                (of_product o
                                                                  t) with
                                                        | Some y ->
                                                          Some (y, c')
                                                        | None -> None)
                                                     | None -> None)
                                                  | None -> None)
                                               | None -> None)
                                            | None -> None)
                                         | None -> None)
                                      | None -> None)
                                   | None -> None)
                                | _ :: _ -> None)))))
                 | _ :: _ -> None)))))
  | Gru ->
    (match ls with
     | [] -> None
     | l0 :: l ->
       (match l with
        | [] -> None
        | l1 :: l3 ->
          (match l3 with
           | [] -> None
           | l2 :: l4 ->
             (match l4 with
              | [] ->
                (match ps with
                 | [] -> None
                 | p0 :: l5 ->
                   (match l5 with
                    | [] -> None
                    | p1 :: l6 ->
                      (match l6 with
                       | [] -> None
                       | p2 :: l7 ->
                         (match l7 with
                          | [] ->
                            (match gate_at a logistic (join l0 p0) with
                             | Some r ->
                               (match gate_at a logistic (join l1 p1) with
                                | Some z0 ->
                                  (match summed a p2 with
                                   | Some p ->
                                     (match gate_at a tangent
                                              (join (of_product r p) l2) with
                                      | Some g ->
                                        (match summed a
                                                 (join
                                                   (of_number
                                                     (point
                                                       (Z.pow
                                                         (Big_int_Z.mult_int_big_int 2
                                                         Big_int_Z.unit_big_int)
                                                         (Big_int_Z.mult_int_big_int 2
                                                         (Big_int_Z.mult_int_big_int 2
                                                         (Big_int_Z.mult_int_big_int 2
                                                         (Big_int_Z.mult_int_big_int 2
                                                         (Big_int_Z.mult_int_big_int 2
                                                         (Big_int_Z.mult_int_big_int 2
                                                         Big_int_Z.unit_big_int)))))))))
                                                   (of_number
                                                     (times0
                                                       (Big_int_Z.minus_big_int
                                                       Big_int_Z.unit_big_int)
                                                       z0))) with
                                         | Some w ->
                                           (match summed a
                                                    (join (of_product w g)
                                                      (of_product z0 h)) with
                                            | Some y ->
                                              (match summed a
                                                       (join (of_number h)
                                                         (of_number
                                                           (times0
                                                             (Big_int_Z.minus_big_int
                                                             Big_int_Z.unit_big_int)
                                                             g))) with
                                               | Some d ->
                                                 (match summed a
                                                          (join (of_number g)
                                                            (of_product z0 d)) with
                                                  | Some y' ->
                                                    Some ((either y y'), c)
                                                  | None -> None)
                                               | None -> None)
                                            | None -> None)
                                         | None -> None)
                                      | None -> None)
                                   | None -> None)
                                | None -> None)
                             | None -> None)
                          | _ :: _ -> None))))
              | _ :: _ -> None))))

(** val gates : kind -> int **)

let gates = function
| Elman -> Checked.succ 0
| Lstm -> Checked.succ (Checked.succ (Checked.succ (Checked.succ 0)))
| Gru -> Checked.succ (Checked.succ (Checked.succ 0))

type wire0 = { weights : Big_int_Z.big_int list; added0 : Big_int_Z.big_int }

(** val wire_of : tensor -> tensor -> int -> wire0 **)

let wire_of w b j =
  { weights = (row w j); added0 = (nth j (row b 0) Big_int_Z.zero_big_int) }

(** val unit_rows : gated -> int -> int list **)

let unit_rows n u =
  map (fun g -> add (mul g n.hidden) u) (seq 0 (gates n.cell_kind))

(** val by_units : gated -> (int -> 'a1) -> 'a1 list list **)

let by_units n f =
  map (fun u -> map f (unit_rows n u)) (seq 0 n.hidden)

(** val drive :
    Big_int_Z.big_int -> wire0 -> (form0 * Big_int_Z.big_int) list -> part0 **)

let drive u w box0 =
  settle u (dot w.weights box0 (whole w.added0))

(** val sized : form0 -> form0 * Big_int_Z.big_int **)

let sized x =
  (x, (magnitude x))

(** val entered : Big_int_Z.big_int -> Big_int_Z.big_int -> form0 **)

let entered u z0 =
  over
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.neg u))
    (point
      (Whole.mul z0
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)))))))))

(** val letter_part : gated -> int -> int -> part0 **)

let letter_part n a j =
  let w = wire_of n.weight_ih n.bias_ih j in
  let u = n.weight_ih.unit0 in
  (match n.letter_table with
   | Some p ->
     let (d, t) = p in
     drive u w
       (map (fun i ->
         sized (entered t.unit0 (nth i (row t a) Big_int_Z.zero_big_int)))
         (seq 0 d))
   | None ->
     settle u
       (join (whole w.added0)
         (whole (nth a w.weights Big_int_Z.zero_big_int))))

type tables = { by_letters : part0 list list list; wires0 : wire0 list list;
                columns : wire0 list }

(** val prepare : gated -> int -> tables **)

let prepare n letters0 =
  { by_letters =
    (map (fun a -> by_units n (letter_part n a)) (seq 0 letters0)); wires0 =
    (by_units n (wire_of n.weight_hh n.bias_hh)); columns =
    (map (fun k -> { weights =
      (map (fun r -> nth k r Big_int_Z.zero_big_int) n.read_weight.rows);
      added0 = (nth k (row n.read_bias 0) Big_int_Z.zero_big_int) })
      (seq 0 n.outcomes)) }

(** val has_cells : gated -> bool **)

let has_cells n =
  match n.cell_kind with
  | Lstm -> true
  | _ -> false

(** val width0 : gated -> int **)

let width0 n =
  if has_cells n then add n.hidden n.hidden else n.hidden

(** val before : gated -> tables -> form0 list -> part0 list list **)

let before n t x =
  let s = map sized (firstn n.hidden x) in
  map (map (fun w -> drive n.weight_hh.unit0 w s)) t.wires0

(** val after :
    arithmetic -> gated -> part0 list list -> part0 list list -> form0 list
    -> form0 list option **)

let after a n letter past x =
  let h = firstn n.hidden x in
  let c = if has_cells n then skipn n.hidden x else h in
  (match all2o (fun l y ->
           stepped0 a n.cell_kind l (fst y) (fst (snd y)) (snd (snd y)))
           letter (combine past (combine h c)) with
   | Some z0 ->
     Some (app (map fst z0) (if has_cells n then map snd z0 else []))
   | None -> None)

(** val ahead0 : form0 list -> int -> bool **)

let ahead0 z0 k =
  match nth_error z0 k with
  | Some x ->
    forallb (fun d ->
      match nth_error z0 d with
      | Some y ->
        (||) (Checked.equal d k)
          (Whole.lt Big_int_Z.zero_big_int
            (least_of0
              (plus x
                (times0 (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) y))))
      | None -> false) (seq 0 (length z0))
  | None -> false

(** val says0 : arithmetic -> gated -> tables -> form0 list -> int -> bool **)

let says0 a n t x k =
  let s = map sized (firstn n.hidden x) in
  (match all (fun w -> summed a (drive n.read_weight.unit0 w s)) t.columns with
   | Some z0 -> ahead0 z0 k
   | None -> false)

(** val chosen :
    bool list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list * Big_int_Z.big_int **)

let rec chosen keep = function
| [] -> ([], Big_int_Z.zero_big_int)
| a :: s' ->
  let (t, lost) = chosen (tl keep) s' in
  if hd true keep
  then ((a :: t), lost)
  else (t, (Whole.add lost (Whole.abs a)))

(** val anew : bool list -> int -> int -> form0 -> form0 **)

let anew keep k i x =
  let (t, lost) = chosen keep x.slopes0 in
  let m = halfway x in
  { lo = m; hi = m; slopes0 =
  (app (repeat Big_int_Z.zero_big_int i)
    ((Whole.add (Whole.max (Whole.sub x.hi m) (Whole.sub m x.lo)) lost) :: 
    (app (repeat Big_int_Z.zero_big_int (sub k (Checked.succ i))) t))) }

(** val afresh : bool list -> form0 list -> form0 list **)

let afresh keep x =
  map (fun y -> anew keep (length x) (fst y) (snd y))
    (combine (seq 0 (length x)) x)

type turned = { turns : Big_int_Z.big_int list list;
                turn_unit : Big_int_Z.big_int;
                backs : Big_int_Z.big_int list list;
                back_unit : Big_int_Z.big_int;
                turned_bounds : (Big_int_Z.big_int * Big_int_Z.big_int) list }

type region =
| Plain of (Big_int_Z.big_int * Big_int_Z.big_int) list
| Turned of turned

(** val boxed : (Big_int_Z.big_int * Big_int_Z.big_int) list -> form0 list **)

let boxed l =
  map (fun b -> { lo = (fst b); hi = (snd b); slopes0 = [] }) l

(** val product_with :
    Big_int_Z.big_int -> (form0 * Big_int_Z.big_int) list ->
    Big_int_Z.big_int list -> part0 **)

let product_with u s w =
  settle u (dot w s (whole Big_int_Z.zero_big_int))

(** val inner :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec inner x y =
  match x with
  | [] -> Big_int_Z.zero_big_int
  | a :: x' ->
    (match y with
     | [] -> Big_int_Z.zero_big_int
     | b :: y' -> Whole.add (Whole.mul a b) (inner x' y'))

(** val leftover :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let leftover u cols i v =
  fold_right Whole.add Big_int_Z.zero_big_int
    (map (fun c ->
      Whole.abs
        (Whole.sub
          (if Checked.equal i (fst c)
           then Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                  (Whole.neg u)
           else Big_int_Z.zero_big_int) (inner v (snd c))))
      (combine (seq 0 (length cols)) cols))

(** val unturned : turned -> form0 list **)

let unturned p =
  let w = length p.turns in
  let u = Whole.add p.turn_unit p.back_unit in
  let s = map sized (afresh [] (boxed p.turned_bounds)) in
  let parts = map (product_with p.back_unit s) p.backs in
  let top0 =
    fold_right Whole.max Big_int_Z.zero_big_int
      (map (fun p0 -> p0.bulk0) parts)
  in
  let cols =
    map (fun j -> map (fun r -> nth j r Big_int_Z.zero_big_int) p.turns)
      (seq 0 w)
  in
  let rest0 =
    map (fun v -> leftover u cols (fst v) (snd v)) (combine (seq 0 w) p.backs)
  in
  if (&&)
       ((&&)
         ((&&)
           ((&&) (Whole.leq p.turn_unit Big_int_Z.zero_big_int)
             (Whole.leq p.back_unit Big_int_Z.zero_big_int))
           (Checked.equal (length p.backs) w))
         (Checked.equal (length p.turned_bounds) w))
       (forallb (fun r ->
         Whole.leq
           (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r)
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
             (Whole.neg u))) rest0)
  then map (fun z0 ->
         wider0
           (up0
             (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
               (Whole.neg u))
             (Whole.mul (snd z0)
               (Whole.mul (Big_int_Z.mult_int_big_int 2
                 Big_int_Z.unit_big_int) top0))) (fst z0).value)
         (combine parts rest0)
  else []

(** val entering : region -> form0 list **)

let entering = function
| Plain l -> boxed l
| Turned p -> unturned p

(** val within1 :
    form0 list -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let rec within1 x l =
  match x with
  | [] -> (match l with
           | [] -> true
           | _ :: _ -> false)
  | y :: x' ->
    (match l with
     | [] -> false
     | p :: l' ->
       let (a, b) = p in
       (&&) ((&&) (Whole.leq a (least_of0 y)) (Whole.leq (most_of y) b))
         (within1 x' l'))

(** val inside : form0 list -> region -> bool **)

let inside x = function
| Plain l -> within1 x l
| Turned p ->
  let s0 = map sized x in
  within1 (map (fun w -> (product_with p.turn_unit s0 w).value) p.turns)
    p.turned_bounds

type tree =
| Into of int
| On of bool list * tree list

type gated_node = { set_of : region; state_of : int; next_of : tree list }

(** val branches :
    arithmetic -> gated -> machine -> tables -> (tree -> form0 list -> int ->
    bool) -> int -> form0 list -> part0 list list -> int -> tree list -> bool **)

let rec branches a n m t follow1 q x past a0 = function
| [] -> Checked.equal a0 (length m.moves)
| t0 :: l' ->
  (match nth_error m.moves a0 with
   | Some r ->
     (match nth_error t.by_letters a0 with
      | Some letter ->
        (match nth_error r q with
         | Some q' ->
           (match after a n letter past x with
            | Some y ->
              (match nth_error m.shows q' with
               | Some k ->
                 (&&) ((&&) (says0 a n t y k) (follow1 t0 y q'))
                   (branches a n m t follow1 q x past (Checked.succ a0) l')
               | None -> false)
            | None -> false)
         | None -> false)
      | None -> false)
   | None -> false)

(** val follow0 :
    arithmetic -> gated -> machine -> tables -> gated_node list -> tree ->
    form0 list -> int -> bool **)

let rec follow0 a n m t nodes t0 x q =
  match t0 with
  | Into k ->
    (match nth_error nodes k with
     | Some y -> (&&) (Checked.equal q y.state_of) (inside x y.set_of)
     | None -> false)
  | On (keep, next0) ->
    let y = afresh keep x in
    branches a n m t (follow0 a n m t nodes) q y (before n t y) 0 next0

(** val closed :
    arithmetic -> gated -> machine -> tables -> gated_node list -> gated_node
    -> bool **)

let closed a n m t nodes x =
  let y = entering x.set_of in
  (&&) (Checked.equal (length y) (width0 n))
    (branches a n m t (follow0 a n m t nodes) x.state_of y (before n t y) 0
      x.next_of)

(** val units_agree0 : gated -> bool **)

let units_agree0 n =
  let u = n.weight_ih.unit0 in
  let r = n.read_weight.unit0 in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&) (Whole.leq u Big_int_Z.zero_big_int)
                  (Whole.equal n.weight_hh.unit0 u))
                (Whole.equal n.bias_ih.unit0 u))
              (Whole.equal n.bias_hh.unit0 u))
            (Whole.leq r Big_int_Z.zero_big_int))
          (Whole.equal n.read_bias.unit0 r))
        (Whole.leq n.start_hidden.unit0 Big_int_Z.zero_big_int))
      (Whole.leq n.start_cell.unit0 Big_int_Z.zero_big_int))
    (match n.letter_table with
     | Some p -> let (_, t) = p in Whole.leq t.unit0 Big_int_Z.zero_big_int
     | None -> true)

(** val beginning : gated -> form0 list **)

let beginning n =
  let start0 = fun t ->
    map (fun u -> entered t.unit0 (nth u (row t 0) Big_int_Z.zero_big_int))
      (seq 0 n.hidden)
  in
  app (start0 n.start_hidden)
    (if has_cells n then start0 n.start_cell else [])

(** val check2 : arithmetic -> gated -> machine -> gated_node list -> bool **)

let check2 a n m nodes =
  let t = prepare n (length m.moves) in
  (&&)
    ((&&) (units_agree0 n)
      (match nodes with
       | [] -> false
       | x :: _ ->
         (&&) (Checked.equal x.state_of m.start)
           (inside (beginning n) x.set_of)))
    (forallb (closed a n m t nodes) nodes)

type affine_map = { fan_in : int; fan_out : int; factors : tensor;
                    shifts : tensor }

type ssm_level = { reads : int; coordinates : int; initial : tensor;
                   selective : bool; decay : tensor; addend : tensor;
                   decoders : affine_map list; table_inner : affine_map;
                   table_outer : affine_map }

type state_space = { levels : ssm_level list; logit_count : int }

(** val round_at :
    format -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let round_at f g m =
  let k =
    Whole.sub
      (Whole.max
        (Whole.sub
          (Whole.add
            (Whole.add (Z.log2 (Whole.abs m)) Big_int_Z.unit_big_int) g)
          f.digits) f.least) g
  in
  if Whole.leq k Big_int_Z.zero_big_int
  then m
  else let q =
         Z.div m
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k)
       in
       let twice =
         Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
           (Whole.sub m
             (Whole.mul q
               (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k)))
       in
       let up1 =
         (||)
           (Whole.lt
             (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k)
             twice)
           ((&&)
             (Whole.equal twice
               (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k))
             (negb (Z.even q)))
       in
       Whole.mul (if up1 then Whole.add q Big_int_Z.unit_big_int else q)
         (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k)

(** val below_top :
    format -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let below_top f g m =
  Whole.lt (Whole.abs m)
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub f.top g))

(** val ends_at :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> bool **)

let ends_at a g b z0 x =
  let y = round_at a.accumulator g (Whole.add x b) in
  (&&) (below_top a.accumulator g y) (Whole.equal (round_at a.stored g y) z0)

(** val settles :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> bool **)

let settles a g p b z0 =
  let f = a.accumulator in
  let s = a.stored in
  let once = round_at f g p in
  let twice = round_at s g once in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) ((&&) (below_top f g once) (below_top s g twice))
            (below_top s g b)) (below_top s g z0))
        (Whole.equal (round_at s g b) b))
      (forallb (ends_at a g b z0) (once :: (twice :: (p :: [])))))
    (if Whole.lt (Whole.abs p)
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Whole.sub
              (Whole.sub (Whole.add f.least f.digits) Big_int_Z.unit_big_int)
              g))
     then ends_at a g b z0 Big_int_Z.zero_big_int
     else true)

(** val coarser0 : arithmetic -> bool **)

let coarser0 a =
  (&&)
    ((&&)
      ((&&) (Whole.lt Big_int_Z.zero_big_int a.stored.digits)
        (Whole.leq a.stored.digits a.accumulator.digits))
      (Whole.leq a.accumulator.least a.stored.least))
    (Whole.leq a.stored.top a.accumulator.top)

type held_point = { at_vector : Big_int_Z.big_int list; of_mode : int;
                    earliest : int; to_points : int list }

type mode = { mode_says : int option list; mode_leads : int list }

type level_evidence = { point_unit : Big_int_Z.big_int;
                        points : held_point list; modes : mode list }

type joint = { joint_modes : int list; joint_state : int;
               joint_earliest : int; joint_next : int list }

(** val ended : int option -> int -> bool **)

let ended longest t =
  match longest with
  | Some t0 -> Checked.leq t0 (Checked.succ t)
  | None -> false

(** val ones : int -> int -> Big_int_Z.big_int list **)

let ones k s =
  map (fun i ->
    if Checked.equal i s
    then Big_int_Z.unit_big_int
    else Big_int_Z.zero_big_int) (seq 0 k)

(** val same0 : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool **)

let rec same0 x y =
  match x with
  | [] -> (match y with
           | [] -> true
           | _ :: _ -> false)
  | a :: x' ->
    (match y with
     | [] -> false
     | b :: y' -> (&&) (Whole.equal a b) (same0 x' y'))

(** val finer :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let finer d v =
  if Whole.equal d Big_int_Z.zero_big_int
  then v
  else map
         (Whole.mul
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) d)) v

(** val between0 :
    arithmetic -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool **)

let rec between0 a totals sizes =
  match totals with
  | [] -> true
  | a0 :: totals' ->
    (match sizes with
     | [] -> false
     | b :: sizes' ->
       (&&)
         (Whole.lt (Whole.add b (Whole.abs a0))
           (Whole.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
             (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
               (precision a)))) (between0 a totals' sizes'))

type numbers = Big_int_Z.big_int list * Big_int_Z.big_int

type sized0 = affine_map * Big_int_Z.big_int list list

(** val with_sizes : affine_map -> sized0 **)

let with_sizes f =
  (f, (magnitudes f.factors.rows))

(** val mapped0 :
    arithmetic -> sized0 -> bool -> numbers -> numbers option **)

let mapped0 a f positive0 x =
  let (f0, sizes) = f in
  let d =
    Whole.max Big_int_Z.zero_big_int
      (Whole.sub (Whole.add (snd x) f0.factors.unit0) f0.shifts.unit0)
  in
  let g = Whole.add (Whole.sub (snd x) d) f0.factors.unit0 in
  let v = finer d (fst x) in
  let more = finer (Whole.sub f0.shifts.unit0 g) (row f0.shifts 0) in
  let y = firstn f0.fan_out (sums v f0.factors.rows more) in
  if (&&)
       ((&&) ((&&) (fine a g) (Checked.equal (length v) f0.fan_in))
         (Checked.equal (length y) f0.fan_out))
       (between0 a y (sums (map Whole.abs v) sizes (map Whole.abs more)))
  then Some
         ((if positive0
           then map (fun a0 -> Whole.max a0 Big_int_Z.zero_big_int) y
           else y), g)
  else None

(** val decoded0 : arithmetic -> sized0 list -> numbers -> numbers option **)

let rec decoded0 a fs x =
  match fs with
  | [] -> Some x
  | f :: fs' ->
    (match mapped0 a f true x with
     | Some y -> decoded0 a fs' y
     | None -> None)

(** val beside0 : int -> int -> numbers -> numbers **)

let beside0 k s x =
  let g = Whole.min Big_int_Z.zero_big_int (snd x) in
  ((app (finer (Whole.neg g) (ones k s))
     (finer (Whole.sub (snd x) g) (fst x))), g)

(** val answers_right :
    arithmetic -> ssm_level -> (sized0 * sized0) -> bool -> int -> numbers ->
    int -> bool **)

let answers_right a l table0 last s x r =
  match mapped0 a (fst table0) true (beside0 l.reads s x) with
  | Some u ->
    (match mapped0 a (snd table0) false u with
     | Some n ->
       let (y, g) = n in
       (&&) (Checked.less r l.table_outer.fan_out)
         (if last
          then below (nth r y Big_int_Z.zero_big_int) y r 0
          else (&&) (Whole.leq g Big_int_Z.zero_big_int)
                 (same0 y
                   (finer (Whole.neg g) (ones l.table_outer.fan_out r))))
     | None -> false)
  | None -> false

(** val alone :
    arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let alone a u m =
  let k =
    Whole.max Big_int_Z.zero_big_int
      (Whole.sub (Whole.add (Z.log2 (Whole.abs m)) Big_int_Z.unit_big_int)
        (precision a))
  in
  (&&) (fine a (Whole.add u k))
    (Whole.equal
      (Z.modulo m
        (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) k))
      Big_int_Z.zero_big_int)

(** val stepped1 :
    arithmetic -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let stepped1 a g exactly0 p b z0 =
  (||)
    ((&&)
      ((&&) exactly0
        (Whole.lt (Whole.add (Whole.abs p) (Whole.abs b))
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (precision a)))) (Whole.equal (Whole.add p b) z0))
    (settles a g p b z0)

(** val moved_to :
    arithmetic -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> bool **)

let rec moved_to a g exactly0 p b z0 v w decays more =
  match v with
  | [] -> (match w with
           | [] -> true
           | _ :: _ -> false)
  | x :: v' ->
    (match w with
     | [] -> false
     | y :: w' ->
       (match decays with
        | [] -> false
        | a0 :: decays' ->
          (match more with
           | [] -> false
           | c :: more' ->
             (&&)
               (stepped1 a g exactly0 (Whole.mul (Whole.mul a0 x) p)
                 (Whole.mul c b) (Whole.mul y z0))
               (moved_to a g exactly0 p b z0 v' w' decays' more'))))

(** val leads_to :
    arithmetic -> ssm_level -> Big_int_Z.big_int -> int -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list -> bool **)

let leads_to a l u s v w =
  let product0 = Whole.add u l.decay.unit0 in
  let g = Whole.min u (Whole.min product0 l.addend.unit0) in
  moved_to a g (fine a g)
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub product0 g))
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub l.addend.unit0 g))
    (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Whole.sub u g)) v w (row l.decay (if l.selective then s else 0))
    (row l.addend s)

(** val point_right :
    arithmetic -> int option -> bool -> ssm_level -> level_evidence -> sized0
    list -> (sized0 * sized0) -> held_point -> bool **)

let point_right a longest last l e ds table0 x =
  (&&) (Checked.equal (length x.at_vector) l.coordinates)
    (match nth_error e.modes x.of_mode with
     | Some c ->
       (match decoded0 a ds (x.at_vector, e.point_unit) with
        | Some d ->
          (&&)
            (forallb (fun s ->
              match nth_error c.mode_says s with
              | Some o ->
                (match o with
                 | Some r -> answers_right a l table0 last s d r
                 | None -> true)
              | None -> true) (seq 0 l.reads))
            ((||) (ended longest x.earliest)
              (forallb (fun s ->
                match nth_error x.to_points s with
                | Some j ->
                  (match nth_error c.mode_leads s with
                   | Some k ->
                     (match nth_error e.points j with
                      | Some y ->
                        (&&)
                          ((&&) (Checked.equal y.of_mode k)
                            (Checked.leq y.earliest (Checked.succ x.earliest)))
                          (leads_to a l e.point_unit s x.at_vector
                            y.at_vector)
                      | None -> false)
                   | None -> false)
                | None -> false) (seq 0 l.reads)))
        | None -> false)
     | None -> false)

(** val tensor_alone : arithmetic -> ssm_level -> tensor -> bool **)

let tensor_alone a l t =
  forallb (fun s ->
    forallb (fun k ->
      alone a t.unit0 (nth k (row t s) Big_int_Z.zero_big_int))
      (seq 0 l.coordinates)) (seq 0 l.reads)

(** val begins0 : ssm_level -> level_evidence -> held_point -> bool **)

let begins0 l e x =
  let u = e.point_unit in
  (&&) ((&&) (Checked.equal x.earliest 0) (Whole.leq u l.initial.unit0))
    (same0 x.at_vector
      (finer (Whole.sub l.initial.unit0 u) (row l.initial 0)))

(** val level_right :
    arithmetic -> int option -> bool -> ssm_level -> level_evidence -> bool **)

let level_right a longest last l e =
  let ds = map with_sizes l.decoders in
  let table0 = ((with_sizes l.table_inner), (with_sizes l.table_outer)) in
  (&&)
    ((&&)
      ((&&) (tensor_alone a l l.addend)
        ((||) (negb l.selective) (tensor_alone a l l.decay)))
      (match e.points with
       | [] -> false
       | x :: _ -> begins0 l e x))
    (forallb (point_right a longest last l e ds table0) e.points)

(** val levels_right :
    arithmetic -> int option -> int -> ssm_level list -> level_evidence list
    -> bool **)

let rec levels_right a longest count1 ls es =
  match ls with
  | [] -> false
  | l :: ls' ->
    (match ls' with
     | [] ->
       (match es with
        | [] -> false
        | e :: l0 ->
          (match l0 with
           | [] ->
             (&&) (level_right a longest true l e)
               (Checked.equal l.table_outer.fan_out count1)
           | _ :: _ -> false))
     | l' :: _ ->
       (match es with
        | [] -> false
        | e :: es' ->
          (&&)
            ((&&) (level_right a longest false l e)
              (Checked.equal l.table_outer.fan_out l'.reads))
            (levels_right a longest count1 ls' es')))

(** val run :
    level_evidence list -> int list -> int -> (int * int option list) option **)

let rec run es cs s =
  match es with
  | [] -> (match cs with
           | [] -> Some (s, [])
           | _ :: _ -> None)
  | e :: es' ->
    (match cs with
     | [] -> None
     | c :: cs' ->
       (match nth_error e.modes c with
        | Some x ->
          (match nth_error x.mode_says s with
           | Some o ->
             (match o with
              | Some r ->
                (match run es' cs' r with
                 | Some p ->
                   let (z0, to0) = p in
                   Some (z0, ((nth_error x.mode_leads s) :: to0))
                 | None -> None)
              | None -> None)
           | None -> None)
        | None -> None))

(** val agree : int option list -> int list -> bool **)

let rec agree to0 cs =
  match to0 with
  | [] -> (match cs with
           | [] -> true
           | _ :: _ -> false)
  | o :: to' ->
    (match o with
     | Some k ->
       (match cs with
        | [] -> false
        | c :: cs' -> (&&) (Checked.equal k c) (agree to' cs'))
     | None -> false)

(** val joint_right :
    machine -> int option -> level_evidence list -> joint list -> joint ->
    int -> bool **)

let joint_right m longest es nodes x a =
  match run es x.joint_modes a with
  | Some p ->
    let (said, to0) = p in
    (match nth_error m.moves a with
     | Some states ->
       (match nth_error states x.joint_state with
        | Some q ->
          (&&)
            (match nth_error m.shows q with
             | Some c -> Checked.equal c said
             | None -> false)
            ((||) (ended longest x.joint_earliest)
              (match nth_error x.joint_next a with
               | Some j ->
                 (match nth_error nodes j with
                  | Some y ->
                    (&&)
                      ((&&) (Checked.equal y.joint_state q)
                        (Checked.leq y.joint_earliest (Checked.succ
                          x.joint_earliest))) (agree to0 y.joint_modes)
                  | None -> false)
               | None -> false))
        | None -> false)
     | None -> false)
  | None -> false

(** val first_mode : level_evidence -> int option **)

let first_mode e =
  match e.points with
  | [] -> None
  | x :: _ -> Some x.of_mode

(** val check3 :
    arithmetic -> state_space -> machine -> int option -> level_evidence list
    -> joint list -> bool **)

let check3 a n m longest es nodes =
  (&&)
    ((&&)
      ((&&)
        ((&&) (coarser0 a) (levels_right a longest n.logit_count n.levels es))
        (match n.levels with
         | [] -> false
         | l :: _ -> Checked.equal l.reads (length m.moves)))
      (match nodes with
       | [] -> false
       | x :: _ ->
         (&&)
           ((&&) (Checked.equal x.joint_state m.start)
             (Checked.equal x.joint_earliest 0))
           (agree (map first_mode es) x.joint_modes)))
    (forallb (fun x ->
      forallb (joint_right m longest es nodes x) (seq 0 (length m.moves)))
      nodes)

type reason =
| Invariantly of part
| Parted of part list
| Scanning of scan
| Through of program * int option list * int list * reason

(** val computed :
    machine -> program -> int -> int list -> (int list * int) list -> reason
    -> bool **)

let rec computed m p longest outs0 decode = function
| Invariantly p0 ->
  (&&) ((&&) (Checked.equal p0.len longest) (leqb p0.outs outs0))
    (check0 m p decode p0)
| Parted ps ->
  (&&) (leqb (concat (map (fun p0 -> p0.outs) ps)) outs0)
    (check_parts m p longest decode ps)
| Scanning n -> check_scan m p longest outs0 decode n
| Through (p', kept0, outs', r') ->
  (&&)
    ((&&)
      ((&&) (instead (length m.moves) longest p p' kept0)
        (all2 (goes kept0) outs0 outs'))
      (forallb (fun x -> Checked.less x (length p)) outs0))
    (computed m p' longest outs' decode r')

(** val accepts_transformer :
    arithmetic -> transformer -> machine -> int -> program -> int list ->
    (int list * int) list -> reason -> evidence -> bool **)

let accepts_transformer a n m longest p outs0 decode r e =
  (&&) (computed m p longest outs0 decode r)
    (check1 a n m longest p outs0 decode e)

(** val accepts_recurrent :
    arithmetic -> network -> machine -> node list -> bool **)

let accepts_recurrent =
  check

(** val accepts_gated :
    arithmetic -> gated -> machine -> gated_node list -> bool **)

let accepts_gated =
  check2

(** val accepts_state_space :
    arithmetic -> state_space -> machine -> int option -> level_evidence list
    -> joint list -> bool **)

let accepts_state_space =
  check3
