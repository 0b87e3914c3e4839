"""The claims: all published figures and findings, as data (``data/claims.toml``), read and checked.

Claims to which a parameter was fitted (the machine files list them) are ``fitted``, all others are ``predicted``, with
two exceptions, which the text of the paper decides and never the result. A claim is ``inconsistent`` if arithmetic on
the figures of its own paper refutes the claim (see ``proofs``), and an ``inference`` if the authors conclude the claim
without a run.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean
from elanite.validation.claim import COUNTED, Claim, Confidence, Rank
from elanite.validation.proofs import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@cache
def claims() -> tuple[Claim, ...]:
    """All claims of all documents, in the order of the documents."""
    return claims_of(bounded.packaged("data", "claims.toml"), "claims.toml")


def claims_of(text: str, file: str) -> tuple[Claim, ...]:
    """The claims of a data file.

    Raises ``UsageError`` if a proof does not prove that its claim is inconsistent, if a confidence or a rank is not
    known, or if a rank does not have what it needs.
    """
    entries = tomllib.loads(text)["claim"]
    for entry in entries:
        _known(entry, "confidence", get_args(Confidence), file)
        _known(entry, "rank", get_args(Rank), file)
    proofs = {entry["id"]: entry.pop("proof") for entry in entries if "proof" in entry}
    found = {entry["id"]: claim_of(entry) for entry in entries}
    for claim in found.values():
        _check_rank(claim, found, file, proved=claim.id in proofs)
    for name, proof in proofs.items():
        found[name] = replace(found[name], proof=checked(found[name], proof, found, file))
    return tuple(found.values())


def _known(entry: Mapping[str, Any], key: str, known: Sequence[str], file: str) -> None:
    """Refuse a word that the head of the data file does not define, and a claim without a rank."""
    value = entry.get(key, "" if key == "rank" else known[0])
    if value not in known:
        wrong = f"`{key}` is one of {', '.join(known)}{did_you_mean(str(value), known)}"
        raise UsageError(f"{file}: claim `{entry['id']}`: {wrong}\n  help: the head of the file says what each means")


def _check_rank(claim: Claim, found: Mapping[str, Claim], file: str, *, proved: bool) -> None:
    """Refuse a rank that lacks its reason or its claims, and one that the kind of the claim contradicts.

    A claim that is ``proved`` to be inconsistent is not judged, whatever its kind is.
    """
    wrong = ""
    absent = [name for name in claim.rests_on if name not in found or name == claim.id]
    if absent:
        wrong = f"`rests_on` names `{absent[0]}`, which is no other claim{did_you_mean(absent[0], list(found))}"
    elif (claim.rank in ("consequence", "repeat")) is not bool(claim.rests_on):
        wrong = f"`rests_on` is for the ranks consequence and repeat, and needed there; the rank is {claim.rank}"
    elif claim.rank == "repeat" and (len(claim.rests_on) > 1 or found[claim.rests_on[0]].rank == "repeat"):
        wrong = "a repeat rests on one claim, which is no repeat itself"
    elif (claim.rank in COUNTED) is bool(claim.because):
        wrong = f"`because` is for ranks other than {' and '.join(COUNTED)}, and needed there; the rank is {claim.rank}"
    elif claim.one_run and (claim.kind, claim.measure, claim.each) != ("value", "value", ()):
        wrong = "`one_run` is for a claim of the kind value whose measure is value, without `each`"
    elif claim.one_miss and (claim.one_miss not in found or found[claim.one_miss].one_miss):
        wrong = f"`one_miss` names `{claim.one_miss}`, which has to be a claim without `one_miss`"
    elif claim.rank in COUNTED and not proved and claim.kind in ("max", "min"):
        wrong = f"a claim of the kind {claim.kind} is a bound; the rank is {claim.rank}"
    if wrong:
        raise UsageError(f"{file}: claim `{claim.id}`: {wrong}\n  help: the head of the file says what each rank means")


def claim_of(entry: dict[str, Any]) -> Claim:
    """A claim from its entry in a data file."""
    fields = dict(entry)
    fields["series"] = _several(fields.get("series", []))
    for name in ("order", "figures", "each", "shows", "part", "causes", "not_causes", "rests_on"):
        fields[name] = tuple(fields.get(name, ()))
    fields["where"] = tuple((name, _several(values)) for name, values in fields.get("where", {}).items())
    return Claim(**fields)


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, list) else (values,)
