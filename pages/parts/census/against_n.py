"""Error against n: n people of every state, drawn again and again."""

from __future__ import annotations

import streamlit as st

from collab_core import census, figures, methods
from collab_core.census import People, Study
from collab_core.runs.curve import Curve
from collab_core.words import census as say
from pages.shared import figure, options, records, run
from pages.shared.say import words
from pages.shared.script import Call, Script
from pages.shared.subject import DATA

PUBLISHED = DATA / "paper_census_results.csv"

SIZES = (200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000, 10_000)
TRIALS = (5, 20, 80, 200)
RECIPES = {"ours": "centred in the sample", "authors": "the authors'"}


def show(script: Script, study: Study) -> None:
    """Draw the part."""
    people = records.drawable()
    first, second, third, fourth = st.columns([1, 1.3, 1.1, 1], vertical_alignment="bottom")
    with first:
        trials: int = options.pick(
            "trials", "Trials", TRIALS, 20, widget=st.select_slider, help="The paper's is 80."
        )
    with second:
        recipe = _recipe(people)
    with third:
        weights = options.pick(
            "weights",
            "COLLAB's weights",
            list(methods.WEIGHTS),
            "empirical",
            words=methods.WEIGHTS.__getitem__,
            help="With the population's covariance a rare level that a sample could not tell counts"
            " fully. Moderated residuals lean on everybody's.",
        )
        if weights != study.choice.weights:
            study = script.run("study", census.with_choice, study, weights=weights)
    with fourth:
        published = census.is_as_published(study) and options.switch(
            "published", "Published curve", help="The paper's own run: 2018, CA NY TX FL IL."
        )
    call = _planned(script, study, people, trials, recipe)

    def draw(curve: Curve, final: bool) -> None:
        mine = script.branch()
        mine.done(call, curve)
        frame = mine.read("frame", curve, "frame")
        words(say.curve(frame))
        figure.show(
            figures.error_curve(
                frame,
                title=f"Error on {study.choice.target}'s test people",
                log=True,
                overlay=census.published_curve(PUBLISHED) if published else None,
            ),
            mine,
            key="census-n",
            name="Census: error against n",
            alt="Error of every method on the target's test people against n.",
            formula=say.CURVE_FORMULA,
        )

    run.of_call(
        "census-n",
        call,
        draw,
        label="Draw",
        help="Draws n people of every state, again and again.",
        auto=True,
    )


def _recipe(people: People | None) -> str:
    """How samples of records are prepared; without records there is no choice."""
    if people is not None:
        return options.segments("recipe", "Recipe", RECIPES)
    st.caption(
        "Synthetic draws: Gaussian people with each state's own moments. Load records (Data) to "
        "draw real ones."
    )
    return "ours"


def _planned(
    script: Script, study: Study, people: People | None, trials: int, recipe: str
) -> Call[Curve]:
    """The curve of records where there are any, else of Gaussian people."""
    if people is None:
        return script.plan("curve", study.error_curve, list(SIZES), trials)
    most = census.most_people(study, recipe)
    sizes = [n for n in SIZES if n <= most] or [max(most, 2)]
    return script.plan("curve", study.error_curve, sizes, trials, people=people, recipe=recipe)
