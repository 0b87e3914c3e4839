"""Shards: disjoint and complete, with any points and any shard count."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

import pytest

from elanite.campaign.shards import parse, shard
from elanite.errors import UsageError


@dataclass(frozen=True)
class Named:
    id: str


def points(draw: random.Random, many: int) -> list[Named]:
    return [Named(hashlib.sha256(draw.randbytes(8)).hexdigest()[:20]) for _ in range(many)]


@pytest.mark.parametrize("seed", range(30))
def test_shards_are_disjoint_complete_and_do_not_depend_on_other_points(seed: int) -> None:
    draw = random.Random(seed)
    many = draw.choice([1, 2, 3, 7, 64, 300])
    all_points = points(draw, draw.choice([0, 1, 10, 300]))
    shards = [shard(f"{number}/{many}", all_points) for number in range(1, many + 1)]
    together = [point for one in shards for point in one]
    assert len(together) == len(all_points)
    assert set(together) == set(all_points)
    for one in shards:
        kept = set(one)
        assert one == [point for point in all_points if point in kept]  # in their order
    # Another shard may have finished some points already, in a shared store.
    some = draw.sample(all_points, len(all_points) // 2)
    draw.shuffle(some)
    for number, one in enumerate(shards, 1):
        assert set(shard(f"{number}/{many}", some)) == set(one) & set(some)


def test_shards_are_of_about_the_same_size() -> None:
    drawn = points(random.Random(1), 10_000)
    sizes = [len(shard(f"{number}/64", drawn)) for number in range(1, 65)]
    assert sum(sizes) == 10_000
    assert min(sizes) > 110
    assert max(sizes) < 205


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write the third of 64 shards as 3/64"),
        ("3", "write the third of 64 shards as 3/64"),
        ("3/", "3/64"),
        ("a/b", "3/64"),
        ("-1/4", "3/64"),
        ("1.5/4", "3/64"),
        ("1/2/3", "3/64"),
        ("٣/٤", "3/64"),
        ("9999999999/9999999999", "3/64"),
        ("0/4", "counted from 1"),
        ("5/4", "the last one is 4/4"),
        ("0/0", "1 to 1,000,000"),
        ("1/9999999", "1 to 1,000,000"),
    ],
)
def test_what_is_no_shard_is_refused_with_a_remedy(text: str, said: str) -> None:
    with pytest.raises(UsageError, match="--shard") as error:
        shard(text, [])
    assert said in str(error.value)
    assert repr(text)[1:-1] in str(error.value)


def test_spaces_are_forgiven() -> None:
    assert parse(" 3/64\n") == (3, 64)
