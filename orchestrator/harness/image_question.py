"""The question about a project's image: everything that goes in, and what stands behind it. Pure."""

from __future__ import annotations

from pathlib import Path

from orchestrator.confirmation.gate import Question
from orchestrator.harness.image_inputs import ImageInputs
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.schema.decision import Decision

TOOL = "the image that the project describes"
SHOWN_NAMES = 40


def image_question(project: Path, inputs: ImageInputs, policy: EffectivePolicy) -> Question:
    """Return the question: everything that would go in, and what stands behind it."""
    origin = policy.origins.get("sandbox.project_image")
    decision = Decision(
        effect="ask",
        rule="sandbox.project_image",
        layer=origin.layer if origin else "built-in",
        reason="a project's own image holds whatever its author put in",
        unyielding=True,
        notes=_notes(inputs),
    )
    return Question(
        id=inputs.digest[7:19],
        call="project-image",
        tool=TOOL,
        subject=inputs.text,
        cwd=str(project),
        decision=decision,
        digest=inputs.digest,
        scopes=("once",),
        kept_for="exactly these files",
        body=_body(inputs),
    )


def _notes(inputs: ImageInputs) -> tuple[str, ...]:
    notes = [f"file: {inputs.what}", f"digest: {inputs.digest}"]
    if inputs.image is not None:
        notes.append(f"uses the image {inputs.image}")
    else:
        notes.append(
            "built without a network, from: " + (", ".join(inputs.plan.images) or "nothing")
        )
        notes += [f"build argument {name}={value}" for name, value in inputs.args.items()]
    if inputs.described is not None:
        notes += [f"runs first, in the box: {line}" for line in inputs.described.commands]
        notes += inputs.described.notices
    notes.append(
        "either answer holds for exactly these files, in later sessions too; "
        "glovebox trust asks again, glovebox trust --revoke forgets it"
    )
    return tuple(notes)


def _body(inputs: ImageInputs) -> str:
    parts = []
    if inputs.described is not None and inputs.image is None:
        parts.append(f"{inputs.described.path}:\n{inputs.described.text}")
    if inputs.names:
        more = len(inputs.names) - SHOWN_NAMES
        listed = "\n".join(inputs.names[:SHOWN_NAMES]) + (f"\n… {more} more" if more > 0 else "")
        parts.append(f"paths of the project that go in: {len(inputs.names)}\n{listed}")
    return "\n\n".join(parts)
