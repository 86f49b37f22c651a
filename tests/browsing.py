"""A browser for tests that look at a page: Chromium, driven by selenium.

Where it is missing the tests are skipped, and say so; where RUNGS_BROWSER is set, they fail.
"""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


def needed(why: str) -> Any:
    """Skip, saying why; fail where a browser was asked for."""
    if os.environ.get("RUNGS_BROWSER"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium that reaches this machine alone.

    It tells what it asked for and complained of.
    """
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        needed("selenium is not installed: make test-browser installs it")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        needed("there is no Chromium with its driver: apt-get install chromium chromium-driver")
    options = Options()
    options.binary_location = str(chromium)
    # A proxy that is not there: whatever the page fetched from elsewhere would fail, and be logged.
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--proxy-server=127.0.0.1:9",
        "--window-size=1200,1000",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(str(driver)))
    try:
        yield opened
    finally:
        opened.quit()
