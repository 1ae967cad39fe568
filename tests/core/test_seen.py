"""The table of seen pages does what a set does."""

import random

from sitemap_actor.core.seen import Seen


def test_it_tells_what_was_there_once_for_each_time_too_many() -> None:
    seen = Seen()
    assert seen.add([1, 2, 1, 3, 1]) == [1, 1]
    assert seen.add([3, 4]) == [3]
    assert len(seen) == 4


def test_digests_that_want_the_same_place_are_told_apart() -> None:
    seen = Seen()
    clashing = [number << 40 | 7 for number in range(1, 200)]
    assert seen.add(clashing) == []
    assert all(digest in seen for digest in clashing)
    assert 200 << 40 | 7 not in seen
    assert seen.add(clashing) == clashing


def test_it_agrees_with_a_set_whether_it_has_to_grow_or_not() -> None:
    chance = random.Random(7)
    for expected in (0, 60_000):
        seen, reference = Seen(expected), set[int]()
        for _ in range(60):
            digests = [hash((chance.randrange(40_000),)) for _ in range(chance.randrange(1_500))]
            known = []
            for digest in digests:
                if digest in reference:
                    known.append(digest)
                reference.add(digest)
            assert sorted(seen.add(digests)) == sorted(known)
        assert len(seen) == len(reference)
        assert all(digest in seen for digest in reference)
