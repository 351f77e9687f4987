"""Lower bounds: Corollary 4.4 with today's numbers in it, and what lies between the bounds."""

from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.bounds import PatternSums
from collab_core.runs.simulate import Sample
from pages.shared import options, run, state
from pages.shared.panel import scenario_code, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "ratio": "Against p",
    "map": "Map",
    "gap": "What is to gain",
    "chain": "Chain of bounds",
}
DIRECTIONS = {
    "all": "Every direction",
    "coefficient": "One coefficient",
    "principal": "A principal direction",
    "agent": "An agent's own model",
}
AGENTS = (0, 10, 30, 100, 300, 1000)
DRAWN_AT, DRAWS = 9, 6
TRIALS = (0, 100, 400, 1000, 4000)
KAPPAS = tuple(10.0**e for e in range(7))
SNRS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Above 14 features patterns are sampled; this many of each size answer within a second.
PATTERNS = 240
COLOURED = {"ratio": "true / p*", "threshold": "true p", "p_star": "p*"}


def pattern_sums(scenario: cc.Scenario) -> PatternSums:
    """The corollary's sums; who sees what and how many samples there are does not matter."""
    return _pattern_sums(
        scenario.nearest(m=1, n=1, missing="independent", p=0.0, allocation="equal")[0]
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _pattern_sums(scenario: cc.Scenario) -> PatternSums:
    return PatternSums(
        scenario.covariance, scenario.coefficients, scenario.sigma, patterns_per_size=PATTERNS
    )


def main() -> None:
    with page() as scenario:
        part = heading("Lower bounds", PARTS)
        try:
            {"ratio": against_p, "map": the_map, "gap": the_gap, "chain": the_chain}[part](scenario)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"These bounds cannot be computed: {reason}.")


# Directions --------------------------------------------------------------------------------------


def pick_direction(
    scenario: cc.Scenario, kinds: tuple[str, ...] = tuple(DIRECTIONS)
) -> tuple[str, int, np.ndarray | None, str]:
    """Kind, number, rows of T (None for all directions) and their code."""
    left, right = st.columns(2)
    with left:
        kind = options.pick("of", "Compare in", kinds, kinds[0], words=DIRECTIONS.get)
    d = scenario.d
    if kind == "all":
        return kind, 0, None, "None"
    with right:
        if kind == "agent":
            agent = options.pick(
                "agent", "Agent", range(scenario.m), 0, words=lambda i: f"Agent {i + 1}"
            )
            view = scenario.views[agent]
            if view.size == 0:
                raise ValueError(f"agent {agent + 1} sees nothing and has no model; pick another")
            geometry = cc.geometry.Geometry(scenario.covariance, [view, np.arange(d)])
            code = (
                "cc.geometry.Geometry(\n    scenario.covariance, "
                f"[scenario.views[{agent}], range({d})]\n).transform(0)"
            )
            return kind, agent, geometry.transform(0), code
        words_of = (lambda j: f"x{j + 1}") if kind == "coefficient" else (lambda j: f"{j + 1}")
        number = options.pick(
            "direction", "Which", range(d), 0, words=words_of,
            help="Principal directions are counted from the strongest.",
        )  # fmt: skip
    if kind == "coefficient":
        return kind, number, np.eye(d)[[number]], f"np.eye({d})[[{number}]]"
    vectors = np.linalg.eigh(scenario.covariance)[1][:, ::-1]
    code = f"np.linalg.eigh(scenario.covariance)[1][:, ::-1].T[[{number}]]"
    return kind, number, vectors.T[[number]], code


# Against p ---------------------------------------------------------------------------------------


def against_p(scenario: cc.Scenario) -> None:
    sums = pattern_sums(scenario)
    first, second = st.columns([2, 1], vertical_alignment="bottom")
    with first:
        kind, number, rows, rows_code = pick_direction(scenario)
    with second:
        agents = options.pick(
            "agents", "Draws of m agents", AGENTS, 30, widget=st.select_slider,
            help="0 for none. With more agents the draws close in on the limit.",
        )  # fmt: skip
    threshold = sums.threshold(4.0, rows)
    grid = p_grid(sums.p_star)
    curve = sums.curve(grid, rows)
    frame = curve.frame
    words(statement(scenario, sums, kind, rows))
    places = grid[np.linspace(0, grid.size - 1, DRAWN_AT).astype(int)]

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        return finite_draws(scenario, places, agents, rows, report, cancel)

    def draw(draws: pd.DataFrame, final: bool) -> None:
        show(
            figures.ratio_against_p(
                frame, title=ratio_title(kind, number, threshold),
                p_star=sums.p_star, threshold=threshold, draws=draws,
                here=scenario.p if scenario.missing == "independent" else None,
            ),
            key="ratio",
            alt="Smallest and largest ratio of C_gauss to C_strong against missingness p.",
            frame=frame,
            formula=RATIO_FORMULA,
            code=scenario_code(scenario)
            + "import numpy as np\n\n"
            + "sums = cc.bounds.PatternSums(\n"
            + "    scenario.covariance, scenario.coefficients, scenario.sigma,"
            + f" patterns_per_size={PATTERNS}\n)\n"
            + f"frame = sums.curve({grid.tolist()},\n    {rows_code}).frame\nprint(frame)\n",
        )  # fmt: skip

    run.panel(
        "finite", (scenario, agents, kind, number), work, draw, label="Draw agents",
        help="Draws which features each agent misses, again and again.", auto=True, below=True,
    )  # fmt: skip
    if not sums.exact_sum:
        words(
            f"With d = {scenario.d} the 2^d patterns are sampled, some {PATTERNS} of each size; "
            "the band is the 95% error of that."
        )


def p_grid(p_star: float) -> np.ndarray:
    lowest = min(max(p_star / 3, 1e-8), 1e-2)
    return np.geomspace(lowest, 0.95, 60).round(12)


def finite_draws(
    scenario: cc.Scenario,
    places: np.ndarray,
    agents: int,
    rows: np.ndarray | None,
    report: run.Report,
    cancel: Event,
) -> pd.DataFrame:
    parts = [pd.DataFrame({"p": [], "low": [], "high": []})]
    report(0.0, parts[0])
    for done, p in enumerate(places if agents else [], start=1):
        if cancel.is_set():
            break
        found = cc.bounds.finite_ratios(
            scenario.covariance, scenario.coefficients, scenario.sigma, float(p), agents, DRAWS,
            scenario.seed, rows,
        )  # fmt: skip
        parts.append(pd.DataFrame({"p": p, "low": found[:, 0], "high": found[:, 1]}))
        report(done / len(places), pd.concat(parts, ignore_index=True))
    return pd.concat(parts, ignore_index=True)


def statement(scenario: cc.Scenario, sums: PatternSums, kind: str, rows: np.ndarray | None) -> str:
    """The corollary in words, with today's numbers in it."""
    threshold = sums.threshold(4.0, rows)
    where = "" if kind == "all" else " in the chosen direction"
    said = (
        "**Corollary 4.4**: if every feature of every agent is missing with probability "
        "$p \\le p^* = \\frac{1}{2\\kappa(1 + \\mathrm{SNR})}$, then with many agents "
        "$C_{strong} \\preceq C_{gauss} \\preceq 4\\,C_{strong}$. "
        f"Here κ = {sums.condition_number:.3g} and SNR = {sums.signal_to_noise:.3g}, so "
        f"**p\\* = {sums.p_star:.2g}**"
    )
    said += (
        f", while the factor 4 is really reached{where} at **p = {threshold:.2g}**, "
        f"{large(threshold / sums.p_star)} times as far."
        if threshold
        else f", and the factor 4 is not reached{where} at any p."
    )
    if scenario.missing != "independent":
        return said + " (The sidebar's views are of another kind; only its Σ, θ and σ count here.)"
    at = sums.curve([min(scenario.p, 0.999)], rows).high[0]
    holds = "holds" if scenario.p <= sums.p_star else "does not hold"
    return (
        said + f" At the sidebar's p = {scenario.p:g} the condition {holds}; the ratio is {at:.3g}."
    )


def large(number: float) -> str:
    """A factor as people read it: 2.35, 5,800, 15,400,000."""
    return f"{number:.3g}" if number < 1000 else f"{float(f'{number:.3g}'):,.0f}"


def ratio_title(kind: str, number: int, threshold: float | None) -> str:
    if kind == "coefficient":
        return f"For the coefficient of x{number + 1}"
    if kind == "principal":
        return f"Along principal direction {number + 1}"
    if kind == "agent":
        return f"For agent {number + 1}'s own model"
    if threshold is None:
        return "The bounds are never a factor 4 apart"
    return f"The bounds are within a factor 4 up to p = {threshold:.2g}"


# Map ---------------------------------------------------------------------------------------------


def the_map(scenario: cc.Scenario) -> None:
    coloured = options.pick(
        "colour", "Colour", list(COLOURED), "ratio", widget=st.segmented_control,
        words={"ratio": "How conservative", "threshold": "True threshold", "p_star": "p*"}.get,
    )  # fmt: skip
    if not scenario.coefficients.any():
        raise ValueError("theta is 0, so there is no signal; make it larger in the sidebar")
    kappa = float(np.linalg.cond(scenario.covariance))
    signal = float(scenario.coefficients @ scenario.covariance @ scenario.coefficients)

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        return cc.threshold_map.threshold_map(
            scenario, kappas(scenario), SNRS, progress=report, cancel=cancel
        )

    def draw(found: pd.DataFrame, final: bool) -> None:
        draw_map(scenario, found, coloured, (kappa, signal / scenario.sigma**2))

    # The map is of other spectra and noises than the world's; those fields do not matter to it.
    matters = scenario.nearest(
        spectrum="geometric", condition=1.0, sigma=1.0, n=1, m=1, missing="independent"
    )[0]
    run.panel(
        "map", matters, work, draw, label="Draw the map",
        help="Finds p* and the true threshold in many worlds.", auto=True, below=True,
    )  # fmt: skip


def kappas(scenario: cc.Scenario) -> tuple[float, ...]:
    """Condition numbers of the map; a single feature has only one."""
    return KAPPAS if scenario.d > 1 else (1.0,)


def draw_map(
    scenario: cc.Scenario, found: pd.DataFrame, coloured: str, here: tuple[float, float]
) -> None:
    known = found[found["ratio"].notna()]
    if known.empty:
        words("In none of these worlds are the bounds ever a factor 4 apart.")
        return
    least, most = known.loc[known["ratio"].idxmin()], known.loc[known["ratio"].idxmax()]
    words(
        f"**The condition is conservative by a factor of {large(least['ratio'])} to "
        f"{large(most['ratio'])}**: least at κ = {least['kappa']:g} and SNR = {least['snr']:g}, "
        f"most at κ = {most['kappa']:g} and SNR = {most['snr']:g}. Click a square to go "
        "to that world."
    )
    clicked = show(
        figures.threshold_map(
            found, coloured, COLOURED[coloured], here=here,
            title={
                "ratio": "How far beyond p* the factor 4 really holds",
                "threshold": "The p at which the factor 4 is reached",
                "p_star": "The corollary's p*",
            }[coloured],
        ),
        key="map",
        alt="Map over condition number and signal to noise of the corollary's threshold.",
        frame=found,
        formula=MAP_FORMULA,
        code=scenario_code(scenario)
        + f"kappas, snrs = {list(kappas(scenario))}, {list(SNRS)}\n"
        + "frame = cc.threshold_map.threshold_map(scenario, kappas, snrs)\nprint(frame)\n",
        clickable=f"map-{st.session_state.get('clicks', 0)}",
    )  # fmt: skip
    cells = found[found[coloured].notna()]
    places = [point["point_index"] for point in clicked if point["curve_number"] == 0]
    if places:
        cell = cells.iloc[places[0]]
        go_to(scenario, float(cell["kappa"]), float(cell["snr"]))


def go_to(scenario: cc.Scenario, kappa: float, snr: float) -> None:
    world = cc.threshold_map.world_at(scenario, kappa, snr)
    state.change(spectrum="geometric", condition=kappa, sigma=float(f"{world.sigma:.4g}"))
    options.put("part", "ratio")
    # A new key forgets the selection, so that the same square can be clicked again.
    st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
    st.rerun()


# The gap -----------------------------------------------------------------------------------------


def the_gap(scenario: cc.Scenario) -> None:
    problem = problem_of(scenario)
    if problem is None:
        return
    first, second = st.columns([2, 1], vertical_alignment="bottom")
    with first:
        kind, number, rows, _ = pick_direction(scenario)
    with second:
        trials = options.pick(
            "trials", "Simulated trials", TRIALS, 400, widget=st.select_slider,
            help=f"At n = {scenario.n:,}, the sidebar's.",
        )  # fmt: skip
    agent = number if kind == "agent" else None
    target = "full" if agent is None else agent
    form = quadratic_form(problem, kind, agent, rows)
    found = {
        "collab": cc.bounds.gauss(problem),
        "collab_plus": cc.bounds.exact(problem, noise_known=False),
        "exact": cc.bounds.exact(problem),
        "strong": cc.bounds.strong(problem),
    }
    if agent is not None:
        found = {key: cc.bounds.local(problem, C, agent) for key, C in found.items()}
    frame = pd.DataFrame(
        {"method": list(found), "error": [float((form * C).sum()) for C in found.values()]}
    )

    def work(report: run.Report, cancel: Event) -> Sample:
        nothing = Sample({}, cc.ellipses.truth(problem, target), {})
        report(0.0, nothing)
        if not trials:
            return nothing
        return cc.simulate.sample_estimates(
            problem, scenario.n, trials, ["collab", "collab_plus"], target, seed=scenario.seed,
            progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(sample: Sample, final: bool) -> None:
        simulated = cc.simulate.quadratic_errors(sample, form, scenario.n)
        words(gap_in_words(frame, simulated, scenario.n))
        show(
            figures.errors_by_method(
                frame, title=gap_title(kind, number), simulated=simulated,
                axis="n × expected error", height=360,
            ),
            key="gap",
            alt="Bounds, COLLAB and COLLAB+ on one axis, theory and simulation.",
            frame=frame,
            formula=GAP_FORMULA,
            code=gap_code(scenario, kind, number, agent),
        )  # fmt: skip
        for key in sample.notes:
            if key not in sample.estimates:
                words(f"{figures.label(key)} cannot be simulated: n is too small for the views.")

    run.panel(
        "gap", (scenario, target, trials), work, draw, label="Simulate",
        help="Runs COLLAB and COLLAB+ on simulated data.", auto=True, below=True,
    )  # fmt: skip


def quadratic_form(
    problem: cc.Problem, kind: str, agent: int | None, rows: np.ndarray | None
) -> np.ndarray:
    """S in tr(S C): prediction error, an agent's, or the variance along one direction."""
    if agent is not None:
        return problem.geometry.block(agent)
    return problem.covariance if kind == "all" else rows.T @ rows


def gap_title(kind: str, number: int) -> str:
    return {
        "all": "Prediction with all features",
        "agent": f"Agent {number + 1}'s own model",
        "coefficient": f"Variance of the coefficient of x{number + 1}",
        "principal": f"Variance along principal direction {number + 1}",
    }[kind]


def gap_in_words(frame: pd.DataFrame, simulated: pd.DataFrame, n: int) -> str:
    by = frame.set_index("method")["error"]
    gap = by["collab"] - by["strong"]
    relaxed = (by["exact"] - by["strong"]) / gap if gap > 0 else 0.0
    known = (by["collab"] - by["exact"]) / gap if gap > 0 else 0.0
    unknown = (by["collab"] - by["collab_plus"]) / gap if gap > 0 else 0.0
    said = (
        f"**Of the gap between C_gauss ({by['collab']:.3g}) and C_strong ({by['strong']:.3g}), "
        f"{relaxed:.1%} is the paper's relaxation and {known:.1%} is there to gain** if the noise "
        f"is known, {unknown:.1%} if it is not."
    )
    rows = simulated.set_index("method") if len(simulated) else simulated
    if {"collab", "collab_plus"} <= set(rows.index):
        plain, plus = rows.loc["collab"], rows.loc["collab_plus"]
        said += (
            f" Simulated at n = {n:,}: COLLAB {plain['mean']:.3g}, COLLAB+ {plus['mean']:.3g}"
            + (", from the same messages." if unknown > 0.001 else ".")
        )
    return said


def gap_code(scenario: cc.Scenario, kind: str, number: int, agent: int | None) -> str:
    of = "C" if agent is None else f"b.local(problem, C, {agent})"
    form = {
        "all": "problem.covariance",
        "agent": f"problem.geometry.block({agent})",
        "coefficient": f"np.diag(np.eye({scenario.d})[{number}])",
        "principal": "np.outer(*2 * [np.linalg.eigh(problem.covariance)[1][:, ::-1]"
        f"[:, {number}]])",
    }[kind]
    return (
        scenario_code(scenario)
        + "import numpy as np\nimport pandas as pd\n\n"
        + "problem, b = scenario.problem(), cc.bounds\n"
        + "found = [b.gauss(problem), b.exact(problem, noise_known=False), b.exact(problem),\n"
        + "         b.strong(problem)]\n"
        + f"form = {form}\n"
        + f"frame = pd.DataFrame({{'error': [np.sum(form * {of}) for C in found]}})\nprint(frame)\n"
    )


# The chain ---------------------------------------------------------------------------------------


def the_chain(scenario: cc.Scenario) -> None:
    problem = problem_of(scenario)
    if problem is None:
        return
    ratios = cc.bounds.chain_ratios(problem)
    gauss = ratios[0]
    words(
        "**C_gauss ≽ (Σᵢ Σ/sᵢ)⁻¹ ≽ C_strong, direction by direction.** Without missing features "
        "the first two would be equal, and the second is always twice the third: so much is the "
        f"paper's doubling of the information. Here C_gauss is {gauss[0]:.3g} to {gauss[-1]:.3g} "
        f"times C_strong; {int((gauss <= 4).sum())} of {gauss.size} directions are within 4."
    )
    show(
        figures.chain(ratios, title="Variance by direction, as multiples of C_strong's"),
        key="chain",
        alt="Bars of the eigenvalues of C_gauss and of the middle bound, relative to C_strong.",
        frame=pd.DataFrame(ratios.T, columns=["gauss", "middle", "strong"]),
        formula=CHAIN_FORMULA,
        code=scenario_code(scenario)
        + "frame = cc.bounds.chain_ratios(scenario.problem()).T\nprint(frame)\n",
    )


RATIO_FORMULA = """
In the paper it is the corollary that makes the two lower bounds comparable under random
missingness, after the theorems for the weak and the strong observation model. Drawn are the
smallest and largest generalised eigenvalue of
$(\\lim m\\,C_{gauss}, \\lim m\\,C_{strong})$, where
$\\lim K = \\sum_o p^{d-|o|}(1-p)^{|o|} P_o'\\Sigma_{oo}^{-1}P_o/s_o$ runs over all $2^d$ patterns
(a sample of them above $d = 14$), or of $(T C_{gauss} T', T C_{strong} T')$ for chosen rows $T$.
They are never below 2: the factor by which the paper relaxes the Fisher information.
"""

MAP_FORMULA = """
Each square is a world with this $d$ and $\\theta$, a geometric spectrum of condition $\\kappa$ and
$\\sigma^2 = \\theta'\\Sigma\\theta/\\mathrm{SNR}$. The condition ends at
$p^* = 1/(2\\kappa(1+\\mathrm{SNR}))$; the true threshold is the smallest $p$ at which the largest
ratio of $C_{gauss}$ to $C_{strong}$ is 4, found by root search.
Above $d = 14$ patterns are sampled.
"""

GAP_FORMULA = """
$\\mathrm{tr}(S C)$ for $C_{gauss}$, the exact bound $C_{exact}$ (noise known, or unknown: COLLAB+)
and the paper's $C_{strong} = (\\sum_i 2\\Sigma/s_i)^{-1}$, with $S = \\Sigma$ for prediction,
$\\Sigma_{i+}$ for agent $i$ (and $T_iCT_i'$), $uu'$ for a direction. Markers with intervals are
$n$ times the mean of $(\\hat\\theta-\\theta)'S(\\hat\\theta-\\theta)$ over simulated trials.
$C_{exact}^{-1} = \\sum_i T_i'\\Sigma_{i+}T_i/s_i + 2v_iv_i'/s_i^2$ is the Fisher information before
the paper relaxes it.
"""

CHAIN_FORMULA = """
Generalised eigenvalues relative to $C_{strong} = (\\sum_i 2\\Sigma/s_i)^{-1}$, of
$C_{gauss} = (\\sum_i T_i'\\Sigma_{i+}T_i/s_i)^{-1}$ and of $(\\sum_i \\Sigma/s_i)^{-1}$. The first
inequality is $T_i'\\Sigma_{i+}T_i \\preceq \\Sigma$: a view tells no more than all features.
"""

main()
