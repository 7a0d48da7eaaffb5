"""What the directives of the extraction put in the place of Coq's functions is the same.

Coq computes each function by its definition, and OCaml what stands in its place, on the
same arguments.
"""

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from krohn.verify.kernel import asking

HERE = Path(asking.__file__).parent
with_both = pytest.mark.skipif(
    not (shutil.which("coqc") and shutil.which("ocamlfind")),
    reason="there is no Coq, or no OCaml",
)
EDGES = (0, 1, 2, 3, 5, 62, 63, 64, 2**30, 2**31, 2**61, 2**62, 2**63, 2**64, 2**200)
ROWS = 400
"""So many pairs of arguments; each function is asked for each."""

# x and y are any whole numbers; k is one from -70 to 70, p and q are above 0, a and b are
# naturals. Functions that match are here for the matches, which directives stand for, too.
FUNCTIONS = {
    **{
        f"Z.{name} x y": f"Z.{name} x y"
        for name in ("add", "sub", "mul", "max", "min", "div", "modulo", "quot", "rem")
    },
    **{
        f"Z.{name} x": f"Z.{name} x"
        for name in (
            "opp",
            "abs",
            "log2",
            "succ",
            "pred",
            "double",
            "div2",
            "sgn",
            "sqrt",
        )
    },
    **{f"Z.{name}": f"Z.b2z (Z.{name} x y)" for name in ("eqb", "leb", "ltb", "geb")},
    "Z.eq_dec": "if Z.eq_dec x y then 1 else 0",
    "Z.eq_dec of one": "if Z.eq_dec x x then 1 else 0",
    "Z.eqb of one": "Z.b2z (Z.eqb x x)",
    "Z.leb of one": "Z.b2z (Z.leb x x)",
    "Z.ltb of one": "Z.b2z (Z.ltb x x)",
    "Z.compare": "order (Z.compare x y)",
    "Z.compare of one": "order (Z.compare x x)",
    "Z.div_eucl, quotient": "fst (Z.div_eucl x y)",
    "Z.div_eucl, remainder": "snd (Z.div_eucl x y)",
    "Z.even": "Z.b2z (Z.even x)",
    "Z.pow": "Z.pow (Z.modulo x 19 - 9) k",
    "Z.pow of 2": "Z.pow 2 k",
    "Z.shiftl": "Z.shiftl x k",
    "Z.shiftr": "Z.shiftr x k",
    "Z.of_N": "Z.of_N (Z.to_N x)",
    "Z.abs_N": "Z.of_N (Z.abs_N x)",
    **{
        f"Pos.{name}": f"Zpos (Pos.{name} p q)"
        for name in ("add", "sub", "mul", "max", "min")
    },
    **{
        f"Pos.{name}": f"Zpos (Pos.{name} p)"
        for name in ("succ", "pred", "size", "div2", "div2_up")
    },
    "Pos.pred_double": "Zpos (Pos.pred_double p)",
    "Pos.compare": "order (Pos.compare p q)",
    "Pos.compare_cont, less": "order (Pos.compare_cont Lt p q)",
    "Pos.compare_cont, greater": "order (Pos.compare_cont Gt p p)",
    "Pos.eqb": "Z.b2z (Pos.eqb p q)",
    **{
        f"N.{name}": f"Z.of_N (N.{name} (Z.to_N x) (Z.to_N y))"
        for name in ("add", "sub", "mul", "max", "min", "div", "modulo")
    },
    **{f"N.{name}": f"Z.of_N (N.{name} (Z.to_N x))" for name in ("succ", "pred")},
    "N.compare": "order (N.compare (Z.to_N x) (Z.to_N y))",
    **{
        f"Nat.{name}": f"Z.of_nat (Nat.{name} a b)"
        for name in ("add", "sub", "mul", "max", "min", "div", "modulo")
    },
    **{f"Nat.{name}": f"Z.b2z (Nat.{name} a b)" for name in ("eqb", "leb", "ltb")},
    "Nat.eq_dec": "if Nat.eq_dec a b then 1 else 0",
    "Nat.eq_dec of one": "if Nat.eq_dec b b then 1 else 0",
    "Nat.pow": "Z.of_nat (Nat.pow a 2)",
    "Nat.even": "Z.b2z (Nat.even a)",
    "nat": "match a with O => -1 | S a' => Z.of_nat a' end",
    "Z.of_nat": "Z.of_nat a",
    "length": "Z.of_nat (length (seq a b))",
}
COQ = """
From Coq Require Import List ZArith.
Import ListNotations.
Open Scope Z_scope.
Definition order (c : comparison) : Z := match c with Lt => -1 | Eq => 0 | Gt => 1 end.
Definition answers (x y : Z) : list Z :=
  let k := Z.modulo y 141 - 70 in
  let p := Z.to_pos x in let q := Z.to_pos y in
  let a := Z.to_nat (Z.modulo x 97) in let b := Z.to_nat (Z.modulo y 89) in
  [FUNCTIONS].
"""
PROGRAM = """
let line () = try Some (input_line stdin) with End_of_file -> None
let rec go () = match line () with
  | None -> ()
  | Some l -> Scanf.sscanf l "%s %s" (fun x y ->
      print_endline (String.concat " " (List.map Z.to_string
        (Directives.answers (Z.of_string x) (Z.of_string y))))); go ()
let () = go ()
"""
NATURALS = """
(* Where a natural number does not fit, [Checked] says so; else it is right. *)
let same name exact f =
  match f () with
  | found -> if not (Z.equal exact (Z.of_int found)) then failwith name
  | exception Checked.Overflow ->
      if Z.fits_int exact then failwith (name ^ " overflows too soon")
let () =
  Random.init 3;
  let any () = match Random.int 4 with
    | 0 -> max_int - Random.int 100
    | 1 -> 1 lsl Random.int 62
    | 2 -> Random.bits () * (1 + Random.bits ())
    | _ -> Random.int 100 in
  for _ = 1 to 100_000 do
    let a = any () and b = any () in
    same "add" Z.(of_int a + of_int b) (fun () -> Checked.add a b);
    same "mul" Z.(of_int a * of_int b) (fun () -> Checked.mul a b);
    same "sub" Z.(max zero (of_int a - of_int b)) (fun () -> Checked.sub a b);
    same "succ" Z.(succ (of_int a)) (fun () -> Checked.succ a);
    assert (Checked.leq a b = (a <= b) && Checked.less a b = (a < b));
    assert (Checked.equal a b = (a = b) && Checked.equal a a)
  done
"""


def built(folder: Path, name: str, text: str, *before: str) -> Path:
    """A program in OCaml."""
    (folder / f"{name}.ml").write_text(text)
    for each in ("checked", "whole"):
        shutil.copy(HERE / "ocaml" / f"{each}.ml", folder)
    files = ["checked.ml", "whole.ml", *before, f"{name}.ml"]
    build = ["ocamlfind", "ocamlopt", "-w", "-a", "-package", "zarith", "-linkpkg"]
    ran = subprocess.run(
        [*build, *files, "-o", name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder / name


def coq(folder: Path, name: str, text: str) -> str:
    """What Coq prints of a file."""
    (folder / f"{name}.v").write_text(text)
    ran = subprocess.run(
        ["coqc", "-q", f"{name}.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def directives() -> str:
    """The directives of Extract.v, and the libraries of Coq that they change."""
    text = (HERE / "coq" / "Extract.v").read_text()
    return "\n".join(re.findall(r"^(?:From Coq|Extract) .*$", text, flags=re.M))


def test_every_function_that_is_replaced_is_asked() -> None:
    named = set(re.findall(r"Extract (?:Inlined )?Constant (\S+)", directives()))
    asked = " ".join(FUNCTIONS.values())
    assert named
    assert {name for name in named if f"{name} " not in asked} == set()


@pytest.mark.slow
@with_both
def test_functions_are_those_of_coq(tmp_path: Path) -> None:
    body = COQ.replace("FUNCTIONS", ";\n   ".join(FUNCTIONS.values()))
    extracted = f'{directives()}\n{body}\nExtraction "directives.ml" answers.\n'
    coq(tmp_path, "Directives", extracted)
    (tmp_path / "directives.mli").unlink()
    program = built(tmp_path, "asked", PROGRAM, "directives.ml")
    rng = np.random.default_rng(1)
    signed = [s * (e + d) for e in EDGES for d in (-1, 0, 1) for s in (1, -1)]
    pairs = list(product(sorted(set(signed))[::3], repeat=2))
    while len(pairs) < ROWS:
        digits = rng.integers(1, 60, 2)
        pairs.append(tuple(int(rng.integers(-9, 10)) * 7 ** int(d) + 5 for d in digits))
    given = "".join(f"{x} {y}\n" for x, y in pairs)
    ran = subprocess.run(
        [program], input=given, capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert len(rows) == len(pairs)
    assert {len(row) for row in rows} == {len(FUNCTIONS)}
    said = ";\n".join(
        f"(({x}, {y}), [{'; '.join(row)}])"
        for (x, y), row in zip(pairs, rows, strict=True)
    )
    check = (
        f"{body}\nDefinition given : list (Z * Z * list Z) := [\n{said}].\n"
        "Eval vm_compute in filter (fun x => negb (if list_eq_dec Z.eq_dec\n"
        "  (answers (fst (fst x)) (snd (fst x))) (snd x) then true else false)) given.\n"
    )
    found = coq(tmp_path, "Compared", check)
    assert found.split(":")[0].split() == ["=", "[]"], found[:2000]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("ocamlfind"), reason="there is no OCaml")
def test_naturals_that_do_not_fit_are_said_to(tmp_path: Path) -> None:
    ran = subprocess.run(
        [built(tmp_path, "naturals", NATURALS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
