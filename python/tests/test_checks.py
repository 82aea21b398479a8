"""Every estimator against scikit-learn's own checks."""

import os
import re
from pathlib import Path

import pytest
from mustlink import testing
from sklearn.utils.estimator_checks import parametrize_with_checks

# As anybody writes them, and with other numbers of clusters too: some only in the long run.
NUMBERS = (None, 2, 3, 5) if os.environ.get("MUSTLINK_SLOW_TESTS") else (None, 3)
PAGE = Path(__file__).parents[2] / "book" / "developers" / "src" / "reliability.md"


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [estimator for number in NUMBERS for estimator in testing.estimators(number)],
    expected_failed_checks=testing.expected_failed_checks,
)
def test_check(estimator, check):
    check(estimator)


def test_expected_failures_are_of_estimators():
    names = {type(e).__name__ for e in testing.estimators()}
    assert set(testing.EXPECTED_FAILED_CHECKS) <= names
    for checks in testing.EXPECTED_FAILED_CHECKS.values():
        assert all(len(reason.split()) > 3 for reason in checks.values())


def test_the_manual_lists_the_expected_failures():
    if not PAGE.is_file():
        pytest.skip("the manual is not here")
    text = PAGE.read_text(encoding="utf-8").partition("## Checks of scikit-learn")[2]
    listed = {}
    for names, checks in re.findall(r"^\| (`[^|]*) \| (`[^|]*) \| ", text, re.M):
        for name in re.findall(r"`(\w+)`", names):
            listed.setdefault(name, set()).update(re.findall(r"`(\w+)`", checks))
    assert listed == {name: set(checks) for name, checks in testing.EXPECTED_FAILED_CHECKS.items()}
    # The manual also names estimators that are not tried with their defaults.
    assert all(f"`{name}`" in text for name in [*testing._SMALL, *testing.NEED_SETUP])
