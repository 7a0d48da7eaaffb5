"""Optional packages, and the extras that bring them."""

import importlib.metadata
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from krohn.program import extras
from krohn.program.errors import KrohnError
from krohn.program.extras import EXTRAS, install, name_missing_extra

ROOT = Path(__file__).resolve().parents[2]
IMPORTED_AS = {"automata-lib": "automata", "z3-solver": "z3"}
OTHERS = {"dev", "docs", "oracle", "all"}


def test_they_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    stated = {
        extra: [Requirement(each) for each in requirements]
        for extra, requirements in project["optional-dependencies"].items()
    }
    (everything,) = stated["all"]
    assert everything.extras | {"compile"} == EXTRAS.keys() == stated.keys() - OTHERS
    for extra, packages in EXTRAS.items():
        own = {each.extras.pop() for each in stated[extra] if each.name == "krohn"}
        assert own == ({"compile"} if extra != "compile" else set())
        names = {each.name for each in stated[extra]} - {"krohn"}
        assert {IMPORTED_AS.get(n, n.replace("-", "_")) for n in names} == {*packages}


@pytest.mark.parametrize(
    ("extra", "package"), [(e, p) for e, packages in EXTRAS.items() for p in packages]
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    extra: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    who = f"krohn {extra}"
    with pytest.raises(KrohnError) as caught, name_missing_extra(who):
        import_module(package)
    assert str(caught.value) == f"{who} needs {package}: {install(extra)}"
    others = [e for e, packages in EXTRAS.items() if package in packages]
    with pytest.raises(KrohnError) as caught, name_missing_extra("krohn draw"):
        import_module(f"{package}.part")
    assert str(caught.value) == f"krohn draw needs {package}: {install(others[0])}"


def test_an_extra_brings_what_all_bring() -> None:
    with (
        pytest.raises(KrohnError, match=r"learn\]'"),
        name_missing_extra("krohn learn"),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")


@pytest.mark.parametrize("words", [["--to", "onnx"], ["--engine", "onnx", "F"]])
def test_an_extra_that_is_named_is_asked_for(words: list[str]) -> None:
    with (
        pytest.raises(KrohnError, match=r"krohn fuzz needs torch: .*\[onnx\]'"),
        name_missing_extra("krohn fuzz", words=words),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_a_package_that_cannot_be_imported_says_why() -> None:
    with (
        pytest.raises(KrohnError, match=r"needs onnx \(too old\): pip"),
        name_missing_extra("krohn export"),
    ):
        raise ImportError("too old", name="onnx")


@pytest.mark.parametrize("name", ["krohn.nowhere", "another", None])
def test_what_no_extra_brings_is_a_fault_of_the_program(name: str | None) -> None:
    with pytest.raises(ImportError), name_missing_extra("krohn run"):
        raise ImportError("no such module", name=name)


def test_from_a_checkout_the_checkout_is_installed() -> None:
    assert install("compare") == f"pip install '{ROOT}[compare]'"


def test_elsewhere_it_is_what_pip_has_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(extras, "import_folder", lambda: tmp_path)
    wheel = f"{tmp_path}/krohn-0.3.0-py3-none-any.whl"
    for origin, name in ((f'{{"url": "file://{wheel}"}}', wheel), (None, "krohn")):
        monkeypatch.setattr(
            importlib.metadata.PathDistribution,
            "read_text",
            lambda *_, text=origin: text,
        )
        assert install("compare") == f"pip install '{name}[compare]'"
