"""The story of the Start page in six steps, and the sentences around its slider."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from .. import bounds
from ..answers.whatif import Findings
from ..core.problem import Problem

TITLE = "What is it worth to learn together?"

INTRODUCTION = (
    "Several parties want to predict the same thing, but each measures only some of the "
    "features. They may not share data. **COLLAB** lets them share models instead: a server "
    "corrects each for what its owner could not see, and gives everyone a better one."
)

#: For screen readers.
PICTURE = (
    "Six agents, each seeing some of six features, send their models to a server that "
    "corrects and weighs them; each gets back a model worth a multiple of its own data."
)

#: A floor or a bias below this is rounding.
NOTHING = 1e-9


@dataclass(frozen=True)
class StoryTold:
    """What is said at one step of the story.

    Attributes
    ----------
    title, text : str
        Of the step; Markdown.
    figure : str
        Title of its figure.
    formula : str
        Markdown.
    """

    title: str
    text: str
    figure: str
    formula: str


def hero(size: int, features: int, worth: pd.DataFrame) -> str:
    """What working together is worth where everybody sees ``size`` of so many features.

    Parameters
    ----------
    worth : DataFrame
        As `whatif.worth`.
    """
    if size == 1:
        return "No two agents measure the same feature: nobody can help anybody's own model."
    if size == features:
        return "Everyone sees everything: six agents simply have six times the data."
    best = worth.iloc[int(worth["worth"].to_numpy().argmax())]
    return (
        f"Each feature is seen by {size} agents. To do as well alone, agent {best['agent']} would "
        f"need {best['worth']:.1f} times its own labelled data."
    )


def multiple(worth: pd.DataFrame) -> str:
    """By what working together multiplies the data of all agents taken together."""
    return f"{worth['alone'].sum() / worth['together'].sum():.1f} ×"


def alone(problem: Problem, agent: int) -> StoryTold:
    """Step 1: an agent on its own."""
    size = int(problem.sizes[agent])
    features = f"{size} feature{'s' if size > 1 else ''}"
    misses = problem.irreducible[agent] > NOTHING
    return StoryTold(
        "One agent alone",
        f"Agent {agent + 1} fits least squares on the {features} it sees. "
        + (
            "More samples help, but what it cannot see stays unexplained, and every sample it "
            "needs it must label itself."
            if misses
            else "It sees everything here, so only samples are scarce, and every one it needs it "
            "must label itself."
        ),
        f"Alone, agent {agent + 1}'s error falls slowly" + (" to a floor" if misses else ""),
        "Expected error $s_i d_i / (n - d_i - 1)$, exact for Gaussian features, above the "
        "irreducible $\\theta_{i-}'\\Gamma_i\\theta_{i-}$.",
    )


def floor(problem: Problem, agent: int) -> tuple[float, str] | None:
    """Where an agent's error ends however much data it has, and what that is; None where at 0."""
    level = float(problem.irreducible[agent])
    if level <= NOTHING:
        return None
    return level, f"{level:.2g} is what unseen features cost for ever"


def naive(problem: Problem) -> StoryTold:
    """Step 2: averaging as if all models answered the same question."""
    level = bounds.naive_collab(problem).floor
    formula = (
        "$\\|\\sum_i P_i' T_i \\theta / m - \\theta\\|_\\Sigma^2$ plus a variance that vanishes."
    )
    if level > NOTHING:
        return StoryTold(
            "Averaging naively is biased, and no amount of data helps",
            "The obvious idea is to average the agents' coefficients. But a model that misses a "
            "feature lets its neighbours stand in for it, so each model answers a different "
            "question, and the average answers none.",
            f"The naive average levels out at {level:.2g}",
            formula,
        )
    return StoryTold(
        "Averaging naively works only where nothing is missing",
        "Everyone sees everything here, so local models all answer the same question and "
        "their average is fine. Let the agents see less, and watch it break.",
        "With nothing missing, the naive average is as good as COLLAB",
        formula,
    )


def bias(problem: Problem) -> tuple[float, str] | None:
    """Where the naive average levels out, and what that is; None where at 0."""
    level = bounds.naive_collab(problem).floor
    return (level, f"bias {level:.2g}") if level > NOTHING else None


def correction(problem: Problem) -> StoryTold:
    """Step 3: one truth explains all local models."""
    return StoryTold(
        "T removes the bias",
        "With endless data agent i finds not its part of the truth but $T_i \\theta$: its features "
        "also carry what the unseen ones would have said. $T_i$ is known from how features vary "
        "together, so the server asks for the one $\\theta$ that explains all models at once.",
        "Every agent is wrong in its own way; one truth explains them all"
        if problem.irreducible.max() > NOTHING
        else "With nothing missing, every agent finds the truth",
        "$T_i = [I, \\; \\Sigma_{i+}^{-1} \\Sigma_{i\\pm}]\\,\\Pi_i$ and "
        "$\\hat\\theta = \\arg\\min_\\theta \\sum_i \\| T_i \\theta - \\hat\\theta_i \\|_{W_i}^2$.",
    )


def weights(problem: Problem, shares: pd.DataFrame) -> StoryTold:
    """Step 4: who explains more counts for more.

    Parameters
    ----------
    shares : DataFrame
        As `whatif.weight_shares`.
    """
    equal = bounds.error(problem, bounds.imputation(problem))
    best = bounds.error(problem, bounds.gauss(problem))
    # Never below 0 (COLLAB's weights are optimal); rounding would say -0.0%.
    extra = max(equal / best - 1, 0.0)
    return StoryTold(
        "Weights by residual",
        "An agent whose features leave much unexplained has a noisier model and should count for "
        f"less. Its own residual says how much, and no other weights do better: equal ones cost "
        f"{extra:.1%} here.",
        "Who explains more counts for more"
        if shares["share"].max() - shares["share"].min() > 1e-6
        else "All explain the same, so all count the same",
        "$W_i = \\Sigma_{i+} / R_i$, where $R_i \\to s_i = \\sigma^2 + "
        "\\theta_{i-}'\\Gamma_i\\theta_{i-}$.",
    )


def unexplained(problem: Problem) -> list[str]:
    """What every agent leaves unexplained, for its bar."""
    return [f"Agent {i + 1} leaves {s:.3g} unexplained" for i, s in enumerate(problem.unexplained)]


def optimum(comparison: pd.DataFrame, found: Findings) -> StoryTold:
    """Step 5: what is left to gain.

    Parameters
    ----------
    comparison : DataFrame
        As `whatif.comparison`.
    """
    errors = comparison.set_index("method")["error"]
    return StoryTold(
        "How close to the best possible?",
        "From the local coefficients alone, no method beats COLLAB. Whoever also reads the "
        f"residuals, or all the labelled data, cannot get below {1 / found.to_optimum:.0%} of its "
        "error; COLLAB+, with the same messages and the noise unknown, gets to "
        f"{errors['collab_plus'] / errors['collab']:.0%}.",
        f"COLLAB is within {found.to_optimum:.2f} times of the best possible",
        "COLLAB: $\\mathrm{tr}(\\Sigma C^g)/n$. The exact bound is the inverse Fisher information "
        "of all labels; C_strong is the paper's relaxation of it.",
    )


def cost(sent: pd.DataFrame) -> StoryTold:
    """Step 6: what has to be sent.

    Parameters
    ----------
    sent : DataFrame
        As `whatif.bytes_sent`, of COLLAB and imputation.
    """
    most = sent.groupby("method")["bytes"].max()
    return StoryTold(
        "What it costs to send",
        "COLLAB sends a model, a covariance and one residual, however many samples there are. "
        "Imputation, even with the best weights, is no more accurate, and sends all the data.",
        f"At n = {sent['n'].max():,}, sending data costs "
        f"{most['imputation'] / most['collab']:,.0f} times as much",
        "$d_i + d_i(d_i+1)/2 + 1$ numbers for COLLAB, $n (d_i + 1)$ for imputation, 8 bytes each.",
    )
