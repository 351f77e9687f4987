"""Figures: valid for Plotly, finite, in the colours of the palette."""

from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

import collab_core as cc
from collab_core import figures, methods
from collab_core.figures.style import OTHERS, cut


@cache
def every_figure():
    problem = cc.Scenario(d=6, m=5, rich=2, rich_size=5, size=3, spikes=2).problem()
    lines = cc.whatif.error_lines(problem, ("naive_collab", "collab"), [10, 100, 1000])
    costs = cc.whatif.bytes_sent(problem, ("collab", "imputation"), [10, 100, 1000])
    comparison = cc.whatif.comparison(problem, 100)
    curve = cc.simulate.error_curve(problem, [100], 5, ["collab", "imputation"])
    table = cc.whatif.method_table(problem, 100, 0)
    sent = table.rename(columns={"own_error": "error"})
    paths = cc.simulate.sample_paths(problem, [20, 100], 10, ["collab", "naive_collab"])
    models = {"local": ("sent", [1.0, 2.0]), "collab": ("returned", [1.1, 1.9])}
    square = np.eye(3)
    found = cc.ellipses.covariances(problem)
    plane = cc.ellipses.coordinates(6, 0, 1)
    sample = cc.simulate.sample_estimates(problem, 100, 10, ["collab", "naive_collab"])
    pairs = cc.ellipses.pair_pictures(found, problem.theta, [0, 2, 3], ["a", "b", "c"], 100, 0.9)
    drawn = cc.ellipses.picture(found, plane, problem.theta, 100, 0.9, sample.estimates)
    sums = cc.bounds.PatternSums(problem.covariance, problem.theta, 1.0)
    ratios = sums.curve([0.01, 0.1, 0.5]).frame
    banded = ratios.assign(high_error=0.1)
    draws = ratios[["p", "low", "high"]]
    cells = cc.threshold_map.threshold_map(cc.Scenario(d=3, spikes=0), [1.0, 10.0], [0.1, 1.0])
    at = {"p_star": sums.p_star, "threshold": 0.2}
    results = cc.census.Study(
        cc.census.CensusSums.load("data/acs2024_moments.npz"),
        cc.census.StudyChoice(("NY", "IL"), (("AGEP", "JWTR"), ("JWTR",)), "IL"),
    )
    questions = {key: question.name for key, question in cc.census.QUESTIONS.items()}
    gains = cc.planning.next_features(problem, 50)
    steps = cc.planning.plan_features(problem, 50, 2)
    logistic = cc.smooth.curves(cc.smooth.LogisticWorld(problem, 2.0), [40], 2)["full"]
    lost = logistic["log_loss"].frame
    title = {"title": "A finding"}
    table = cc.tabular.Table.open(["data/sample_diabetes.csv"])
    study = cc.tabular.TableStudy.of(table, cc.tabular.usual_choice(table))
    left = study.residuals(0)
    names = [f"a state with a long name {i}" for i in range(5)]
    robust = cc.disturbed.curve(problem, 50, 5, "unlabelled", [100, 20], 0).frame
    outliers = {"features": "outliers(4)"}
    paired = cc.simulate.error_curve(problem, [50, 99], 4, ["collab", "collab_oracle"], **outliers)
    spent = cc.gaussian_cost.loss_map(
        cc.Scenario(d=4, m=3, spikes=0), [-1, 0, 9], [0.1, 0.4], draws=1
    )
    laws = cc.gaussian_cost.by_law(problem, {"a": "outliers(4)", "b": "gaussian"})
    unlabelled = cc.unlabelled.curve(problem, 50, [20, 200], 3, **outliers)
    levels = {"collab": unlabelled.gaussian, "collab_oracle": unlabelled.optimal}
    return {
        "held out": figures.held_out_errors(study.results, **title),
        "named views": figures.who_sees_what(study.seen, study.rows, **title),
        "table coefficients": figures.model_coefficients(
            study.coefficients(0), "progression", **title
        ),
        "residuals": figures.residuals(left, **title),
        "quantiles": figures.normal_quantiles(left["residual"].to_numpy(), **title),
        "robust": figures.advantage(
            robust, axis="samples", falling=True, break_even=(50.0, 60.0, None), said="50", **title
        ),
        "named helps": figures.rises(np.eye(5), agents=names, **title),
        "named gains": figures.feature_gains(
            gains, "own_share", 5, 6, agents=names, features=list("abcdef"), **title
        ),
        "named budget": figures.budget(
            cc.planning.spend_samples(problem, 50, 100), agents=names, **title
        ),
        "log-loss": figures.measure_curve(lost, "log-loss", level=(0.4, "best"), **title),
        "beyond": figures.measure_curve(lost, "log-loss", beyond=True, **title),
        "calibration": figures.measure_curve(
            logistic["calibration"].frame, "off by", log=True, **title
        ),
        "reliability": figures.reliability(logistic["calibration"].reliability_frame(40), **title),
        "relative": figures.relative_errors(paired.relative_to("collab"), "collab", **title),
        "losses": figures.losses_by_law(laws, "law", here="a", **title),
        "loss map": figures.loss_heatmap(spent, "independent", here=(0.3, 4.0), **title),
        "loss map, common": figures.loss_heatmap(spent, "common", **title),
        "unlabelled": figures.unlabelled_errors(
            unlabelled.frame, levels, n=50, measured=3.0, break_even=60.0, **title
        ),
        "people": figures.errors_on_people(results.results(5), **title),
        "census coefficients": figures.coefficient_intervals(
            results.coefficients(), list(results.features), "minutes", **title
        ),
        "questions": figures.falls_by_question(
            cc.census.question_table(results.asking_more(), ("NY", "IL")), questions, **title
        ),
        "states": figures.states_measured(results.measured(), **title),
        "helps": figures.rises(cc.planning.who_helps_whom(problem, 50), **title),
        "shares": figures.fair_shares(cc.planning.shapley(problem, 50).frame, **title),
        "feature gains": figures.feature_gains(gains, "own_share", 5, 6, **title),
        "plan": figures.plan(steps, ["now", "a", "b"], **title),
        "needed": figures.samples_needed(cc.planning.samples_needed(problem, 0.1), **title),
        "budget": figures.budget(cc.planning.spend_samples(problem, 50, 100), **title),
        "overlaid curve": figures.error_curve(
            curve.frame, overlay=curve.frame[["n", "method", "mean"]], **title
        ),
        "ellipses": figures.ellipses(drawn, ("u", "v"), **title),
        "played": figures.played_ellipses({"1": drawn, "2": drawn}, ("u", "v"), "p = ", **title),
        "ellipse matrix": figures.ellipse_matrix(pairs, ["a", "b", "c"], **title),
        "intervals": figures.intervals({"collab": 0.5, "strong": 0.2}, 1.0, "x1", **title),
        "ratio": figures.ratio_against_p(ratios, here=0.3, draws=draws, **at, **title),
        "ratio sampled": figures.ratio_against_p(banded, **at, **title),
        "map": figures.threshold_map(cells, "ratio", "ratio", here=(5.0, 0.5), **title),
        "chain": figures.chain(cc.bounds.chain(problem), **title),
        "loss": figures.loss_along([-1, 0, 1, 2], [1.5, 1, 1.5, 3], here=1.0, **title),
        "covariance": figures.covariance_heatmap(problem.covariance, **title),
        "spectrum": figures.spectrum([3.0, 1.0, 0.1], **title),
        "views": figures.view_matrix(problem.mask, **title),
        "worth": figures.worth_by_agent(cc.whatif.worth(problem, 100), **title),
        "methods": figures.errors_by_method(comparison, **title),
        "simulated": figures.errors_by_method(comparison, simulated=curve.frame, **title),
        "curve": figures.error_curve(curve.frame, **title),
        "scaled curve": figures.error_curve(curve.frame, scaled=True, log=False, **title),
        "lines": figures.error_lines(lines, floor=(0.5, "floor"), **title),
        "coefficients": figures.coefficients_by_agent(
            problem.theta, problem.embedded, problem.mask, **title
        ),
        "weight shares": figures.shares_by_agent([0.4, 0.6], ["a", "b"], axis="share", **title),
        "curve with a level": figures.error_curve(curve.frame, irreducible=0.3, **title),
        "error against bytes": figures.error_against_bytes(sent, **title),
        "leaving": figures.rise_by_agent(cc.whatif.without(problem, 0, 50), 1, **title),
        "models": figures.models_of_agent(["x1", "x2"], models, [1, 2], **title),
        "server": figures.matrix_with_column(
            square, [1, 2, 3], ["a", "b", "c"], ("K", "sum"), **title
        ),
        "clouds": figures.estimate_clouds(paths, (0, 1), ("x1", "x2"), **title),
        "bytes": figures.bytes_lines(costs, **title),
    }


@pytest.mark.parametrize("name", every_figure())
def test_plotly_accepts_it(name):
    figure = every_figure()[name]
    # Built without validation for speed; here Plotly checks every property.
    checked = go.Figure(figure.to_dict())
    assert checked.layout.title.text == "A finding"
    assert checked.layout.height
    assert len(checked.data) >= 1


def test_the_palette_covers_every_method_and_tells_them_apart():
    named = {*methods.keys(), *cc.smooth.methods.keys(), *OTHERS}
    assert named == set(figures.PALETTE)
    colours = [style.colour for style in figures.PALETTE.values()]
    assert len(set(colours)) == len(colours)
    looks = {(style.dash, style.marker) for style in figures.PALETTE.values()}
    assert len(looks) >= len(figures.PALETTE) - 1
    for style in figures.PALETTE.values():
        for background in ("#FFFFFF", "#0E1117"):
            assert contrast(style.colour, background) >= 2.2, style


def contrast(a: str, b: str) -> float:
    """Contrast ratio of WCAG."""

    def luminance(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_names_are_cut_for_an_axis_unless_that_makes_them_the_same():
    assert cut(["Ohio", "District of Columbia"]) == ["Ohio", "District of Colum…"]
    alike = ["Means of transport: bus", "Means of transport: taxi"]
    assert cut(alike) == alike


def test_more_disturbance_is_to_the_right():
    problem = cc.Scenario(d=6, m=5, rich=2, rich_size=5, size=3, spikes=2).problem()
    frame = cc.disturbed.curve(problem, 50, 5, "unlabelled", [100, 20], 0).frame
    drawn = figures.advantage(
        frame, axis="samples", title="A finding", falling=True, break_even=(50.0, 60.0, 40.0)
    )
    left, right = drawn.layout.xaxis.range
    assert left > right
    line = next(shape for shape in drawn.layout.shapes if shape.line.dash == "dash")
    assert (line.x0, line.x1) == (50.0, 50.0)
    assert "local" not in {trace.name for trace in drawn.data}


def test_log_axes_write_a_few_round_numbers():
    for low, high in ((1, 1.1), (0.2, 3), (1e-3, 1e3), (1e-9, 1e7), (5, 5)):
        axis = figures.log_axis("x", [low, high])
        assert 1 <= len(axis["tickvals"]) <= 10 or high / low < 1.2
        assert axis["range"][0] < np.log10(low) <= np.log10(high) < axis["range"][1]
    assert "range" not in figures.log_axis("x", [0.0])
