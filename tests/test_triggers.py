"""htsim's connections that wait for triggers, as traces in GOAL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.formats import htsim_matrix
from elanite.inputs import network_trace

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Elanite

MATRIX = """\
Nodes 4
Connections 5
Triggers 3
0->1 id 1 start 2500000 size 1000 send_done_trigger 1
0->2 id 2 msg trigger 1 size 2000 recv_done_trigger 3
1->2 id 3 start 0 size 3000 send_done_trigger 3
2->3 id 4 trigger 3 size 4000 send_done_trigger 2
3->0 id 5 trigger 2 size 5000
trigger id 1 oneshot
trigger id 2 oneshot
trigger id 3 barrier count 2
"""


def test_a_connection_waits_for_those_of_its_node(tmp_path: Path, elanite: Elanite) -> None:
    """Connection 4 waits for two that node 2 receives; 5 for one that its node receives, though
    htsim fires its trigger at the sender.
    """
    (tmp_path / "chain.cm").write_text(MATRIX)
    ended = elanite("import", "chain.cm")
    assert ended.out.splitlines() == ["chain.goal"], ended
    assert "next: elanite replay chain.goal --machine MACHINE" in ended.err
    assert (tmp_path / "chain.goal").read_text().splitlines() == [
        "// Flows of chain.cm (htsim connection matrix (.cm)).",
        "// - 3 flows begin at the receiver of another one: when its bytes have arrived",
        "num_ranks 4",
        "rank 0 {",
        "  t2500: calc 2500 cpu 1",
        "  s0: send 1000b to 1 tag 0",
        "  s1: send 2000b to 2 tag 1",
        "  r4: recv 5000b from 3 tag 4",
        "  s0 requires t2500",
        "  s1 requires s0",
        "}",
        "rank 1 {",
        "  r0: recv 1000b from 0 tag 0",
        "  s2: send 3000b to 2 tag 2",
        "}",
        "rank 2 {",
        "  r1: recv 2000b from 0 tag 1",
        "  r2: recv 3000b from 1 tag 2",
        "  s3: send 4000b to 3 tag 3",
        "  s3 requires r1",
        "  s3 requires r2",
        "}",
        "rank 3 {",
        "  r3: recv 4000b from 2 tag 3",
        "  s4: send 5000b to 0 tag 4",
        "  s4 requires r3",
        "}",
    ]
    ended = elanite("replay", "chain.goal", "--network", "ideal", "--format", "json")
    # The start, the call of the first send, and three messages of 1 us one after the other.
    assert '"simulated_us": 5.75' in ended.out, ended


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("oneshot", "multishot", r":9: trigger 1 is a multishot: .* write oneshot triggers"),
        ("id 3 barrier count 2", "id 3 barrier count 3", r":11: 2 connections fire trigger 3, a"),
        ("id 2 msg trigger 1", "id 2 trigger 2", r":5: the connection waits for that of line 7"),
        ("trigger id 2 oneshot\n", "", r":8: there is no trigger 2: write trigger id 2 oneshot"),
        ("trigger id 2", "trigger id 1", r":10: trigger 1 comes twice: line 9 has it"),
        ("trigger id 2 oneshot", "trigger 2", r":10: a trigger is for example: trigger id 1 one"),
        ("start 0", "start 0 trigger 1", r":6: the connection has a start and a trigger"),
        ("trigger id 1 oneshot", "failure switch_type TOR", r":9: a list of flows has no failures"),
    ],
)
def test_triggers_that_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=rf"file\.cm{message}"):
        htsim_matrix.read(MATRIX.replace(old, new, 1), tmp_path / "file.cm")


def test_a_trace_has_no_flow_of_a_node_to_itself(tmp_path: Path) -> None:
    found = htsim_matrix.read(MATRIX.replace("1->2", "2->2"), tmp_path / "file.cm")
    with pytest.raises(UsageError, match=r"^file\.cm:6: a flow of a trace leads to another node"):
        network_trace.trace([("file.cm", found)], None)
