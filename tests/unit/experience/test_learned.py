from __future__ import annotations

import pytest

from perdure.domain.experience.learned import interval, records
from perdure.domain.experience.run import RunStatus
from perdure.domain.experience.skill import SkillId

pytestmark = pytest.mark.requirement("I5-LEARN-1")

K = SkillId("k1")


def test_the_interval_is_wilson_s() -> None:
    # the examples are computed by hand from the formula of 1927
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(1, 10) == pytest.approx((0.01788, 0.40415), abs=1e-4)
    assert interval(5, 5) == pytest.approx((0.56551, 1.0), abs=1e-4)
    assert interval(0, 5) == pytest.approx((0.0, 0.43449), abs=1e-4)


def test_each_version_has_its_own_record() -> None:
    tally = (
        (K, 1, RunStatus.FAILED, 5, 0.5),
        (K, 1, RunStatus.DENIED, 9, 0.0),
        (K, 2, RunStatus.SUCCEEDED, 4, 2.0),
        (K, 2, RunStatus.FAILED, 1, 0.5),
    )
    new, old = records(tally, {K: "Pay"}, {K: [(1, "s2", 4), (1, "s1", 1), (2, "s3", 1)]})
    assert (new.version, new.runs, new.succeeded, new.rate, new.retire) == (2, 5, 4, 0.8, False)
    assert new.cost_per_success == pytest.approx(0.625)
    assert (old.version, old.runs, old.rate, old.retire) == (1, 5, 0.0, True)
    assert old.failing == (("s2", 4), ("s1", 1))
    assert "5 of 5 runs failed" in old.why
    assert "'s2'" in old.why
    assert old.cost_per_success is None


def test_a_few_failures_are_no_reason_to_retire() -> None:
    (record,) = records(((K, 1, RunStatus.FAILED, 4, 0.0),), {}, {})
    assert (record.retire, record.name) == (False, "k1")
