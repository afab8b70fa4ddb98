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
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

_MANY_FILES = 10


SAMPLED = {
    "tests/integration/test_articles.py": 12,
    "tests/integration/test_backup.py": 6,
    "tests/integration/test_chroma_server.py": 9,
    "tests/integration/test_connections.py": 5,
    "tests/integration/test_corrections.py": 4,
    "tests/integration/test_field.py": 24,
    "tests/integration/test_forget.py": 14,
    "tests/integration/test_gemini_daemon.py": 4,
    "tests/integration/test_index.py": 14,
    "tests/integration/test_index_gemini.py": 5,
    "tests/integration/test_init_vaults.py": 20,
    "tests/integration/test_people_in_the_vault.py": 7,
    "tests/integration/test_retract.py": 4,
    "tests/integration/test_unmerge.py": 3,
}
"""Files whose tests take minutes together → how many of them one run takes, others with every AFTERWORD_TEST_SAMPLE."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "sampled(n): n of its cases, spread over all; AFTERWORD_TEST_ALL=1 (`make prove`) takes every one"
    )


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out a part of the tests that take long, where more than a file or two is run: the same in every process."""
    files = {item.nodeid.partition("::")[0] for item in items}
    if os.environ.get("AFTERWORD_TEST_ALL") or len(files) < _MANY_FILES:
        return
    turn = int(os.environ.get("AFTERWORD_TEST_SAMPLE", "0"))
    cases: dict[str, tuple[int, list[pytest.Item]]] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        marker = item.get_closest_marker("sampled")
        if marker or file in SAMPLED:
            key = item.nodeid.partition("[")[0] if marker else file
            cases.setdefault(key, (marker.args[0] if marker else SAMPLED[file], []))[1].append(item)
    left_out = set()
    for wanted, row in cases.values():
        count = len(row)
        kept = {(at * count // wanted + turn) % count for at in range(min(wanted, count))}
        left_out.update(each.nodeid for at, each in enumerate(sorted(row, key=lambda i: i.nodeid)) if at not in kept)
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
