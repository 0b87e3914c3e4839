"""Questions about a network, each with the commands that answer it: the table of ``elanite ask``.

A question's commands run one after the other in an empty folder, with the reader's own files that
``files`` names. A test parses all commands and runs the quick ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question."""

    text: str
    commands: tuple[str, ...]
    quick: bool = False
    """Whether the commands take a second or so each, and need no files from the reader."""
    files: tuple[str, ...] = ()
    """The reader's own files that the commands name."""


MACHINE = "elanite new machine --nodes 200 --oversubscription 2:1 --link NDR"
TRAFFIC = "elanite new experiment my-traffic --from ndr-200.toml"

QUESTIONS = (
    Question(
        "What does a cluster of 200 nodes look like, with half of the links up?",
        (MACHINE, "elanite check ndr-200.toml", "elanite show ndr-200.toml"),
        quick=True,
    ),
    Question("Which machines and experiments are there?", ("elanite list",), quick=True),
    Question(
        "What does a parameter mean, and what is allowed?",
        ("elanite explain link.hop_delay",),
        quick=True,
    ),
    Question(
        "At which load does my network saturate?",
        (MACHINE, TRAFFIC, "elanite run my-traffic.toml --series load --html load.html"),
    ),
    Question(
        "Which oversubscription can I afford?",
        (
            "elanite new machine full --nodes 200 --link NDR",
            "elanite new machine half --nodes 200 --oversubscription 2:1 --link NDR",
            "elanite new machine quarter --nodes 200 --oversubscription 4:1 --link NDR",
            "elanite new experiment ratios --from full.toml",
            (
                "elanite run ratios.toml --machine full.toml --machine half.toml --machine"
                " quarter.toml --series load --html ratios.html"
            ),
        ),
    ),
    Question(
        "Which topology is best for my traffic?",
        (
            "elanite new machine tree --nodes 128 --link HDR",
            "elanite new machine dragonfly --nodes 128 --link HDR --topology dragonfly",
            "elanite new experiment topologies --from tree.toml",
            (
                "elanite run topologies.toml --machine tree.toml --machine dragonfly.toml --html"
                " topologies.html"
            ),
        ),
    ),
    Question(
        "Which nodes should two jobs get?",
        (MACHINE, "elanite place ndr-200.toml --job 64:alltoall --job 64:shift --html place.html"),
    ),
    Question(
        "What will an answer cost?",
        (
            MACHINE,
            "elanite place ndr-200.toml --job 64:alltoall --job 64:shift --dry-run",
            "elanite reproduce --only qsnet/ping --dry-run",
        ),
        quick=True,
    ),
    Question(
        "Where does it congest?",
        (
            MACHINE,
            TRAFFIC,
            "elanite run my-traffic.toml",
            "elanite congestion my-traffic.toml --format csv",
        ),
    ),
    Question(
        "Is another routing better?",
        (
            MACHINE,
            TRAFFIC,
            (
                "elanite sweep my-traffic.toml --series load --vary"
                " switch.ascent=adaptive,flow-hash,destination-modulo"
            ),
        ),
    ),
    Question(
        "What is left when cables or switches fail?",
        ("elanite run faults/links --html faults.html",),
    ),
    Question(
        "Do faster links pay?",
        (
            "elanite new machine slow --nodes 64 --link HDR",
            "elanite new machine fast --nodes 64 --link NDR",
            "elanite new experiment links --from slow.toml",
            "elanite run links.toml --machine slow.toml --machine fast.toml --series ping",
        ),
    ),
    Question(
        "How long does an all-reduce take?",
        (
            MACHINE,
            "elanite goal allreduce --ranks 64 --size '1 MB' > ring.goal",
            "elanite replay ring.goal --machine ndr-200.toml --html ring.html",
        ),
    ),
    Question(
        "How long would my MPI program take on this network?",
        (MACHINE, "elanite mpirun -n 64 --machine ndr-200.toml --html run.html ./my_program"),
        files=("my_program",),
    ),
    Question(
        "What does the network of my cluster do, as ibnetdiscover prints it?",
        ("elanite import fabric.ibnetdiscover", "elanite check fabric.toml"),
        files=("fabric.ibnetdiscover",),
    ),
    Question(
        "Which parameters fit my measurements?",
        (
            MACHINE,
            TRAFFIC,
            "elanite calibrate my-traffic.toml --fit 'bus.rate=30 GB/s..63 GB/s' --to measured.csv",
        ),
        files=("measured.csv",),
    ),
    Question(
        "How well does the model fit the papers?", ("elanite reproduce --quick", "elanite claims")
    ),
    Question(
        "What did held circuits cost and give?",
        ("elanite run today/circuits --html circuits.html", "elanite watch qsnet/uniform --open"),
    ),
)
"""All questions."""


def found(words: tuple[str, ...]) -> list[Question]:
    """The questions with all these words, in the question or in its commands."""
    return [
        each
        for each in QUESTIONS
        if all(word.lower() in f"{each.text} {' '.join(each.commands)}".lower() for word in words)
    ]
