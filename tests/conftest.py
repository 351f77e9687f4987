"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# The same examples on every machine and every run; no deadline, because machines are shared.
settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")
