"""Lay out the front-end files that every page needs beside the site's own: MathJax, checked by hash.

MathJax 3.2.2 comes out of the pinned PyPI package `sphinx-mathjax-offline`, whose files are those of the official
release byte for byte. We take the part that pages use, 2.8 of 24 MB, and refuse any other content than the one named here.

    python website/fetch.py _build/extra
"""

import hashlib
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

PACKAGE = "sphinx-mathjax-offline"
WANTED = (
    "tex-mml-chtml.js",
    "output/chtml/fonts/woff-v2/",
    "input/tex/extensions/",
    "a11y/",
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
)
SHA256 = "ae5bbd54ff1141f5196c5bb963c5c4003b8e7b7d98d083a7ded5d82605c873c2"


def wanted_files() -> dict[str, Path]:
    """The files to take: their path under mathjax/ -> where they are installed."""
    marker = "static/mathjax/"
    installed = distribution(PACKAGE).files or []
    files = {str(f).split(marker, 1)[1]: Path(f.locate()) for f in installed if marker in str(f)}
    return {name: path for name, path in sorted(files.items()) if name.startswith(WANTED)}


def digest(files: dict[str, Path]) -> str:
    """One sha256 over names and contents."""
    total = hashlib.sha256()
    for name, path in files.items():
        total.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def main(target: Path) -> None:
    files = wanted_files()
    found = digest(files)
    if found != SHA256:
        sys.exit(
            f"website/fetch.py: MathJax in the package {PACKAGE} has sha256 {found}, expected {SHA256}.\n"
            "The package is not the one pinned in requirements.txt. Run `make clean` and try again; "
            "if you changed the pin on purpose, compare the files with the official release and change SHA256 here."
        )
    for name, path in files.items():
        destination = target / "vendor" / "mathjax" / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, destination)
    print(f"MathJax: {len(files)} files, sha256 as pinned")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
