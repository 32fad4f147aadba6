"""Which files something on the host runs or obeys without being asked twice. A table, pure."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.workspace.globs import PathGlobs, path_globs

_TABLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("git hook", (".git/hooks/**", ".githooks/**", "hooks/pre-*", "hooks/post-*")),
    ("git hook manager", (".husky/**", ".pre-commit-config.yaml", "lefthook.{yml,yaml}")),
    ("git settings", (".git/config", ".gitmodules", ".gitattributes")),
    ("shell settings on entering the directory", (".envrc", ".mise.toml", ".tool-versions")),
    ("editor tasks and settings", (".vscode/**", ".idea/**", "*.code-workspace", ".zed/**")),
    ("editor settings", (".vim/**", ".nvim.lua", ".exrc", ".dir-locals.el", ".editorconfig")),
    ("development container", (".devcontainer/**", ".devcontainer.json")),
    (
        "continuous integration",
        (
            ".github/{workflows,actions}/**",
            ".gitlab-ci.yml",
            ".gitlab/ci/**",
            ".circleci/**",
            ".travis.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            ".buildkite/**",
            ".woodpecker/**",
            ".drone.yml",
            "Jenkinsfile",
        ),
    ),
    (
        "coding agent settings",
        (
            ".glovebox/**",
            ".claude/**",
            ".codex/**",
            ".cursor/**",
            ".gemini/**",
            ".opencode/**",
            ".aider.conf.yml",
            ".mcp.json",
            "{AGENTS,CLAUDE,GEMINI}.md",
            ".{cursor,windsurf,cline}rules",
            ".github/copilot-instructions.md",
        ),
    ),
    (
        "package scripts",
        (
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "setup.py",
            "setup.cfg",
            "pyproject.toml",
            "build.rs",
            ".cargo/config*",
            "composer.json",
            "Gemfile",
            "*.gemspec",
        ),
    ),
    (
        "build or test configuration",
        (
            "Makefile",
            "GNUmakefile",
            "*.mk",
            "justfile",
            "Taskfile.{yml,yaml}",
            "Rakefile",
            "CMakeLists.txt",
            "meson.build",
            "{build,settings}.gradle*",
            "gradle*",
            "pom.xml",
            "mvnw",
            "conftest.py",
            "noxfile.py",
            "tox.ini",
            "sitecustomize.py",
            "*.pth",
            "*.config.{js,cjs,mjs,ts}",
            "Dockerfile*",
            "{docker-compose,compose}*.{yml,yaml}",
        ),
    ),
)


def effects_table(hook_directories: Iterable[str]) -> tuple[tuple[str, PathGlobs], ...]:
    """Return words and patterns, the repository's own hook directories first."""
    own = tuple(f"{path.strip('/')}/**" for path in hook_directories)
    table = (("git hook", own), *_TABLE) if own else _TABLE
    return tuple((word, path_globs(patterns)) for word, patterns in table)


def effect_on_host(path: str, table: Iterable[tuple[str, PathGlobs]]) -> str:
    """Return what on the host would run or obey the file, or an empty text."""
    return next((word for word, globs in table if globs.match(path)), "")
