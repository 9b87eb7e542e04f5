"""The smallest scenario states its finding by checks, names and titles."""

from __future__ import annotations

import re
from dataclasses import replace

from rocketchaos.harness.nightly.document import WHAT_RUNS, document_of, text_of
from rocketchaos.harness.nightly.findings import NightlyFinding
from rocketchaos.harness.nightly.invariants import Breach
from rocketchaos.harness.nightly.restate import (
    NOT_ALL_TRIED,
    NOT_MEASURED,
    name_of,
    opened,
    restated,
    with_expectation,
)
from rocketchaos.harness.scenario import parse_scenario
from rocketchaos.harness.scenario.model import Scenario
from rocketchaos.harness.scenario.place_models import allowed_keys
from tests.unit.nightly.documents import LARGE, NETWORK, large, network
from tests.unit.nightly.stories import half_lost


def test_the_result_states_the_finding_by_checks() -> None:
    (finding,) = half_lost().found()
    document = document_of(LARGE.replace("group: g1", "group: g").replace(": g1,", ": g,"), "large")
    document = with_expectation(restated(document, finding, "Shrunk from nightly-7-1"), 3, 3, whole=True)
    scenario = parse_scenario(text_of(document), "shrunk")
    assert (
        scenario.title
        == "The queue's owner drops what another member wants; the members differ in their tags"
    )
    assert scenario.name == "wanted-but-not-delivered-filtered-by-client-tags-7-1"
    assert document["anomaly"][0]["undelivered"]["because"] == "filtered-by-client"
    assert document["expected"] == "reproduced"
    assert "Its checks held in 3 of 3 runs." in scenario.description
    assert NOT_ALL_TRIED not in scenario.description
    assert with_expectation(document, 2, 3, whole=True)["expected"] == "measured"
    stated = restated(document, finding, "Shrunk once more")
    assert stated["name"] == scenario.name
    unmeasured = with_expectation(stated, 0, 0, whole=False)
    assert unmeasured["expected"] == "measured"
    assert unmeasured["description"] == f"{stated['description']} {NOT_MEASURED} {NOT_ALL_TRIED}"


def test_where_the_cause_alone_is_known_the_title_tells_what_came_of_it() -> None:
    owned = NightlyFinding("several-owners", Breach("g", "several-owners-allocation", "d and e own it", ()))
    title = restated(document_of(LARGE, "large"), owned, "Shrunk")["title"]
    assert title == "Several owners; the members differ in their allocation"


def test_findings_of_one_kind_in_one_run_have_names_of_their_own_that_are_valid() -> None:
    (finding,) = half_lost().found()
    other = replace(finding, breach=replace(finding.breach, code="wanted-but-not-delivered-stranded-topics"))
    for name in ("nightly-7-1", "nightly-" + "7" * 72):
        document = {**large(), "name": name}
        names = {name_of(document, item) for item in (finding, other)}
        assert len(names) == 2
        assert all(re.fullmatch("[a-z0-9][a-z0-9-]{0,79}", item) for item in names)


SAYS_WHAT_IT_IS = {
    *("name", "title", "description", "marks", "control", "issue", "symptom", "owner"),
    *("anomaly", "healthy", "also", "tendency", "repeats", "expected"),
}


def test_every_key_of_a_scenario_either_decides_what_runs_or_says_what_it_is() -> None:
    assert {*allowed_keys(Scenario)} == {*WHAT_RUNS, *SAYS_WHAT_IT_IS}
    assert not SAYS_WHAT_IT_IS & set(WHAT_RUNS)


def test_a_finding_keeps_all_that_decides_what_runs() -> None:
    parse_scenario(NETWORK, "network")
    (finding,) = half_lost().found()
    for made in (opened(network()), restated(network(), finding, "Shrunk")):
        assert {key: made[key] for key in WHAT_RUNS} == {key: network()[key] for key in WHAT_RUNS}
        assert made["marks"] == ["nightly"]
    parse_scenario(text_of(opened(network())), "opened")


def test_a_scenario_of_bare_groups_can_be_opened() -> None:
    document = {key: item for key, item in network().items() if key != "consumers"}
    document["steps"] = [{"send": {"topic": "orders", "tag": "tagA", "count": 4}}]
    scenario = parse_scenario(text_of(opened(document)), "opened")
    assert scenario.groups == ("g3",)
    assert len(scenario.tendency) == 4  # of one group, on two brokers
