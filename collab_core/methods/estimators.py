"""Estimators: moments in, models for everyone out. One function a method of the paper.

Everything works on one data set and on a stack of trials at once (leading axes of the moments).
``covariance`` may have leading axes too, one matrix per trial, or be a `Geometry` made before.

All weighted aggregates share one shape. In the dual form (see `collab_core.geometry`) they solve
``K phi = r`` where every agent adds a small block to K and a small vector to r; the paper's
``theta = (sum T_i' W_i T_i)^-1 sum T_i' W_i theta_hat_i`` is this with ``phi = covariance theta``.
Given the features an agent's labels are independent with variance s_i, so the same sums give the
covariance of every such aggregate (`Estimate.covariance`): ``K^-1 (sum of blocks) K^-1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array
from .._base.linalg import congruence, inverse, matvec, pseudo_inverse, solve, transpose
from ..bounds.weights import empirical_weights, noise_variance, score_covariances, weights_of
from ..core.estimate import Estimate, LeftOut, NaiveEstimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.moments import AgentData, LocalFit, Moments
from ..core.sigma import from_unlabelled
from ..world.views import Views, ViewsLike, as_views, require_seen
from . import likelihood

CovarianceLike = ArrayLike | Geometry

#: A direction with this share of the best-known direction's information, or less, has none.
UNINFORMED = 1e-10


def local_ols(moments: Moments) -> LocalFit:
    """Ordinary least squares of one agent on its own data (Naive-Local).

    Returns
    -------
    LocalFit
        ``.theta`` (..., d_i) and ``.residual``, the paper's ``R_i = RSS / n`` (...).
    """
    return moments.fit


def collab(
    moments: Sequence[AgentData],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: str = "empirical",
    *,
    correction: bool = False,
) -> Estimate:
    """COLLAB: aggregate local models with weights by covariance over residual.

    Parameters
    ----------
    moments : list of Moments
        One per agent, of the features it sees in the order of its view. Population weights need
        no more than a `LocalSummary`.
    views : list of index arrays, or (m, d) boolean mask
    covariance : array, shape (d, d) or (..., d, d)
        Feature covariance: known, from unlabelled samples, or pooled (`collab_core.sigma`).
    weights : {"empirical", "population"}
        ``W_i = (xx/n) / R_i`` as in the paper's Algorithm 1, or ``W_i = Sigma_i+ / R_i``. They
        agree as n grows; at small n empirical weights are far better, because a direction that an
        agent hardly saw gets hardly any weight.
    correction : bool
        Use the unbiased ``RSS / (n - d_i)`` for R_i instead of the paper's ``RSS / n``.

    Returns
    -------
    Estimate
        Agents with ``n <= d_i`` (their residual is 0, their weight would be infinite) do not take
        part and are listed in ``.left_out``.
    """
    choice("weights", weights, ("empirical", "population"))
    geometry = Geometry.of(covariance, views)
    agents, left_out = _participants(moments, geometry, by_residual=True)
    residual = {
        i: (moments[i].fit.variance if correction else moments[i].fit.residual) for i in agents
    }
    if weights == "empirical":
        return _imputed(moments, geometry, {i: 1 / residual[i] for i in agents}, left_out)
    # n_i T_i' (Sigma_i+/R_i) T_i is  n_i/R_i S_i  in the dual, and its vector n_i/R_i theta_hat_i.
    rates = {i: moments[i].n / residual[i] for i in agents}
    information = geometry.weighted_inverses(np.stack(list(rates.values()), axis=-1), agents)
    vectors = [rates[i][..., None] * moments[i].fit.theta for i in agents]

    def meats() -> list[Array]:
        return [_times(rates[i] ** 2, moments[i].fit.covariance) for i in agents]

    return _solved(geometry, agents, information, vectors, meats, left_out)


def collab_plus(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    noise: float | None = None,
    *,
    steps: int = 100,
    start: Estimate | None = None,
) -> likelihood.PlusEstimate:
    """COLLAB+: the same messages as COLLAB, used to the last bit (beyond the paper).

    For Gaussian features an agent's residual tells about theta too, because
    ``s_i = noise^2 + theta' G_i theta``. The likelihood of all messages is maximised by Fisher
    scoring from COLLAB's estimate; its error reaches the exact strong-model bound
    `collab_core.bounds.exact`. It leans on the model: where agents differ in their truth, COLLAB
    is the safer choice.

    Parameters
    ----------
    noise : float, optional
        Standard deviation of the label noise if known; estimated otherwise.
    steps : int
        Largest number of scoring steps.
    start : Estimate, optional
        COLLAB's estimate, if it is at hand already.

    Returns
    -------
    PlusEstimate
        An `Estimate` with ``.noise_variance`` (...) and ``.converged`` (...).
    """
    geometry = Geometry.of(covariance, views)
    start = start or collab(moments, views, geometry)
    agents, left_out = _participants(moments, geometry, by_residual=True)
    # An agent that sees nothing still knows how much its labels vary: s_i = Var(y) there.
    blind = [
        i
        for i, view in enumerate(geometry.views)
        if view.size == 0 and (moments[i].fit.rss > 0).all()
    ]
    fits = {i: moments[i].fit for i in (*agents, *blind)}
    return likelihood.maximise(fits, geometry, start.phi, noise, steps, left_out)


def collab_optimal(
    moments: Sequence[Moments],
    views: ViewsLike,
    unlabelled: ArrayLike,
    covariance: CovarianceLike | None = None,
    noise: float | None = None,
    *,
    weights: str = "population",
    plug_in: Estimate | None = None,
) -> Estimate:
    """COLLAB with weights that are optimal for the features' own law, Gaussian or not.

    Theorem 3.1's ``W_i*`` with a plug-in theta (COLLAB's) and expectations over unlabelled samples.

    Parameters
    ----------
    unlabelled : array, shape (N, d), or (trials, N, d)
        Full-feature samples without labels, of mean 0: for all trials, or each trial's own.
    covariance : array, optional
        The unlabelled samples' own by default.
    noise : float, optional
        Standard deviation of the label noise if known; estimated from the residuals otherwise.
    weights : {"population", "empirical"}
        As in `collab`; see `collab_core.weights.empirical_weights`.
    plug_in : Estimate, optional
        Where theta comes from, if it is at hand already.
    """
    samples = finite_array("unlabelled", unlabelled, copy=None)
    geometry = Geometry.of(from_unlabelled(samples) if covariance is None else covariance, views)
    plug_in = plug_in or collab(moments, views, geometry)
    agents, _ = _participants(moments, geometry, by_residual=True)
    variance = (
        noise_variance({i: moments[i].fit for i in agents}, geometry, plug_in.phi)
        if noise is None
        else np.asarray(noise**2)
    )
    scores = score_covariances(samples, geometry, plug_in.theta, variance)
    return collab_scored(moments, views, geometry, scores, weights)


def collab_scored(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    scores: Sequence[ArrayLike],
    weights: str = "empirical",
) -> Estimate:
    """COLLAB with the weights that are optimal where every agent's ``Q_i`` is known.

    Parameters
    ----------
    scores : list of arrays, shape (..., d_i, d_i)
        ``Q_i``, the covariance of ``x_+ (y - x_+' T_i theta)``: from a law
        (`collab_core.weights.scores_of_law`) or estimated.
    weights : {"empirical", "population"}
        As in `collab`; see `collab_core.weights.empirical_weights`.
    """
    choice("weights", weights, ("empirical", "population"))
    geometry = Geometry.of(covariance, views)
    checked = _square_weights(scores, [view.size for view in geometry.views], "scores")
    if weights == "population":
        return aggregate(moments, views, geometry, weights_of(checked, geometry))
    agents, left_out = _participants(moments, geometry, by_residual=True)
    samples = {i: _times(1 / moments[i].n, _with_xx(moments[i]).xx) for i in agents}
    return _aggregated(
        moments, geometry, empirical_weights(checked, samples, geometry), agents, left_out
    )


def aggregate(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: Sequence[ArrayLike],
) -> Estimate:
    """Weighted empirical risk minimisation with any weights (the paper's general approach).

    ``(sum n_i T_i' W_i T_i)^-1 sum n_i T_i' W_i theta_hat_i``: consistent whatever the weights.

    Parameters
    ----------
    weights : list of arrays, shape (..., d_i, d_i)
        Symmetric positive definite, one per agent, per labelled sample.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = _participants(moments, geometry, by_residual=False)
    checked = _square_weights(weights, [view.size for view in geometry.views])
    estimate = _aggregated(moments, geometry, dict(enumerate(checked)), agents, left_out)
    if not estimate.determined:
        raise NotEstimableError("weights: together they leave some direction without weight")
    return estimate


def _aggregated(
    moments: Sequence[Moments],
    geometry: Geometry,
    weights: Mapping[int, Array],
    agents: Sequence[int],
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    """Solve ``sum n_i T_i' W_i T_i theta = sum n_i T_i' W_i theta_hat_i``."""
    scaled = {i: _times(moments[i].n, weights[i]) for i in agents}
    # T_i' W T_i  ->  S W S,  T_i' W theta_hat  ->  S W theta_hat  in the dual.
    gains = {i: geometry.inverses[i] @ scaled[i] for i in agents}
    blocks = [gains[i] @ geometry.inverses[i] for i in agents]
    vectors = [matvec(gains[i], moments[i].fit.theta) for i in agents]

    def meats() -> list[Array]:
        return [gains[i] @ moments[i].fit.covariance @ transpose(gains[i]) for i in agents]

    information = geometry.scatter_matrices(blocks, agents)
    return _solved(geometry, agents, information, vectors, meats, left_out)


def global_imputation(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    alphas: ArrayLike | str | None = None,
) -> Estimate:
    """Impute every agent's features by their conditional mean, pool all data, weighted OLS.

    ``(sum a_i T_i' xx T_i)^-1 sum a_i T_i' xy``. It needs all data in one place.

    Parameters
    ----------
    alphas : array, shape (m,) or (..., m), or "residual", optional
        Weights above 0; equal by default (Imputation). ``1 / problem.unexplained`` is optimal
        (RW-Imputation); ``"residual"`` uses ``1 / R_i``, and then the estimate is COLLAB's.
    """
    geometry = Geometry.of(covariance, views)
    if isinstance(alphas, str):
        choice("alphas", alphas, ("residual",))
        return collab(moments, views, geometry)
    agents, left_out = _participants(moments, geometry, by_residual=False, any_size=True)
    given = np.full(geometry.agents, 1 / geometry.agents) if alphas is None else alphas
    rates = finite_array("alphas", given)
    if rates.ndim == 0 or rates.shape[-1] != geometry.agents:
        raise ValueError(f"alphas must have {geometry.agents} entries, got shape {rates.shape}")
    if (rates <= 0).any():
        raise ValueError(f"alphas must be above 0, got {rates.min():g}")
    return _imputed(moments, geometry, {i: rates[..., i] for i in agents}, left_out)


def local_imputation(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: Sequence[ArrayLike] | None = None,
) -> Estimate:
    """Impute at home, fit at home on all features, then aggregate (local imputation).

    An agent's fit is ``T_i' (T_i T_i')^-1 theta_hat_i``, a linear transform of its local model, so
    nothing is gained over COLLAB; with the default weights the estimate is COLLAB's.

    Parameters
    ----------
    weights : list of arrays, shape (..., d, d), optional
        ``T_i' (xx/n)/R_i T_i`` by default.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = _participants(moments, geometry, by_residual=weights is None)
    d = geometry.dimension
    checked = None if weights is None else _square_weights(weights, [d] * geometry.agents)
    total: Array = np.zeros((d, d))
    right: Array = np.zeros(d)
    gains: dict[int, Array] = {}
    for i in agents:
        transform = geometry.transform(i)
        lift = transpose(transform) @ inverse(transform @ transpose(transform))
        weight: Array = (
            transpose(transform) @ _times(1 / moments[i].fit.residual, moments[i].xx) @ transform
            if checked is None
            else _times(moments[i].n, checked[i])
        )
        # minimise |lift T_i theta - lift theta_hat_i|^2 in the norm of the weight
        projected = transpose(lift @ transform) @ weight
        total = total + projected @ (lift @ transform)
        gains[i] = projected @ lift
        right = right + matvec(gains[i], moments[i].fit.theta)
    theta, _ = solve(total, right)

    def phi_covariance() -> Array:
        bread = geometry.covariance @ pseudo_inverse(total)[0]
        total_covariance: Array = np.zeros(())
        for i in agents:
            gain = bread @ gains[i]
            total_covariance = total_covariance + gain @ moments[i].fit.covariance @ transpose(gain)
        return total_covariance

    return Estimate(matvec(geometry.covariance, theta), geometry, left_out, phi_covariance)


def pooled_moments(
    moments: Sequence[Moments], views: ViewsLike, covariance: CovarianceLike
) -> Estimate:
    """Average ``x_j y`` over all samples of all agents that see j, then solve for theta.

    A baseline from later work (Ayme and Khellaf 2026): no correction for what each agent leaves
    unexplained, but no residual is needed either, so agents with few samples take part.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = _participants(moments, geometry, by_residual=False, any_size=True)
    totals = geometry.scatter_vectors([moments[i].xy for i in agents], agents)
    counts = geometry.scatter_vectors(
        [np.repeat(moments[i].n[..., None], moments[i].features, axis=-1) for i in agents], agents
    )
    return Estimate(totals / counts, geometry, left_out)


def naive_collab(moments: Sequence[AgentData], views: ViewsLike, dimension: int) -> NaiveEstimate:
    """Average the local models, 0 for what an agent does not see (Naive-Collab).

    ``sum_i P_i' theta_hat_i / m``: divided by the number of agents, as in the paper, not by how
    many see a feature. Biased, and no amount of data helps.
    """
    models, left_out = _stacked_models(moments, as_views(views, dimension), dimension)
    count = len(moments) - len(left_out)
    weights = np.full(models.shape[:-2] + models.shape[-1:], 1 / count)
    weights[..., [entry.agent for entry in left_out]] = 0.0
    return NaiveEstimate(models.sum(axis=-1) / count, as_views(views, dimension), weights, left_out)


def optimized_naive_collab(
    moments: Sequence[AgentData], views: ViewsLike, fresh: Moments
) -> NaiveEstimate:
    """Average the local models with the weights that fit fresh full-feature samples best.

    Least squares in the m weights, where the paper descends the same quadratic by gradient. With
    m >= d agents the models span all of theta-space, and this is plain least squares on ``fresh``.

    Parameters
    ----------
    fresh : Moments
        Labelled samples with all features, which no other method is given.
    """
    d = fresh.features
    models, left_out = _stacked_models(moments, as_views(views, d), d)
    weights, _ = solve(transpose(models) @ fresh.xx @ models, matvec(transpose(models), fresh.xy))
    return NaiveEstimate(matvec(models, weights), as_views(views, d), weights, left_out)


def _stacked_models(
    moments: Sequence[AgentData], views: Views, d: int
) -> tuple[Array, tuple[LeftOut, ...]]:
    """Local models as columns ``P_i' theta_hat_i``, shape (..., d, m); 0 for agents left out."""
    _check_moments(moments, views)
    left_out = _interpolating(moments, views)
    skipped = {entry.agent for entry in left_out}
    if len(skipped) == len(moments):
        raise NotEstimableError(_nothing_left(left_out))
    leading = np.broadcast_shapes(*(moment.fit.rss.shape for moment in moments))
    models = np.zeros((*leading, d, len(moments)))
    for i, view in enumerate(views):
        if i not in skipped:
            models[..., view, i] = moments[i].fit.theta
    return models, left_out


def _imputed(
    data: Sequence[AgentData],
    geometry: Geometry,
    rates: dict[int, Array],
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    """Solve ``sum a_i T_i' xx T_i theta = sum a_i T_i' xy``, the agents being the keys of rates.

    Global imputation with ``a_i``, and COLLAB with empirical weights when ``a_i = 1/R_i``.
    """
    agents = list(rates)
    moments = {i: _with_xx(data[i]) for i in agents}
    lifted = {i: moments[i].lifted(geometry.inverses[i]) for i in agents}
    blocks = [_times(rates[i], lifted[i][0]) for i in agents]
    vectors = [rates[i][..., None] * lifted[i][1] for i in agents]

    def meats() -> list[Array]:
        return [
            _times(rates[i] * moments[i].fit.variance, block)
            for i, block in zip(agents, blocks, strict=True)
        ]

    information = geometry.scatter_matrices(blocks, agents)
    return _solved(geometry, agents, information, vectors, meats, left_out)


def _with_xx(data: AgentData) -> Moments:
    if not isinstance(data, Moments):
        raise ValueError("empirical weights and imputation need every agent's xx: give Moments")
    return data


def _solved(
    geometry: Geometry,
    agents: Sequence[int],
    information: Array,
    vectors: Sequence[Array],
    meats: Callable[[], Sequence[Array]],
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    """Solve ``K phi = sum P_i' b_i``; the covariance of phi is ``K^-1 (sum of meats) K^-1``.

    The meats, one (..., d_i, d_i) an agent, are made when the covariance is asked for.
    """
    right = geometry.scatter_vectors(vectors, agents)
    phi, rank = solve(information, right)
    short = rank < geometry.dimension
    if short.any():
        # What no sample varied in gets coefficient 0, and that is said of theta, not of phi: a
        # rare level that nobody had would otherwise get a large one (found on census records).
        phi = np.where(short[..., None], _least_theta(geometry, information, right), phi)

    def phi_covariance() -> Array:
        spread = geometry.scatter_matrices(meats(), agents)
        return congruence(pseudo_inverse(information)[0], spread)

    determined = bool((rank == geometry.dimension).all())
    return Estimate(phi, geometry, left_out, phi_covariance, determined)


def _least_theta(geometry: Geometry, information: Array, right: Array) -> Array:
    """Solve ``K phi = right`` with the least theta, in the features' own scale, (..., d).

    In theta the equations are ``Sigma K Sigma theta = Sigma right``.
    """
    sigma = geometry.covariance
    scale = np.sqrt(np.diagonal(sigma, axis1=-2, axis2=-1))
    primal = congruence(sigma, information) / (scale[..., :, None] * scale[..., None, :])
    inverted = np.linalg.pinv(primal, rcond=UNINFORMED, hermitian=True)
    theta = matvec(inverted, matvec(sigma, right) / scale) / scale
    return matvec(sigma, theta)


def _participants(
    moments: Sequence[AgentData], geometry: Geometry, *, by_residual: bool, any_size: bool = False
) -> tuple[list[int], tuple[LeftOut, ...]]:
    """Agents that can take part, and the others with the reason.

    Parameters
    ----------
    by_residual : bool
        Whether weights divide by the residual, which then must not be 0.
    any_size : bool
        Whether agents with ``n <= d_i`` are welcome, because only their sums are read.
    """
    views = geometry.views
    _check_moments(moments, views)
    left_out = () if any_size else _interpolating(moments, views)
    if by_residual:
        known = {entry.agent for entry in left_out}
        left_out += tuple(
            LeftOut(i, "its labels are fitted without residual, so its weight would be infinite")
            for i, moment in enumerate(moments)
            if i not in known and views[i].size and (moment.fit.rss <= 0).any()
        )
    skipped = {entry.agent for entry in left_out}
    # An agent that sees nothing is not left out: it takes part by adding nothing.
    agents = [i for i, view in enumerate(views) if view.size and i not in skipped]
    if not agents:
        raise NotEstimableError(_nothing_left(left_out))
    why = "".join(f"; agent {entry.agent} is left out: {entry.reason}" for entry in left_out[:3])
    require_seen(
        [views[i] for i in agents],
        geometry.dimension,
        why=why and f" that takes part ({why[2:]})",
        error=NotEstimableError,
    )
    return agents, left_out


def _interpolating(moments: Sequence[AgentData], views: Views) -> tuple[LeftOut, ...]:
    """Agents whose least squares has no degree of freedom left."""
    return tuple(
        LeftOut(
            i,
            f"n = {moment.n.min():g} is not above its {view.size} features"
            + (" and the mean" if moment.is_centred else "")
            + ", so least squares interpolates",
        )
        for i, (moment, view) in enumerate(zip(moments, views, strict=True))
        if view.size and (moment.degrees_of_freedom <= view.size).any()
    )


def _nothing_left(left_out: tuple[LeftOut, ...]) -> str:
    if not left_out:
        return "moments: no agent sees any feature"
    return f"moments: no agent is left; agent {left_out[0].agent}: {left_out[0].reason}"


def _check_moments(moments: Sequence[AgentData], views: Views) -> None:
    if len(moments) != len(views):
        raise ValueError(f"moments must hold one entry per view ({len(views)}), got {len(moments)}")
    for i, (moment, view) in enumerate(zip(moments, views, strict=True)):
        if moment.features != view.size:
            raise ValueError(
                f"moments[{i}] must be of the {view.size} features that views[{i}] names,"
                f" got {moment.features}"
            )


def _square_weights(
    weights: Sequence[ArrayLike], sizes: Sequence[int], name: str = "weights"
) -> list[Array]:
    if len(weights) != len(sizes):
        raise ValueError(
            f"{name} must hold one matrix per agent ({len(sizes)}), got {len(weights)}"
        )
    checked = [finite_array(f"{name}[{i}]", weight) for i, weight in enumerate(weights)]
    for i, (weight, size) in enumerate(zip(checked, sizes, strict=True)):
        if weight.shape[-2:] != (size, size):
            raise ValueError(f"{name}[{i}] must be ({size}, {size}), got shape {weight.shape}")
        largest = np.abs(weight).max(initial=0)
        if np.abs(weight - transpose(weight)).max(initial=0) > 1e-8 * largest:
            raise ValueError(f"{name}[{i}] must be symmetric")
        if size and np.linalg.eigvalsh(weight).min() < -1e-8 * largest:
            raise ValueError(f"{name}[{i}] must not be negative in any direction")
    return checked


def _times(scalar: Array, matrix: Array) -> Array:
    """Scale matrices (..., k, k) by scalars (...)."""
    return scalar[..., None, None] * matrix
