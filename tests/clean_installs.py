"""Install a wheel alone, and with each extra, and type the commands that a reader types.

``python tests/clean_installs.py [EXTRA …]`` builds a wheel, makes a virtual environment for
the wheel alone (``-``) and for each extra of pyproject.toml, and runs there the commands of
README and the examples of every ``--help``. A command must work, or exit with 2 and name
an extra with which it does work, and the command that installs it; or the kernel.

Every extra brings the packages of ``compile``. So environments after that one begin with
its packages, and only commands that it leaves out are run again, beside those of README;
``--all`` runs all of them everywhere.
A command that is still at work after two minutes works.

It asks the index that pip is set up with, and takes some minutes for each extra.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from help_examples import in_order, put_files, read

ROOT = Path(__file__).parents[1]
ALONE, COMMON = "-", "compile"
"""No extra, and what each other extra brings as well."""
KERNEL = "`make kernel` in a checkout builds it"
"""What is said where the kernel is missing, which no extra brings."""
STOPPED = "at work"
MADE = "a folder where all commands were run; without it they are run here first"
LIMIT = 120
"""Seconds after which a command works."""
NAMED = re.compile(r"pip install '(\S+)\[([\w-]+)\]'")
TYPED = re.compile(r"^\$ krohn (.+)$|`krohn ([a-z]+ [^`]+)`", re.MULTILINE)


def extras() -> list[str]:
    """No extra, and those of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [ALONE, *project["optional-dependencies"]]


def commands_of_readme() -> list[list[str]]:
    """The commands of README that can be typed as they stand."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = [shlex.split(a or b) for a, b in TYPED.findall(text)]
    return [words for words in found if not {"D", "…"} & {*words}]


def commands() -> list[list[str]]:
    """All that are run, each once."""
    typed = commands_of_readme() + in_order()
    return [words for n, words in enumerate(typed) if words not in typed[:n]]


def build(place: Path) -> Path:
    """Build the wheel of this checkout in a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*command, str(place)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Done:
    """The end of a command in an environment.

    Attributes:
        words: What was typed after ``krohn``.
        code: Its exit code.
        errors: What it printed to standard error.
        lacks: The extra that it names, with the command that installs it.
    """

    words: list[str]
    code: int
    errors: str
    lacks: str

    @property
    def title(self) -> str:
        """The command."""
        return shlex.join(self.words)


def install(wheel: Path, extra: str, place: Path, base: Path | None) -> Path:
    """Make an environment with a wheel and an extra; the path of its Python.

    Args:
        wheel: The wheel.
        extra: The extra.
        place: The new folder.
        base: An environment with the packages of `COMMON`; it is not changed. Where it is
            missing, the environment begins empty.
    """
    if base is None:
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    else:  # by links, which pip replaces
        subprocess.run(["cp", "-al", str(base), str(place)], check=True)
    wanted = f"{wheel}[{extra}]" if extra != ALONE else str(wheel)
    python = place / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", wanted]
    subprocess.run(pip, check=True)
    return python


def run_all(
    typed: list[list[str]], python: Path, wheel: Path, made: Path, here: Path
) -> list[Done]:
    """Run commands in a new folder.

    Args:
        typed: The arguments of each.
        python: That of an environment.
        wheel: The wheel that is installed there.
        made: A folder with files that commands write: what cannot be written in this
            environment is taken from there.
        here: The new folder.
    """
    put_files(here)
    known = {path.name for path in made.iterdir()}
    ended = []
    for words in typed:
        for name in read(words, known):
            if not (here / name).exists():
                copy = shutil.copytree if (made / name).is_dir() else shutil.copy
                copy(made / name, here / name)
        ended.append(run_one(python, wheel, words, here))
    return ended


def run_here(wheel: Path, made: Path) -> Path:
    """Run all commands in a new folder with the Python that runs this; the folder."""
    made.mkdir()
    run_all(commands(), Path(sys.executable), wheel, made, made)
    return made


def run_one(python: Path, wheel: Path, words: list[str], here: Path) -> Done:
    """Run a command."""
    command = subprocess.Popen(
        [str(python), "-m", "krohn", *words],
        cwd=here,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "HOME": str(here)},
        start_new_session=True,
    )
    try:
        _, errors = command.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)  # with the processes that it has started
        command.communicate()
        return Done(words, 0, STOPPED, "")
    if KERNEL in errors:
        return Done(words, command.returncode, errors, "the kernel")
    named = NAMED.search(errors)
    lacks = (
        named[2] if named and command.returncode == 2 and named[1] == str(wheel) else ""
    )
    return Done(words, command.returncode, errors, lacks)


def faults(ended: dict[str, list[Done]]) -> list[str]:
    """What is wrong, by environments: what neither works nor names what it needs."""
    works = {
        (extra, d.title) for extra, all_ in ended.items() for d in all_ if not d.code
    }
    return [
        f"[{extra}] krohn {d.title}: exit {d.code}: {d.errors.strip()[-300:]}"
        for extra, all_ in ended.items()
        for d in all_
        if d.code
        and (not d.lacks or (d.lacks in ended and (d.lacks, d.title) not in works))
    ]


def cell(done: Done | None) -> str:
    """The end of a command, in a word."""
    if done is None:
        return "as compile"
    if done.errors == STOPPED:
        return STOPPED
    return done.lacks or ("works" if not done.code else f"exit {done.code}")


def print_table(ended: dict[str, list[Done]]) -> None:
    """Print by command whether it works with each extra, or which it names."""
    names = list(ended)
    print("| command | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    by_title = [{d.title: d for d in each} for each in ended.values()]
    for title in {d.title: None for each in ended.values() for d in each}:
        cells = [cell(each.get(title)) for each in by_title]
        print(f"| `{title}` | " + " | ".join(cells) + " |")
    total = sum(map(len, ended.values()))
    fine = sum(not d.code for each in ended.values() for d in each)
    named = sum(bool(d.lacks) for each in ended.values() for d in each)
    print(f"{total} runs: {fine} work, {named} name the extra that they need")


def left_out(ended: list[Done]) -> list[list[str]]:
    """The commands of README, and those that do not work without an extra."""
    readme = commands_of_readme()
    lacks = [d.words for d in ended if d.code and d.lacks != "the kernel"]
    return readme + [words for words in lacks if words not in readme]


def main() -> None:
    """Build, install and run; exit with 1 if a command neither works nor says why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", help="these only; - is the wheel alone")
    parser.add_argument("--made", type=Path, help=MADE)
    parser.add_argument(
        "--all", action="store_true", help="run all commands everywhere"
    )
    options = parser.parse_args()
    ended: dict[str, list[Done]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build(place)
        made = options.made or run_here(wheel, place / "made")
        for extra in options.extras or extras():
            here = place / f"here-{extra}"
            here.mkdir()
            base = place / COMMON if extra != ALONE and COMMON in ended else None
            environment = place / (COMMON if extra == COMMON else "env")
            python = install(wheel, extra, environment, base)
            known = ended.get(COMMON)
            whole = options.all or known is None or extra == ALONE
            typed = commands() if whole or known is None else left_out(known)
            ended[extra] = run_all(typed, python, wheel, made, here)
            shutil.rmtree(here)
            if extra != COMMON:
                shutil.rmtree(environment)
            print_table({extra: ended[extra]})
            print(
                "\n".join(faults({extra: ended[extra]})) or f"[{extra}] all well",
                flush=True,
            )
    print_table(ended)
    sys.exit("\n".join(faults(ended)) or 0)


if __name__ == "__main__":
    main()
