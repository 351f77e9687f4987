"""The census: records to features to sums, studies against brute force, downloads that go wrong."""

import os
import threading
from pathlib import Path

import folktables
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.census import (
    PAPER_STATES,
    QUESTIONS,
    CensusSums,
    CensusSurvey,
    DownloadError,
    People,
    Study,
    StudyChoice,
    features_of,
    paper_views,
    sums_of_files,
)
from collab_core.census.records import RecordLayout, design
from collab_core.figures import label

from .bureau import nonsense, records, refused, silent, truncated, whole, zipped

METHODS = cc.methods.usual(cc.census.GIVEN)
BUILT_IN = Path(__file__).parents[1] / "data" / "acs2024_moments.npz"
FIVE = ("NY", "PA", "OH", "FL", "IL")

PERSONS = os.environ.get("COLLAB_CENSUS_PERSONS", "")
needs_persons = pytest.mark.skipif(
    not Path(PERSONS).is_file(),
    reason="COLLAB_CENSUS_PERSONS names no file of real person records",
)


# Records -----------------------------------------------------------------------------------------


def test_the_design_of_2018_has_the_papers_37_features():
    layout = RecordLayout.of(list(records()))
    assert len(layout.features) == 37
    assert layout.missing == ()
    views = paper_views(PAPER_STATES, list(QUESTIONS))
    counts = [len(features_of(views[state])) for state in PAPER_STATES]
    assert counts == [37, 36, 35, 30, 27]


def test_who_counts_and_what_answers_become():
    frame = records(600)
    layout = RecordLayout.of(list(frame))
    found = design(frame, layout)
    kept = frame[(frame.AGEP > 16) & (frame.PWGTP >= 1) & (frame.ESR == 1) & (frame.JWMNP > 0)]
    assert len(found.minutes) == len(kept) > 100
    table = pd.DataFrame(found.x, columns=layout.features)
    assert_allclose(table["AGEP"], kept["AGEP"])
    assert_allclose(table["POVPIP"], kept["POVPIP"].fillna(0))
    for level in QUESTIONS["JWTR"].levels[1:]:
        assert_allclose(table[f"JWTR_{level}"], kept["JWTR"] == level)
    assert "JWTR_1" not in table
    assert "JWTR_11" not in table


@pytest.mark.parametrize("year", [2018, 2019, 2023])
def test_later_years_rename_columns(year):
    frame = records(300, year=year)
    layout = RecordLayout.of(list(frame))
    assert layout.missing == ()
    old = design(records(300), RecordLayout.of(list(records(300))))
    assert_allclose(design(frame, layout).x, old.x)


def test_moving_is_read_off_the_place_of_a_year_ago():
    frame = records(200).drop(columns="MIG")
    frame["MIGSP"] = np.resize([np.nan, 6.0, 72.0, 109.0], 200)
    layout = RecordLayout.of(list(frame))
    found = design(frame, layout)
    table = pd.DataFrame(found.x, columns=layout.features)
    kept = frame[(frame.AGEP > 16) & (frame.PWGTP >= 1) & (frame.ESR == 1) & (frame.JWMNP > 0)]
    assert_allclose(table["MIG_2"], kept["MIGSP"] > 72)
    assert_allclose(table["MIG_3"], kept["MIGSP"] <= 72)


def test_a_column_that_a_year_lacks_is_left_out_and_named():
    frame = records(200).drop(columns=["RELP", "POWPUMA"])
    layout = RecordLayout.of(list(frame))
    assert layout.missing == ("RELP", "POWPUMA")
    assert len(layout.features) == 35


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: f.drop(columns="JWMNP"), "lacks JWMNP"),
        (lambda f: f.drop(columns=["ESR", "ST"]), "lacks ESR, ST or STATE"),
        (lambda f: f.assign(AGEP=f.AGEP.astype(object).where(f.AGEP != 30, "thirty")),
         "column AGEP must hold numbers, but has 'thirty'"),
        (lambda f: f.assign(ST=99), "state code 99 is unknown"),
        (lambda f: f.assign(ESR=6), "nobody counts"),
        (lambda f: f.iloc[:0], "nobody counts"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_by_name(tmp_path, change, sentence):
    path = tmp_path / "people.csv"
    change(records(300)).to_csv(path, index=False)
    with pytest.raises(ValueError, match=sentence):
        sums_of_files([path], "test")


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe binary \x80", b"PK\x03\x04 not a table"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_broken_files_are_refused_with_a_sentence(tmp_path, content, suffix):
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="broken"):
        sums_of_files([path], "test")


def test_csv_parquet_and_any_chunk_size_give_the_same_sums(tmp_path):
    frame = records(900)
    csv, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    whole = sums_of_files([csv], "test")
    shares = []
    for path, rows in ((csv, 37), (parquet, 100), (parquet, 10_000)):
        other = sums_of_files([path], "test", rows=rows, progress=shares.append)
        assert other.states == whole.states == ("CA", "IL", "NY")
        assert (other.n == whole.n).all()
        assert_allclose(other.cross, whole.cross, rtol=1e-12)
    assert shares[-1] == pytest.approx(1)
    layout = RecordLayout.of(list(frame))
    found = design(frame, layout)
    mine = found.states == 17
    testing = np.arange(mine.sum()) % 5 == 0
    assert whole.n[1].tolist() == [(~testing).sum(), testing.sum()]
    assert_allclose(whole.total[1, 1, :-2], found.x[mine][testing].sum(axis=0))


def test_sums_survive_a_file_and_refuse_what_is_none(tmp_path):
    frame = records(500)
    frame.to_csv(tmp_path / "a.csv", index=False)
    sums = sums_of_files([tmp_path / "a.csv"], "test")
    assert sums.older
    assert sums.text_of("JWTR_4") == "Means of transport: subway"
    sums.save(tmp_path / "sums.npz")
    again = CensusSums.load(tmp_path / "sums.npz")
    assert again.features == sums.features
    assert again.older
    assert (again.cross == sums.cross).all()
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="lacks columns"):
        CensusSums.load(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", states=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="not a file of sums"):
        CensusSums.load(tmp_path / "pickled.npz")
    with pytest.raises(ValueError, match="not a file of sums"):
        CensusSums.load(tmp_path / "a.csv")


# Studies -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Files of three states with a real relation in them, and the records themselves."""
    frame = records(6000, seed=3)
    rng = np.random.default_rng(1)
    time = 10 + 0.3 * frame.AGEP + 8 * (frame.JWTR == 2) + rng.exponential(8, len(frame))
    frame["JWMNP"] = np.where(frame.JWMNP.isna(), np.nan, time)
    path = tmp_path_factory.mktemp("census") / "people.csv"
    frame.to_csv(path, index=False)
    return path, frame


def choice_of(sums, states=("CA", "IL", "NY"), target="IL", **more):
    views = paper_views(states, sums.questions)
    return StudyChoice(tuple(states), tuple(views[s] for s in states), target, **more)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_a_study_from_sums_is_brute_force_on_records(small, log, own):
    path, frame = small
    sums = sums_of_files([path], "test")
    study = Study(sums, choice_of(sums, log=log, own=own))
    people = design(frame, RecordLayout.of(list(frame)))
    label = np.log(people.minutes) if log else people.minutes
    parts = {}
    for code, state in ((6, "CA"), (17, "IL"), (36, "NY")):
        rows = np.flatnonzero(people.states == code)
        parts[state] = rows[np.arange(rows.size) % 5 != 0], rows[np.arange(rows.size) % 5 == 0]
    train = np.concatenate([parts[s][0] for s in study.choice.states])
    state_of = people.states[train]
    x = people.x[:, [sums.features.index(name) for name in study.features]]
    within = x[train].copy()
    label_within = label[train].copy()
    for code in (6, 17, 36):
        within[state_of == code] -= within[state_of == code].mean(axis=0)
        label_within[state_of == code] -= label_within[state_of == code].mean()
    scale = np.sqrt((within**2).sum(axis=0) / (len(train) - 3))
    spread = np.sqrt((label_within**2).sum() / (len(train) - 3))
    assert_allclose(study.scale, scale, rtol=1e-9)
    sigma = (within / scale).T @ (within / scale) / (len(train) - 3)
    assert_allclose(study.covariance, sigma, atol=1e-9)
    moments = [
        cc.Moments.from_arrays(
            x[parts[s][0]][:, view] / scale[view], label[parts[s][0]] / spread
        ).centred()
        for s, view in zip(study.choice.states, study.views, strict=True)
    ]
    estimate = cc.estimators.collab(moments, study.views, sigma)
    theta = estimate.local(1) if own else estimate.theta
    mine, testing = parts["IL"]
    columns = study.target_columns
    z = (x[testing][:, columns] - x[mine][:, columns].mean(axis=0)) / scale[columns]
    gap = (label[testing] - label[mine].mean()) / spread - z @ theta
    results = study.results(resamples=10).set_index("method")
    assert_allclose(float(results.loc["collab", "error"]), (gap**2).mean(), rtol=1e-8)
    base = ((label[testing] - label[mine].mean()) / spread) ** 2
    assert_allclose(study.baseline, base.mean(), rtol=1e-8)
    assert results.loc["collab", "r2"] > 0.05
    assert results.loc["collab", "low"] < results.loc["collab", "high"]


def test_gaussian_draws_of_many_people_are_the_fit_itself(small):
    sums = sums_of_files([small[0]], "test")
    study = Study(sums, choice_of(sums))
    curve = study.error_curve([10**7], 20, METHODS, seed=1)
    assert not curve.notes
    results = study.results(0).set_index("method")
    for method in ("collab", "imputation", "local"):
        assert_allclose(
            curve.mean(method, 10**7), float(results.loc[method, "relative"]), rtol=1e-3
        )
    curve = study.error_curve([50, 500], 10, METHODS, seed=2).frame
    assert (curve["mean"] > 0).all()
    collab = curve[curve["method"] == "collab"].set_index("n")["mean"]
    assert collab[500] < collab[50]


def test_what_if_is_recomputation(small):
    sums = sums_of_files([small[0]], "test")
    study = Study(sums, choice_of(sums, own=True))
    left = cc.census.leaving(study).set_index("state")
    rest = Study(sums, choice_of_subset(study, ["IL", "NY"]))
    assert left.loc["CA", "after"] == pytest.approx(rest.error_now())
    asking = study.asking_more()
    row = asking.iloc[0]
    asked = list(study.choice.asked)
    place = study.choice.states.index(row["state"])
    asked[place] = (*asked[place], row["question"])
    more = cc.census.with_choice(study, asked=tuple(asked))
    assert row["after"] == pytest.approx(more.error_now())
    table = cc.census.question_table(asking, study.choice.states)
    assert table.loc[row["state"], row["question"]] == row["fall"]
    assert (cc.census.doubling(study)["after"] <= cc.census.doubling(study)["before"]).all()
    assert len(cc.census.joining(study)) == 0


def test_every_state_is_measured_on_its_own_people(small):
    sums = sums_of_files([small[0]], "test")
    found = Study(sums, choice_of(sums, own=True)).measured().set_index("state")
    for state in ("CA", "IL", "NY"):
        study = Study(sums, choice_of(sums, target=state, own=True))
        results = study.results(0).set_index("method")
        assert found.loc[state, "together"] == pytest.approx(results.loc["collab", "relative"])
        assert found.loc[state, "alone"] == pytest.approx(results.loc["local", "relative"])


def test_an_impossible_change_is_one_empty_row(small):
    sums = sums_of_files([small[0]], "test")
    asked = (("AGEP", "JWTR"), ())
    study = Study(sums, StudyChoice(("CA", "IL"), asked, "IL"))
    left = cc.census.leaving(study).set_index("state")
    assert np.isnan(left.loc["CA", "after"])
    assert Study(sums, StudyChoice(("CA", "IL"), asked, "IL", own=True)).coefficients().empty


def test_the_targets_people_are_the_same_for_every_method(small):
    """A single state that asks everything: COLLAB and least squares are the same estimate."""
    sums = sums_of_files([small[0]], "test")
    study = Study(sums, StudyChoice(("IL",), (sums.questions,), "IL"))
    found = study.error_curve([200], 10, ("collab", "local"))
    assert_allclose(found.at("collab", 200), found.at("local", 200), rtol=1e-9)


def test_a_stopped_reading_is_no_reading(small):
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ValueError, match="reading was stopped"):
        People.from_files([small[0]], "test", cancel=cancel)


def test_the_same_people_twice_are_refused(small, tmp_path):
    path, frame = small
    copy = tmp_path / "copy.parquet"
    frame.to_parquet(copy)
    with pytest.raises(ValueError, match=r"are in two files, people\.csv and copy\.parquet"):
        sums_of_files([path, copy], "test")


def test_files_of_different_codes_are_not_mixed(tmp_path):
    for code, year in ((6, 2018), (17, 2019)):
        records(200, codes=(code,), year=year).to_csv(tmp_path / f"{year}.csv", index=False)
    with pytest.raises(ValueError, match="cannot be mixed"):
        sums_of_files(sorted(tmp_path.glob("*.csv")), "test")


def test_names_with_blanks_and_infinite_numbers(tmp_path):
    frame = records(300)
    frame.rename(columns={"AGEP": " AGEP "}).to_parquet(tmp_path / "blank.parquet")
    assert sums_of_files([tmp_path / "blank.parquet"], "test").people > 50
    frame.assign(POVPIP=np.inf).to_parquet(tmp_path / "infinite.parquet")
    with pytest.raises(ValueError, match="column POVPIP must hold finite numbers"):
        sums_of_files([tmp_path / "infinite.parquet"], "test")
    frame.assign(JWMNP=30).to_csv(tmp_path / "same.csv", index=False)
    sums = sums_of_files([tmp_path / "same.csv"], "test")
    with pytest.raises(ValueError, match="everybody travels for the same time"):
        Study(sums, choice_of(sums))


def test_the_digest_tells_data_apart(small, tmp_path):
    path, frame = small
    one = sums_of_files([path], "my 1 file")
    frame.iloc[:3000].to_csv(tmp_path / "other.csv", index=False)
    other = sums_of_files([tmp_path / "other.csv"], "my 1 file")
    assert one.digest != other.digest
    assert one.digest == sums_of_files([path], "another name").digest


def choice_of_subset(study, states):
    places = [study.choice.states.index(state) for state in states]
    return StudyChoice(
        tuple(states),
        tuple(study.choice.asked[i] for i in places),
        study.choice.target,
        study.choice.own,
        study.choice.log,
    )


def test_coefficients_are_in_natural_units(small):
    sums = sums_of_files([small[0]], "test")
    study = Study(sums, choice_of(sums, log=False))
    found = study.coefficients().set_index("feature")
    # Made with 0.3 minutes a year of age and 8 minutes more by bus.
    assert found.loc["AGEP", "low"] < 0.3 < found.loc["AGEP", "high"]
    assert found.loc["JWTR_2", "low"] < 8 < found.loc["JWTR_2", "high"]
    assert not found.loc["AGEP", "asked"]
    assert pd.isna(found.loc["AGEP", "alone"])
    assert found.loc["JWTR_2", "alone_low"] < 8 < found.loc["JWTR_2", "alone_high"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"states": (), "asked": ()}, "at least one state"),
        ({"target": "NY"}, "must be one of the states"),
        ({"states": ("CA", "ZZ"), "asked": ((), ())}, "'ZZ' is not in the data"),
        ({"asked": ((), ())}, "switch one on"),
    ],
)
def test_studies_that_cannot_be_say_why(small, change, sentence):
    sums = sums_of_files([small[0]], "test")
    given = {"states": ("CA", "IL"), "asked": (("AGEP",), ("AGEP",)), "target": "CA"} | change
    with pytest.raises(ValueError, match=sentence):
        Study(sums, StudyChoice(**given))


def test_a_state_with_three_people_and_a_target_without_test_people(tmp_path):
    frame = records(900, codes=(6, 17))
    few = records(60, seed=5, codes=(50,))
    kept = few[(few.AGEP > 16) & (few.PWGTP >= 1) & (few.ESR == 1) & (few.JWMNP > 0)].head(3)
    pd.concat([frame, kept]).to_csv(tmp_path / "a.csv", index=False)
    sums = sums_of_files([tmp_path / "a.csv"], "test")
    states = ("CA", "IL", "VT")
    study = Study(sums, choice_of(sums, states, target="IL"))
    results = study.results(5).set_index("method")
    assert results.loc["collab", "error"] > 0
    with pytest.raises(ValueError, match="VT has 1 test people"):
        Study(sums, choice_of(sums, states, target="VT")).results(0)


def test_a_level_that_no_sample_has_gets_coefficient_zero():
    """Found on census records: in the dual the least phi gave such a level a large coefficient."""
    rng = np.random.default_rng(0)
    sigma = cc.covariance.ar1(5, 0.6)
    root = np.linalg.cholesky(sigma)
    moments, views = [], [[0, 1, 2, 4], [1, 2, 3, 4], [0, 3, 4]]
    without = []
    for view in views:
        x = rng.standard_normal((60, 5)) @ root.T
        y = x @ [1.0, -1.0, 0.5, 2.0, 0.0] + 0.1 * rng.standard_normal(60)
        x[:, 4] = 0.0
        moments.append(cc.Moments.from_arrays(x[:, view], y))
        without.append(cc.Moments.from_arrays(x[:, view[:-1]], y))
    for method in (cc.estimators.collab, cc.estimators.global_imputation):
        estimate = method(moments, views, sigma)
        assert not estimate.determined
        assert abs(estimate.theta[4]) < 1e-8
        assert np.abs(estimate.theta - [1, -1, 0.5, 2, 0]).max() < 1.5


# Real records ------------------------------------------------------------------------------------


def test_the_built_in_sums_are_what_they_are_said_to_be():
    sums = CensusSums.load(BUILT_IN)
    assert sums.people == 1_072_864
    assert len(sums.states) == 49
    assert not {"CA", "TX"} & set(sums.states)
    assert len(sums.features) == 35
    assert sums.absent == ("Place in the household", "Area of work")


def test_all_49_states_at_once():
    sums = CensusSums.load(BUILT_IN)
    study = Study(sums, choice_of(sums, sums.states))
    results = study.results(5).set_index("method")
    assert 0.85 < results.loc["collab", "relative"] < 0.9
    assert len(study.gains()) == 49


@needs_persons
def test_records_become_the_built_in_sums():
    found, given = sums_of_files([PERSONS], "records"), CensusSums.load(BUILT_IN)
    assert found.features == given.features
    assert set(found.states) == set(FIVE)
    for state in FIVE:
        i, j = found.index(state), given.index(state)
        assert (found.n[i] == given.n[j]).all()
        assert_allclose(found.total[i], given.total[j], rtol=1e-12)
        assert_allclose(found.cross[i], given.cross[j], rtol=1e-12)


@needs_persons
def test_errors_on_real_people_are_in_the_known_range():
    """METHOD.md, section 10: 0.95 for COLLAB at n = 200, 0.91 for all at 8,000 (in deviations)."""
    people = People.from_files([PERSONS], "records")
    study = Study(people.sums, choice_of(people.sums, FIVE))
    curve = study.error_curve([200, 800, 8000], 20, METHODS, seed=1, people=people)

    def error(method, n, curve=curve):
        return curve.mean(method, n) * study.baseline

    assert 0.93 < error("collab", 200) < 0.99
    assert 0.91 < error("collab", 800) < 0.95
    for method in ("collab", "collab_plus", "imputation", "local"):
        assert 0.90 < error(method, 8000) < 0.93
    assert error("local", 200) > error("collab", 200)
    three = ("collab", "imputation", "rw_imputation")
    authors = study.error_curve([200], 10, three, seed=1, people=people, recipe="authors")
    # A level absent from the sample becomes a hidden intercept: imputation blows up, as published.
    assert error("imputation", 200, authors) > 5
    assert error("rw_imputation", 200, authors) > 5
    assert 1.0 < error("collab", 200, authors) < 1.2


def test_too_many_people_asked_for_gets_a_sentence(small):
    people = People.from_files([small[0]], "test")
    study = Study(people.sums, choice_of(people.sums))
    with pytest.raises(ValueError, match="n must be at most"):
        study.error_curve([10**6], 1, ("collab",), people=people)
    found, again = (study.error_curve([200], 5, seed=0, people=people) for _ in range(2))
    assert {method for method in found.methods if found.at(method, 200).size} == set(METHODS)
    assert (again.at("collab", 200) == found.at("collab", 200)).all()


def test_too_many_people_to_hold_are_kept_as_sums(small):
    people = People.from_files([small[0]], "test", most=100)
    assert not people.holds_records
    assert (people.sums.cross == sums_of_files([small[0]], "test").cross).all()


@needs_persons
def test_population_weights_lose_where_levels_are_rare():
    """METHOD.md: they stay near 1.03-1.11, where empirical weights are at 0.95."""
    people = People.from_files([PERSONS], "records")
    views = paper_views(FIVE, people.sums.questions)
    choice = StudyChoice(FIVE, tuple(views[s] for s in FIVE), "IL", weights="population")
    study = Study(people.sums, choice)
    curve = study.error_curve([200], 20, ("collab",), seed=1, people=people)
    assert curve.mean("collab", 200) * study.baseline > 1.0


# Downloads ---------------------------------------------------------------------------------------


def test_the_whole_way_from_the_census_to_a_study(bureau, tmp_path):
    base, answers, asked = bureau
    for code, state in ((6, "CA"), (17, "IL"), (36, "NY")):
        answers[state] = [whole(zipped(f"psam_p{code:02d}.csv", records(500, code, (code,))))]
    survey = CensusSurvey(tmp_path, 2018, "1-Year", base)
    shares = []
    paths = survey.fetch(["CA", "IL", "NY"], progress=lambda share, text: shares.append(share))
    assert [path.name for path in paths] == ["psam_p06.csv", "psam_p17.csv", "psam_p36.csv"]
    assert asked[0] == "/pums/2018/1-Year/csv_pca.zip"
    assert shares[-1] == pytest.approx(1)
    assert sorted(path.name for path in survey.folder.iterdir()) == [p.name for p in paths]
    # Then fully offline: nothing is asked for again.
    survey.fetch(["CA", "IL", "NY"])
    assert len(asked) == 3
    assert survey.cached == ["CA", "IL", "NY"]
    sums = sums_of_files(paths, "downloaded")
    assert len(sums.features) == 37
    study = Study(sums, choice_of(sums))
    assert study.results(0)["error"].notna().all()
    # folktables itself finds and reads the same files.
    source = folktables.ACSDataSource("2018", "1-Year", "person", root_dir=str(tmp_path))
    assert len(source.get_data(states=["CA", "IL"], download=False)) == 1000


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (refused(404), "refused the file of 2018 1-Year \\(answer 404\\)"),
        (refused(503), "no answer from the Census after 2 tries"),
        (whole(b"<html>maintenance</html>"), "not a whole zip file"),
        (whole(zipped("other.csv", records(5))), "the zip holds no psam_p17.csv"),
        (whole(zipped("psam_p17.csv", pd.DataFrame({"<html>": ["no"]}))), "is no person file"),
        (nonsense, "no answer from the Census after 2 tries"),
        (truncated(zipped("psam_p17.csv", records(500))), "no answer from the Census"),
        (whole(zipped("psam_p17.csv", records(500))[:-300]), "not a whole zip file"),
        (silent, "no answer from the Census after 2 tries"),
    ],
    ids=[
        "refused",
        "busy",
        "a page",
        "wrong zip",
        "wrong file",
        "nonsense",
        "truncated",
        "cut zip",
        "slow",
    ],
)
def test_downloads_that_go_wrong_leave_nothing_behind(bureau, tmp_path, answer, sentence):
    base, answers, _ = bureau
    answers["IL"] = [answer]
    survey = CensusSurvey(tmp_path, 2018, "1-Year", base)
    with pytest.raises(DownloadError, match=sentence):
        survey.fetch(["IL"], timeout=0.5, tries=2)
    assert list(survey.folder.iterdir()) == []


def test_a_busy_moment_is_tried_again(bureau, tmp_path):
    base, answers, asked = bureau
    good = whole(zipped("psam_p17.csv", records(50)))
    answers["IL"] = [refused(503), truncated(zipped("psam_p17.csv", records(50))), good]
    paths = CensusSurvey(tmp_path, 2018, "1-Year", base).fetch(["IL"], timeout=1)
    assert len(asked) == 3
    assert len(pd.read_csv(paths[0])) == 50


def test_a_cancelled_download_leaves_nothing_behind(bureau, tmp_path):
    base, answers, _ = bureau
    answers["IL"] = [whole(zipped("psam_p17.csv", records(50)))]
    cancel = threading.Event()
    cancel.set()
    survey = CensusSurvey(tmp_path, 2018, "1-Year", base)
    assert survey.fetch(["IL"], cancel=cancel) == []
    assert list(survey.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [({"year": 2020}, "year must be one of"), ({"horizon": "3-Year"}, "horizon must be one of")],
)
def test_surveys_that_there_are_none_of(tmp_path, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        CensusSurvey(tmp_path, **given)
    with pytest.raises(ValueError, match="'XX' is unknown"):
        CensusSurvey(tmp_path).path("XX")


def test_the_command_that_rebuilds_a_file_of_sums(small, tmp_path, capsys):
    from collab_core.census.__main__ import main

    out = tmp_path / "sums.npz"
    assert main([str(small[0]), "--out", str(out)]) == 0
    assert "3 states" in capsys.readouterr().out
    assert (CensusSums.load(out).cross == sums_of_files([small[0]], "x").cross).all()
    assert main([str(tmp_path / "nothing.csv"), "--out", str(out)]) == 1
    assert "nothing.csv" in capsys.readouterr().err


def test_patterns_and_grids_as_texts():
    sums = CensusSums.load(BUILT_IN)
    questions = sums.questions
    for pattern in ("paper", "all", "half"):
        asked = cc.census.asked_by(pattern, FIVE, questions)
        text = cc.census.grid_text(asked, FIVE, questions)
        assert cc.census.grid_of_text(text, FIVE, questions) == asked
        study = Study(sums, StudyChoice(FIVE, asked, "IL"))
        assert cc.census.is_as_published(study) == (pattern == "paper")
    assert cc.census.asked_by("half", ("NY", "IL"), ("a", "b", "c")) == (("a", "c"), ("b",))
    with pytest.raises(ValueError, match="pattern"):
        cc.census.asked_by("papers", FIVE, questions)
    # Rows that are missing or do not fit are the paper's.
    paper = cc.census.asked_by("paper", FIVE, questions)
    odd = f"NY.{'0' * len(questions)};PA.01;XX.{'1' * len(questions)};nonsense"
    assert cc.census.grid_of_text(odd, FIVE, questions) == ((), *paper[1:])


def test_all_changes_are_those_one_by_one_and_a_stopped_run_has_none():
    sums = CensusSums.load(BUILT_IN)
    states = ("NY", "IL")
    study = Study(
        sums, StudyChoice(states, cc.census.asked_by("paper", states, sums.questions), "IL")
    )
    shares = []
    found = cc.census.changes(study, progress=lambda share, part: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    pd.testing.assert_frame_equal(found.asking, study.asking_more())
    pd.testing.assert_frame_equal(found.leaving, cc.census.leaving(study))
    pd.testing.assert_frame_equal(found.joining, cc.census.joining(study))
    pd.testing.assert_frame_equal(found.doubling, cc.census.doubling(study))
    stop = threading.Event()
    stop.set()
    assert cc.census.changes(study, cancel=stop) is None


def test_the_published_curve_is_in_our_names():
    frame = cc.census.published_curve(BUILT_IN.parent / "paper_census_results.csv")
    assert all(label(method) for method in frame["method"])
    assert {"n", "method", "mean"} <= set(frame.columns)


def test_the_size_of_a_download():
    sums = CensusSums.load(BUILT_IN)
    one = cc.census.download.megabytes(["IL"], "1-Year", sums)
    assert cc.census.download.megabytes(["IL"], "5-Year", sums) == pytest.approx(5 * one)
    assert cc.census.download.megabytes([], "1-Year", sums) == 0
