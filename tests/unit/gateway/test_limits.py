from perdure.gateway.limits import NAMES_MAX, Buckets


class Watch:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def test_a_bucket_lets_a_minutes_worth_through_and_then_says_when_to_come_back() -> None:
    watch = Watch()
    buckets = Buckets(6, now=watch)
    assert [buckets.take("a") for _ in range(6)] == [0.0] * 6
    assert buckets.take("a") == 10.0
    watch.at = 10.0
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == 10.0


def test_buckets_are_by_name() -> None:
    buckets = Buckets(1, now=Watch())
    assert buckets.take("a") == 0.0
    assert buckets.take("b") == 0.0
    assert buckets.take("a") > 0


def test_looking_takes_nothing() -> None:
    buckets = Buckets(1, now=Watch())
    assert buckets.wait_s("a") == buckets.wait_s("a") == 0.0
    assert buckets.take("a") == 0.0
    assert buckets.wait_s("a") == 60.0


def test_zero_is_no_limit() -> None:
    buckets = Buckets(0, now=Watch())
    assert not any(buckets.take("a") for _ in range(1000))


def test_a_flood_of_names_does_not_grow_without_end() -> None:
    buckets = Buckets(1, now=Watch())
    for number in range(NAMES_MAX + 5):
        buckets.take(str(number))
    assert buckets.take("0") == 0.0, "the idlest was forgotten"
    assert buckets.take(str(NAMES_MAX + 4)) > 0
