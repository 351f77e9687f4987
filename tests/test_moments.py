from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import collab_core as cc


def data(n=40, k=3, trials=(), seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((*trials, n, k)) + 2.0
    return x, x @ np.arange(1.0, k + 1) + rng.standard_normal((*trials, n)) + 5.0


def same(a, b, rtol=1e-10):
    for name in ("n", "xx", "xy", "yy", "x_sum", "y_sum"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol)


@given(st.integers(0, 60), st.integers(0, 60))
def test_chunks_and_sums_are_the_whole(first, second):
    x, y = data()
    cuts = [0, *sorted((min(first, 40), min(second, 40))), 40]
    chunks = [(x[a:b], y[a:b]) for a, b in pairwise(cuts)]
    whole = cc.Moments.from_arrays(x, y)
    same(cc.Moments.from_chunks(chunks), whole)


def test_leading_axes_are_trials():
    x, y = data(trials=(2, 3))
    stacked = cc.Moments.from_arrays(x, y)
    one = cc.Moments.from_arrays(x[1, 2], y[1, 2])
    assert_allclose(stacked.xx[1, 2], one.xx)
    assert_allclose(stacked.fit.theta[1, 2], one.fit.theta)
    assert_allclose(stacked.centred().xy[1, 2], one.centred().xy, rtol=1e-9)


def test_centring_is_subtracting_the_samples_mean():
    x, y = data()
    centred = cc.Moments.from_arrays(x, y).centred()
    direct = cc.Moments.from_arrays(x - x.mean(axis=0), y - y.mean())
    assert_allclose(centred.xx, direct.xx, rtol=1e-9)
    assert_allclose(centred.xy, direct.xy, rtol=1e-9)
    assert_allclose(centred.yy, direct.yy, rtol=1e-9)
    assert centred.degrees_of_freedom == 39
    # Slopes with an intercept, by the textbook.
    slopes = np.linalg.lstsq(np.column_stack([np.ones(40), x]), y, rcond=None)[0][1:]
    assert_allclose(centred.fit.theta, slopes, rtol=1e-9)
    assert centred.centred() is centred


@pytest.mark.parametrize("chunks", [1, 4])
def test_centring_keeps_features_with_a_large_mean(chunks):
    """Time stamps: a mean of 1.7e9 and a spread of 60 are no constant."""
    rng = np.random.default_rng(0)
    stamp = 1.7e9 + np.arange(200.0)
    y = 0.01 * (stamp - 1.7e9) + 0.1 * rng.standard_normal(200)
    parts = np.array_split(np.arange(200), chunks)
    moments = cc.Moments.from_chunks([(stamp[part, None], y[part]) for part in parts])
    slope = np.polyfit(stamp - 1.7e9, y, 1)[0]
    assert_allclose(moments.centred().fit.theta, [slope], rtol=1e-6)
    assert_allclose(moments.select([0]).centred().fit.theta, [slope], rtol=1e-6)


def test_a_constant_column_becomes_exactly_zero():
    x, y = data()
    x[:, 1] = 0.1
    centred = cc.Moments.from_arrays(x, y).centred()
    assert (centred.xx[1] == 0).all()
    assert centred.xy[1] == 0
    fit = centred.fit
    assert fit.theta[1] == 0
    assert fit.rank == 2
    others = cc.Moments.from_arrays(x[:, [0, 2]], y).centred().fit
    assert_allclose(fit.theta[[0, 2]], others.theta, rtol=1e-9)
    assert_allclose(fit.variance, others.variance, rtol=1e-9)


def test_fit_is_least_squares():
    x, y = data()
    fit = cc.Moments.from_arrays(x, y).fit
    theta, rss, *_ = np.linalg.lstsq(x, y, rcond=None)
    assert_allclose(fit.theta, theta)
    assert_allclose(fit.residual, rss[0] / 40)
    assert_allclose(fit.variance, rss[0] / 37)
    assert_allclose(fit.covariance, rss[0] / 37 * np.linalg.inv(x.T @ x))


def test_rank_does_not_depend_on_units():
    x, y = data(n=200)
    x = np.column_stack([x, x[:, 0] + x[:, 1]])
    scale = np.array([1e-6, 1.0, 1e7, 1e3])
    plain, scaled = (cc.Moments.from_arrays(x * s, y).fit for s in (1.0, scale))
    assert plain.rank == scaled.rank == 3
    assert_allclose(scaled.theta * scale, plain.theta, rtol=1e-4)
    # The fitted values of a rank-deficient fit are unique, whatever pseudo-inverse is used.
    assert_allclose(x @ plain.theta, x @ np.linalg.pinv(x) @ y, rtol=1e-6)


def test_interpolation_has_residual_zero():
    x, y = data(n=3, k=3)
    assert cc.Moments.from_arrays(x, y).fit.rss == 0
    x, y = data(n=2, k=3)
    fit = cc.Moments.from_arrays(x, y).fit
    assert fit.rss == 0
    assert_allclose(x @ fit.theta, y)


def test_squared_error_and_selection():
    x, y = data()
    moments = cc.Moments.from_arrays(x, y)
    theta = np.array([0.5, 1.0, -1.0])
    assert_allclose(moments.squared_error(theta), ((y - x @ theta) ** 2).sum())
    same(moments.select([2, 0]), cc.Moments.from_arrays(x[:, [2, 0]], y))


def test_no_features_and_no_samples():
    nothing = cc.Moments.from_arrays(np.empty((7, 0)), np.ones(7))
    assert nothing.fit.theta.shape == (0,)
    assert_allclose(nothing.fit.residual, 1.0)
    empty = cc.Moments.from_arrays(np.empty((0, 2)), np.empty(0))
    x, y = data(k=2)
    same(empty + cc.Moments.from_arrays(x, y), cc.Moments.from_arrays(x, y))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.Moments(5, np.eye(2), [1, 2, 3], 1), "xx must have shape"),
        (lambda: cc.Moments(5, np.eye(2), [1, 2], [1, 2]), "yy must have shape"),
        (lambda: cc.Moments(5, [[1, 2], [3, 4]], [1, 2], 1), "xx must be symmetric"),
        (lambda: cc.Moments(-1, np.eye(2), [1, 2], 1), "n must not be negative"),
        (lambda: cc.Moments(5, np.eye(2), [1, 2], -1), "yy must not be negative"),
        (lambda: cc.Moments(5, np.eye(2), [1, np.nan], 1), "xy must be finite"),
        (lambda: cc.Moments([5, 6], np.eye(2), [1, 2], 1), "n must be one number"),
        (lambda: cc.Moments(5, np.eye(2), [1, 2], 1, x_sum=[0, 0]), "given together"),
        (lambda: cc.Moments(5, np.eye(2), [1, 2], 1).centred(), "centring needs x_sum"),
        (lambda: cc.Moments.from_arrays([[1, 2]], [1, 2]), "X must have shape"),
        (lambda: cc.Moments.from_arrays([[1, "a"]], [1]), "X must be an array of numbers"),
        (lambda: cc.Moments.from_chunks([]), "chunks must hold"),
        (lambda: cc.Moments(5, [[1, 2], [2, 1]], [1, 2], 5).fit, "positive semi-definite"),
        (lambda: cc.Moments(5, np.eye(2), [1, 2], 1).fit, "positive semi-definite"),
        (
            lambda: cc.Moments(1, np.eye(1), [1], 1) + cc.Moments(1, np.eye(2), [1, 1], 1),
            "cannot be added",
        ),
        (
            lambda: cc.Moments.from_arrays(*data()).centred() + cc.Moments.from_arrays(*data()),
            "add first, then centre",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_products_that_cancel_are_symmetric_enough():
    """Found on census records: a pair of columns whose products sum to nothing but rounding."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 12)) * 10.0 ** rng.integers(-4, 5, 12)
    x[:, 3] = 0.0
    x[::2, 4], x[1::2, 5] = 0.0, 0.0
    moments = cc.Moments.from_arrays(x, rng.standard_normal(200))
    assert moments.centred().xx.shape == (12, 12)
    with pytest.raises(ValueError, match="symmetric"):
        cc.Moments(5, [[1.0, 0.5], [0.1, 1.0]], [0.0, 0.0], 1.0)
