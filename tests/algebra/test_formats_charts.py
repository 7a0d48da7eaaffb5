"""State charts: SCXML against python-statemachine, and XState's JSON."""

import json
import random
from pathlib import Path

import pytest
from statemachine.io.scxml.processor import SCXMLProcessor

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import read, scxml

LIGHT = """<?xml version="1.0" encoding="UTF-8"?>
<scxml xmlns="http://www.w3.org/2005/07/scxml" xmlns:ed="urn:editor" version="1.0"
       initial="green" datamodel="ecmascript">
  <datamodel><data id="n" expr="0"/></datamodel>
  <state id="red" name="red" initial="" ed:x="3"><ed:shape w="1"/>
    <onentry><log expr="'stop'"/></onentry>
    <transition event="timer walk" target="green"/>
  </state>
  <state id="green">
    <transition event="timer" target="red"><assign location="n" expr="n + 1"/></transition>
    <transition event="walk"/>
    <transition event="off.power" target="dark"/>
  </state>
  <final id="dark"/>
</scxml>
"""


def chart(body: str, start: str = "") -> str:
    space = 'xmlns="http://www.w3.org/2005/07/scxml"'
    return f"<scxml {space} {start}>\n{body}\n</scxml>"


def test_a_chart_shows_its_states_and_ignores_what_it_does_not_take() -> None:
    machine = scxml.read(LIGHT, "light.scxml")
    assert machine.states == ("red", "green", "dark")
    assert machine.letters == ("timer", "walk", "off.power")
    assert machine.output is None
    word = ["walk", "off.power", "timer"]
    assert machine.run(["timer", *word]) == ("red", "green", "dark", "dark")
    assert machine.run(["walk", "timer", "off.power"]) == ("green", "red", "red")
    assert "in 4 of 9 cases a state has no transition for an event" in machine.remark
    assert "'<datamodel>', '<log>', '<assign>'" in machine.remark


def test_a_chart_with_a_sink() -> None:
    machine = scxml.read(LIGHT, "light.scxml", "sink")
    assert machine.run(["off.power", "timer"]) == ("dark", "sink")
    assert machine.run(["walk"]) == ("green",)  # a transition without a target stays
    assert "in 4 of 9" not in machine.remark


def test_where_a_chart_starts() -> None:
    body = '<state id="p"><transition event="a" target="q"/></state><state id="q"/>'
    first = '<initial><transition target="q"/></initial>'
    assert scxml.read(chart(body), "c").start == 0
    assert scxml.read(chart(body, 'initial="q"'), "c").start == 1
    assert scxml.read(chart(first + body), "c").start == 1


def drawn(seed: int) -> str:
    """A flat chart with events that take others."""
    draw = random.Random(seed)
    names = [f"s{i}" for i in range(draw.randint(1, 4))]
    events = ["a", "a.b", "a.b.c", "a.*", "b", "ab", "*", "b.c."]
    states = []
    for name in names:
        ways = []
        for _ in range(draw.randint(0, 4)):
            said = " ".join(draw.sample(events, draw.randint(1, 2)))
            target = draw.choice([*(f' target="{q}"' for q in names), ""])
            ways.append(f'<transition event="{said}"{target}/>')
        states.append(f'<state id="{name}">{"".join(ways)}</state>')
    always = '<transition event="a a.b b" target="s0"/></state>'
    states[0] = states[0].replace("</state>", always)
    return chart("\n".join(states), f'initial="{draw.choice(names)}"')


def states_of_library(text: str, word: list[str]) -> list[str]:
    processor = SCXMLProcessor()
    processor.parse_scxml("drawn", text)
    run = processor.start()
    states = []
    for letter in word:
        run.send(letter)
        states.append("".join(state.id for state in run.configuration))
    return states


@pytest.mark.parametrize("seed", range(25))
def test_charts_do_as_those_of_python_statemachine(seed: int) -> None:
    text = drawn(seed)
    machine = scxml.read(text, "drawn.scxml")
    word = random.Random(seed).choices(machine.letters, k=12)
    assert [*machine.run(word)] == states_of_library(text, word)


REFUSED = [
    (
        "<state id='p'><transition event='a' cond='x'/></state>",
        ":2: the transition from",
    ),
    ("<state id='p'><state id='q'/></state>", ":2: a state has states of its own"),
    ("<state id='p' initial='q'/>", "a state has states of its own"),
    ("<parallel id='p'/>", "<parallel>: several states are active together; write"),
    ("<state id='p'><history id='h'/></state>", "<history>: a state is remembered"),
    ("<state id='p'><invoke src='x'/></state>", "<invoke>: another chart runs"),
    (
        "<state id='p'><onentry><if cond='1'><raise event='a'/></if></onentry></state>",
        "<raise>: the chart sends an event itself",
    ),
    (
        "<state id='p'><transition event='a'><send event='b'/></transition></state>",
        "<send>: the chart sends an event itself",
    ),
    ("<state id='p'><transition target='p'/></state>", "no event; let the events"),
    ("<state id='p'><transition event='a' target='p q'/></state>", "several targets"),
    (
        "<state id='p'><transition event='a' target='q'/></state>",
        "'q' is no state; the",
    ),
    ("<state id='p'><transition event='a' x='1'/></state>", "the attribute 'x' of <tr"),
    ("<state id='p' src='f'/>", "the attribute 'src' of <state> is not read"),
    ("<state/>", "a state without an id"),
    ("<state id='p'/><state id='p'/>", "two states have the id 'p'"),
    ("<state id='p'/>", "no transitions"),
    (
        "<final id='p'><transition event='a'/></final>",
        "<transition> is nothing of SCXML",
    ),
    ("<states/>", "<states> is nothing of SCXML here"),
    (
        "<i:include xmlns:i='http://www.w3.org/2001/XInclude' href='x'/><state id='p'/>",
        "<include> of XInclude: another file",
    ),
    ("", "no states; is this a state chart?"),
    ("<state id='p'>", "not XML: mismatched tag"),
    ("<initial/><state id='p'/>", "<initial> holds one transition"),
    ("<state id='p'><transition event='" + "a." * 99 + "'/></state>", "more than 20"),
    ("<state>" * 200, "elements nest more than 100 deep"),
]


@pytest.mark.parametrize(("body", "said"), REFUSED)
def test_what_is_no_flat_chart_is_refused_by_name(body: str, said: str) -> None:
    with pytest.raises(MachineError) as refused:
        scxml.read(chart(body), "c.scxml")
    assert said in str(refused.value)
    assert str(refused.value).startswith("c.scxml:")
    assert "\n" not in str(refused.value)


def test_charts_of_another_namespace_or_encoding_are_refused(tmp_path: Path) -> None:
    body = "<state id='p'><transition event='\xe9'/></state>"
    with pytest.raises(MachineError, match="not SCXML: its namespace is 'urn:x'"):
        scxml.read(f"<scxml xmlns='urn:x'>{body}</scxml>", "c.scxml")
    (path := tmp_path / "c.scxml").write_bytes(chart(body).encode("latin-1"))
    with pytest.raises(MachineError, match="not UTF-8 text; save the file as UTF-8"):
        read(path)


def test_texts_that_stand_for_longer_ones_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>\n<scxml/>'
    with pytest.raises(MachineError, match=":1: a DOCTYPE is not read"):
        scxml.read(bomb, "c.scxml")
    with pytest.raises(MachineError, match="starts in 'p' and in 'q'"):
        scxml.read(chart("<state id='p'/><state id='q'/>", "initial='p q'"), "c")
    with pytest.raises(MachineError, match="not SCXML: it begins with <structure>"):
        scxml.read("<structure/>", "c.scxml")


def test_many_events_for_many_are_refused_before_work() -> None:
    states = "".join(
        f'<state id="s{i}"><transition event="e{i} *"/></state>' for i in range(1800)
    )
    with pytest.raises(MachineError, match="more than 3000000 transitions"):
        scxml.read(chart(states), "c.scxml")


XSTATE = {
    "id": "light",
    "initial": "green",
    "context": {"n": 1},
    "on": {"RESET": ".green", "OFF": "#light.dark"},
    "states": {
        "green": {"on": {"TIMER": "yellow", "WALK": {"actions": "beep"}}},
        "yellow": {"id": "Y", "entry": ["x"], "on": {"TIMER": {"target": "red"}}},
        "red": {"on": {"TIMER": [{"target": "green"}], "*": "#Y", "WALK": "red"}},
        "dark": {"type": "final"},
    },
}


def from_xstate(folder: Path, said: object) -> Automaton:
    path = folder / "light.json"
    path.write_text(json.dumps(said))
    return read(path)


def test_the_object_of_xstate_is_a_machine(tmp_path: Path) -> None:
    machine = from_xstate(tmp_path, XSTATE)
    assert machine.states == ("green", "yellow", "red", "dark")
    assert machine.letters == ("TIMER", "WALK", "RESET", "OFF")
    word = ["WALK", "TIMER", "WALK", "TIMER", "WALK", "RESET"]
    shown = ("green", "yellow", "yellow", "red", "red", "yellow")
    assert machine.run(word) == shown  # the state itself comes before what is above it
    assert machine.run(["RESET", "OFF", "RESET"]) == ("green", "dark", "dark")
    assert "in 5 of 16 cases" in machine.remark
    assert "left out, for it changes no state: 'context', 'actions'" in machine.remark


WRONG = [
    (
        {"guard": "isDay", "target": "red"},
        "a transition has a condition (guard); make two",
    ),
    ([{"cond": "x", "target": "red"}, "red"], "a transition has a condition (cond)"),
    ("blue", "the target 'blue' is no state of the chart"),
    (".red", "a state has states of its own"),
    ({"target": "red", "delay": 3}, "the key 'delay' is not read"),
    ({"actions": {"type": "xstate.raise", "event": "x"}}, "an action sends an event"),
    ([], "the event 'TIMER' leads to no state, and to no object"),
    (None, "the event 'TIMER' leads to no state, and to no object"),
    (3, "the event 'TIMER' leads to no state, and to no object"),
]


@pytest.mark.parametrize(("way", "said"), WRONG)
def test_transitions_of_xstate_are_refused_by_name(
    tmp_path: Path, way: object, said: str
) -> None:
    states = XSTATE["states"] | {"green": {"on": {"TIMER": way}}}  # type: ignore[operator]
    with pytest.raises(MachineError) as refused:
        from_xstate(tmp_path, XSTATE | {"states": states})
    assert f"the state 'green': {said}" in str(refused.value)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"states": {"a": {}}}, "a state has states of its own; give each"),
        ({"type": "parallel"}, "several states are active together (parallel)"),
        ({"type": "history"}, "it remembers a state (history)"),
        ({"type": "x"}, "its type is 'x'"),
        ({"always": "red"}, "it leads on without an event (always)"),
        ({"after": {"100": "red"}}, "it leads on after some time (after)"),
        ({"invoke": {"src": "x"}}, "it runs something beside it (invoke)"),
        ({"on": {"": "red"}}, "it leads on without an event"),
        ({"on": {"mouse.*": "red"}}, "the event 'mouse.*' stands for others"),
        ({"on": ["a"]}, "'on' is an object of events"),
        ({"type": "final", "on": {"a": "red"}}, "'on' is an object of events"),
        (3, "it is no object"),
    ],
)
def test_states_of_xstate_are_refused_by_name(
    tmp_path: Path, state: object, said: str
) -> None:
    states = XSTATE["states"] | {"green": state}  # type: ignore[operator]
    with pytest.raises(MachineError) as refused:
        from_xstate(tmp_path, XSTATE | {"states": states})
    assert f"the state 'green': {said}" in str(refused.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"initial": "blue"}, "its key 'initial' names no state"),
        ({"initial": {"target": ["#light.red"]}}, "it is what createMachine gave back"),
        ({"key": "light", "order": -1}, "it is what createMachine gave back"),
        ({"type": "parallel"}, "several states are active together"),
        ({"strict": True}, "the key 'strict' is not read"),
        (
            {"states": {"a": {"transitions": []}}},
            "it has lists of transitions, as pyth",
        ),
    ],
)
def test_charts_of_xstate_are_refused_by_name(
    tmp_path: Path, more: dict[str, object], said: str
) -> None:
    with pytest.raises(MachineError) as refused:
        from_xstate(tmp_path, XSTATE | more)
    assert f"the chart: {said}" in str(refused.value)
