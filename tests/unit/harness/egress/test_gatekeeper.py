"""The gatekeeper: whatever leaves was allowed, and is on record before it leaves."""

from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from orchestrator.egress.seams import Gatekeeper
from orchestrator.harness.egress.gatekeeper import EgressGatekeeper
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import Terms, Traffic, egress_digest
from orchestrator.schema.event import Egress
from orchestrator.schema.ids import digest_of
from tests.support.asking import Waiting, no, yes
from tests.support.egress_desk import CURL, GET, SECRET, TUNNEL, Judged, open_egress_desk, says

pytestmark = pytest.mark.anyio
OTHER = digest_of(b"other policy")


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_what_rules_allow_is_on_record_when_it_is_let_out(tmp_path):
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        keeper: Gatekeeper = desk.gatekeeper
        admission = await keeper.admit(GET, CURL)
        (body,) = desk.bodies("egress")

    assert admission.allowed
    assert (body["host"], body["method"], body["path"]) == ("api.example", "GET", "/v1/items")
    assert (body["effect"], body["rule"], body["generation"]) == ("allow", "rule-1", 1)
    assert body["digest"] == egress_digest(GET)
    assert body["caller"]["program"] == "/usr/bin/curl"


async def test_query_is_recorded_by_its_digest_alone(tmp_path):
    request = replace(GET, target="/search?q=private-words")
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        admission = await desk.gatekeeper.admit(request, None)
        desk.gatekeeper.passed(admission, Traffic())

    assert "private-words" not in desk.everything_written()


async def test_known_secret_in_a_path_is_neither_recorded_nor_told(tmp_path):
    request = replace(GET, target=f"/hook/{SECRET}")
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        admission = await desk.gatekeeper.admit(request, replace(CURL, argv=("curl", SECRET)))
        desk.gatekeeper.passed(admission, Traffic(problem=f"broke at {SECRET}"))

    assert SECRET not in desk.everything_written()


async def test_end_is_recorded_and_told_with_its_bytes(tmp_path):
    traffic = Traffic(120, 4096, status=200, address="203.0.113.7")
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        admission = await desk.gatekeeper.admit(GET, CURL)
        desk.gatekeeper.passed(admission, traffic)
        desk.gatekeeper.passed(admission, traffic)

    (end,) = desk.bodies("egress_end")
    (event,) = desk.events
    assert end["egress"] == admission.id
    assert (end["bytes_up"], end["bytes_down"], end["address"]) == (120, 4096, "203.0.113.7")
    assert isinstance(event, Egress)
    assert (event.effect, event.bytes_down, event.path) == ("allow", 4096, "/v1/items")


async def test_refusal_is_recorded_and_told_at_once(tmp_path):
    async with open_egress_desk(tmp_path, says("deny")) as desk:
        admission = await desk.gatekeeper.admit(GET, CURL)
        (body,) = desk.bodies("egress")
        (event,) = desk.events

    assert not admission.allowed
    assert (body["effect"], event.effect, event.program) == ("deny", "deny", "/usr/bin/curl")
    assert desk.bodies("egress_end") == []


async def test_refusals_alike_are_counted(tmp_path):
    """A box in a loop must not fill the host's disk."""
    async with open_egress_desk(tmp_path, says("deny")) as desk:
        for _ in range(25):
            assert not (await desk.gatekeeper.admit(GET, CURL)).allowed

    assert len(desk.bodies("egress")) == len(desk.events) == 3
    assert desk.bodies("egress_again")[-1]["count"] == 25


@pytest.mark.parametrize(
    ("refused", "layer"), [("rule-1", "session"), ("address", "floor")], ids=["rule", "floor"]
)
async def test_refusal_after_a_yes_is_told_as_one(refused, layer, tmp_path):
    """With its reason; the record of the yes stays as it was."""
    traffic = Traffic(problem="the rule's max_upload is 4 bytes", refused=refused)
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        for _ in range(9):
            desk.gatekeeper.passed(await desk.gatekeeper.admit(GET, CURL), traffic)

    assert [end["refused"] for end in desk.bodies("egress_end")] == [refused] * 9
    # As of other refusals, few of those alike are told.
    assert len(desk.events) == 3
    event = desk.events[0]
    assert (event.effect, event.rule, event.layer) == ("deny", refused, layer)
    assert event.reason == "the rule's max_upload is 4 bytes"


async def test_without_a_record_nothing_leaves_from_then_on(tmp_path):
    """The first failure is a no, closes what is open, and the log is not tried again."""
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        before = await desk.gatekeeper.admit(GET, CURL)
        desk.lock_audit()
        after = await desk.gatekeeper.admit(GET, CURL)
        again = await desk.gatekeeper.admit(GET, CURL)

    assert before.allowed
    assert not desk.gatekeeper.still_allows(before)
    assert {after.verdict.decision.rule, again.verdict.decision.rule} == {"no-record"}
    assert desk.failures == ["no record"]


async def test_error_in_the_rules_is_a_no(tmp_path):
    def broken(_):
        raise RuntimeError("a bug")

    async with open_egress_desk(tmp_path, Judged(broken)) as desk:
        admission = await desk.gatekeeper.admit(GET, CURL)

    assert (admission.allowed, admission.verdict.decision.rule) == (False, "gate-error")


async def test_ask_is_what_the_person_says(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes(), no("not today")]) as desk:
        first = await desk.gatekeeper.admit(GET, CURL)
        second = await desk.gatekeeper.admit(TUNNEL, CURL)

    assert (first.allowed, first.answered_by) == (True, "terminal")
    assert (second.allowed, second.answered_by) == (False, "terminal")
    assert "not today" in second.verdict.decision.reason
    assert [body["answer"]["yes"] for body in desk.bodies("egress")] == [True, False]


async def test_person_sees_the_whole_url_and_who_asked(tmp_path):
    announced = replace(GET, method="POST", announced=512)
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes()]) as desk:
        await desk.gatekeeper.admit(announced, CURL)

    (question,) = desk.someone.asked
    assert question.subject == "POST https://api.example/v1/items?id=1"
    assert "sends 512 bytes" in question.likeness.effects
    assert any("as the box says, /usr/bin/curl" in note for note in question.decision.notes)
    assert "while it runs" in question.decision.notes


async def test_no_answer_in_time_is_a_no(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), timeout_s=0.01) as desk:
        admission = await desk.gatekeeper.admit(GET, CURL)

    assert not admission.allowed
    assert "nobody answered in time" in admission.verdict.decision.reason


async def test_held_request_that_is_given_up_is_on_record(tmp_path):
    """Its client is gone: it was refused to, though the question goes on."""
    someone = Waiting(yes())
    async with open_egress_desk(tmp_path, says("ask"), someone=someone) as desk:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.gatekeeper.admit, GET, CURL)
            await someone.reached.wait()
            group.cancel_scope.cancel()
        (body,) = desk.bodies("egress")
        (event,) = [event for event in desk.events if isinstance(event, Egress)]

    assert (body["effect"], body["rule"], body["answer"]) == ("deny", "rule-1", None)
    assert "was gone before anybody answered" in body["reason"]
    assert (event.effect, event.reason) == ("deny", body["reason"])


async def test_held_request_holds_up_no_other(tmp_path):
    """One that waits for a person, one that does not."""

    def judge(request):
        return says("ask" if request.method else "allow")(request)

    someone = Waiting(yes())
    async with (
        open_egress_desk(tmp_path, Judged(judge), someone=someone) as desk,
        anyio.create_task_group() as group,
    ):
        group.start_soon(desk.gatekeeper.admit, GET, CURL)
        await someone.reached.wait()
        assert (await desk.gatekeeper.admit(TUNNEL, CURL)).allowed
        someone.after.set()


async def test_rules_that_change_while_a_person_is_asked_hold(tmp_path):
    """A yes to what is denied by now lets nothing out."""
    someone, admissions = Waiting(yes()), []
    async with open_egress_desk(tmp_path, says("ask"), someone=someone) as desk:

        async def admit():
            admissions.append(await desk.gatekeeper.admit(GET, CURL))

        async with anyio.create_task_group() as group:
            group.start_soon(admit)
            await someone.reached.wait()
            desk.rules.replace(says("deny"), OTHER)
            someone.after.set()

    assert (admissions[0].allowed, admissions[0].generation) == (False, 2)
    assert [body["effect"] for body in desk.bodies("egress")] == ["deny"]


async def test_rules_that_change_while_the_record_is_written_hold(tmp_path):
    """What is on record as let out has an end that says why it never began."""
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        desk.chain.meanwhile.append(lambda: desk.rules.replace(says("deny"), OTHER))
        admission = await desk.gatekeeper.admit(GET, CURL)

    assert (admission.allowed, admission.generation) == (False, 2)
    assert [body["effect"] for body in desk.bodies("egress")] == ["allow", "deny"]
    (end,) = desk.bodies("egress_end")
    assert end["problem"] == "the rules changed before it began"


async def test_allowed_look_up_leaves_no_record(tmp_path):
    """The box answers it itself: nothing leaves before a connection."""
    look_up = replace(TUNNEL, door="dns", port=0)
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        admission = await desk.gatekeeper.admit(look_up, CURL)
        desk.gatekeeper.passed(admission, Traffic())

    assert admission.allowed
    assert desk.bodies("egress") == []


async def test_refused_look_up_is_on_record(tmp_path):
    """A name that is looked up and refused is all that the owner sees of a program's wish."""
    look_up = replace(TUNNEL, door="dns", port=0)
    async with open_egress_desk(tmp_path, says("deny")) as desk:
        await desk.gatekeeper.admit(look_up, CURL)

    assert desk.bodies("egress")[0]["door"] == "dns"


@pytest.mark.parametrize(
    ("now", "goes_on"),
    [
        (says("allow"), True),
        (says("deny"), False),
        (says("ask"), False),
        (says("allow", terms=Terms(inspect=True)), False),
    ],
)
async def test_what_is_open_goes_on_only_while_rules_allow_it(tmp_path, now, goes_on):
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        admission = await desk.gatekeeper.admit(TUNNEL, CURL)
        desk.rules.replace(now, OTHER)

        assert desk.gatekeeper.still_allows(admission) is goes_on


async def test_what_was_asked_goes_on_under_the_same_rule_alone(tmp_path):
    """A yes that was given once is not asked for again because another rule was added."""
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes()]) as desk:
        admission = await desk.gatekeeper.admit(TUNNEL, CURL)
        desk.rules.replace(says("ask"), OTHER)
        same = desk.gatekeeper.still_allows(admission)
        desk.rules.replace(says("ask", rule="rule-2"), OTHER)

        assert (same, desk.gatekeeper.still_allows(admission)) == (True, False)


async def test_yes_that_is_taken_back_ends_what_it_let_out(tmp_path):
    async with open_egress_desk(tmp_path, says("ask"), answers=[yes("session")]) as desk:
        admission = await desk.gatekeeper.admit(TUNNEL, CURL)
        before = desk.gatekeeper.still_allows(admission), desk.gatekeeper.lapsed()
        (grant,) = desk.grants.all()
        desk.grants.revoke(grant.id, who="ann")

        assert before == (True, False)
        assert (desk.gatekeeper.still_allows(admission), desk.gatekeeper.lapsed()) == (False, True)
        assert not (await desk.gatekeeper.admit(TUNNEL, CURL)).allowed


def test_is_the_gatekeeper_of_the_proxy():
    assert {"admit", "tunnel_scheme", "still_allows", "passed"} <= set(dir(EgressGatekeeper))


async def test_what_could_not_be_judged_is_on_record_and_told_and_does_not_flood_it(tmp_path):
    malformed = Decision("deny", "malformed", "floor", "two Host headers")
    async with open_egress_desk(tmp_path, says("allow")) as desk:
        for _ in range(50):
            await desk.gatekeeper.refused(GET, malformed, CURL)
        bodies = desk.bodies("egress")

    assert {(body["effect"], body["rule"]) for body in bodies} == {("deny", "malformed")}
    assert len(bodies) < 10
    assert desk.events[0].rule == "malformed"
