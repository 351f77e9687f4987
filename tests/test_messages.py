"""Message files: a round trip, the same estimates, and what is refused."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.exchange.messages import Message, gather

from .worlds import random_problem, raw_moments


@pytest.fixture
def world():
    rng = np.random.default_rng(0)
    problem = random_problem(rng)
    return problem, raw_moments(problem, 50, rng)


def messages_of(problem, moments):
    return [
        Message.of(f"agent {i}", view, moment)
        for i, (view, moment) in enumerate(zip(problem.views, moments, strict=True))
    ]


def test_files_give_the_estimates_of_the_data(world, tmp_path):
    problem, moments = world
    paths = []
    for message in messages_of(problem, moments):
        paths.append(tmp_path / f"{message.agent}.json")
        message.save(paths[-1])
    back = [Message.load(path, problem.dimension) for path in paths]
    gathered, views = gather(back, problem.dimension)
    for method in (
        cc.estimators.collab,
        cc.estimators.collab_plus,
        cc.estimators.global_imputation,
    ):
        direct = method(moments, problem.views, problem.covariance)
        by_file = method(gathered, views, problem.covariance)
        assert_allclose(by_file.theta, direct.theta, rtol=1e-8)
        assert_allclose(by_file.local(1), direct.local(1), rtol=1e-8)


def test_round_trip_is_exact(world):
    problem, moments = world
    for message in messages_of(problem, moments):
        again = Message.from_json(message.to_json())
        assert again.agent == message.agent
        assert again.n == message.n
        assert again.residual == message.residual
        assert (again.theta == message.theta).all()
        assert (again.covariance == message.covariance).all()
        assert (again.view == message.view).all()


def test_an_agent_that_sees_nothing_can_write_too():
    moments = cc.Moments.from_arrays(np.empty((9, 0)), np.arange(9.0))
    again = Message.from_json(Message.of("blind", np.array([], dtype=int), moments).to_json(), 3)
    assert again.view.size == 0
    assert_allclose(again.to_moments().yy, moments.yy)


GOOD = {
    "format": "collab-message/1",
    "agent": "clinic",
    "features": [0, 2],
    "n": 40,
    "theta": [1.0, -0.5],
    "covariance": [[1.0, 0.2], [0.2, 2.0]],
    "residual": 0.7,
}


def test_the_good_one_is_good():
    assert Message.from_json(json.dumps(GOOD), 3).view.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other/2"}, "format must be"),
        ({"agent": ""}, "agent must be a name"),
        ({"agent": 3}, "agent must be a name"),
        ({"features": [0, 5]}, "whole numbers from 0 to 2, got 5"),
        ({"features": [0, 0]}, "must not repeat"),
        ({"features": [0, -1]}, "whole numbers"),
        ({"features": "all"}, "features must be numbers"),
        ({"features": [[0], [2]]}, "must have 1 axes"),
        ({"n": 0}, "n must be a whole number at least 1"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"n": None}, "n must be numbers"),
        ({"n": True}, "n must be numbers"),
        ({"theta": [1.0]}, "theta must have 2 entries"),
        ({"theta": [1.0, "x"]}, "theta must be an array of numbers"),
        ({"covariance": [[1.0]]}, r"covariance must be \(2, 2\)"),
        ({"covariance": [[1.0, 0.2], [0.3, 2.0]]}, "covariance must be symmetric"),
        ({"covariance": [[1.0, 5.0], [5.0, 1.0]]}, "positive semi-definite"),
        ({"covariance": [[1.0, 0.2], [0.2]]}, "covariance must be an array of numbers"),
        ({"residual": -1.0}, "residual must not be negative"),
        ({"residual": "0.7"}, "residual must be numbers"),
    ],
)
def test_malformed_messages_are_refused_in_a_sentence(change, said):
    with pytest.raises(ValueError, match=said):
        Message.from_json(json.dumps(GOOD | change), 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2]", "must be a JSON object"),
        ("{}", "format, agent, features"),
        (json.dumps(GOOD).replace("0.7", "NaN"), "NaN is not a finite number"),
        (json.dumps(GOOD).replace("0.7", "1e999"), "residual must be finite"),
        (json.dumps(GOOD).replace("-0.5", "-Infinity"), "-Infinity is not a finite number"),
    ],
)
def test_broken_text_is_refused_in_a_sentence(text, said):
    with pytest.raises(ValueError, match=said):
        Message.from_json(text, 3)


def test_files_that_are_no_messages(tmp_path):
    path = tmp_path / "image.json"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ValueError, match="not a text file"):
        Message.load(path)


def test_gathering(world):
    problem, moments = world
    messages = messages_of(problem, moments)
    with pytest.raises(ValueError, match="sent more than one"):
        gather([messages[0], messages[0]], problem.dimension)
    with pytest.raises(ValueError, match="at least one"):
        gather([], problem.dimension)
    with pytest.raises(ValueError, match="whole numbers from 0 to 0"):
        gather(messages, 1)
    stack = raw_moments(problem, 20, np.random.default_rng(0), trials=(2,))
    with pytest.raises(ValueError, match="not of a stack"):
        Message.of("a", problem.views[0], stack[0])
    with pytest.raises(ValueError, match="must not be centred"):
        Message.of("a", problem.views[0], moments[0].centred())
