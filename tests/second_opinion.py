"""The answer of cvc5 to a question in SMT-LIB 2."""

import pytest


def cvc5_says(question: str) -> str:
    cvc5 = pytest.importorskip("cvc5")
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, question, "question")
    said = []
    while not (command := parser.nextCommand()).isNull():
        said.append(command.invoke(solver, parser.getSymbolManager()))
    return "".join(said).strip()
