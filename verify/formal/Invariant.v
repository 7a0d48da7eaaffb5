(** A checker of inductive invariants of Programs (docs/recheck.md, 2.1 to 2.3, and 2.5). *)
From Coq Require Import List Arith Lia Bool.
From Krohn Require Import Machine Program.
Import ListNotations.

Definition aset := list nat.                       (* what a channel may be *)
Definition mem (v : nat) (l : aset) : bool := existsb (Nat.eqb v) l.
Definition subset (a b : aset) : bool := forallb (fun v => mem v b) a.
Definition dedup (l : aset) : aset := nodup Nat.eq_dec l.

(** How a channel is followed: not at all; from its inputs; by cells; a sum by a cell that
    is lowered by steps [tau] while at least [least] is left, adding at most [most] at once;
    a latest match by a cell for each of [keys] and one more. *)
Inductive ann := Hidden | Mapped | Cells | Lowered (tau least most : nat) | Keyed (keys : list nat).

(** An invariant: abstract states, each with a state of the machine, the least number of
    letters that lead to it, what follows each letter, and the cells of each channel. *)
Record part := {
  outs : list nat; len : nat; exact : bool;
  anns : list (ann * bool);                        (* the flag: look at each value by itself *)
  qs : list nat; depths : list nat; follow : list (list nat);
  cells : list (list (list aset)) }.               (* abstract state, channel, cell *)

Fixpoint all {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | x :: r => match f x, all f r with Some y, Some s => Some (y :: s) | _, _ => None end
  end.

Definition kget (known : list (option aset)) (x : nat) : option aset :=
  match nth_error known x with Some k => k | None => None end.

Fixpoint prods (ls : list aset) : list (list nat) :=
  match ls with
  | [] => [[]]
  | l :: r => let p := prods r in flat_map (fun v => map (cons v) p) l
  end.

Definition lower (tau least u : nat) : nat := u - (u - least) / tau * tau.
Definition raise (tau least max u : nat) : aset :=
  if (least <=? u) && (0 <? tau)
  then filter (fun v => v <=? max) (map (fun j => u + j * tau) (seq 0 (S (max / tau))))
  else [u].

Definition sums (tau least : nat) (old add : aset) : aset :=
  dedup (map (lower tau least) (flat_map (fun u => map (fun v => u + v) add) old)).

Definition flagged (fl yes no : aset) : aset :=
  (if mem 1 fl then yes else []) ++ (if existsb (fun v => negb (v =? 1)) fl then no else []).

Definition counted (tau least most L : nat) (cs : list aset) (add : aset)
    : option (option aset * list aset) :=
  let new := sums tau least (nth 0 cs []) add in
  if forallb (fun v => v <=? most) add
  then Some (Some (dedup (flat_map (raise tau least (most * L)) new)), [new]) else None.

Definition rekey (src ks : aset) (p : nat * aset) : aset :=
  if mem (fst p) ks then src ++ (if forallb (Nat.eqb (fst p)) ks then [] else snd p) else snd p.
Definition rekeyed (src ks : aset) (keys : list nat) (cs : list aset) : list aset :=
  map (rekey src ks) (combine keys cs).

Definition answer (keys : list nat) (cs : list aset) (default : aset) (v : nat) : aset :=
  (if mem v keys then [] else default) ++
  flat_map (fun p => if fst p =? v then snd p else []) (combine keys cs).

(** What a channel may be after letter a, from what is known of earlier channels and from
    its own cells; and its cells then. *)
Definition aop (letters L : nat) (ex : bool) (o : op) (h : ann) (cs : list aset)
    (a t : nat) (known : list (option aset)) : option (option aset * list aset) :=
  match h, o with
  | Hidden, _ => Some (None, [])
  | Mapped, Token => Some (Some [a], [])
  | Mapped, Position vs =>
      match ex, nth_error vs t with true, Some v => Some (Some [v], []) | _, _ => None end
  | Mapped, Table xs rows =>
      match all (kget known) xs with
      | Some ls => match all (lookup rows) (prods ls) with
                   | Some l => Some (Some (dedup l), []) | None => None end
      | None => None end
  | Mapped, Select i xs =>
      match kget known i with
      | Some js => match all (fun j => match nth_error xs j with
                                       | Some x => kget known x | None => None end) js with
                   | Some l => Some (Some (dedup (concat l)), []) | None => None end
      | None => None end
  | Mapped, Sum xs =>
      match all (kget known) xs with
      | Some ls => Some (Some (dedup (map list_sum (prods ls))), []) | None => None end
  | Cells, Shift x k =>
      match kget known x, cs with
      | Some l, c :: r => Some (Some c, r ++ [l]) | _, _ => None end
  | Cells, Latest x m =>
      match kget known x, kget known m with
      | Some l, Some fl => let new := dedup (flagged fl l (nth 0 cs [])) in Some (Some new, [new])
      | _, _ => None end
  | Cells, Earliest x m =>
      match kget known x, kget known m with
      | Some l, Some fl =>
          let seen := nth 0 cs [] in
          let unseen := nth 1 cs [] in
          let new := dedup (seen ++ flagged fl (match unseen with [] => [] | _ => l end) []) in
          let left := flagged fl [] unseen in
          Some (Some (dedup (new ++ left)), [new; left])
      | _, _ => None end
  | Lowered tau least most, PrefixSum x =>
      match kget known x with Some add => counted tau least most L cs add | None => None end
  | Lowered tau least most, MarkedSum x m =>
      match kget known x, kget known m with
      | Some l, Some fl => counted tau least most L cs (flagged fl l [0]) | _, _ => None end
  | Keyed keys, LatestMatch x key q =>
      match kget known x, kget known key, kget known q with
      | Some src, Some ks, Some asked =>
          let front := firstn (length keys) cs in
          let default := nth (length keys) cs [] in
          let new := rekeyed src ks keys front in
          if forallb (fun v => mem v keys) ks
          then Some (Some (dedup (flat_map (answer keys new default) asked)), new ++ [default])
          else None
      | _, _, _ => None end
  | _, _ => None
  end.

(** What is known of each channel, and the cells after it. *)
Definition world : Type := list (option aset) * list (list aset).

(** All channels in their order; one row of sets for each case that is told apart. *)
Fixpoint astep (letters L : nat) (ex : bool) (p : program) (hs : list (ann * bool))
    (cs : list (list aset)) (a t : nat) (known : list (option aset)) : option (list world) :=
  match p, hs, cs with
  | [], [], [] => Some [(known, [])]
  | o :: p', (h, sp) :: hs', c :: cs' =>
      match aop letters L ex o h c a t known with
      | None => None
      | Some (k, after) =>
          let cases := match sp, k with
                       | true, Some l => map (fun v => Some [v]) l | _, _ => [k] end in
          match all (fun k => astep letters L ex p' hs' cs' a t (known ++ [k])) cases with
          | None => None
          | Some ws => Some (map (fun w => (fst w, after :: snd w)) (concat ws))
          end
      end
  | _, _, _ => None
  end.

Fixpoint all2 {A B} (f : A -> B -> bool) (l : list A) (m : list B) : bool :=
  match l, m with
  | [], [] => true
  | x :: l', y :: m' => f x y && all2 f l' m'
  | _, _ => false
  end.

Definition within (a b : list (list aset)) : bool := all2 (all2 subset) a b.

(** At BOS. *)
Definition const (o : option nat) : stream := fun _ => o.
Definition has (o : option nat) (l : aset) : bool := match o with Some v => mem v l | None => false end.

Definition starts (letters : nat) (o : op) (h : ann) (cs : list aset) (env : list stream) : bool :=
  let here := sem letters [] o env 0 in
  match h, o with
  | Hidden, _ => true
  | Mapped, (Token | Position _ | Table _ _ | Select _ _ | Sum _) => true
  | Cells, Shift x k => (length cs =? k) && (0 <? k) && forallb (has (get env x 0)) cs
  | Cells, Latest _ _ => has here (nth 0 cs [])
  | Cells, Earliest x _ => has (get env x 0) (nth 1 cs [])
  | Lowered tau least most, (PrefixSum _ | MarkedSum _ _) => is 0 here && mem 0 (nth 0 cs [])
  | Keyed keys, LatestMatch x _ _ =>
      (length cs =? length keys + 1) && forallb (has (get env x 0)) cs
  | _, _ => false
  end.

Fixpoint begins (letters : nat) (p : program) (hs : list (ann * bool)) (cs : list (list aset))
    (env : list stream) : bool :=
  match p, hs, cs with
  | [], [], [] => true
  | o :: p', (h, _) :: hs', c :: cs' =>
      starts letters o h c env &&
      begins letters p' hs' cs' (env ++ [const (sem letters [] o env 0)])
  | _, _, _ => false
  end.

Definition stepped (m : machine) (q a : nat) : option nat :=
  match nth_error (moves m) a with Some row => nth_error row q | None => None end.

(** One letter out of one abstract state; what is shown. *)
Definition arrow (m : machine) (p : program) (P : part) (s a : nat) : option (list (nat * list nat)) :=
  match nth_error (qs P) s, nth_error (depths P) s, nth_error (cells P) s with
  | Some q, Some d, Some cs =>
    match stepped m q a, nth_error (follow P) s with
    | Some q', Some row =>
      match nth_error row a with
      | Some s' =>
        match nth_error (qs P) s', nth_error (depths P) s', nth_error (cells P) s' with
        | Some q2, Some d', Some cs' =>
          if (q2 =? q') && (if exact P then d' =? S d else d' <=? S d) then
            match astep (length (moves m)) (len P) (exact P) p (anns P) cs a (S d) [] with
            | Some ws =>
                if forallb (fun w => within (snd w) cs') ws then
                  match all (fun w => all (kget (fst w)) (outs P)) ws with
                  | Some ls => Some (map (pair q') (flat_map prods ls))
                  | None => None end
                else None
            | None => None end
          else None
        | _, _, _ => None end
      | None => None end
    | _, _ => None end
  | _, _, _ => None
  end.

Definition shown (m : machine) (p : program) (P : part) : option (list (nat * list nat)) :=
  match qs P, depths P, cells P with
  | q :: _, d :: _, cs :: _ =>
      if (q =? start m) && (d =? 0) && begins (length (moves m)) p (anns P) cs [] then
        match all (fun s => all (arrow m p P s) (seq 0 (length (moves m))))
                (filter (fun s => nth s (depths P) 0 <? len P) (seq 0 (length (qs P)))) with
        | Some ls => Some (concat (concat ls)) | None => None end
      else None
  | _, _, _ => None
  end.

Definition reads_ok (m : machine) (decode : list (list nat * nat)) (r : nat * list nat) : bool :=
  match nth_error (shows m) (fst r), lookup decode (snd r) with
  | Some c, Some c' => c =? c' | _, _ => false end.

(** One part that has all outputs. *)
Definition check (m : machine) (p : program) (decode : list (list nat * nat)) (P : part) : bool :=
  match shown m p P with Some l => forallb (reads_ok m decode) l | None => false end.
