"""The exchange, message by message, against the estimators that do it in one step."""

import numpy as np
import pytest

import collab_core as cc
from collab_core.exchange.messages import Message
from collab_core.exchange.server import messages_of, server_sums

SMALL = cc.Scenario(d=7, m=5, rich=2, rich_size=5, size=3, spikes=2, seed=3)


def exchanged(scenario, n=60, seed=1):
    problem = scenario.problem()
    moments = cc.simulate.draw_moments(problem, n, seed)
    return problem, moments, messages_of(problem, moments)


@pytest.mark.parametrize("allocation", ["equal", "rising", "narrow"])
def test_the_last_sum_is_collab(allocation):
    scenario = cc.Scenario(d=7, m=5, rich=2, rich_size=5, size=3, seed=3, allocation=allocation)
    problem, moments, messages = exchanged(scenario, n=200)
    sums = server_sums(messages, problem.covariance)
    estimate = cc.estimators.collab(moments, problem.views, problem.covariance)
    np.testing.assert_allclose(sums.theta(), estimate.theta, rtol=1e-9)
    for i in range(problem.agents):
        np.testing.assert_allclose(sums.returned(i), estimate.local(i), rtol=1e-9)


def test_every_step_is_collab_of_those_heard_so_far():
    problem, moments, messages = exchanged(SMALL)
    sums = server_sums(messages, problem.covariance)
    assert sums.theta(0) is None
    assert not sums.information[0].any()
    for heard in range(1, problem.agents + 1):
        seen = np.zeros(problem.dimension, dtype=bool)
        for view in problem.views[:heard]:
            seen[view] = True
        assert (sums.determined(heard) == seen).all()
        # What each message adds is p.s.d., so information only grows.
        added = sums.information[heard] - sums.information[heard - 1]
        assert np.linalg.eigvalsh(added)[0] > -1e-9
        known = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        part = cc.estimators.collab(
            moments[:heard],
            [place[view] for view in problem.views[:heard]],
            problem.covariance[np.ix_(known, known)],
        )
        np.testing.assert_allclose(sums.phi(heard)[known], part.phi, rtol=1e-8)


def test_messages_survive_the_wire():
    problem, _, messages = exchanged(SMALL)
    read = [Message.from_json(message.to_json(), problem.dimension) for message in messages]
    direct, through = (server_sums(batch, problem.covariance) for batch in (messages, read))
    assert (direct.information == through.information).all()
    assert (direct.rhs == through.rhs).all()


def test_an_agent_without_residual_is_not_counted():
    problem, _, messages = exchanged(SMALL, n=4)
    sums = server_sums(messages, problem.covariance)
    assert sums.used == tuple(view.size < 4 for view in problem.views)
    assert sums.returned(0) is None or sums.determined(len(sums.used))[problem.views[0]].all()


def test_drawn_moments_have_the_law_of_the_world():
    problem, trials, n = SMALL.problem(), 400, 50
    view, truth = problem.views[0], problem.local_theta(0)
    draws = [cc.simulate.draw_moments(problem, n, seed)[0] for seed in range(trials)]
    covariances = np.array([data.xx / n for data in draws])
    block = problem.geometry.block(0)
    # Entry (j, k) of a Wishart matrix over n has variance (S_jk^2 + S_jj S_kk) / n.
    spread = np.sqrt((block**2 + np.outer(np.diag(block), np.diag(block))) / n / trials)
    assert (np.abs(covariances.mean(axis=0) - block) < 4.5 * spread).all()
    models = np.array([data.fit.theta for data in draws])
    error = models.std(axis=0, ddof=1) / np.sqrt(trials)
    assert (np.abs(models.mean(axis=0) - truth) < 4.5 * error).all()
    assert view.size == truth.size
    again = cc.simulate.draw_moments(problem, n, 7)[0]
    assert (again.xx == draws[7].xx).all()


def test_tables_of_the_exchange_hold_what_was_sent_added_and_returned():
    problem, _, messages = exchanged(SMALL)
    sums = server_sums(messages, problem.covariance)
    message, frame = messages[2], messages[2].frame
    assert frame["feature"].tolist() == [f"x{j + 1}" for j in message.view]
    np.testing.assert_array_equal(frame["theta"], message.theta)
    np.testing.assert_array_equal(frame[frame["feature"].tolist()], message.covariance)
    held = sums.frame(3)
    np.testing.assert_array_equal(held["rhs"], sums.rhs[3])
    np.testing.assert_array_equal(held.drop(columns="rhs"), sums.information[3])
    models = cc.exchange.sent_and_returned(problem, messages, sums, 2)
    np.testing.assert_array_equal(models["sent"], message.theta)
    np.testing.assert_array_equal(models["returned"], sums.returned(2))
    np.testing.assert_array_equal(models["best"], problem.local_theta(2))
    assert cc.exchange.own_error(problem, 2, models["best"]) == 0
    assert cc.exchange.own_error(problem, 2, models["sent"]) > 0


def test_the_numbers_of_a_message_are_those_counted_in_table_1():
    problem, _, messages = exchanged(SMALL)
    counted = cc.bounds.communication(problem, 60).loc["collab", "up"]
    assert [message.numbers for message in messages] == counted.tolist()


def test_nothing_comes_back_from_messages_that_do_not_count():
    problem, _, messages = exchanged(SMALL, n=2)
    sums = server_sums(messages, problem.covariance)
    assert sums.skipped == list(range(problem.agents))
    with pytest.raises(ValueError, match="too few count"):
        cc.exchange.sent_and_returned(problem, messages, sums, 0)
