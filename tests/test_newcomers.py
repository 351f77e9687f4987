"""What is registered is offered everywhere: links, repair, code and simulation of newcomers."""

import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.world.catalogue import GROUPS, fields
from collab_core.world.fields import Field, Names, WorldPart, WorldParts
from collab_core.world.laws import LAWS, NamedLaw, Rare, StudentT
from collab_core.world.spectra import CORRELATION, SPECTRA, Spectrum

from .newcomers import LINK, RIPPLE, Rippled, TwoScales, newcomers


@pytest.fixture
def registered():
    with newcomers():
        yield


# A newcomer, by everything that is not a page ----------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_a_newcomer_is_a_world_from_its_link_and_back():
    world, notices = cc.Scenario.from_query(LINK)
    assert notices == []
    assert world.to_query() == LINK
    assert list(world.to_query())[:5] == ["spectrum", "d", "correlation", "ripple", "period"]
    assert (world.ripple, world.period) == (1.25, 3)
    assert cc.Scenario(**world.choices).to_query() == LINK
    assert {"ripple", "gap"} <= set(dir(world))
    problem = world.problem()
    assert problem.sizes.tolist() == [4] * 6
    assert_allclose(problem.theta, [2, -2, 2, -2, 2])
    assert_allclose(problem.covariance[0, 0], 1)
    assert problem.covariance[1, 1] > 2
    assert problem.shares.mean() == pytest.approx(1)
    assert (problem.shares == world.replace(n=7).shares).all()


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"ripple": "7"}, "Ripple: 7 is not allowed, so 2 is used."),
        ({"ripple": "deep"}, "Ripple: 'deep' is not a number; 0.5 is used."),
        ({"period": "9"}, "Period: at most d = 5, so 5 is used."),
        ({"gap": "13"}, "First to lack: 13 brings bad luck, so 12 is used."),
    ],
)
def test_a_newcomers_wrong_values_are_put_right_and_said(query, said):
    world, notices = cc.Scenario.from_query(LINK | query)
    assert notices == [said]
    assert cc.Scenario.from_query(world.to_query()) == (world, [])


@pytest.mark.usefixtures("registered")
def test_a_newcomer_law_is_read_simulated_and_judged():
    law = cc.laws.of("two_scales(0.6)")
    assert law == TwoScales(0.6)
    assert law.text == "two_scales(0.6)"
    assert law.said == "Two scales, contrast 0.6"
    assert cc.laws.choices()["two_scales(0.35)"] == "Two scales, contrast 0.35"
    problem = cc.Scenario.from_query(LINK)[0].problem()
    frame = cc.simulate.error_curve(problem, [40], 5, ["collab"], features="two_scales(0.6)").frame
    assert np.isfinite(frame["mean"]).all()
    assert cc.gaussian_cost.loss(problem, "two_scales(0.6)") >= 0
    white = law.white(np.random.default_rng(0), (200_000, 2))
    assert_allclose(white.T @ white / 2e5, np.eye(2), atol=4.5 * np.sqrt(3 * 1.36 / 2e5))


def test_after_a_newcomer_has_gone_all_is_as_before():
    usual = cc.Scenario()
    with newcomers():
        assert cc.Scenario() == usual
        assert "ripple" in fields()
        with pytest.raises(ValueError, match=r"spectrum must be one of .*rippled; got 'flat'"):
            cc.Scenario(spectrum="flat")
    assert "ripple" not in fields()
    with pytest.raises(TypeError, match="Scenario has no 'ripple'; it has spectrum, d, spikes"):
        cc.Scenario(ripple=1.0)
    world, notices = cc.Scenario.from_query(LINK)
    assert world.spectrum == "spiked"
    assert any("got 'rippled'; spiked is used" in notice for notice in notices)
    with pytest.raises(ValueError, match=r"features must be one of gaussian, .*; got 'two_scales'"):
        cc.laws.of("two_scales(0.6)")


# What registries refuse --------------------------------------------------------------------------


def spectrum(field: Field | None = None, **more) -> type[Spectrum]:
    """A spectrum with one parameter."""
    body = {"key": "other", "label": "Other", "covariance": lambda self, d, rng: np.eye(d)} | more
    if field is not None:
        body |= {"__annotations__": {field.name: float}, field.name: field.parameter()}
    return dataclass(frozen=True)(type("Other", (Spectrum,), body))


def test_one_name_means_one_thing():
    with SPECTRA.registered(spectrum(CORRELATION)):
        assert fields()["correlation"] is CORRELATION
    # Of another spectrum's parameter, a number of the world, a choice, a pattern's parameter.
    for name in ("correlation", "sigma", "theta", "rich"):
        other = replace(RIPPLE, name=name)
        with pytest.raises(ValueError, match=f"'{name}' is a field already, and not the same"):
            SPECTRA.register(spectrum(other))
    # What scenarios have beside their fields.
    for name in ("covariance", "problem", "to_query"):
        with pytest.raises(ValueError, match=f"a field cannot be called '{name}'"):
            SPECTRA.register(spectrum(replace(RIPPLE, name=name)))
    # Laws have names of their own: that of outliers is no allocation's.
    assert LAWS.get("outliers").parameters()[0] != fields()["ratio"]
    assert "other" not in SPECTRA


def test_a_class_must_be_whole():
    class Forgotten(Spectrum):
        key, label = "other", "Other"
        ripple: float = RIPPLE.parameter()

        def covariance(self, d, rng):
            return np.eye(d)

    with pytest.raises(ValueError, match="Forgotten must be a dataclass"):
        SPECTRA.register(Forgotten)

    @dataclass(frozen=True)
    class Plain(Forgotten):
        depth: float = 1.0

    with pytest.raises(ValueError, match=r"Plain.depth must be made by Field\('depth'"):
        SPECTRA.register(Plain)

    @dataclass(frozen=True)
    class Empty(Spectrum):
        key, label = "other", "Other"

    with pytest.raises(ValueError, match="spectrum: Empty must define covariance"):
        SPECTRA.register(Empty)
    with pytest.raises(ValueError, match="spectrum 'ar1' is registered already"):
        SPECTRA.register(spectrum(key="ar1"))


def test_two_registries_share_a_namespace():
    names = Names()
    first: WorldParts[WorldPart] = WorldParts("first", names)
    second: WorldParts[WorldPart] = WorldParts("second", names)
    first.register(spectrum(RIPPLE))
    second.register(spectrum(RIPPLE))
    assert first.fields() == second.fields() == (RIPPLE,)
    with pytest.raises(ValueError, match="'ripple' is a field already"):
        second.register(spectrum(replace(RIPPLE, high=3), key="third"))


# Every class that there is -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [kind for registry in (*(g.registry for g in GROUPS), LAWS) for kind in registry]
)
def test_every_class_says_what_it_is(kind):
    assert kind.key.isidentifier()
    assert kind.label[0].isupper()
    assert kind.help.endswith(".")
    assert kind() == kind()
    for field in kind.parameters():
        assert field.label
        assert getattr(kind(), field.name) == field.default
        if field.kind in ("whole", "number"):
            assert field.low <= field.default <= field.high
            assert all(field.low <= step <= field.high for step in field.steps)
    assert kind.mend({field.name: field.default for field in fields().values()}) is not None


def test_steps_of_a_field_are_round_or_even():
    assert Field("a", "number", "A", low=0, high=2).steps[:3] == (0.0, 0.1, 0.2)
    assert Field("a", "whole", "A", low=0, high=3).steps == (0, 1, 2, 3)
    assert Field("a", "number", "A", scale=(1.0, 5.0)).steps == (1.0, 5.0)
    assert Field("a", "number", "Depth").said(0.25) == "Depth 0.25"


def test_laws_by_text():
    assert cc.laws.keys()[0] == "gaussian"
    assert cc.laws.get("student_t") is StudentT
    assert cc.laws.of(Rare(0.1)) == cc.laws.of("rare(0.1)") == cc.laws.FeatureLaw("rare", rate=0.1)
    assert cc.laws.choices()["student_t(6)"] == "Student t, 6 degrees"
    assert next(iter(cc.laws.choices())) == "gaussian"
    for text in cc.laws.choices():
        law = cc.laws.of(text)
        assert law.text == text == cc.laws.spelled(text)
        assert cc.laws.of(law.key) == law
    assert cc.laws.spelled("mixture") == "mixture(0.9)"
    for wrong, said in {
        "cauchy": "features must be one of gaussian, student_t",
        "cauchy(2)": "features must be one of gaussian, student_t",
        "uniform(3)": "parameters of uniform are none; got 'uniform\\(3\\)'",
        "rare(0.1,2)": "parameters of rare are rate",
        "rare(often)": "'often' in 'rare\\(often\\)' is not a number",
    }.items():
        with pytest.raises(ValueError, match=said):
            cc.laws.of(wrong)


def test_a_law_without_moments_says_what_it_lacks():
    @dataclass(frozen=True)
    class Bare(NamedLaw):
        key, label = "bare", "Bare"

        def white(self, rng, shape):
            return rng.standard_normal(shape)

    with pytest.raises(NotImplementedError, match="Bare must define tails or excess"):
        Bare().excess(np.ones(3))


# Scenario ----------------------------------------------------------------------------------------


def test_a_scenario_is_a_value():
    world = cc.Scenario(d=4, spectrum="ar1", mask=["10", "01"], eigenvalues=np.array([1.0, 2.0]))
    assert world.mask == ("10", "01")
    assert world.eigenvalues == (1.0, 2.0)
    assert eval(repr(world), {"Scenario": cc.Scenario}) == world
    assert world.covariance.shape == (4, 4)
    for again in (pickle.loads(pickle.dumps(world)), copy.deepcopy(world), world.replace()):
        assert again == world
        assert hash(again) == hash(world)
        # What was made from the choices is not taken along.
        assert "covariance" not in vars(again)
    assert world != world.replace(seed=1)
    assert world != "Scenario(d=4)"
    assert cc.Scenario(spike_factor=10) == cc.Scenario()
    assert world.choices == {"d": 4, "spectrum": "ar1"}
    for change in (lambda: setattr(world, "d", 5), lambda: delattr(world, "d")):
        with pytest.raises(AttributeError, match="a Scenario does not change"):
            change()
    with pytest.raises(AttributeError, match="Scenario has no 'dimension'; it has spectrum, d"):
        _ = world.dimension
    with pytest.raises(ValueError, match=r"changes must be of spectrum, d, .*; got 'dimension'"):
        world.nearest(dimension=3)
    with pytest.raises(ValueError, match="ratio must be from 1 to 1e6"):
        cc.Scenario(allocation="wide", ratio=0.5)


def values_of(field: Field) -> st.SearchStrategy:
    """Anything a person may give for a field, within its limits or not."""
    number = st.floats(-1e9, 1e9) | st.floats(0, 3)
    match field.kind:
        case "choice":
            return st.sampled_from(field.choices)
        case "whole":
            return st.integers(-5, 70) | st.integers(int(field.low), int(field.high))
        case "number":
            return number | st.floats(field.low, field.high)
        case "numbers":
            return st.lists(number, max_size=6).map(tuple)
        case "matrix":
            row = st.lists(number, min_size=3, max_size=3).map(tuple)
            return st.lists(row, max_size=4).map(tuple)
        case "mask":
            rows = st.integers(1, 6).flatmap(
                lambda d: st.lists(st.text("01", min_size=d, max_size=d), max_size=5)
            )
            return rows.map(tuple)
    raise AssertionError(field.kind)


@given(st.data())
def test_every_world_survives_its_link(data):
    with newcomers():
        drawn = {name: data.draw(values_of(field), name) for name, field in fields().items()}
        world, _ = cc.Scenario().nearest(**drawn)
        again, notices = cc.Scenario.from_query(world.to_query())
        assert notices == []
        assert again.to_query() == world.to_query()
        assert {name: getattr(again, name) for name in world.active} == {
            name: getattr(world, name) for name in world.active
        }
        assert cc.Scenario(**world.choices).choices == world.choices
        assert (again.covariance == world.covariance).all()
        assert all(np.array_equal(a, b) for a, b in zip(again.views, world.views, strict=True))
        assert (again.coefficients == world.coefficients).all()
        assert (again.shares == world.shares).all()


def test_parameters_of_a_newcomer_are_its_fields():
    assert [field.name for field in Rippled.parameters()] == ["ripple", "period", "correlation"]
