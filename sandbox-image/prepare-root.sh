#!/bin/sh
# Runs once, as root, while the image is built: makes the places that a session expects and takes
# away every file that could raise privileges. Fails the build when one is left.
set -eu

groupadd --gid 1000 agent
useradd --uid 1000 --gid 1000 --create-home --home-dir /home/agent --shell /bin/bash agent

# The session's socket directory is mounted on /glove/s. Its parent is the lock: commands run
# without capabilities and cannot enter it, whatever the owner of the mounted directory.
install --directory --mode 0700 /glove /glove/s
install --directory --mode 0755 /opt/glovebox /workspace
chown agent:agent /workspace

# In a box the first of these directories is a tmpfs of the tool server's: what programs trust there
# is the image's own, and the session's authority while something is let out.
install --directory --mode 0755 /opt/glovebox-trust /opt/glovebox-store
mv /etc/ssl/certs/ca-certificates.crt /opt/glovebox-store/
ln -s /opt/glovebox-store/ca-certificates.crt /opt/glovebox-trust/
ln -s /opt/glovebox-trust/ca-certificates.crt /etc/ssl/certs/

# git refuses a repository of another owner to protect users from each other. In the box there is
# one user, and the box itself is the boundary; read-only extra directories have other owners.
git config --system --add safe.directory '*'

# Nothing may raise privileges: no set-user-id or set-group-id bit, no file capability.
find / -xdev -perm /6000 -exec chmod a-s {} +
left=$(find / -xdev -perm /6000)
if [ -n "$left" ]; then
    echo "prepare-root: these keep a set-id bit: $left" >&2
    exit 1
fi
python3 - <<'END'
import os
import sys

found = []
for directory, _, names in os.walk("/"):
    if directory.split("/")[1] in {"proc", "sys", "dev"}:
        continue
    for name in names:
        path = os.path.join(directory, name)
        if "security.capability" in os.listxattr(path, follow_symlinks=False):
            found.append(path)
if found:
    sys.exit(f"prepare-root: these carry file capabilities: {found}")
END
