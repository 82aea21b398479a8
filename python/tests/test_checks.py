"""Every estimator against scikit-learn's own checks."""

import os

import pytest
from mustlink import testing
from sklearn.utils.estimator_checks import parametrize_with_checks

# As anybody writes them, and in the long run with other numbers of clusters too.
NUMBERS = (None, 2, 3, 5) if os.environ.get("MUSTLINK_SLOW_TESTS") else (None,)


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
