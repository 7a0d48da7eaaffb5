(* krohn-kernel --coq: a theorem about a file, and its proof, as a file for Coq. What is
   written of the network and the machine must be what was read; Coq checks the rest. *)
module K = Kernel

let int = string_of_int
let whole z = if Z.sign z < 0 then "(" ^ Z.to_string z ^ ")" else Z.to_string z
let list f l = "[" ^ String.concat "; " (List.map f l) ^ "]"
let lines f l = "[" ^ String.concat ";\n  " (List.map f l) ^ "]"
let pair f g (a, b) = "(" ^ f a ^ ", " ^ g b ^ ")"
let option f = function None -> "None" | Some x -> "(Some " ^ f x ^ ")"
let bool b = if b then "true" else "false"
let ints = list int
let record fields =
  "{| " ^ String.concat ";\n  " (List.map (fun (k, v) -> k ^ " := " ^ v) fields) ^ " |}"
let applied name arguments = "(" ^ String.concat " " (name :: arguments) ^ ")"

(* Of rows that are mostly zeros each other entry, after the number of zeros before it. *)
let spread l =
  let rec go zeros = function
    | [] -> []
    | z :: r when Z.equal z Z.zero -> go (zeros + 1) r
    | z :: r -> ("(" ^ int zeros ^ ", " ^ whole z ^ ")") :: go 0 r in
  "spread [" ^ String.concat "; " (go 0 l) ^ "]%Z"
let tensor (t : K.tensor) =
  record ["unit", whole t.K.unit0 ^ "%Z"; "rows", lines spread t.K.rows]

let machine (m : K.machine) = record [
  "start", int m.K.start; "moves", lines ints m.K.moves; "shows", ints m.K.shows]

let network (n : K.network) = record [
  "units", int n.K.units; "letters", int n.K.letters; "classes", int n.K.classes;
  "hidden_start", tensor n.K.hidden_start; "hidden_weight", tensor n.K.hidden_weight;
  "hidden_bias", tensor n.K.hidden_bias; "input_weight", tensor n.K.input_weight;
  "unembed_weight", tensor n.K.unembed_weight; "unembed_bias", tensor n.K.unembed_bias]

let head (h : K.head) = record [
  "query", tensor h.K.query; "key", tensor h.K.key; "val", tensor h.K.val0;
  "out", tensor h.K.out]
let layer (l : K.layer) =
  record ["fan", int l.K.fan; "weight", tensor l.K.weight; "bias", tensor l.K.bias]
let block (b : K.block) = record [
  "heads", lines head b.K.heads; "d_qk", int b.K.d_qk; "d_v", int b.K.d_v;
  "layers", lines layer b.K.layers; "keeps", list bool b.K.keeps]
let transformer (n : K.transformer) = record [
  "width", int n.K.width; "answers", int n.K.answers;
  "embed_token", tensor n.K.embed_token; "embed_position", tensor n.K.embed_position;
  "blocks", lines block n.K.blocks; "unembed", tensor n.K.unembed;
  "answer_bias", tensor n.K.answer_bias]

let gated (n : K.gated) = record [
  "cell_kind", (match n.K.cell_kind with K.Elman -> "Elman" | K.Lstm -> "Lstm" | K.Gru -> "Gru");
  "hidden", int n.K.hidden; "outcomes", int n.K.outcomes;
  "letter_table", option (pair int tensor) n.K.letter_table;
  "start_hidden", tensor n.K.start_hidden; "start_cell", tensor n.K.start_cell;
  "weight_ih", tensor n.K.weight_ih; "weight_hh", tensor n.K.weight_hh;
  "bias_ih", tensor n.K.bias_ih; "bias_hh", tensor n.K.bias_hh;
  "read_weight", tensor n.K.read_weight; "read_bias", tensor n.K.read_bias]

(* With the zeros at the end of each row, which say how wide it is. *)
let full (t : K.tensor) =
  record ["unit", whole t.K.unit0 ^ "%Z"; "rows", lines (list whole) t.K.rows ^ "%Z"]
let affine (f : K.affine_map) = record [
  "fan_in", int f.K.fan_in; "fan_out", int f.K.fan_out; "factors", full f.K.factors;
  "shifts", full f.K.shifts]
let level (l : K.ssm_level) = record [
  "reads", int l.K.reads; "coordinates", int l.K.coordinates; "initial", full l.K.initial;
  "selective", bool l.K.selective; "decay", full l.K.decay; "addend", full l.K.addend;
  "decoders", lines affine l.K.decoders;
  "table_inner", affine l.K.table_inner; "table_outer", affine l.K.table_outer]
let state_space (n : K.state_space) = record [
  "levels", lines level n.K.levels; "logit_count", int n.K.logit_count]

(* Evidence. *)
let wholes f l = list f l ^ "%Z"
let point (x : K.held_point) = record [
  "at_vector", wholes whole x.K.at_vector; "of_mode", int x.K.of_mode;
  "earliest", int x.K.earliest; "to_points", ints x.K.to_points]
let mode (x : K.mode) = record [
  "mode_says", list (option int) x.K.mode_says; "mode_leads", ints x.K.mode_leads]
let level_evidence (e : K.level_evidence) = record [
  "point_unit", whole e.K.point_unit ^ "%Z"; "points", lines point e.K.points;
  "modes", lines mode e.K.modes]
let joint (x : K.joint) = record [
  "joint_modes", ints x.K.joint_modes; "joint_state", int x.K.joint_state;
  "joint_earliest", int x.K.joint_earliest; "joint_next", ints x.K.joint_next]
let rec tree : _ -> string = function
  | K.Into k -> applied "Into" [int k]
  | K.On (keep, next) -> applied "On" [list bool keep; list tree next]
let region : K.region -> string = function
  | K.Plain l -> applied "Plain" [wholes (pair whole whole) l]
  | K.Turned p -> applied "Turned" [record [
      "turns", wholes (list whole) p.K.turns; "turn_unit", whole p.K.turn_unit ^ "%Z";
      "backs", wholes (list whole) p.K.backs; "back_unit", whole p.K.back_unit ^ "%Z";
      "turned_bounds", wholes (pair whole whole) p.K.turned_bounds]]
let remembered l = lines (fun x -> record [
  "set_of", region x.K.set_of; "state_of", int x.K.state_of;
  "next_of", list tree x.K.next_of]) l

let node (x : K.node) = record [
  "vector", spread x.K.vector; "state", int x.K.state; "next", ints x.K.next]

let op : K.op -> string = function
  | K.Token -> "Token"
  | K.Position l -> applied "Position" [ints l]
  | K.Table (l, rows) -> applied "Table" [ints l; list (pair ints int) rows]
  | K.Select (i, l) -> applied "Select" [int i; ints l]
  | K.Sum l -> applied "Sum" [ints l]
  | K.Shift (x, k) -> applied "Shift" [int x; int k]
  | K.Latest (x, w) -> applied "Latest" [int x; int w]
  | K.LatestMatch (x, k, q) -> applied "LatestMatch" [int x; int k; int q]
  | K.SiblingLatest (x, w, l) -> applied "SiblingLatest" [int x; int w; int l]
  | K.PrefixSum x -> applied "PrefixSum" [int x]
  | K.MarkedSum (x, w) -> applied "MarkedSum" [int x; int w]
  | K.Earliest (x, w) -> applied "Earliest" [int x; int w]

let ann : K.ann -> string = function
  | K.Hidden -> "Hidden" | K.Mapped -> "Mapped" | K.Cells -> "Cells"
  | K.Lowered (a, b, c) -> applied "Lowered" [int a; int b; int c]
  | K.Keyed l -> applied "Keyed" [ints l]

let part (p : K.part) = record [
  "outs", ints p.K.outs; "len", int p.K.len; "exact", bool p.K.exact;
  "anns", list (pair ann bool) p.K.anns; "qs", ints p.K.qs; "depths", ints p.K.depths;
  "follow", lines ints p.K.follow; "cells", lines (list (list ints)) p.K.cells]
let scan (s : K.scan) = record [
  "family", ints s.K.family; "windows", list (option (pair int int)) s.K.windows;
  "pairs", lines (pair int ints) s.K.pairs]
let rec reason : K.reason -> string = function
  | K.Invariantly p -> applied "Invariantly" [part p]
  | K.Parted l -> applied "Parted" [lines part l]
  | K.Scanning s -> applied "Scanning" [scan s]
  | K.Through (p, kept, outs, r) ->
      applied "Through" [lines op p; list (option int) kept; ints outs; reason r]

let place (p : K.place) = record [
  "holds_channel", int p.K.holds_channel; "of_channels", ints p.K.of_channels;
  "cases", list (pair int ints) p.K.cases]
let plan (p : K.plan) = record [
  "asks", ints p.K.asks; "offers", ints p.K.offers; "fetches", ints p.K.fetches;
  "most", whole p.K.most ^ "%Z"; "gap", int p.K.gap; "shares", whole p.K.shares ^ "%Z";
  "loose", whole p.K.loose ^ "%Z"]
let step (s : K.step) = record [
  "plans", lines plan s.K.plans; "after_heads", lines place s.K.after_heads;
  "after_mlp", lines place s.K.after_mlp]
let layout (e : K.evidence) = record [
  "grain", whole e.K.grain ^ "%Z"; "token_channel", int e.K.token_channel;
  "position_channel", int e.K.position_channel; "at_first", lines place e.K.at_first;
  "steps", lines step e.K.steps; "read_out", ints e.K.read_out]

(* The whole file. *)
let arithmetic = function "bfloat16" -> "float_bf16" | format -> format
let define name kind value = Printf.sprintf "Definition %s : %s :=\n  %s.\n\n" name kind value

let beginning = "(** A network of a file computes its machine, in floating point.\n\n\
\    Written by Krohn; its docs/kernel.md says what the theorem means. *)\n\
From Coq Require Import ZArith List.\n\
From Krohn Require Import Machine Arithmetic Recurrent Program Invariant Scan Transformer\n\
\  TransformerCheck Kernel.\n\
Import ListNotations.\nOpen Scope nat_scope.\n\n"

let theorem statement proof =
  Printf.sprintf "Theorem network_correct :\n  %s.\nProof.\n  apply (%s).\n\
\  vm_cast_no_check (eq_refl true).\nQed.\n\nPrint Assumptions network_correct.\n" statement proof

let of_recurrent format m n nodes =
  beginning ^ define "machine_of_file" "machine" (machine m)
  ^ define "network_of_file" "network" (network n)
  ^ define "nodes" "list node" (lines node nodes)
  ^ theorem ("Recurrent.correct " ^ arithmetic format ^ " network_of_file machine_of_file")
      "recurrent_correct _ _ _ nodes"

let of_gated format m n nodes =
  beginning ^ "From Krohn Require Import Gated GatedCheck.\nOpen Scope nat_scope.\n\n"
  ^ define "machine_of_file" "machine" (machine m)
  ^ define "network_of_file" "gated" (gated n)
  ^ define "nodes" "list gated_node" (remembered nodes)
  ^ theorem ("Gated.correct " ^ arithmetic format ^ " network_of_file machine_of_file")
      "gated_correct _ _ _ nodes"

let of_state_space format m n longest levels joints =
  beginning ^ "From Krohn Require Import StateSpace StateSpaceCheck.\nOpen Scope nat_scope.\n\n"
  ^ define "machine_of_file" "machine" (machine m)
  ^ define "network_of_file" "state_space" (state_space n)
  ^ define "levels_of_evidence" "list level_evidence" (lines level_evidence levels)
  ^ define "joints" "list joint" (lines joint joints)
  ^ theorem (Printf.sprintf "StateSpace.correct %s network_of_file machine_of_file %s"
               (arithmetic format) (option int longest))
      "state_space_correct _ _ _ _ levels_of_evidence joints"

let of_transformer format m n longest p outs decode r e =
  beginning ^ define "machine_of_file" "machine" (machine m)
  ^ define "network_of_file" "transformer" (transformer n)
  ^ define "program_of_file" "program" (lines op p)
  ^ define "outputs" "list nat" (ints outs)
  ^ define "decode" "list (list nat * nat)" (list (pair ints int) decode)
  ^ define "why" "reason" (reason r)
  ^ define "layout" "evidence" (layout e)
  ^ theorem (Printf.sprintf "Transformer.correct %s network_of_file machine_of_file %d"
               (arithmetic format) longest)
      "transformer_correct _ _ _ _ program_of_file outputs decode why layout"
