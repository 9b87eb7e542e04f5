"""The registry of claims: what is in it, and what is said where it is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rocketchaos.harness.claims.registry import Claim, chosen, claims, read_registry
from rocketchaos.harness.claims.statement import said
from rocketchaos.harness.core.errors import UsageProblem
from rocketchaos.harness.plan.library import scenarios_folder


def test_every_claim_of_the_ledger_is_there_in_order() -> None:
    written = list(yaml.safe_load((scenarios_folder() / "claims.yaml").read_text("utf-8")))
    assert written == sorted(written) == list(claims())
    assert len(written) == 144
    assert [name for name, claim in claims().items() if claim.unobservable] == ["E15", "E16"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A01: {claim: x, sayd: y}", "A01.sayd: Extra inputs are not permitted"),
        ("A1: {claim: x}", "A1: String should match pattern"),
        ("A01: {said: x}", "A01.claim: Field required"),
        ("A01: {claim: x, predicted: perhaps}", "A01.predicted"),
        ("A01: {claim: x, predicted: {often: refuted}}", "`often` is no range of versions"),
        ("A01: {claim: x, said_by: [gossip]}", "A01.said_by"),
        ("[A01]", "the file: Input should be a valid dictionary"),
        ("A01: [", "can't be read"),
    ],
)
def test_a_broken_registry_is_one_clear_message(text: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    with pytest.raises(UsageProblem) as problem:
        read_registry(path)
    assert found in problem.value.message
    assert str(path) in problem.value.message


def test_a_missing_registry_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="can't be read"):
        read_registry(tmp_path / "claims.yaml")


def test_what_was_predicted_of_which_version() -> None:
    claim = claims()["F04"]
    assert [claim.predicted_for(item) for item in ("4.9.3", "4.9.4", "4.9.7", "5.3.3", "5.5.0")] == [
        *("confirmed", "refuted", None, "refuted", None)
    ]
    assert claims()["A07"].predicted_for("4.9.3") == "refuted"


def test_who_says_a_claim_is_reported() -> None:
    assert said(Claim(claim="x")).startswith("Nobody says it; it was read from the sources")
    shown = said(Claim(claim="x", said_by=("experiment", "filtering"), said="More.", predicted="refuted"))
    assert shown == (
        "Said in the articles on the experiment with two tags and filtering of messages. More. Predicted: refuted."
    )
    assert "Predicted: confirmed (<4.9.4), refuted (>=4.9.4)." in said(claims()["F04"])


def test_claims_are_chosen_by_ids_and_letters() -> None:
    assert chosen("") == tuple(claims())
    assert chosen("b07, a01") == ("A01", "B07")
    assert set(chosen("H,A01")) == {"A01", *(name for name in claims() if name.startswith("H"))}
    with pytest.raises(UsageProblem, match="there is no claim `A99`"):
        chosen("A99")


def test_the_hint_for_an_unknown_claim_names_no_option_of_one_command() -> None:
    with pytest.raises(UsageProblem) as refused:
        chosen("Z99")
    assert "there is no claim `Z99`" in str(refused.value)
    assert "--only" not in str(refused.value)
