"""The story's sentences as pure functions of what the library found."""

import pandas as pd
import pytest

import collab_core as cc
from collab_core.words import start as say


def problem_of(size: int) -> cc.Problem:
    return cc.Scenario(
        d=6, m=6, spectrum="ar1", correlation=0.6, missing="blocks", size=size, theta="values",
        values=(1.0, -0.6, 0.8, 0.5, -1.0, 0.7), n=50,
    ).problem()  # fmt: skip


SOME, ALL = problem_of(3), problem_of(6)


def test_the_slider_in_words():
    worth = cc.whatif.worth(SOME, 50)
    best = worth.sort_values("worth").iloc[-1]
    assert say.hero(3, 6, worth) == (
        f"Each feature is seen by 3 agents. To do as well alone, agent {best['agent']} would need "
        f"{best['worth']:.1f} times its own labelled data."
    )
    assert "nobody can help anybody's own model" in say.hero(1, 6, worth)
    assert "Everyone sees everything" in say.hero(6, 6, worth)
    assert say.multiple(cc.whatif.worth(ALL, 50)) == "6.0 ×"


def test_one_agent_alone():
    told = say.alone(SOME, 2)
    assert "Agent 3 fits least squares on the 3 features it sees. More samples help" in told.text
    assert told.figure.endswith("to a floor")
    level, said = say.floor(SOME, 2)
    assert level == SOME.irreducible[2]
    assert said.startswith(f"{level:.2g} ")
    told = say.alone(ALL, 2)
    assert "It sees everything here" in told.text
    assert "floor" not in told.figure
    assert say.floor(ALL, 2) is None
    assert "on the 1 feature it sees" in say.alone(problem_of(1), 0).text


def test_averaging_naively():
    floor = cc.bounds.naive_collab(SOME).floor
    assert say.naive(SOME).figure == f"The naive average levels out at {floor:.2g}"
    assert say.bias(SOME) == (floor, f"bias {floor:.2g}")
    assert "as good as COLLAB" in say.naive(ALL).figure
    assert say.bias(ALL) is None
    assert say.naive(SOME).title != say.naive(ALL).title


def test_correction_and_weights():
    assert "wrong in its own way" in say.correction(SOME).figure
    assert "finds the truth" in say.correction(ALL).figure
    shares = cc.whatif.weight_shares(SOME)
    assert say.weights(SOME, shares).figure == "Who explains more counts for more"
    equal = say.weights(ALL, cc.whatif.weight_shares(ALL))
    assert equal.figure == "All explain the same, so all count the same"
    assert "equal ones cost 0.0% here" in equal.text
    assert say.unexplained(ALL)[0] == f"Agent 1 leaves {ALL.unexplained[0]:.3g} unexplained"


def test_optimum_and_cost():
    frame, found = cc.whatif.comparison(SOME, 50), cc.whatif.findings(SOME, 50)
    told = say.optimum(frame, found)
    assert f"{1 / found.to_optimum:.0%} of its error" in told.text
    assert f"within {found.to_optimum:.2f} times" in told.figure
    sent = pd.DataFrame(
        {"n": [10, 1000] * 2, "method": ["collab"] * 2 + ["imputation"] * 2,
         "bytes": [5, 5, 40, 4000]}
    )  # fmt: skip
    assert say.cost(sent).figure == "At n = 1,000, sending data costs 800 times as much"


@pytest.mark.parametrize("told", [say.alone(SOME, 0), say.naive(SOME), say.correction(SOME)])
def test_every_step_has_words_and_a_formula(told):
    assert all((told.title, told.text, told.figure))
    assert "$" in told.formula
