"""A fresh dashboard and a real Chromium for the browser tests."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[2]
# The first page of a fresh server imports everything, on machines that are shared.
expect.set_options(timeout=30_000)
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def system_chromium() -> str:
    """Path of the Chromium that is installed; `.ci/chromium` installs one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise RuntimeError("no Chromium on the PATH: run `bash .ci/chromium`")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_server() -> tuple[subprocess.Popen, str]:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    process = subprocess.Popen(
        [*command, f"--server.port={port}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    address = f"http://localhost:{port}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
        except OSError:
            time.sleep(0.2)
        else:
            return process, address
    process.kill()
    raise RuntimeError("the dashboard did not start within a minute")


@contextmanager
def visitor():
    """A person at a desk in front of a fresh dashboard: the page, and the dashboard's address."""
    process, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
            yield browser.new_context(viewport=DESK).new_page(), address
            browser.close()
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="session")
def server():
    """One dashboard for the whole session."""
    process, address = start_server()
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture
def fresh_server():
    """A dashboard that nobody has visited yet."""
    process, address = start_server()
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def desk(browser):
    """One context for all tests, so that the browser loads Streamlit's scripts only once."""
    with browser.new_context(viewport=DESK) as context:
        yield context


@pytest.fixture
def page(desk):
    tab = desk.new_page()
    yield tab
    tab.close()
