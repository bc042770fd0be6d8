#!/usr/bin/env bash
# Fetches NVRTC, NVIDIA's run-time compiler of CUDA C++, and ptxas, its assembler,
# for the tests of CUDA kernels. They need no card and no driver.
#
#   scripts/nvrtc.sh [DIR]      DIR defaults to .nvrtc
#
# The files come from the Python packages that carry them, under NVIDIA's licence,
# which lies in DIR afterwards; they are not part of this project. Needs Linux on
# x86-64, python3 with pip, and 280 MB of disk, of which 150 MB stay. Files that
# are there and whole are kept; every file is checked against the SHA-256 below.
set -euo pipefail

# The last version whose PTX the drivers of CUDA 12.9 and all of 13 take.
packages='nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-nvcc-cu12==12.9.86'
files='
6507cf33450cfb22970c2c1e7aa8e7c0a33e39d864720277b05f61a92791e2e8  nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9
983b0e9283855979f42cebfd80d43f9b6e786eb84f03f7570bf941c4d3a3c461  nvidia/cuda_nvcc/bin/ptxas
ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd  nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/licenses/License.txt
7c67c6b51ea0e0279634cebd676ff7efda1674806444520c84430ad5c35fe625  nvidia/cuda_nvrtc/lib/libnvrtc.so.12
'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=${1:-$root/.nvrtc}

if [[ $(uname -sm) != "Linux x86_64" ]]; then
	echo "nvrtc.sh: only for Linux on x86-64; elsewhere install CUDA and let SINTER_NVRTC name the folder of NVRTC" >&2
	exit 1
fi
python=$(command -v python3 || command -v python) || {
	echo "nvrtc.sh: python3 is needed to fetch $packages" >&2
	exit 1
}

# whole DIR: are all files in DIR, with the right content? Says which is not.
whole() {
	FILES=$files "$python" - "$1" <<'PY'
import hashlib, os, pathlib, sys
for line in os.environ["FILES"].strip().splitlines():
    want, name = line.split()
    path = pathlib.Path(sys.argv[1], pathlib.Path(name).name)
    if not path.is_file():
        sys.exit(f"nvrtc.sh: {path} is missing")
    with open(path, "rb") as f:
        if hashlib.sha256(f.read()).hexdigest() != want:
            sys.exit(f"nvrtc.sh: {path} has the wrong SHA-256")
PY
}

if [[ -e $dir/libnvrtc.so.12 ]] && whole "$dir"; then
	echo "nvrtc.sh: $dir is up to date; programs find it with SINTER_NVRTC=$(cd "$dir" && pwd)"
	exit 0
fi

"$python" -m pip --version >/dev/null 2>&1 || {
	echo "nvrtc.sh: pip is needed to fetch $packages (on Debian: apt-get install python3-pip)" >&2
	exit 1
}

mkdir -p "$dir"
# Beside the target, so that the moves below stay on one file system.
tmp=$(mktemp -d "$dir/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

echo "nvrtc.sh: fetching $packages (130 MB)"
# shellcheck disable=SC2086 # two packages
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$tmp" $packages
FILES=$files "$python" - "$tmp" <<'PY'
import os, pathlib, shutil, sys, zipfile
tmp = pathlib.Path(sys.argv[1])
wanted = [line.split()[1] for line in os.environ["FILES"].strip().splitlines()]
for wheel in tmp.glob("*.whl"):
    with zipfile.ZipFile(wheel) as z:
        for member in set(wanted) & set(z.namelist()):
            name = pathlib.Path(member).name
            with z.open(member) as src, open(tmp / name, "wb") as dst:
                shutil.copyfileobj(src, dst)
            os.chmod(tmp / name, 0o755)
    wheel.unlink()
PY
whole "$tmp"

# The compiler comes last: whoever finds it finds everything.
while read -r _ name; do
	[[ -z $name ]] || mv -f "$tmp/${name##*/}" "$dir/${name##*/}"
done <<<"$files"
echo "nvrtc.sh: $dir is ready; programs find it with SINTER_NVRTC=$(cd "$dir" && pwd)"
