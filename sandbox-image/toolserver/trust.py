"""Which authorities programs trust: the image's own, and the session's while something is let out.

``TRUST`` is a small tmpfs that is root's; an image's usual bundles are links into it. Other clients
are told of the bundle by variables. ``authorities`` adds the session's.
"""

from __future__ import annotations

import os

TRUST = "/opt/glovebox-trust"
STORE = "/opt/glovebox-store/ca-certificates.crt"
"""What the image trusts."""
BUNDLE = "ca-certificates.crt"
JAVA_STORE = "cacerts.jks"


def begin(trust: str = TRUST, store: str = STORE) -> None:
    """Let programs trust what the image trusts; without a store there is none, as in the image."""
    bundle = f"{trust}/{BUNDLE}"
    try:
        os.symlink(store, bundle)
    except FileExistsError:
        if not os.path.islink(bundle):
            # Something was let out before.
            os.unlink(bundle)
            os.symlink(store, bundle)
