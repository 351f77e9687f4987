"""What makes a thousand runs of pages quick."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from pages.shared import run

# AppTest reads the metadata of every installed package on each run, to find components: most of a
# run's time, and always the same answer.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True)
def no_work_is_left_behind(monkeypatch):
    """Cancel what a test's pages have started: nobody looks at it any more."""
    started = []

    class Job(run.Job):
        def __init__(self, *args):
            super().__init__(*args)
            started.append(self.cancel)

    monkeypatch.setattr(run, "Job", Job)
    yield
    for cancel in started:
        cancel.set()
