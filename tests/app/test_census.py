"""Census: every part, odd choices, files of one's own."""

import pandas as pd
import pytest

from collab_core.census import CensusSums, Study, StudyChoice, paper_views
from tests.bureau import records, refused, whole, zipped
from tests.test_census import BUILT_IN, FIVE

from .apps import (
    assert_put_right,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    finished,
    open_page,
    param,
    run_snippet,
    said,
)

PAGE = "pages/census.py"


def opened(query=None):
    app = open_page(PAGE, query or {})
    part = (query or {}).get("part")
    if part in ("n", "whatif") and not app.error:
        finished(app, f"census-{part}")
    return app


@pytest.mark.parametrize("part", ["gains", "n", "whatif", "coefficients", "data"])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"model": "own", "unit": "minutes"},
        {"states": "WY", "target": "WY"},
        {"states": "NY,IL", "target": "NY", "pattern": "half"},
        {"states": "NY,IL", "pattern": "all", "model": "own"},
        {"pattern": "own", "asks": "NY.111111111111;IL.000000000001"},
        {"weights": "population"},
        {
            "states": "NY,IL",
            "pattern": "own",
            "asks": "NY.111111111111;IL.000000000000",
            "model": "own",
        },
    ],
    ids=str,
)
def test_every_part_with_odd_choices(part, choices):
    app = opened({"part": part, "trials": "5"} | choices)
    nothing_to_ask = "Everybody asks everything" in said(app)
    blind = "IL.000000000000" in choices.get("asks", "")
    assert_sound(app, least=0 if part == "data" or nothing_to_ask or blind else 1)
    assert not app.error


def test_all_49_states():
    states = ",".join(CensusSums.load(BUILT_IN).states)
    for part in ("gains", "coefficients"):
        app = opened({"part": part, "states": states, "target": "IL"})
        assert_sound(app)
        assert not app.error


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"states": "none"}, "Pick at least one state"),
        ({"pattern": "own", "asks": ";".join(f"{s}.000000000000" for s in FIVE)}, "switch one on"),
    ],
)
def test_what_cannot_be_studied_gets_a_sentence(choices, sentence):
    app = open_page(PAGE, choices)
    assert not app.exception
    assert any(sentence in error.value for error in app.error)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"states": "NY,ZZ"}, "'ZZ' is not one of the choices"),
        ({"target": "CA"}, "'CA' is not one of the choices; IL is used"),
        ({"pattern": "mine"}, "is not one of the choices"),
        ({"part": "n", "trials": "7"}, "is not one of the choices"),
    ],
)
def test_a_wrong_link_is_put_right_and_says_so(choices, sentence):
    app = open_page(PAGE, choices)
    assert_put_right(app, sentence)


@pytest.mark.parametrize("part", ["gains", "n", "whatif", "coefficients"])
def test_snippets_print_the_figures_numbers(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    opened({"part": part, "trials": "5", "states": "NY,OH,IL", "target": "IL"})
    assert frames
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


@pytest.mark.parametrize("recipe", ["ours", "authors"])
def test_snippets_of_loaded_records_print_the_figures_numbers(monkeypatch, tmp_path, recipe):
    records(2000).to_csv(tmp_path / "people.csv", index=False)
    app = opened({"part": "data"})
    app.text_input[0].set_value(str(tmp_path)).run()
    app.button(key="start-census-own").click().run()
    finished(app, "census-own")
    frames = csv_frames(monkeypatch)
    app.session_state["options"]["census"] = {"part": "n", "trials": "5", "recipe": recipe}
    app.run()
    finished(app, "census-n")
    frame, code = frames["census-n"]
    assert ("rw_imputation" in set(frame["method"])) == (recipe == "authors")
    compare("census-n", frame, run_snippet(code))


def test_other_weights_are_in_the_code(monkeypatch):
    frames = csv_frames(monkeypatch)
    opened({"part": "n", "trials": "5", "states": "NY,OH,IL", "weights": "population"})
    frame, code = frames["census-n"]
    assert "weights='population'" in code
    compare("census-n", frame, run_snippet(code))


def test_the_words_are_the_numbers():
    app = opened()
    sums = CensusSums.load(BUILT_IN)
    views = paper_views(FIVE, sums.questions)
    study = Study(sums, StudyChoice(FIVE, tuple(views[s] for s in FIVE), "IL"))
    measured = study.measured()
    better = int((measured["together"] < measured["alone"]).sum())
    assert f"{better} of 5 states do better together than alone" in said(app)
    r2 = study.results(0).set_index("method").loc["collab", "r2"]
    assert f"COLLAB explains {r2:.1%}" in said(app)
    assert "COLLAB loses here" in said(app)


def test_files_of_a_folder_are_read_and_used(tmp_path):
    records(2000).to_csv(tmp_path / "people.csv", index=False)
    app = opened({"part": "data"})
    app.text_input[0].set_value(str(tmp_path)).run()
    app.button(key="start-census-own").click().run()
    finished(app, "census-own")
    assert any("were read" in box.value for box in app.success)
    app.session_state["options"]["census"] = {"part": "n", "trials": "5"}
    app.run()
    finished(app, "census-n")
    assert_sound(app)
    app.session_state["options"]["census"] = {"part": "gains"}
    app.run()
    assert_sound(app, least=3)
    assert "my 1 file" in said(app)


def test_data_that_is_loaded_next_is_the_data_that_is_used(tmp_path):
    app = opened({"part": "data"})
    seen = []
    for number, seed in enumerate((1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        records(1500, seed=seed).to_csv(folder / "people.csv", index=False)
        app.session_state["options"]["census"] = {"part": "data"}
        app.run()
        app.text_input[0].set_value(str(folder)).run()
        app.button(key="start-census-own").click().run()
        finished(app, "census-own")
        app.session_state["options"]["census"] = {"part": "gains"}
        app.run()
        seen.append(figures_of(app)[1]["data"])
    assert seen[0] != seen[1]


def test_a_wrong_folder_or_file_gets_a_sentence_and_loses_nothing(tmp_path):
    app = opened({"part": "data"})
    for content, sentence in (
        (None, "is not a folder"),
        (pd.DataFrame({"a": [1]}), "lacks AGEP"),
    ):
        folder = tmp_path / "there"
        if content is not None:
            folder.mkdir(exist_ok=True)
            content.to_csv(folder / "people.csv", index=False)
        app.text_input[0].set_value(str(folder)).run()
        app.button(key="start-census-own").click().run()
        finished(app, "census-own")
        assert any(sentence in error.value for error in app.error), [e.value for e in app.error]
        app.text_input[0].set_value("").run()
    app.session_state["options"]["census"] = {}
    app.run()
    assert len(figures_of(app)) == 3


def test_downloading_from_the_page(bureau, tmp_path, monkeypatch):
    base, answers, _ = bureau
    monkeypatch.setenv("COLLAB_CENSUS_URL", base)
    monkeypatch.setenv("COLLAB_CENSUS_CACHE", str(tmp_path))
    answers["IL"] = [refused(404), whole(zipped("psam_p17.csv", records(900, codes=(17,))))]
    app = opened({"part": "data"})
    app.multiselect[0].set_value(["IL"]).run()
    assert "0 of 1 are here already" in said(app)
    app.button(key="start-census-fetch").click().run()
    finished(app, "census-fetch")
    assert any("refused the file of 2018" in error.value for error in app.error)
    app.button(key="again-census-fetch").click().run()
    finished(app, "census-fetch")
    assert any("people of IL were read" in box.value for box in app.success)
    assert "ACS 2018 1-Year, IL" in said(app)
    next(button for button in app.button if button.label.startswith("Back to the")).click().run()
    assert "sums over 1,072,864 workers" in said(app)


def test_the_published_curve_is_offered_where_the_set_up_is_the_papers():
    app = opened({"part": "n", "trials": "5", "published": "1"})
    names = [trace.get("name") for trace in figures_of(app)[0]["data"]]
    assert "COLLAB, published" in names
    other = opened({"part": "n", "trials": "5", "published": "1", "unit": "minutes"})
    assert not any("published" in str(t.get("name")) for t in figures_of(other)[0]["data"])


def test_the_grid_is_in_the_link():
    app = opened({"pattern": "own"})
    assert param(app, "asks").startswith("NY.")
    again = opened({"pattern": "own", "asks": param(app, "asks")})
    assert param(again, "asks") == param(app, "asks")
