"""Your data: every part on both samples, uploads good and bad, names that are markup."""

import io

import numpy as np
import pandas as pd
import pytest

from collab_core import tabular
from collab_core.words import your_data as texts
from pages.parts.your_data.study import world_of
from pages.parts.your_data.table import Opened
from pages.shared.say import JOINER, bare, literal

from ..tabular.tables import world
from ..tabular.test_reading import REFUSED
from .apps import (
    ROOT,
    assert_sound,
    compare,
    csv_frames,
    finished,
    open_page,
    run_snippet,
    said,
    wait_for,
)

PAGE = "pages/your_data.py"
PARTS = ("verdict", "table", "models", "checks", "take")


def upload(app, *files: tuple[str, bytes], place: int = 0):
    app.file_uploader[place].set_value([(name, content, "text/csv") for name, content in files])
    return app.run()


def own(*files: tuple[str, bytes], **choices):
    app = open_page(PAGE, {"table": "own", **choices})
    upload(app, *files)
    wait_for(app, lambda: "table-own-files" in app.session_state or app.error)
    return app


def csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


@pytest.mark.parametrize("sample", tabular.samples.SAMPLES)
@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_every_sample(monkeypatch, sample, part):
    frames = csv_frames(monkeypatch)
    app = open_page(PAGE, {"part": part, "table": sample})
    assert_sound(app, least={"take": 0}.get(part, 1))
    assert not app.error
    for key, (frame, code) in frames.items():
        found = run_snippet(code)
        for name in frame.select_dtypes("number").columns:
            given, again = (table[name].to_numpy(float, na_value=-9) for table in (frame, found))
            np.testing.assert_allclose(given, again, rtol=1e-9, err_msg=key)


def test_the_words_are_the_numbers():
    app = open_page(PAGE)
    table = tabular.Table.open([ROOT / "data" / "sample_clinics.csv"])
    study = tabular.analyse(table, tabular.usual_choice(table))
    assert texts.summary(study) in said(app)
    mean, low, high = study.overall
    assert f"changes by {mean:+.3f} (95%: {low:+.3f} to {high:+.3f})" in said(app)
    verdicts = set(study.verdicts["verdict"])
    assert verdicts == {"gains", "no difference", "loses"}
    shown = app.dataframe[0].value
    assert list(shown["agent"]) == list(study.agents)


def test_choices_change_the_study_and_are_in_the_link():
    app = open_page(PAGE, {"gaps": "mean", "log": "1", "rare": "0.05", "without": "5"})
    assert_sound(app, least=2)
    study = app.session_state["table-study"][1]
    assert study.choice.gaps == "mean"
    assert study.choice.log
    assert study.choice.without == ("Forge",)
    assert "Forge" not in study.agents
    names = [
        column.name for column in tabular.Table.open([ROOT / "data/sample_clinics.csv"]).columns
    ]
    app = open_page(PAGE, {"features": f"{names.index('age')},{names.index('smoker')}"})
    assert app.session_state["table-study"][1].choice.features == ("age", "smoker")


def test_choices_are_for_the_table_that_they_were_made_for():
    frame, *_ = world()
    app = own(("a.csv", csv(frame)), features="1,2", without="0", gaps="mean")
    first = app.session_state["table-study"][1].choice
    # What a link brings is for the table that is uploaded next.
    assert first.features == ("x1", "x2")
    assert first.without == ("s0",)
    other = frame.rename(columns={f"x{j}": f"feature {j}" for j in range(5)})
    upload(app, ("b.csv", csv(other)))
    wait_for(app, lambda: app.session_state["table-study"][1].choice != first)
    second = app.session_state["table-study"][1].choice
    assert second.features == tuple(f"feature {j}" for j in range(5))
    assert second.without == ()
    assert second.gaps == "drop"
    # From sample to sample, and from one column of agents to another.
    app = open_page(PAGE, {"without": "5", "features": "3,4"})
    assert app.session_state["table-study"][1].choice.without == ("Forge",)
    app.session_state["options"]["your_data"]["agent"] = "smoker"
    app.session_state["touched"] = True
    app.run()
    assert app.session_state["table-study"][1].choice.without == ()
    assert app.session_state["table-study"][1].choice.features == ("age", "weight kg")
    app.session_state["options"]["your_data"]["table"] = "diabetes"
    app.session_state["touched"] = True
    app.run()
    assert len(app.session_state["table-study"][1].choice.features) == 10


def test_tables_on_the_screen_can_be_saved_without_harm():
    frame, *_ = world()
    frame = frame.rename(columns={"x2": "=1+1"}).assign(site="@" + frame["site"])
    for part in PARTS:
        app = own(("mine.csv", csv(frame)), part=part)
        for shown in app.dataframe:
            texts = [*map(str, shown.value.columns)]
            for name in shown.value.select_dtypes(exclude="number"):
                texts += [text for text in shown.value[name] if isinstance(text, str)]
            assert not [text for text in texts if text.startswith(("=", "@", "+", "-"))]


def test_names_in_other_pages_tables_run_nothing_either():
    assert bare("=cmd|calc") == "'=cmd|calc"
    assert bare("x;=1+1") == "x;'=1+1"
    assert bare("<b>North</b>") == "b North /b"


def test_a_target_with_texts_is_offered_with_their_number():
    frame, *_ = world()
    frame = frame.astype({"y": object})
    frame.loc[:3, "y"] = "<5"
    app = own(("mine.csv", csv(frame)))
    assert app.session_state["table-study"][1].choice.target == "y"
    assert "y (4 texts: gaps)" in app.selectbox[0].options
    app = own(("mine.csv", csv(frame.assign(y=np.where(frame["x2"] > 2, "high", "low")))))
    assert "y cannot be predicted: it was taken for category" in said(app)


def test_filled_gaps_are_warned_of_where_they_matter():
    for part in ("verdict", "checks"):
        app = open_page(PAGE, {"gaps": "mean", "part": part})
        assert "as if they came by chance" in said(app)
        assert "as if they came by chance" not in said(open_page(PAGE, {"part": part}))


def test_a_wide_table_is_studied_with_progress(monkeypatch):
    monkeypatch.setattr(tabular, "effort", lambda table, choice: 10**9)
    app = open_page(PAGE)
    wait_for(app, lambda: "table-study" in app.session_state)
    app.run()
    assert_sound(app, least=2)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ('<a href="http://e">C</a>', "http://"),
        ("www.example.org and HTTPS://example.org", "www."),
        ("me@example.org", "me@"),
        (":material/home: or :smile:", ":material/home:"),
    ],
)
def test_bare_addresses_are_no_links(text, alone):
    assert alone not in literal(text)
    assert literal(text).replace(JOINER, "").replace("\\", "") == text


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"table": "mine"}, "is not one of the choices"),
        ({"target": "nothing"}, "is not one of the choices"),
        ({"agent": "![x](http://e)"}, "is not one of the choices"),
        ({"features": "3,999"}, "is not one of the choices"),
        ({"part": "models", "of": "77"}, "is not one of the choices"),
    ],
)
def test_a_wrong_link_is_put_right_and_says_so(choices, sentence):
    app = open_page(PAGE, choices)
    assert not app.exception
    assert any(sentence in info.value for info in app.info)
    assert "![x](" not in "".join(info.value for info in app.info)


def test_no_feature_at_all_gets_a_sentence():
    app = open_page(PAGE, {"features": "none"})
    assert not app.exception
    assert any("Pick at least one feature" in error.value for error in app.error)


def test_an_upload_is_read_and_studied():
    frame, *_ = world()
    app = own(("mine.csv", csv(frame)))
    assert_sound(app, least=2)
    assert not app.error
    assert app.session_state["table-study"][1].agents == ("s0", "s1", "s2", "s3")
    # The same on every part, and after another page was looked at.
    app.session_state["options"]["your_data"] = {"table": "own", "part": "take"}
    app.run()
    assert_sound(app, least=0)
    app.switch_page("pages/census.py").run()
    app.switch_page(PAGE).run()
    assert not app.error
    assert app.session_state["table-own"] is not None


def test_several_files_are_one_agent_each():
    frame, *_ = world()
    parts = [
        (f"{name}.csv", csv(part.drop(columns="site").dropna(axis=1, how="all")))
        for name, part in frame.groupby("site")
    ]
    app = own(*parts)
    assert_sound(app, least=2)
    assert app.session_state["table-study"][1].choice.agent == "file"


def test_a_large_table_is_studied_with_progress(monkeypatch):
    frame, *_ = world(sizes=(6000, 6000, 6000, 6000))
    app = own(("mine.csv", csv(frame)))
    wait_for(app, lambda: "table-study" in app.session_state)
    app.run()
    assert_sound(app, least=2)


@pytest.mark.parametrize("name", ["empty", "zip called csv", "a million columns", "one column"])
def test_a_bad_file_gets_a_sentence_and_loses_nothing(name):
    content, sentence = REFUSED[name]
    app = own(("mine.csv", content))
    assert not app.exception
    assert any(sentence.split("|")[0] in error.value for error in app.error)
    frame, *_ = world()
    upload(app, ("better.csv", csv(frame)))
    wait_for(app, lambda: app.get("plotly_chart"))
    assert_sound(app, least=2)


def test_a_table_without_agents_gets_a_sentence():
    app = own(("mine.csv", b"a,b\n1,2\n3,4\n5,7\n"))
    assert not app.exception
    assert any("no column can name the agents" in error.value for error in app.error)


def test_names_that_are_markup_are_only_names():
    frame, *_ = world()
    evil = "![x](http://example.org/x.png) $y$ <b>"
    frame = frame.rename(columns={"x2": evil, "y": "[z](http://example.org)"})
    frame["site"] += "<script>"
    for part in PARTS:
        app = own(("mine.csv", csv(frame)), part=part)
        assert not app.exception
        assert not app.error
        for block in [*app.markdown, *app.caption, *app.success, *app.info]:
            assert "![x](" not in block.value
            assert "[z](" not in block.value
            assert "<script>" not in block.value.replace("\\<script\\>", "")


@pytest.mark.parametrize("part", ["helps", "measure", "samples", "robust"])
def test_what_if_is_asked_of_the_table(monkeypatch, part):
    app = open_page(PAGE)
    frames = csv_frames(monkeypatch)
    app.session_state["options"]["what_if"] = {"world": "table", "part": part, "trials": "20"}
    app.switch_page("pages/what_if.py").run()
    if part == "robust":
        finished(app, "robust")
    assert_sound(app)
    assert not app.error
    assert "rows of your table" in said(app)
    assert any(name in said(app) for name in ("Abbey", "Castle", "Grove", "Forge"))
    for _, code in frames.values():
        assert "sample_clinics.csv" in code
    if part != "robust":
        for key, (frame, code) in frames.items():
            found = run_snippet(code)
            if isinstance(found, pd.DataFrame):
                compare(key, frame.select_dtypes("number"), found)


def test_pairs_that_nobody_has_are_listed_and_make_no_world():
    frame, *_ = world()
    app = own(("mine.csv", csv(frame[frame["site"].isin(["s0", "s1"])])), part="table")
    assert "pairs of columns that no agent has together" in said(app)
    listed = app.dataframe[-1].value
    assert ("x0", "x3") in set(listed.itertuples(index=False, name=None))
    app.session_state["options"]["what_if"] = {"world": "table"}
    app.switch_page("pages/what_if.py").run()
    assert not app.exception
    assert any("no agent has both x0 and x3" in error.value for error in app.error)


def test_predictions_for_another_table():
    app = open_page(PAGE, {"part": "take"})
    frame = pd.read_csv(ROOT / "data/sample_clinics.csv").head(50)
    upload(app, ("new.csv", csv(frame)))
    wait_for(app, lambda: "50 of 50 rows have a prediction" in said(app))
    upload(app, ("new.csv", b"a,b\n1,2\n"))
    wait_for(app, lambda: app.error)
    assert any("none of the columns that the model reads" in error.value for error in app.error)


def test_what_is_taken_away(monkeypatch):
    taken = {}
    from streamlit.delta_generator import DeltaGenerator

    original = DeltaGenerator.download_button

    def spy(self, label, data=None, file_name=None, *args, **kwargs):
        taken[file_name] = data
        return original(self, label, data, file_name, *args, **kwargs)

    monkeypatch.setattr(DeltaGenerator, "download_button", spy)
    import streamlit

    monkeypatch.setattr(streamlit, "download_button", lambda *a, **k: spy(streamlit._main, *a, **k))
    app = open_page(PAGE, {"part": "take"})
    assert not app.exception
    table = pd.read_csv(io.StringIO(taken["collab-coefficients.csv"]()))
    assert {"agent", "feature", "together", "low", "high"} <= set(table.columns)
    model = tabular.TableModel.from_json(taken["collab-model.json"]())
    assert set(model.agents) == set(table["agent"])
    assert "<html" in taken["collab-report.html"]()
    namespace: dict = {}
    exec(app.code[0].value, namespace)
    assert namespace["study"].agents == tuple(dict.fromkeys(table["agent"]))


# Without a browser -------------------------------------------------------------------------------


def test_every_part_can_be_imported():
    from pages import your_data

    assert list(your_data.PARTS) == list(your_data.DRAWN)


def opened_as(name: str, frame: pd.DataFrame, digest: str):
    table = tabular.Table.open([tabular.TableFile(name, csv(frame))])
    return Opened(table, (name,), digest)


def test_two_files_of_one_name_are_two_tables():
    frame, *_ = world()
    first, second = (opened_as("mine.csv", frame, digest).script() for digest in "ab")
    assert first.lines == second.lines
    assert "cc.tabular.Table.open(['mine.csv'])" in first.lines
    keys = {script.plan("frame", tabular.columns_of, script.last).key for script in (first, second)}
    assert len(keys) == 2


def test_a_table_is_a_world_or_says_why_not():
    frame, *_ = world()
    for part, is_world in ((frame, True), (frame[frame["site"].isin(["s0", "s1"])], False)):
        opened = opened_as("mine.csv", part, f"digest {is_world}")
        study = tabular.TableStudy.of(opened.table, tabular.usual_choice(opened.table))
        script = opened.script()
        script.given("study", study, "study = ...")
        found = world_of(study, script)
        if is_world:
            assert found.problem.agents == len(study.agents)
            assert found.script.lines.endswith("problem = study.problem()\n")
            assert found.is_real
        else:
            assert "no agent has both" in found


def test_nothing_of_an_upload_is_kept_for_others():
    frame, *_ = world()
    app = own(("mine.csv", csv(frame)), part="models")
    held = app.session_state["script-values"]
    assert any("study.coefficients(0)" in key for key in held)
    app = open_page(PAGE, {"part": "models"})
    assert "script-values" not in app.session_state
