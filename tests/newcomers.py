"""A spectrum, a pattern, a rule, an allocation and a law that only tests know.

They are all there is to them: tests find them in links, in the sidebar, in code and in simulation
with nothing else touched.
"""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

import collab_core as cc
from collab_core.world.allocations import ALLOCATIONS, Allocation
from collab_core.world.coefficients import RULES, THETA_SCALE, Rule
from collab_core.world.fields import Field
from collab_core.world.laws import LAWS, NamedLaw, Tails
from collab_core.world.spectra import CORRELATION, SPECTRA, Spectrum
from collab_core.world.views import PATTERNS, Pattern

RIPPLE = Field(
    "ripple", "number", "Ripple", "Depth of the waves.", low=0, high=2, default=0.5, step=0.1
)
GAP = Field("gap", "whole", "First to lack", low=0, high=59, default=0)
PERIOD = Field("period", "whole", "Period", low=1, high=30, default=4, limited_by="d")


@dataclass(frozen=True)
class Rippled(Spectrum):
    """Variances that go up and down, all features correlated alike."""

    key = "rippled"
    label = "Rippled variances"
    help = "Up and down from feature to feature."

    ripple: float = RIPPLE.parameter()
    period: int = PERIOD.parameter()
    correlation: float = CORRELATION.parameter()

    def covariance(self, d, rng):
        scale = 1 + self.ripple * np.sin(np.arange(d) * 2 * np.pi / self.period) ** 2
        return cc.covariance.equicorrelated(d, self.correlation) * np.outer(scale, scale)


@dataclass(frozen=True)
class AllButOne(Pattern):
    """Everybody lacks one feature, in turn."""

    key = "all_but_one"
    label = "All but one"
    help = "Everybody lacks one feature, in turn."

    gap: int = GAP.parameter()

    def views(self, m, d, rng):
        return tuple(np.setdiff1d(np.arange(d), [(i + self.gap) % d]) for i in range(m))

    @classmethod
    def mend(cls, values):
        if values["gap"] != 13:
            return {}
        return {"gap": (12, "13 brings bad luck, so 12 is used")}


@dataclass(frozen=True)
class Alternating(Rule):
    """Plus and minus in turn."""

    key = "alternating"
    label = "Plus and minus in turn"
    help = "Neighbours undo each other."

    theta_scale: float = THETA_SCALE.parameter()

    def theta(self, covariance, rng):
        return self.theta_scale * (-1.0) ** np.arange(len(covariance))


@dataclass(frozen=True)
class Lottery(Allocation):
    """Sample sizes by chance."""

    key = "lottery"
    label = "By chance"
    help = "Drawn from the seed."

    def shares(self, views, rng):
        sizes = rng.uniform(0.5, 1.5, len(views))
        return sizes / sizes.mean()


@dataclass(frozen=True)
class TwoScales(NamedLaw):
    """Half of the samples are narrow, half are wide."""

    key = "two_scales"
    label = "Two scales"
    help = "Half of the samples are narrow, half are wide."

    contrast: float = Field(
        "contrast", "number", "Contrast", low=0, high=0.9, default=0.35, words="contrast {:g}"
    ).parameter()

    def white(self, rng, shape):
        sign = 2.0 * rng.integers(0, 2, size=shape[:-1]) - 1
        return rng.standard_normal(shape) * np.sqrt(1 + self.contrast * sign)[..., None]

    @property
    def tails(self):
        return Tails("common", 3 * self.contrast**2)


@contextmanager
def newcomers():
    """Register all of them for a while."""
    with ExitStack() as stack:
        for registry, kind in (
            (SPECTRA, Rippled),
            (PATTERNS, AllButOne),
            (RULES, Alternating),
            (ALLOCATIONS, Lottery),
            (LAWS, TwoScales),
        ):
            stack.enter_context(registry.registered(kind))
        yield


#: A link to a world of them.
LINK = {
    "spectrum": "rippled",
    "ripple": "1.25",
    "period": "3",
    "correlation": "0.2",
    "d": "5",
    "missing": "all_but_one",
    "gap": "2",
    "m": "6",
    "theta": "alternating",
    "theta_scale": "2",
    "allocation": "lottery",
    "n": "100",
    "sigma": "0.5",
    "seed": "3",
}
