"""The combination table."""

import pytest


@pytest.fixture
def both(load):
    """Loads a session layer and a user layer."""

    def build(session: str, user: str):
        return load(p=session, user=user)

    return build


@pytest.mark.parametrize(
    ("key", "one", "other", "expected"),
    [
        ("limits.steps", "10", "20", 10),
        ("limits.tokens", "900", "100", 100),
        ("limits.cost_usd", "1", "0.5", 0.5),
        ("limits.cost_usd_per_day", "20", "5", 5.0),
        ("limits.wall_time", "2h", "30m", 1800),
        ("limits.command_time", "1m", "2m", 60),
        ("limits.tool_calls_per_minute", "5", "9", 5),
        ("limits.repeat", "4", "2", 2),
        ("sandbox.cpus", "4", "1.5", 1.5),
        ("sandbox.memory", "1GiB", "512MiB", 2**29),
        ("sandbox.pids", "100", "50", 50),
        ("sandbox.disk", "1GiB", "2GiB", 2**30),
        ("sandbox.file_size", "1MiB", "2MiB", 2**20),
        ("sandbox.read_only_root", "false", "true", True),
        ("sandbox.require", "[seccomp]", "[non_root]", ("non_root", "seccomp")),
        ("workspace.mode", "bind", "copy", "copy"),
        ("workspace.mode", "none", "overlay", "none"),
        ("workspace.modes", "[copy, bind]", "[bind, none]", ("bind",)),
        ("workspace.hidden", "[a]", "[b, a]", ("b", "a")),
        ("workspace.protected", "[a]", "[b]", ("b", "a")),
        ("network.default", "allow", "deny", "deny"),
        ("network.default", "allow", "delegate", "allow"),
        ("network.default", "delegate", "delegate", "deny"),
        ("network.packages", "[pip, npm]", "[npm]", ("npm",)),
        ("approvals.timeout", "1m", "2m", 60),
        ("approvals.scopes", "[once, session]", "[session, 30m]", ("session",)),
    ],
)
def test_two_layers_combine_to_the_tighter_setting(both, key, one, other, expected):
    """Whichever layer is tighter holds, in whatever order they stand."""
    section, name = key.split(".")

    def setting(policy):
        return getattr(getattr(policy, section), name)

    combined = setting(both(f"{section}: {{{name}: {one}}}", f"{section}: {{{name}: {other}}}"))
    swapped = setting(both(f"{section}: {{{name}: {other}}}", f"{section}: {{{name}: {one}}}"))

    assert combined == expected
    in_either_order = set(expected) if isinstance(expected, tuple) else expected
    assert (set(swapped) if isinstance(expected, tuple) else swapped) == in_either_order


def test_image_and_runtime_come_from_the_highest_layer(both):
    """A lower layer cannot choose what the box is made of."""
    policy = both("sandbox: {image: mine, runtime: runc}", "sandbox: {image: theirs}")

    assert policy.sandbox.image == "theirs"
    assert policy.sandbox.runtime == "runc"


def test_scratch_directories_take_the_smallest_size(both):
    """A size given anywhere bounds the directory."""
    policy = both("sandbox: {tmpfs: {/tmp: 1GiB, /x: 1MiB}}", "sandbox: {tmpfs: {/tmp: 2MiB}}")

    assert policy.sandbox.tmpfs == {"/tmp": 2 * 2**20, "/x": 2**20}


def test_a_model_must_be_allowed_by_every_layer_with_a_list(both):
    """Lists intersect by what they match, not by how they are spelled."""
    policy = both("models: {allow: ['anthropic/*', local]}", "models: {allow: ['*haiku*', local]}")

    assert policy.model_allowed("anthropic/claude-haiku-x")
    assert policy.model_allowed("local")
    assert not policy.model_allowed("anthropic/claude-opus-x")
    assert not policy.model_allowed("openai/haiku")


def test_without_a_list_no_model_is_allowed(load):
    """Nobody voting means no, for models too."""
    assert not load(p="limits: {steps: 1}").model_allowed("local")


@pytest.mark.parametrize(
    ("one", "other", "expected"), [("allow", "deny", "deny"), ("allow", "allow", "allow")]
)
def test_models_in_the_box_need_every_layer(both, one, other, expected):
    """One deny is enough."""
    policy = both(f"models: {{in_box: {one}}}", f"models: {{in_box: {other}}}")

    assert policy.box_models.in_box == expected


@pytest.mark.parametrize(
    "key",
    [
        *("max_tokens", "tokens", "requests_per_minute", "tokens_per_day"),
        *("cost_usd", "cost_usd_per_day"),
    ],
)
def test_the_smallest_bound_of_the_box_holds(both, key):
    """In either order; nobody's word is no bound."""
    policy = both(f"models: {{box: {{{key}: 7}}}}", f"models: {{box: {{{key}: 5}}}}")
    swapped = both(f"models: {{box: {{{key}: 5}}}}", f"models: {{box: {{{key}: 7}}}}")
    silent = both("limits: {steps: 1}", "limits: {steps: 2}")

    assert getattr(policy.box_models, key) == getattr(swapped.box_models, key) == 5
    assert getattr(silent.box_models, key) is None
    assert policy.origins[f"models.box.{key}"].layer == "user"


def test_the_box_may_ask_for_what_every_list_allows(both):
    """The box's own lists narrow the session's; without a list of the session's it is nothing."""
    policy = both(
        "models: {in_box: allow, allow: ['*'], box: {allow: ['a/*', 'b/*']}}",
        "models: {in_box: allow, allow: ['a/*', 'c/*']}",
    )
    bare = both("models: {in_box: allow, box: {allow: ['*']}}", "limits: {steps: 1}")

    assert policy.box_models.allows("a/x")
    assert not policy.box_models.allows("b/x")
    assert not policy.box_models.allows("c/x")
    assert not bare.box_models.allows("a/x")


def test_names_are_mapped_as_the_highest_layer_says(both):
    """One layer's map holds, in its order."""
    policy = both("models: {box: {map: {x: a/b}}}", "models: {box: {map: {'y*': c/d, '*': e/f}}}")

    assert policy.box_models.map == (("y*", "c/d"), ("*", "e/f"))
    assert policy.box_models.stand_in("yes") == "c/d"
    assert policy.box_models.stand_in("x") == "e/f"
    assert policy.box_models.remote == "deny"


def test_read_roots_and_signing_combine(both):
    """Roots intersect; signing is on where anyone wants it."""
    policy = both(
        "files: {read_roots: [/usr, /opt]}\naudit: {sign: false}",
        "files: {read_roots: [/opt, /srv]}\naudit: {sign: true}",
    )

    assert policy.read_roots == ("/opt",)
    assert policy.audit_sign


def test_settings_nobody_makes_are_the_safe_built_in_ones(load):
    """An empty policy gives a closed, bounded box."""
    policy = load(p="description: nothing")

    assert policy.sandbox.read_only_root
    assert policy.sandbox.memory == 4 * 2**30
    assert policy.sandbox.tmpfs == {"/tmp": 2**30}
    assert policy.workspace.mode == "overlay"
    assert policy.workspace.modes == ("none", "copy", "overlay")
    assert policy.network.default == "deny"
    assert policy.box_models.in_box == "deny"
    assert policy.approvals.scopes == ("once",)
    assert policy.audit_sign
    assert policy.read_roots == ()
    assert policy.limits.steps is None
    assert policy.limits.command_time == 600
    assert policy.origins["sandbox.memory"].layer == "built-in"


def test_every_setting_knows_the_layer_and_line_that_decided(both):
    """A person can find what to change."""
    policy = both("limits: {steps: 5}\nmodels: {allow: [a]}", "limits:\n  tokens: 7")

    origin = policy.origins["limits.tokens"]
    assert (origin.layer, str(origin.place).rpartition("/")[2]) == ("user", "user-policy.yaml:4")
    assert policy.origins["limits.steps"].layer == "session"
    assert policy.origins["models.allow"].layer == "session"


def test_network_rules_keep_their_layer(both):
    """Later judged per layer, so kept per layer."""
    rule = "network: {rules: [{id: %s, hosts: a.example, effect: allow}]}"
    policy = both(rule % "one", rule % "two")

    assert [(layer, rule.id) for layer, rule in policy.network.rules] == [
        ("user", "two"),
        ("session", "one"),
    ]


def test_services_are_those_of_the_highest_layer_that_names_any(both):
    """A lower layer can neither add nor change one."""
    policy = both(
        "services: {db: {image: other, port: 1}, more: {image: b, port: 2}}",
        "services: {db: {image: a, port: 5432}}",
    )

    assert {name: service.image for name, service in policy.services.items()} == {"db": "a"}
    assert (policy.services["db"].memory, policy.services["db"].within) == (2**30, 60.0)
