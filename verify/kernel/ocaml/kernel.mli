
val negb : bool -> bool

type ('a, 'b) sum =
| Inl of 'a
| Inr of 'b

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val add : int -> int -> int

val mul : int -> int -> int

val sub : int -> int -> int

val max : int -> int -> int

module Nat :
 sig
  val add : int -> int -> int

  val mul : int -> int -> int

  val even : int -> bool

  val odd : int -> bool

  val pow : int -> int -> int

  val divmod : int -> int -> int -> int -> int * int

  val div : int -> int -> int
 end

module Pos :
 sig
  val succ : Big_int_Z.big_int -> Big_int_Z.big_int

  val add : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val add_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val mul : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int

  val size : Big_int_Z.big_int -> Big_int_Z.big_int

  val compare_cont :
    comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val of_succ_nat : int -> Big_int_Z.big_int

  val eq_dec : Big_int_Z.big_int -> Big_int_Z.big_int -> bool
 end

module Z :
 sig
  val double : Big_int_Z.big_int -> Big_int_Z.big_int

  val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow_pos : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val of_nat : int -> Big_int_Z.big_int

  val pos_div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val modulo : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val even : Big_int_Z.big_int -> bool

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val log2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftl : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftr : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val eq_dec : Big_int_Z.big_int -> Big_int_Z.big_int -> bool
 end

val zeq_bool : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val hd : 'a1 -> 'a1 list -> 'a1

val tl : 'a1 list -> 'a1 list

val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool

val nth : int -> 'a1 list -> 'a1 -> 'a1

val nth_error : 'a1 list -> int -> 'a1 option

val count_occ : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 -> int

val rev : 'a1 list -> 'a1 list

val concat : 'a1 list list -> 'a1 list

val list_eq_dec : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list

val seq : int -> int -> int list

val repeat : 'a1 -> int -> 'a1 list

val list_sum : int list -> int

val list_max : int list -> int

val emin : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val cond_Zopp : bool -> Big_int_Z.big_int -> Big_int_Z.big_int

type full_float =
| F754_zero of bool
| F754_infinity of bool
| F754_nan of bool * Big_int_Z.big_int
| F754_finite of bool * Big_int_Z.big_int * Big_int_Z.big_int

val split_bits :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (bool * Big_int_Z.big_int) * Big_int_Z.big_int

val binary_float_of_bits_aux :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> full_float

type format = { digits : Big_int_Z.big_int; least : Big_int_Z.big_int;
                top : Big_int_Z.big_int }

val binary64 : format

val binary32 : format

val bfloat16 : format

val binary16 : format

type arithmetic = { accumulator : format; stored : format }

val float64 : arithmetic

val float32 : arithmetic

val float_bf16 : arithmetic

val float16 : arithmetic

type machine = { start : int; moves : int list list; shows : int list }

type tensor = { unit0 : Big_int_Z.big_int; rows : Big_int_Z.big_int list list }

val row : tensor -> int -> Big_int_Z.big_int list

type network = { units : int; letters : int; classes : int;
                 hidden_start : tensor; hidden_weight : tensor;
                 hidden_bias : tensor; input_weight : tensor;
                 unembed_weight : tensor; unembed_bias : tensor }

type node = { vector : Big_int_Z.big_int list; state : int; next : int list }

val add0 :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val weigh :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list

val sums :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list

val fits : format -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val precision : arithmetic -> Big_int_Z.big_int

val fine : arithmetic -> Big_int_Z.big_int -> bool

val small : arithmetic -> Big_int_Z.big_int list -> bool

val reached :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  bool

val below : Big_int_Z.big_int -> Big_int_Z.big_int list -> int -> int -> bool

val magnitudes : Big_int_Z.big_int list list -> Big_int_Z.big_int list list

val says :
  arithmetic -> network -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> int -> bool

val moved :
  arithmetic -> network -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> int -> Big_int_Z.big_int list -> bool

val edge :
  arithmetic -> network -> machine -> node list -> bool list ->
  Big_int_Z.big_int list list -> node -> int -> bool

val units_agree : arithmetic -> network -> bool

val check : arithmetic -> network -> machine -> node list -> bool

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

val get : stream list -> int -> int -> int option

val gets : stream list -> int list -> int -> int list option

val leqb : int list -> int list -> bool

val lookup : (int list * 'a1) list -> int list -> 'a1 option

val is : int -> int option -> bool

val last_where : (int -> bool) -> int -> int -> int option

val first_where : (int -> bool) -> int -> int option

val total : (int -> int option) -> int -> int option

val matched : stream list -> int -> int -> int -> int -> int option

val sem : int -> int list -> op -> stream list -> stream

type aset = int list

val mem : int -> aset -> bool

val subset : aset -> aset -> bool

val dedup : aset -> aset

type ann =
| Hidden
| Mapped
| Cells
| Lowered of int * int * int
| Keyed of int list

type part = { outs : int list; len : int; exact : bool;
              anns : (ann * bool) list; qs : int list; depths : int list;
              follow : int list list; cells : aset list list list }

val all : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option

val kget : aset option list -> int -> aset option

val prods : aset list -> int list list

val lower : int -> int -> int -> int

val raise : int -> int -> int -> int -> aset

val sums0 : int -> int -> aset -> aset -> aset

val flagged : aset -> aset -> aset -> aset

val counted :
  int -> int -> int -> int -> aset list -> aset -> (aset option * aset list)
  option

val rekey : aset -> aset -> (int * aset) -> aset

val rekeyed : aset -> aset -> int list -> aset list -> aset list

val answer : int list -> aset list -> aset -> int -> aset

val aop :
  int -> int -> bool -> op -> ann -> aset list -> int -> int -> aset option
  list -> (aset option * aset list) option

type world = aset option list * aset list list

val astep :
  int -> int -> bool -> program -> (ann * bool) list -> aset list list -> int
  -> int -> aset option list -> world list option

val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool

val within : aset list list -> aset list list -> bool

val const : int option -> stream

val has : int option -> aset -> bool

val starts : int -> op -> ann -> aset list -> stream list -> bool

val begins :
  int -> program -> (ann * bool) list -> aset list list -> stream list -> bool

val stepped : machine -> int -> int -> int option

val arrow :
  machine -> program -> part -> int -> int -> (int * int list) list option

val shown : machine -> program -> part -> (int * int list) list option

val reads_ok : machine -> (int list * int) list -> (int * int list) -> bool

val check0 : machine -> program -> (int list * int) list -> part -> bool

val inputs : op -> int list

val ordered : int -> program -> bool

type domain = int * int list

val at_bos : domain -> int list

val mapped : op -> int list list -> int list option

val marks : program -> int -> int list option

val heard : int -> int list -> int

val domain_of : int -> int -> program -> domain list -> op -> domain option

val domains_in :
  int -> int -> program -> domain list -> program -> domain list option

val domains : int -> int -> domain list -> program -> domain list option

val key_of : op -> int option

val query_of : op -> int option

val source_of : op -> int option

val flagged_by : op -> int -> int -> bool

val on : op -> int -> int -> int -> int -> bool

val beside : op -> int -> int -> int -> int -> int -> bool

val applied : op -> int list -> int option

val all2o :
  ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option

val decoded :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val in_units :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int option

val tensor_of_bits :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> tensor option

type scan = { family : int list; windows : (int * int) option list;
              pairs : (int * int list) list }

val act : program -> int list -> int -> int -> int option

val claimed : (int * int) option list -> int -> (int * int) option

val is_window : int -> program -> scan -> int -> int -> int -> bool

val window_ok : int -> program -> scan -> int -> bool

val pair_eqb : (int * int list) -> (int * int list) -> bool

val scan_step :
  machine -> program -> (int list * int) list -> scan -> (int * int list) ->
  int -> bool

val check_scan :
  machine -> program -> int -> int list -> (int list * int) list -> scan ->
  bool

val fact_eqb : (int * int list) -> (int * int list) -> bool

val distinct_facts :
  (int * int list) list -> (int * int list) list -> (int * int list) list

val combos : int list list list -> int list list

val shown_at : int -> (int * int list) list -> int list list

val check_parts :
  machine -> program -> int -> (int list * int) list -> part list -> bool

val counterpart : int option list -> int -> int option

val goes : int option list -> int -> int -> bool

val row_eqb : (int list * int) -> (int list * int) -> bool

val alike : int option list -> op -> op -> bool

val tabled : program -> int -> (int list * (int list * int) list) option

val any_letter : int -> program -> int -> bool

val both : program -> int -> int -> int -> bool

val pointing : int -> program -> int -> int -> (int * int) option

val tested : int -> program -> int -> (int * int) option

val happened : int -> program -> int -> int -> int -> bool

val same :
  int -> int -> domain list -> program -> program -> int option list -> int
  -> bool

val instead : int -> int -> program -> program -> int option list -> bool

val ordinary : format -> bool

type head = { query : tensor; key : tensor; val0 : tensor; out : tensor }

type layer = { fan : int; weight : tensor; bias : tensor }

type block = { heads : head list; d_qk : int; d_v : int; layers : layer list;
               keeps : bool list }

type transformer = { width : int; answers : int; embed_token : tensor;
                     embed_position : tensor; blocks : block list;
                     unembed : tensor; answer_bias : tensor }

type interval = Big_int_Z.big_int * Big_int_Z.big_int

val nil_interval : interval

val reach : interval -> Big_int_Z.big_int

val hull : interval -> interval -> interval

val wider : Big_int_Z.big_int -> interval -> interval

val scaled : Big_int_Z.big_int -> interval -> interval

val times : interval -> interval -> interval

val positive_part : interval -> interval

val down : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val up : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val up_to : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val halved : Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int

val twos : Big_int_Z.big_int -> Big_int_Z.big_int

val nicest : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val nice : interval -> Big_int_Z.big_int

type tally = { count : Big_int_Z.big_int; bulk : Big_int_Z.big_int;
               sums1 : interval; pitch : Big_int_Z.big_int;
               farthest : Big_int_Z.big_int; moving : Big_int_Z.big_int;
               middle : interval }

val none : tally

val single : interval -> tally

val both0 : tally -> tally -> tally

val coarse : Big_int_Z.big_int -> tally -> tally

val wide_enough :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
  format -> bool

val settled :
  arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option

val same_format : format -> format -> bool

val wide_for : Big_int_Z.big_int -> Big_int_Z.big_int -> format -> bool

val slack_of :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
  Big_int_Z.big_int * Big_int_Z.big_int

val slip_to :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> tally ->
  Big_int_Z.big_int option

val slip :
  arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option

val rounding : arithmetic -> Big_int_Z.big_int -> tally -> interval option

val weighed : Big_int_Z.big_int list -> interval list -> tally

val multiplied_out : interval list -> interval list -> tally

val column : tensor -> int -> Big_int_Z.big_int list

val exactly : Big_int_Z.big_int -> tensor -> int -> int -> interval

type affine = { slopes : Big_int_Z.big_int list; rest : interval;
                range : interval }

val center : interval -> Big_int_Z.big_int

val radius : interval -> Big_int_Z.big_int

val input : int -> interval -> affine

val inputs_from : int -> interval list -> affine list

val added :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val drift :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val activated : affine -> affine

val dotted : tensor -> int -> Big_int_Z.big_int * Big_int_Z.big_int list

val unit_of :
  Big_int_Z.big_int -> tensor -> tensor -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) * interval

val read_by :
  interval list -> ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval)
  -> tally

val fired :
  arithmetic -> Big_int_Z.big_int -> interval list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) -> interval option

val still : interval -> affine

val sloped :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  interval -> (Big_int_Z.big_int list * interval) -> Big_int_Z.big_int ->
  affine

val lift :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  list -> Big_int_Z.big_int -> interval -> tally -> (Big_int_Z.big_int
  list * interval) -> affine option

val idle :
  (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) list) list -> int -> interval option

val stacked :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list list

val upright :
  Big_int_Z.big_int list list -> int -> Big_int_Z.big_int list list

val readied :
  Big_int_Z.big_int -> layer ->
  Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) list

type wire = (int * Big_int_Z.big_int) list * interval

val strung :
  int -> Big_int_Z.big_int list -> (int * Big_int_Z.big_int) list list ->
  (int * Big_int_Z.big_int) list list

val threads :
  int -> Big_int_Z.big_int list list -> int -> (int * Big_int_Z.big_int) list
  list

val wires : Big_int_Z.big_int -> int -> layer -> wire list

val woven :
  Big_int_Z.big_int -> int -> layer list -> (Big_int_Z.big_int * wire list)
  list

val narrowed :
  (Big_int_Z.big_int * wire list) list -> int list -> int
  list * (Big_int_Z.big_int * (int * wire) list) list

type cone = { needs : int list;
              paths : (Big_int_Z.big_int * (int * wire) list) list }

val cone_of : int -> (Big_int_Z.big_int * wire list) list -> int list -> cone

val meet :
  (int * affine) list -> (int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * affine) list option

val weighed_there : (Big_int_Z.big_int * affine) list -> tally

val combined_there :
  (Big_int_Z.big_int * affine) list -> Big_int_Z.big_int list * interval

val wired :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  list -> Big_int_Z.big_int -> (int * affine) list -> (int * wire) ->
  (int * affine) option

val along :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  list -> (Big_int_Z.big_int * (int * wire) list) list -> (int * affine) list
  -> (int * interval) list option

val coned :
  arithmetic -> Big_int_Z.big_int -> cone -> interval list ->
  (int * interval) list option

val less :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val error :
  arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option

type answer0 =
  ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) * (interval * Big_int_Z.big_int)

val answer_of :
  arithmetic -> Big_int_Z.big_int -> interval list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) -> answer0 option

val above : interval list -> answer0 -> answer0 -> bool

val ahead :
  arithmetic -> Big_int_Z.big_int -> int -> interval list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int list) * interval) list -> bool

val squared : int -> Big_int_Z.big_int -> Big_int_Z.big_int

val exp_below : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val exp_above :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option

type box = interval list

val hulls : box -> box -> box

val between : interval -> interval -> Big_int_Z.big_int

type class0 = { corners : box; heft : Big_int_Z.big_int;
                floor : Big_int_Z.big_int }

val joined : class0 -> class0 -> class0

type ranked =
| Tip of int * class0
| Fork of class0 * ranked * ranked

val root : ranked -> class0

val above0 : ranked -> ranked -> ranked

val coupled : ranked list -> ranked list

val grown : int -> ranked list -> ranked list

val below0 :
  bool list -> box -> box -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val behind : bool list -> class0 -> class0 -> bool

val parted : bool list -> ranked -> ranked -> bool

val energy_of : bool list -> box -> Big_int_Z.big_int

val least_of : box -> box -> Big_int_Z.big_int

val reach_of : box -> box -> Big_int_Z.big_int

val fixed_of : bool list -> box -> box -> Big_int_Z.big_int

val within0 :
  bool list -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> (int * box)
  -> bool

type vectors_at = (int * box) list

val gist : bool list -> (box -> Big_int_Z.big_int) -> (int * box) -> class0

val leaf :
  bool list -> (box -> Big_int_Z.big_int) -> int -> vectors_at -> ranked list

val least_over : box -> vectors_at -> Big_int_Z.big_int

val with_right :
  int -> vectors_at -> vectors_at list -> vectors_at list ->
  (vectors_at * vectors_at) list

val wide : vectors_at list -> box

val wanders : interval -> bool

val loss :
  arithmetic -> Big_int_Z.big_int -> tally -> Big_int_Z.big_int option

val shifted_apart :
  arithmetic -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> vectors_at list -> vectors_at list -> bool

val coarser : Big_int_Z.big_int -> (int * box) -> int * box

val apart :
  arithmetic -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> vectors_at list -> vectors_at list -> bool

val storing : arithmetic -> bool

type form = { channel : int; table : (int * interval) list }

val found : int -> (int * interval) list -> interval option

val spanning : (int * interval) list -> interval

val merged : int -> interval -> (int * interval) list -> (int * interval) list

val index : int -> int list -> int option

type source =
| Fixed of interval
| By of int * (int * interval) list

val prepared : int list -> form -> source

val read : int list -> source -> interval option

val spanned : form -> form * interval

val prepared_by : int list -> (form * interval) -> source

type cursor = source * (int * interval) list

val current : int -> cursor -> source

val moved0 : int -> cursor -> cursor

val listed :
  Big_int_Z.big_int -> int -> int -> int -> Big_int_Z.big_int list list ->
  (int * interval) list

val thinned : Big_int_Z.big_int list -> int -> (int * Big_int_Z.big_int) list

val weighed_thinly :
  (int * Big_int_Z.big_int) list -> interval list -> interval

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

val known : program -> int -> int -> int list -> int list -> int -> int option

val told : program -> int -> int list -> int list -> int -> int option

val agrees : program -> int -> int -> int list -> int list -> int -> bool

val choices :
  int -> program -> domain list -> int -> int -> int list -> int list list
  option

val at_position :
  domain list -> int -> int -> int list -> int list list option

val gathered :
  ('a1 -> (int * interval) option) -> 'a1 list -> (int * interval) list ->
  (int * interval) list option

val built :
  int -> program -> domain list -> int -> int -> int list -> int -> (int list
  -> interval option) -> form option

val case_of : int -> (int * int list) list -> int list option

val rows_of :
  int -> program -> domain list -> int -> int -> int -> (int * int list) list
  -> int -> (int list * int list) list option

val cased :
  int -> program -> domain list -> int -> int -> place -> (int list -> int
  list -> interval option) -> form option

val embedding :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> transformer -> int -> place -> form option

val many : int

val passed :
  arithmetic -> Big_int_Z.big_int -> form -> interval -> form option

val product :
  arithmetic -> Big_int_Z.big_int -> interval list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) -> interval option

val slim :
  arithmetic -> Big_int_Z.big_int -> interval list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) ->
  ((Big_int_Z.big_int * (int * Big_int_Z.big_int) list) * Big_int_Z.big_int)
  option

val produced :
  interval list -> ((Big_int_Z.big_int * (int * Big_int_Z.big_int)
  list) * Big_int_Z.big_int) -> interval

type recipe =
  (((Big_int_Z.big_int * (int * Big_int_Z.big_int) list) * Big_int_Z.big_int)
  list, (Big_int_Z.big_int * Big_int_Z.big_int list) list) sum

val recipe_of :
  arithmetic -> Big_int_Z.big_int -> bool -> interval list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> recipe

val made :
  arithmetic -> Big_int_Z.big_int -> recipe -> interval list -> interval list
  option

val cursor_of : int -> int list -> (form * interval) -> cursor

val along0 :
  program -> domain list -> int -> (interval list -> interval list option) ->
  int list -> int option -> int list -> cursor list -> (int * interval list)
  list list option

val score :
  arithmetic -> Big_int_Z.big_int -> interval list -> interval list ->
  interval option

val scored :
  arithmetic -> Big_int_Z.big_int -> interval list -> (int * (int * interval
  list)) list -> ((int * int) * interval) list option

val leads_from :
  op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
  ((int * int) * interval) list -> bool

val leads :
  op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
  bool

val at_start : ((int * int) * interval) list -> ((int * int) * interval) list

val larger :
  Big_int_Z.big_int option -> Big_int_Z.big_int -> Big_int_Z.big_int option

val largest_of :
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val clear : Big_int_Z.big_int -> Big_int_Z.big_int option -> interval -> bool

val sweep :
  (int -> bool) -> (int -> int -> bool) -> Big_int_Z.big_int ->
  Big_int_Z.big_int option -> int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> ((int * int) * interval) list -> bool

val lowest :
  (int -> int -> bool) -> ((int * int) * interval) list -> Big_int_Z.big_int
  option

val swept :
  (int -> bool) -> (int -> int -> bool) -> (int -> int -> bool) ->
  Big_int_Z.big_int -> ((int * int) * interval) list -> bool

val leads_quickly :
  op -> Big_int_Z.big_int -> int -> int -> ((int * int) * interval) list ->
  bool

val faint : Big_int_Z.big_int

val hears : program -> op -> int -> Big_int_Z.big_int option

val suits : op -> int -> bool

val level :
  Big_int_Z.big_int -> program -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  op -> int -> ((int * int) * interval) list -> bool

val resting : ((int * int) * interval) list -> Big_int_Z.big_int

val calm : ((int * int) * interval) list -> bool

val judged :
  Big_int_Z.big_int -> program -> plan -> op -> int -> int ->
  ((int * int) * interval) list -> bool

val order_of : op -> int list

val positions :
  int -> (int * interval list) list list -> (int * (int * interval list)) list

val put : int -> box -> (int * box) list -> (int * box) list

val grouped : (int * box) list -> (int * box) list

val at_once :
  arithmetic -> Big_int_Z.big_int -> int -> program -> int -> plan -> op ->
  (int * interval list) list list -> (int * interval list) list list -> bool

val separates :
  arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int ->
  block -> head -> plan -> form list -> op -> bool

val slack :
  Big_int_Z.big_int -> int -> format -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val sound_weights :
  Big_int_Z.big_int -> int -> format -> Big_int_Z.big_int -> bool

val largest : (int * interval) list -> Big_int_Z.big_int

val valued :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> head -> form list -> int -> int -> form option

val wandering :
  arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val settling :
  arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> bool

val heaviness : arithmetic -> Big_int_Z.big_int -> plan -> Big_int_Z.big_int

val store_bound :
  arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int

val slack_stored :
  arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val kept_value :
  arithmetic -> Big_int_Z.big_int -> (int * interval) -> (int * interval)
  option

val kept :
  arithmetic -> Big_int_Z.big_int -> int -> (int * interval) list -> form
  option

val copied :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> head -> plan -> form list -> int -> int -> int -> form option

val stray : Big_int_Z.big_int -> (int * interval) list -> Big_int_Z.big_int

val skew : arithmetic -> Big_int_Z.big_int -> int -> plan -> Big_int_Z.big_int

val beyond :
  arithmetic -> Big_int_Z.big_int -> int -> (int * interval) list ->
  Big_int_Z.big_int

val mean :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
  interval

val added_up :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> head -> plan -> form list -> int -> int -> int -> form option

val returned :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> head -> plan -> form list -> int -> int -> op -> form option

val bounded :
  arithmetic -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> bool

val result :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> block -> head -> plan -> form list -> form list option

val with_gap : plan -> int -> plan

val first : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 option

val led :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> block -> head -> plan -> form list -> form list option

val mixture : int list -> int -> (tensor * source list) list -> tally option

val after_attention :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> block -> form list -> plan list -> place list -> form list
  option

val outcome :
  arithmetic -> Big_int_Z.big_int -> bool -> int -> (int * interval) list
  option -> interval option -> interval option

val yielded :
  arithmetic -> Big_int_Z.big_int -> cone -> source list -> int list ->
  (int * interval) list option

val cone_layers :
  arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int ->
  int -> block -> (Big_int_Z.big_int * wire list) list -> form list ->
  (int * form) -> place -> form option

val steady :
  arithmetic -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) list) list -> int -> interval option

val goes_on :
  arithmetic -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * ((Big_int_Z.big_int * Big_int_Z.big_int
  list) * interval) list) list -> bool -> int -> form -> place -> interval
  option

type worked = (int list * (int * interval) list option) list

val workings :
  arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int ->
  int -> (Big_int_Z.big_int * wire list) list -> (form * interval) list ->
  int list -> int list -> worked option

val distinct : int list list -> int list list

val at_work :
  arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int ->
  int -> (Big_int_Z.big_int * wire list) list -> (form * interval) list ->
  (int * int list) list -> (int list * worked option) list

val after_layers :
  arithmetic -> Big_int_Z.big_int -> int -> program -> domain list -> int ->
  int -> block -> form list -> place list -> form list option

val through :
  arithmetic -> Big_int_Z.big_int -> int -> int -> program -> domain list ->
  int -> int -> block list -> step list -> form list -> form list option

val right_answers :
  arithmetic -> Big_int_Z.big_int -> program -> domain list -> int ->
  transformer -> int list -> (int list * int) list -> int list -> form list
  -> bool

val check1 :
  arithmetic -> transformer -> machine -> int -> program -> int list -> (int
  list * int) list -> evidence -> bool

val sigma_below : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val sigma_above : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

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

val spread : Big_int_Z.big_int list -> Big_int_Z.big_int

val point : Big_int_Z.big_int -> form0

val plus : form0 -> form0 -> form0

val times0 : Big_int_Z.big_int -> form0 -> form0

val add_times :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val plus_times : form0 -> Big_int_Z.big_int -> form0 -> form0

val wider0 : Big_int_Z.big_int -> form0 -> form0

val least_of0 : form0 -> Big_int_Z.big_int

val most_of : form0 -> Big_int_Z.big_int

val magnitude : form0 -> Big_int_Z.big_int

val over : Big_int_Z.big_int -> form0 -> form0

val least4 :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val most4 :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val crossed :
  Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int

val halfway : form0 -> Big_int_Z.big_int

val multiply : form0 -> form0 -> form0

val either : form0 -> form0 -> form0

val far : Big_int_Z.big_int

val sigma_far : Big_int_Z.big_int

val sigma_small : Big_int_Z.big_int

val sigma_low : Big_int_Z.big_int -> Big_int_Z.big_int

val sigma_high : Big_int_Z.big_int -> Big_int_Z.big_int

val slope_at : Big_int_Z.big_int -> Big_int_Z.big_int

val logistic : form0 -> form0

val tangent : form0 -> form0

type part0 = { value : form0; bulk0 : Big_int_Z.big_int;
               count0 : Big_int_Z.big_int }

val up0 : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val join : part0 -> part0 -> part0

val whole : Big_int_Z.big_int -> part0

val of_number : form0 -> part0

val of_product : form0 -> form0 -> part0

val dot :
  Big_int_Z.big_int list -> (form0 * Big_int_Z.big_int) list -> part0 -> part0

val settle : Big_int_Z.big_int -> part0 -> part0

val alike0 : arithmetic -> bool

val quantum : arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int

val grants : arithmetic -> Big_int_Z.big_int -> bool

val reach0 : arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int list

val summed : arithmetic -> part0 -> form0 option

val keeps0 : arithmetic -> form0 -> form0 option

val through0 : arithmetic -> (form0 -> form0) -> form0 -> form0 option

val gate_at : arithmetic -> (form0 -> form0) -> part0 -> form0 option

val stepped0 :
  arithmetic -> kind -> part0 list -> part0 list -> form0 -> form0 ->
  (form0 * form0) option

val gates : kind -> int

type wire0 = { weights : Big_int_Z.big_int list; added0 : Big_int_Z.big_int }

val wire_of : tensor -> tensor -> int -> wire0

val unit_rows : gated -> int -> int list

val by_units : gated -> (int -> 'a1) -> 'a1 list list

val drive :
  Big_int_Z.big_int -> wire0 -> (form0 * Big_int_Z.big_int) list -> part0

val sized : form0 -> form0 * Big_int_Z.big_int

val entered : Big_int_Z.big_int -> Big_int_Z.big_int -> form0

val letter_part : gated -> int -> int -> part0

type tables = { by_letters : part0 list list list; wires0 : wire0 list list;
                columns : wire0 list }

val prepare : gated -> int -> tables

val has_cells : gated -> bool

val width0 : gated -> int

val before : gated -> tables -> form0 list -> part0 list list

val after :
  arithmetic -> gated -> part0 list list -> part0 list list -> form0 list ->
  form0 list option

val ahead0 : form0 list -> int -> bool

val says0 : arithmetic -> gated -> tables -> form0 list -> int -> bool

val chosen :
  bool list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list * Big_int_Z.big_int

val anew : bool list -> int -> int -> form0 -> form0

val afresh : bool list -> form0 list -> form0 list

type turned = { turns : Big_int_Z.big_int list list;
                turn_unit : Big_int_Z.big_int;
                backs : Big_int_Z.big_int list list;
                back_unit : Big_int_Z.big_int;
                turned_bounds : (Big_int_Z.big_int * Big_int_Z.big_int) list }

type region =
| Plain of (Big_int_Z.big_int * Big_int_Z.big_int) list
| Turned of turned

val boxed : (Big_int_Z.big_int * Big_int_Z.big_int) list -> form0 list

val product_with :
  Big_int_Z.big_int -> (form0 * Big_int_Z.big_int) list -> Big_int_Z.big_int
  list -> part0

val inner :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val leftover :
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val unturned : turned -> form0 list

val entering : region -> form0 list

val within1 :
  form0 list -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val inside : form0 list -> region -> bool

type tree =
| Into of int
| On of bool list * tree list

type gated_node = { set_of : region; state_of : int; next_of : tree list }

val branches :
  arithmetic -> gated -> machine -> tables -> (tree -> form0 list -> int ->
  bool) -> int -> form0 list -> part0 list list -> int -> tree list -> bool

val follow0 :
  arithmetic -> gated -> machine -> tables -> gated_node list -> tree ->
  form0 list -> int -> bool

val closed :
  arithmetic -> gated -> machine -> tables -> gated_node list -> gated_node
  -> bool

val units_agree0 : gated -> bool

val beginning : gated -> form0 list

val check2 : arithmetic -> gated -> machine -> gated_node list -> bool

type affine_map = { fan_in : int; fan_out : int; factors : tensor;
                    shifts : tensor }

type ssm_level = { reads : int; coordinates : int; initial : tensor;
                   selective : bool; decay : tensor; addend : tensor;
                   decoders : affine_map list; table_inner : affine_map;
                   table_outer : affine_map }

type state_space = { levels : ssm_level list; logit_count : int }

val round_at :
  format -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val below_top : format -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val ends_at :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> bool

val settles :
  arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> bool

val coarser0 : arithmetic -> bool

type held_point = { at_vector : Big_int_Z.big_int list; of_mode : int;
                    earliest : int; to_points : int list }

type mode = { mode_says : int option list; mode_leads : int list }

type level_evidence = { point_unit : Big_int_Z.big_int;
                        points : held_point list; modes : mode list }

type joint = { joint_modes : int list; joint_state : int;
               joint_earliest : int; joint_next : int list }

val ended : int option -> int -> bool

val ones : int -> int -> Big_int_Z.big_int list

val same0 : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

val finer :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val between0 :
  arithmetic -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

type numbers = Big_int_Z.big_int list * Big_int_Z.big_int

type sized0 = affine_map * Big_int_Z.big_int list list

val with_sizes : affine_map -> sized0

val mapped0 : arithmetic -> sized0 -> bool -> numbers -> numbers option

val decoded0 : arithmetic -> sized0 list -> numbers -> numbers option

val beside0 : int -> int -> numbers -> numbers

val answers_right :
  arithmetic -> ssm_level -> (sized0 * sized0) -> bool -> int -> numbers ->
  int -> bool

val alone : arithmetic -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val stepped1 :
  arithmetic -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val moved_to :
  arithmetic -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  -> bool

val leads_to :
  arithmetic -> ssm_level -> Big_int_Z.big_int -> int -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list -> bool

val point_right :
  arithmetic -> int option -> bool -> ssm_level -> level_evidence -> sized0
  list -> (sized0 * sized0) -> held_point -> bool

val tensor_alone : arithmetic -> ssm_level -> tensor -> bool

val begins0 : ssm_level -> level_evidence -> held_point -> bool

val level_right :
  arithmetic -> int option -> bool -> ssm_level -> level_evidence -> bool

val levels_right :
  arithmetic -> int option -> int -> ssm_level list -> level_evidence list ->
  bool

val run :
  level_evidence list -> int list -> int -> (int * int option list) option

val agree : int option list -> int list -> bool

val joint_right :
  machine -> int option -> level_evidence list -> joint list -> joint -> int
  -> bool

val first_mode : level_evidence -> int option

val check3 :
  arithmetic -> state_space -> machine -> int option -> level_evidence list
  -> joint list -> bool

type reason =
| Invariantly of part
| Parted of part list
| Scanning of scan
| Through of program * int option list * int list * reason

val computed :
  machine -> program -> int -> int list -> (int list * int) list -> reason ->
  bool

val accepts_transformer :
  arithmetic -> transformer -> machine -> int -> program -> int list -> (int
  list * int) list -> reason -> evidence -> bool

val accepts_recurrent : arithmetic -> network -> machine -> node list -> bool

val accepts_gated : arithmetic -> gated -> machine -> gated_node list -> bool

val accepts_state_space :
  arithmetic -> state_space -> machine -> int option -> level_evidence list
  -> joint list -> bool
