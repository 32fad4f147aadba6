import pytest

from orchestrator.config.assets import asset
from orchestrator.errors import ConfigError
from orchestrator.harness.packages.steps import (
    FOLDER,
    authority_marks,
    may_keep_authority,
    prepared_name,
    step_environment,
    steps_of,
    trust_environment,
)
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import Digest
from orchestrator.schema.way_out import WayOut

OF = Digest("sha256:1")
CERTIFICATE = (
    "-----BEGIN CERTIFICATE-----\nZmlyc3Q=\nbWlkZGxl\nc2lnbmVk\nZW5k\n-----END CERTIFICATE-----\n"
)


def policy(tmp_path, text):
    file = tmp_path / "policy.yaml"
    file.write_text(f"version: 1\nname: t\nextends: [default]\n{text}\n")
    return load_policy((str(file),), search=asset("policies"), user_file=tmp_path / "none.yaml")


def test_packages_come_first_and_in_one_step(tmp_path):
    """Commands may use what was installed."""
    steps = steps_of(
        policy(
            tmp_path,
            "sandbox: {prepare: {packages: [git-lfs, 'libc6:amd64=2.36-9+deb12u9'], commands: [make]}}\n"
            "network: {packages: [apt]}",
        )
    )

    assert [step.what for step in steps] == [
        "install git-lfs libc6:amd64=2.36-9+deb12u9",
        "run make",
    ]
    assert (
        "--yes --no-install-recommends -- git-lfs libc6:amd64=2.36-9+deb12u9\n" in steps[0].command
    )
    assert steps[1].command == "make"
    assert steps_of(policy(tmp_path, "")) == ()


@pytest.mark.parametrize("name", ["-o=x", "a;b", "$(x)", "A", "./x.deb", "a b"])
def test_a_name_that_is_no_packages_is_refused(tmp_path, name):
    """No option and no shell syntax gets to apt."""
    with pytest.raises(ConfigError, match="expected names of Debian packages"):
        steps_of(
            policy(
                tmp_path,
                f"sandbox: {{prepare: {{packages: ['{name}']}}}}\nnetwork: {{packages: [apt]}}",
            )
        )


def test_packages_need_apt_among_what_may_be_fetched(tmp_path):
    """The error says which key to change."""
    with pytest.raises(ConfigError, match=r"which network\.packages does not have") as caught:
        steps_of(policy(tmp_path, "sandbox: {prepare: {packages: [git-lfs]}}"))

    assert "add apt to network.packages" in caught.value.hint


def test_an_image_is_named_by_all_that_goes_in(tmp_path):
    """Image, steps and network rules; what else a policy says does not matter."""
    plain = "sandbox: {prepare: {commands: [a]}}"
    texts = [
        plain,
        plain.replace("[a]", "[a, b]"),
        f"{plain}\nnetwork: {{packages: [apt]}}",
    ]
    names = {prepared_name(policy(tmp_path, text), OF) for text in texts}
    names.add(prepared_name(policy(tmp_path, plain), Digest("sha256:2")))

    assert len(names) == 4
    assert prepared_name(policy(tmp_path, f"{plain}\nlimits: {{steps: 5}}"), OF) in names


def test_clients_of_a_step_trust_what_lies_in_memory():
    """By the variables that each looks at; apt by a file of settings."""
    environment = step_environment(WayOut(CERTIFICATE, environment={"TOKEN": "placeholder"}))
    paths = {value for value in environment.values() if value.startswith("/")}

    assert environment["SSL_CERT_FILE"] == environment["PIP_CERT"] == f"{FOLDER}/bundle.pem"
    assert {path.rpartition("/")[0] for path in paths} == {FOLDER}
    assert environment["http_proxy"].startswith("http://127.0.0.1:")
    assert environment["TOKEN"] == "placeholder"
    assert "JAVA_TOOL_OPTIONS" not in environment
    assert trust_environment(WayOut(CERTIFICATE)) == {"GLOVEBOX_AUTHORITY": CERTIFICATE.strip()}


def test_a_left_certificate_is_known_by_its_signature():
    """Another of the same subject has other bytes there."""
    assert authority_marks(WayOut(CERTIFICATE * 2)) == (b"c2lnbmVk", b"c2lnbmVk")


def test_only_places_of_certificates_and_settings_are_looked_into():
    """A step may change a hundred thousand files."""
    kept = ["/etc/ssl/certs/ca-certificates.crt", "/usr/local/share/ca-certificates/x/y", "/srv/a.pem",
            "/etc/apt/apt.conf.d/9", "/root/.npmrc", "/etc/pip.conf"]  # fmt: skip

    assert may_keep_authority([*kept, "/usr/bin/git", "/etc/sslx"]) == kept
