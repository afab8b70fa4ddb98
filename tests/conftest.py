"""What all tests share: Hypothesis profiles, and the folder of their own modules on the path."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deterministic", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "sampled(n): n of its cases, spread over all of them; AFTERWORD_TEST_ALL=1 (`make prove`) takes every one",
    )


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of tests of which a sample will do; the same ones in every process of a run."""
    if os.environ.get("AFTERWORD_TEST_ALL"):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set()
    for row in cases.values():
        marker = row[0].get_closest_marker("sampled")
        assert marker is not None
        wanted, count = marker.args[0], len(row)
        kept = {at * count // wanted for at in range(wanted)} if wanted < count else set(range(count))
        left_out.update(item.nodeid for at, item in enumerate(sorted(row, key=lambda i: i.nodeid)) if at not in kept)
    gone = [item for item in items if item.nodeid in left_out]
    items[:] = [item for item in items if item.nodeid not in left_out]
    if gone:
        config.hook.pytest_deselected(items=gone)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_unconfigure() -> None:
    if "homes" in sys.modules:
        sys.modules["homes"].WARM.close()
