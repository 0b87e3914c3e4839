"""Result metrics: their meanings, for ``elanite explain`` and for notes below tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.results.states import MEANINGS as OF_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOADS = "results of offered loads"
_PINGS = "results of pings and of collective operations"
_OVERLAP = "results of communication beside computation"
_NOISE = "results of the noise test"
_PROGRAMS = "results of flows, traces and jobs side by side"
_FAULTS = "results of runs with faults; runs without faults lack it"

_DESCRIBED: dict[str, dict[str, str]] = {
    _LOADS: {
        "offered": (
            "Load that the sources offered in the measured window: bytes of the messages that"
            " arrived at the queues of the senders, per node that sends and time. `load` is the"
            " nominal value."
        ),
        "accepted": (
            "Load that arrived at its destination in the measured window: bytes that were stored,"
            " per node that sends and time."
        ),
        "server_offered": "Offered load of a job with servers, per server.",
        "server_accepted": "Accepted load of a job with servers, per server.",
        "offered_part": (
            "Offered load as a part of what the links of a node carry in one direction, on all"
            " rails."
        ),
        "accepted_part": (
            "Accepted load as a part of what the links of a node carry in one direction, on all"
            " rails."
        ),
        "messages": "Messages that ended in the measured window, on which the latencies rest.",
        "latency_mean": (
            "Mean latency of messages, from their arrival at the sender's queue to their end."
        ),
        "latency_p50": "Median latency of messages, or of the calls of an operation.",
        "latency_p99": "Latency that 99 of 100 messages, or calls of an operation, do not exceed.",
        "latency_max": "Longest latency of a message, or of a call of an operation.",
        "latency_cycles": "Mean latency of messages in times of a flit on a link.",
        "saturation": (
            "Least load that was found saturated by a search; the highest load if none was."
        ),
        "saturation_part": (
            "The same load as a part of what the links of a node carry in one direction, on all"
            " rails."
        ),
        **OF_STATES,
    },
    _PINGS: {
        "latency": (
            "Mean time of a message from one end to the other, or of a call of an operation."
        ),
        "bandwidth": "Size of the message over the mean latency; 0 for empty messages.",
        "wire_bandwidth": (
            "Bytes on the wire over the mean latency: the message with its packets' headers and the"
            " overhead of transactions, of which an empty message has some, too."
        ),
        "step": "Mean time of a step of computation and operation.",
        "latency_p93": "Latency that 93 of 100 calls of an operation do not exceed.",
        "latency_p94": "Latency that 94 of 100 calls of an operation do not exceed.",
        "deadlock": "Whether packets of broadcasts block each other for ever: 1 or 0.",
        "stuck_packets": "Packets that take part in a deadlock.",
    },
    _OVERLAP: {
        "call": "Mean time in the calls that start the send and the receive.",
        "compute_phase": "Mean time of the computation of a round.",
        "wait": "Mean time after the computation until the send and the receive have ended.",
        "round": "Mean time of a round: call, computation and wait.",
        "availability": "Time of all computation over that of all rounds.",
        "over": "Fraction of the rounds in which both transfers had ended with the computation.",
    },
    _NOISE: {
        "elapsed": (
            "Mean time of a fixed amount of computation, with the noise of the operating system."
        ),
        "elapsed_p50": "Median of this time.",
        "elapsed_p99": "Time that 99 of 100 iterations do not exceed.",
        "elapsed_p99_99": "Time that 9,999 of 10,000 iterations do not exceed.",
        "elapsed_max": "Longest time of an iteration.",
        "above_1_percent": "Fraction of the iterations that noise lengthens by 1% or more.",
    },
    _PROGRAMS: {
        "time": "Time of a trace from its start to the end of its last operation.",
        "time_alone": "Time of the same trace alone on the machine.",
        "latency_alone": (
            "Mean latency of the messages of the same job alone on the machine, for as long a time."
        ),
        "fct_alone": (
            "Mean completion time of the flows of the same list without the other programs."
        ),
        "slowdown": (
            "What a program takes beside the others over what it takes alone: of a trace the time,"
            " of a list of flows the mean completion time, of a job the mean latency."
        ),
        "flows": "Flows of a list, or of a class of sizes.",
        "fct_mean": (
            "Mean completion time of flows: from the start until the sender knows that all bytes"
            " are stored."
        ),
        "fct_p50": "Median of this time.",
        "fct_p99": "Completion time that 99 of 100 flows do not exceed.",
        "fct_p99_9": "Completion time that 999 of 1,000 flows do not exceed.",
        "fct_slowdown_mean": (
            "Mean of the completion time of flows over that of the same flow alone on the idle"
            " machine without faults, which is simulated."
        ),
        "fct_slowdown_p50": "Median of this ratio.",
        "fct_slowdown_p99": "Ratio that 99 of 100 flows do not exceed.",
        "fct_slowdown_p99_9": "Ratio that 999 of 1,000 flows do not exceed.",
    },
    "results of the allocation of rails": {"rails": "Rails that a static allocation needs."},
    _FAULTS: {
        "packets_corrupted": "Packets that a checksum refused, at a switch or at the destination.",
        "packets_unreachable": "Packets that found no working link.",
        "packets_timed_out": "Packets without an answer in time.",
        "packets_resent": (
            "Packets that were sent again for one of these reasons: corrupted, unreachable, timed"
            " out."
        ),
        "packets_repeated": "Packets that came in again after their answer, and took effect once.",
        "given_up": "DMAs and messages that the adapters gave up.",
        "failed": "Messages that ended with an error because of a fault.",
    },
}

MEANINGS: dict[str, tuple[str, str]] = {
    name: (text, where) for where, texts in _DESCRIBED.items() for name, text in texts.items()
}
"""The meanings of result metrics and columns, and the results that have them."""

_NEEDS_A_NOTE = ("wire_bandwidth",)
"""Metrics that are misread by their names."""


def notes(metrics: Iterable[str]) -> list[str]:
    """A sentence for each table metric that its name does not explain."""
    there = set(metrics)
    return [
        f"{name}: {text[:1].lower()}{text[1:]}"
        for name in _NEEDS_A_NOTE
        if name in there
        for text in (MEANINGS[name][0],)
    ]
