"""``glovebox policy``: check, show, explain and test policies; nothing here runs anything."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli import policy_past
from orchestrator.cli.policy_signing import keygen, sign, verify
from orchestrator.config.assets import asset
from orchestrator.config.paths import paths_from
from orchestrator.config.settings import load_settings
from orchestrator.errors import PolicyError, UsageError
from orchestrator.harness.project_policy import project_policies, texts_of, unknown_policy
from orchestrator.named_file import real_path
from orchestrator.policy.cases import CaseReport, Failure, load_cases, run_cases
from orchestrator.policy.compile import load_layer
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.evaluate import evaluate, evaluate_tool
from orchestrator.policy.explain import explain_data, explain_text
from orchestrator.policy.gather import read_policy_text
from orchestrator.policy.json_schema import policy_schema
from orchestrator.policy.judged import Judged, judge_egress
from orchestrator.policy.junit import junit_xml
from orchestrator.policy.layer import Layer
from orchestrator.policy.lint import lint_layer
from orchestrator.policy.load import ProjectText, load_policy, project_layer
from orchestrator.policy.provenance import layer_facts
from orchestrator.policy.show import Row, as_data, setting_rows, vote_rows
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.request import (
    ExecRequest,
    ProcessInput,
    ReadRequest,
    Request,
    WriteRequest,
)
from orchestrator.schema.terminal_text import escape_terminal

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Check, show, explain and test policies.",
    pretty_exceptions_enable=False,
)

Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", help="A shipped policy's name or a file; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[Path, typer.Option("--cd", "-C", help="Directory of the project.")]
Cwd = Annotated[str, typer.Option(help="Directory in the box.")]

_BOX_TIMEOUT_S = 120.0

for command in (keygen, sign, verify):
    app.command()(command)


@app.command()
def lint(
    policies: Annotated[list[str], typer.Argument(help="Policy files, or shipped names.")],
    as_project: Annotated[
        bool,
        typer.Option("--as-project", help="As a project's own .glovebox/policy.yaml is read."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong (exit 7) or unlikely to be meant (a remark; exit 0) in policies."""
    errors: list[str] = []
    hints: dict[str, None] = {}
    remarks: list[dict[str, Any]] = []
    for name in policies:
        try:
            layer = _alone(name, as_project=as_project)
        except PolicyError as err:
            errors += err.message.split("\n")
            hints |= {err.hint: None} if err.hint else {}
            continue
        remarks += [
            {"file": item.place.file, "line": item.place.line, "text": item.text}
            for item in lint_layer(layer)
        ]
    if as_json:
        _print(json.dumps({"errors": errors, "remarks": remarks}))
    else:
        _print(*(f"{item['file']}:{item['line']}: {item['text']}" for item in remarks))
    if errors:
        raise PolicyError("\n".join(errors), hint="\n  ".join(hints))


@app.command()
def show(
    policy: Policies = None,
    effective: Annotated[
        bool,
        typer.Option(
            "--effective", help="With your own and the project's layer, as a run would have it."
        ),
    ] = False,
    cd: Project = Path(),
    as_json: AsJson = False,
) -> None:
    """Print every setting and vote, the layer and line behind it, and what other layers say."""
    loaded = _load(policy, project=cd if effective else None)
    if as_json:
        _print(json.dumps(as_data(loaded)))
        return
    _print(*policy_lines(loaded))


@app.command()
def explain(
    command: Annotated[
        str | None, typer.Argument(help="A command line; - reads it from stdin.")
    ] = None,
    read: Annotated[str | None, typer.Option(help="A path that is read.")] = None,
    write: Annotated[str | None, typer.Option(help="A path that is written.")] = None,
    typed_into: Annotated[
        str | None, typer.Option(help="Take the text as typed into this started command.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="The tool that asks; alone, any call of it.")
    ] = None,
    egress: Annotated[
        str | None,
        typer.Option(
            "--request",
            metavar="'METHOD URL'",
            help="A request out of the box; or 'CONNECT host:port', or 'LOOKUP host'.",
        ),
    ] = None,
    cwd: Cwd = "/workspace",
    cd: Project = Path(),
    policy: Policies = None,
    as_json: AsJson = False,
) -> None:
    """Say what policy decides on a call, why, and what would change it."""
    loaded = _load(policy, project=cd)
    request: Judged | str
    terms = None
    if egress is not None:
        if any(item is not None for item in (command, read, write, typed_into, tool)):
            raise UsageError("explain: --request stands alone")
        request = _egress(egress)
        verdict = judge_egress(loaded, request)
        decision, terms = verdict.decision, verdict.terms
    elif tool is not None and (command, read, write, typed_into) == (None,) * 4:
        request, decision = f"any call of {tool}", evaluate_tool(loaded, tool)
    else:
        call, used = _request(command, read, write, cwd=cwd)
        if typed_into is not None:
            call, used = _typed(call, typed_into, cwd=cwd), "process"
        request, decision = call, evaluate(loaded, call, tool=tool or used)
    if as_json:
        _print(json.dumps(explain_data(loaded, request, decision, terms=terms)))
    else:
        sys.stdout.write(explain_text(loaded, request, decision, terms=terms))


@app.command("test")
def check_cases(
    files: Annotated[list[Path], typer.Argument(help="Case files.")],
    policy: Policies = None,
    junit: Annotated[
        Path | None, typer.Option(help="Also write the result as JUnit XML, for CI.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge the cases in files; exit 0 only if every one gets the verdict it must."""
    loaded = _load(policy, project=None)
    reports = {str(file): run_cases(loaded, load_cases(file)) for file in files}
    report = CaseReport(
        sum(item.passed for item in reports.values()),
        tuple(failure for item in reports.values() for failure in item.failed),
    )
    if junit is not None:
        _write(junit, junit_xml(reports))
    if as_json:
        _print(json.dumps(report.as_data()))
    else:
        _print(*(_failure_line(item) for item in report.failed))
        _print(f"{report.passed} passed, {len(report.failed)} failed")
    if report.failed:
        raise typer.Exit(1)


@app.command()
def schema() -> None:
    """Print the JSON Schema of policy files, for editors."""
    _print(json.dumps(policy_schema(), indent=2))


app.command("replay")(policy_past.replay_command)
app.command("suggest")(policy_past.suggest_command)
app.command("diff")(policy_past.diff_command)


def _alone(name: str, *, as_project: bool) -> Layer:
    """Return one policy as a layer, without those of this machine."""
    if not as_project:
        return load_layer("session", [name], search=asset("policies"))
    text = ProjectText(name, read_policy_text(Path(name)).encode())
    return project_layer(text, search=asset("policies"))


def _load(names: list[str] | None, *, project: Path | None) -> EffectivePolicy:
    """Return the policy; with ``project``, also the layers of the user and of that directory.

    Nothing runs here, so a project's policy that nobody knows yet is shown, and told of.
    """
    paths = paths_from(os.environ, Path.home())
    found = project_policies(real_path(project), paths) if project is not None else ()
    for each in found:
        if not each.is_known:
            sys.stderr.write(f"note: {escape_terminal(unknown_policy(each).message)}\n")
    settings = load_settings(paths.config / "config.yaml", os.environ)
    return load_policy(
        names or settings.policy,
        search=asset("policies"),
        user_file=paths.config / "policy.yaml" if project is not None else None,
        projects=texts_of(found),
        state=paths.state,
    )


def _request(
    command: str | None, read: str | None, write: str | None, *, cwd: str
) -> tuple[Request, str]:
    """Return the request asked about and the tool that would plan it."""
    if sum(item is not None for item in (command, read, write)) != 1:
        raise UsageError(
            "explain: expected one of a command, --read PATH, --write PATH, --request and --tool"
        )
    if command is not None:
        text = sys.stdin.read() if command == "-" else command
        return ExecRequest(text, cwd, _BOX_TIMEOUT_S), "bash"
    if read is not None:
        path = _in_box(read, cwd)
        return ReadRequest(path, resolved=path), "read"
    path = _in_box(str(write), cwd)
    return WriteRequest(path, "", resolved=path), "write"


def _typed(request: Request, typed_into: str, *, cwd: str) -> ProcessInput:
    if not isinstance(request, ExecRequest):
        raise UsageError("explain: --typed-into goes with the text to type")
    text = request.command if request.command.endswith("\n") else f"{request.command}\n"
    return ProcessInput("it", text, command=typed_into, cwd=cwd)


def _egress(text: str) -> EgressRequest:
    try:
        return parse_egress(text)
    except ValueError as err:
        raise UsageError(f"explain: --request: {err}") from err


def _in_box(path: str, cwd: str) -> str:
    return path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}"


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as err:
        raise UsageError(f"{file}: cannot be written: {err.strerror}") from err


def _failure_line(failure: Failure) -> str:
    rule = f" by {failure.rule}" if failure.rule else ""
    return escape_terminal(
        f"{failure.id}: expected {failure.expected}, got {failure.got}{rule}: {failure.reason}"
    )


def policy_lines(policy: EffectivePolicy) -> Iterable[str]:
    """Yield a policy's layers, settings and votes, in safe lines."""
    yield from (f"policy {policy.name}", f"digest {policy.digest}", "")
    yield from map(_layer_line, layer_facts(policy))
    yield ""
    yield from _table([*setting_rows(policy), *vote_rows(policy)])


def _table(rows: list[Row]) -> Iterable[str]:
    wide = max(len(row.key) for row in rows)
    for row in rows:
        text = f"{escape_terminal(row.value)}  [{escape_terminal(row.origin)}]"
        if row.beside:
            yield f"{'':<{wide}}  {row.note}: {text}"
        else:
            yield f"{row.key:<{wide}}  {text}" + (f"  ({row.note})" if row.note else "")


def _layer_line(facts: dict[str, Any]) -> str:
    line = f"layer {facts['layer']}: {facts['name']} {facts['digest']}"
    if "file" in facts:
        line += f" {facts['file']}"
    if "key" in facts:
        line += f", signed by {facts['key']}, serial {facts['serial']}, {facts['issued']}"
    return escape_terminal(line)


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
