"""Views: which features each agent sees, as index arrays or as a mask.

A *view* is the array of feature indices that one agent observes. Everything that takes views takes
a list of them, one per agent, or an (m, d) boolean mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import Indices

Views: TypeAlias = tuple[Indices, ...]
ViewsLike: TypeAlias = Sequence[ArrayLike] | NDArray[np.bool_]


def as_views(views: ViewsLike, d: int, *, name: str = "views") -> Views:
    """Check views and return them as a tuple of index arrays.

    Parameters
    ----------
    views : list of index arrays, or (m, d) boolean mask
        An agent that sees nothing is legal: random missingness makes such agents.
    d : int
        Number of features.
    """
    if isinstance(views, np.ndarray) and views.dtype == bool:
        if views.ndim != 2 or views.shape[1] != d:
            raise ValueError(f"{name} as a mask must have shape (m, {d}), got {views.shape}")
        views = [np.flatnonzero(row) for row in views]
    numbers = isinstance(views, np.ndarray) and views.ndim == 2 and views.shape[1] == d > 1
    if numbers and set(np.unique(np.asarray(views))) <= {0, 1}:
        raise ValueError(f"{name} as a mask must hold True and False, got numbers 0 and 1")
    try:
        arrays = [np.asarray(view) for view in views]
    except TypeError:
        raise ValueError(
            f"{name} must be a list of index arrays or an (m, {d}) boolean mask, got {views!r:.60}"
        ) from None
    if not arrays:
        raise ValueError(f"{name} must hold at least one agent, got none")
    for i, array in enumerate(arrays):
        if array.ndim != 1 or array.dtype.kind not in "iuf" or array.dtype == bool:
            raise ValueError(f"{name}[{i}] must be a list of feature indices, got {array!r:.60}")
    # All agents are checked in one go: this runs on every redraw of a page.
    flat = np.concatenate(arrays)
    agent = np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
    wrong = ~((flat >= 0) & (flat < d) & (flat == np.floor(flat)))
    if wrong.any():
        i, value = agent[wrong][0], flat[wrong][0]
        raise ValueError(f"{name}[{i}] must hold whole numbers from 0 to {d - 1}, got {value:g}")
    counts = np.bincount(agent * d + flat.astype(np.intp), minlength=1)
    if counts.max() > 1:
        i, feature = divmod(int(counts.argmax()), d)
        raise ValueError(f"{name}[{i}] must not repeat an index, got {feature} twice")
    return tuple(array.astype(np.intp) for array in arrays)


def as_mask(views: ViewsLike, d: int) -> NDArray[np.bool_]:
    """Return views as a boolean mask, shape (m, d)."""
    checked = as_views(views, d)
    mask = np.zeros((len(checked), d), dtype=bool)
    agent = np.repeat(np.arange(len(checked)), [view.size for view in checked])
    mask[agent, np.concatenate(checked)] = True
    return mask


def unseen_features(views: ViewsLike, d: int) -> Indices:
    """Indices of the features that no agent sees.

    The full-feature model can be had if and only if there are none: the row space of ``T_i`` is
    spanned by the rows ``o_i`` of the covariance.
    """
    return np.flatnonzero(~as_mask(views, d).any(axis=0))


def require_seen(
    views: ViewsLike, d: int, *, why: str = "", error: type[ValueError] = ValueError
) -> None:
    """Refuse views that leave a feature unseen, by name."""
    unseen = unseen_features(views, d)
    if unseen.size:
        many = unseen.size > 1
        listed = ", ".join(str(j) for j in unseen[:10]) + (", ..." if unseen.size > 10 else "")
        raise error(
            f"views: feature{'s' if many else ''} {listed} {'are' if many else 'is'} seen by no"
            f" agent{why}, so the full-feature model cannot be identified"
        )
