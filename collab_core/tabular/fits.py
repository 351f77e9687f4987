"""Every method's models from a table's sums: a stack of fits, each computed once, on demand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import methods
from .._base.checks import Array, Indices
from .._base.linalg import matvec, solve
from ..core.agents import Agents, Options
from ..core.dual import lifted
from ..core.estimate import LeftOut, NotEstimableError
from ..core.geometry import Geometry
from ..core.held_out import about_mean
from ..core.moments import CONSTANT, CONSTANT_ABOUT_MEAN, Moments
from ..core.target import Models
from ..methods import estimators
from ..methods.steady import STEADY, moderated_of
from .gaps import Filled
from .sentences import listed

if TYPE_CHECKING:
    from .study import TableStudy


class Fits:
    """A stack of fits: agents' sums in, every method's models out, each computed once.

    Parameters
    ----------
    study : TableStudy
    totals : list of m arrays, shape (R, k + 2, k + 2)
        Sums of products of (1, x, y), scaled.
    filled : list of m Filled, or None
        Of agents whose gaps were filled.
    """

    def __init__(
        self, study: TableStudy, totals: Sequence[Array], filled: Sequence[Filled | None]
    ) -> None:
        self.study, self.totals, self.filled = study, totals, filled
        self.notes: dict[str, str] = {}

    @cached_property
    def x_means(self) -> list[Array]:
        """Every agent's means of its features, scaled, shape (R, k)."""
        return [total[:, 0, 1:-1] / at_least_one(total[:, 0, 0])[:, None] for total in self.totals]

    @cached_property
    def y_means(self) -> list[Array]:
        """Every agent's mean target, shape (R,)."""
        return [total[:, 0, -1] / at_least_one(total[:, 0, 0]) for total in self.totals]

    @cached_property
    def moments(self) -> list[Moments]:
        """Every agent's rows, centred."""
        result = []
        for i, total in enumerate(self.totals):
            n = at_least_one(total[:, 0, 0])
            # A column that is constant in these rows becomes exactly 0: what is left of it is
            # rounding, of the sums about the agent's mean and of the mean itself.
            unit = np.append(self.study.scale[self.study.views[i]], self.study.label_scale)
            origin = np.append(self.study.middle(i), self.study.survey.target_means[i])
            raw = np.diagonal(total[:, 1:, 1:], axis1=-2, axis2=-1)
            least = CONSTANT * raw + CONSTANT_ABOUT_MEAN * n[:, None] * (origin / unit) ** 2
            told = self.filled[i]
            if told is not None:
                # What varies by what was filled in alone says nothing of the target.
                least[:, :-1][~told.varies] = np.inf
            _, about = about_mean(n, total[:, 0, 1:], total[:, 1:, 1:], least)
            about = (about + np.swapaxes(about, -1, -2)) / 2
            result.append(
                Moments(
                    n, about[:, :-1, :-1], about[:, :-1, -1],
                    np.maximum(about[:, -1, -1], 0.0), is_centred=True,
                )
            )  # fmt: skip
        return result

    @cached_property
    def geometry(self) -> Geometry:
        """Covariance and views, for all estimators."""
        return Geometry(self.study.covariance(self.moments, self.filled), self.study.views)

    @cached_property
    def variances(self) -> dict[int, Array]:
        """How far labels vary about the models of those who take part, as weights have it, (R,)."""
        if self.study.choice.weights not in STEADY:
            return {i: self.moments[i].fit.residual for i in self._fitted}
        agents = [i for i, moment in enumerate(self.moments) if moment.features]
        try:
            found = moderated_of(self.moments, self.geometry, agents).variances
        except NotEstimableError:
            return {}
        return {i: found[..., j] for j, i in enumerate(agents)}

    @property
    def participants(self) -> tuple[int, ...]:
        """Agents that tell the others something, in every fit."""
        return tuple(self.variances)

    @property
    def _fitted(self) -> tuple[int, ...]:
        """Agents with a feature and enough rows for least squares of their own in every fit."""
        return tuple(
            i
            for i, moment in enumerate(self.moments)
            if moment.features
            and (moment.degrees_of_freedom > moment.features).all()
            and (moment.fit.rss > 0).all()
        )

    def shared(self, agent: int) -> Indices:
        """Places in an agent's view of what others that take part see too."""
        others = [self.study.views[i] for i in self.participants if i != agent]
        return np.flatnonzero(np.isin(self.study.views[agent], np.concatenate([*others, []])))

    @cached_property
    def _around(self) -> dict[int, tuple[Array, Array]]:
        """COLLAB's sums over everybody but one: K (R, d, d) and its right-hand side (R, d).

        From both ends, so that nothing has to be subtracted.
        """
        geometry, agents = self.geometry, list(self.participants)
        leading, d = self.moments[0].yy.shape, geometry.dimension
        parts = {}
        for i in agents:
            moment, inverse, rate = self.moments[i], geometry.inverses[i], 1 / self.variances[i]
            parts[i] = (
                rate[:, None, None] * lifted(moment, inverse),
                rate[:, None] * matvec(inverse, moment.xy),
            )
        found: dict[int, tuple[Array, Array]] = {}
        for order in (agents, agents[::-1]):
            matrix, right = np.zeros((*leading, d, d)), np.zeros((*leading, d))
            for i in order:
                before = found.get(i)
                found[i] = (
                    (matrix.copy(), right.copy())
                    if before is None
                    else (before[0] + matrix, before[1] + right)
                )
                view = self.study.views[i]
                matrix[:, view[:, None], view] += parts[i][0]
                right[:, view] += parts[i][1]
        return found

    def implied_by_others(self, agent: int, features: Indices) -> Array | None:
        """What COLLAB of all others says of some features, (R, k); None if it says nothing."""
        views = self.study.views
        others = [i for i in self.participants if i != agent]
        union = np.unique(np.concatenate([views[i] for i in others]))
        place = {j: k for k, j in enumerate(union)}
        chosen = np.array([place[j] for j in features])
        block = self.geometry.covariance[..., union[:, None], union]
        phi = None
        if agent in self._around:
            matrix, right = self._around[agent]
            phi, rank = solve(matrix[:, union[:, None], union], right[:, union])
            phi = phi if (rank == union.size).all() else None
        if phi is None:
            own = [np.array([place[j] for j in views[i]], dtype=np.intp) for i in others]
            try:
                phi = estimators.collab(
                    [self.moments[i] for i in others],
                    own,
                    Geometry(block, own),
                    self.study.choice.weights,
                ).phi
            except NotEstimableError:
                return None
        part = block[..., chosen[:, None], chosen]
        return np.linalg.solve(part, phi[..., chosen, None])[..., 0]

    @cached_property
    def agents(self) -> Agents:
        """Everybody, as methods read them."""
        lacking = {}
        if not self.study.has_full_model:
            first, second = self.study.unseen_pairs[0]
            lacking["all_pairs"] = f"nobody has both {first} and {second}"
        return Agents(
            self.moments,
            self.study.views,
            lambda: self.geometry,
            len(self.study.features),
            lacking=lacking,
            options=Options(weights=self.study.choice.weights),
        )

    def estimate(self, method: str) -> Models | None:
        """A method's estimate, or None with a note."""
        try:
            found = methods.get(method).of(self.agents)
        except NotEstimableError as reason:
            self.notes[method] = str(reason)
            return None
        left_out: tuple[LeftOut, ...] = getattr(found, "left_out", ())
        if left_out:
            self.notes[method] = self._left_out(left_out)
        return found

    def _left_out(self, left_out: Sequence[LeftOut]) -> str:
        names = [self.study.agents[entry.agent] for entry in left_out]
        return f"{listed(names)} add nothing to the others: too few rows for their features"

    def model(self, method: str, agent: int) -> Array | None:
        """An agent's model by a method, shape (R, k), scaled; None if there is none."""
        moment = self.moments[agent]
        if moment.features == 0:
            return np.zeros((moment.n.size, 0))
        estimate = self.estimate(method)
        try:
            return None if estimate is None else estimate.local(agent)
        except NotEstimableError:
            return None


def at_least_one(n: Array) -> Array:
    """Counts to divide by."""
    return np.maximum(n, 1.0)
