# shellcheck shell=bash
# steps.sh - functions that .ci/quick, .ci/run and .ci/long share: timed steps, builds, and tools.
#
# A script sources it, runs its steps, and ends with `report`. The last line is then "N passed, N failed"; the
# status is 0 if nothing failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
exec </dev/null
export DEBIAN_FRONTEND=noninteractive

# When a test allocates too much memory, heed reports the error, so the sanitizer must not.
export ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

passed=0 failed=0 failures=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

# step NAME COMMAND...: prints a heading, runs the command and prints how long it took. The status is
# the command's.
step() {
    local name=$1 start=$SECONDS status=0
    shift
    printf '\n======== %s\n' "$name"
    "$@" || status=$?
    printf -- '-------- %s: %s, %d s\n' "$name" \
        "$([ $status = 0 ] && echo passed || echo FAILED)" $((SECONDS - start))
    [ $status = 0 ] || failures+=("$name")
    return $status
}

# check NAME COMMAND...: runs a step that counts as one test.
check() {
    if step "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# tests NAME BUILD COMMAND...: runs a step that runs meson tests in BUILD, and counts its tests.
tests() {
    local name=$1 results=$2/meson-logs/testlog.json status=0 p=0 f=0 s=0
    shift 2
    rm -f "$results"
    step "$name" "$@" || status=1
    if [ -f "$results" ]; then read -r p f s < <(tools/runs/sum_tests "$results"); fi
    if [ $status != 0 ] && [ "$f" = 0 ]; then f=1; fi
    echo "$name: $p passed, $f failed, $s skipped"
    if [ "$f" != 0 ] && [ -f "$results" ]; then failures+=("$(tools/runs/sum_tests --failed "$results")"); fi
    passed=$((passed + p)) failed=$((failed + f))
}

report() {
    printf '\n%d s in all\n' "$SECONDS"
    [ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ] && [ ${#failures[@]} = 0 ]
}

# ---------------------------------------------------------------- tools

# installed PACKAGE...: installs those of Debian's packages that are missing. It is a separate step, so that no
# other step waits for a package server.
installed() {
    local missing=() package
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    echo "installing: ${missing[*]}"
    { apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
        { cat "$log"; return 1; }
}

# A Python with torch 2.13: the system's, or a virtual environment that pip makes; empty if there is none.
torch_python=
find_torch() {
    local python
    for python in python3 build-torch/bin/python; do
        if "$python" -c 'import torch; assert torch.__version__.startswith("2.13.")' 2>/dev/null; then
            torch_python=$python
            return
        fi
    done
    if { python3 -m venv build-torch && timeout 600 build-torch/bin/pip install torch==2.13.0; } >"$log" 2>&1; then
        torch_python="build-torch/bin/python"
    else
        echo 'no Python here has torch 2.13, and pip cannot install it; the oracle is skipped:'
        tail -n 5 "$log"
    fi
}

# with_torch COMMAND...: runs a Python script with torch, if there is one.
with_torch() {
    if [ -z "$torch_python" ]; then echo 'skipped: no Python has torch 2.13'; return; fi
    "$torch_python" "$@" >"$log" || { cat "$log"; return 1; }
    tail -n 20 "$log"
}

# ---------------------------------------------------------------- builds and their tests

# The thread sanitizer's fixed layout of memory does not allow many bits of address randomisation.
fixed_addresses=(setarch "$(uname -m)" -R)
"${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()

# compiled BUILD SETUP-ARGUMENTS...: configures a new build, and compiles it without a warning. It makes no pages
# with emcc, which .ci/long asks for.
compiled() {
    local build=$1
    shift
    rm -rf "$build"
    meson setup "$build" --werror -Dtests=enabled -Dexamples=enabled -Dpages=disabled "$@" >"$log" || { cat "$log"; return 1; }
    meson compile -C "$build" >"$log" || { cat "$log"; return 1; }
}

# tested BUILD TEST-ARGUMENTS...: runs meson tests.
tested() {
    local build=$1
    shift
    "${fixed_addresses[@]}" \
        meson test -C "$build" --no-rebuild --print-errorlogs "$@"
}

# in_build BUILD SETUP-ARGUMENTS... -- TEST-ARGUMENTS...: configures, compiles, tests.
in_build() {
    local build=$1 setup=()
    shift
    while [ "$1" != -- ]; do setup+=("$1"); shift; done
    shift
    compiled "$build" "${setup[@]}" && tested "$build" "$@"
}

in_build_of_clang() { CC=clang-14 CXX=clang++-14 in_build "$@"; }

cpu_levels() {
    echo plain
    echo baseline
    [ "$(uname -m)" = x86_64 ] || return 0
    if grep -q -w avx2 /proc/cpuinfo && grep -q -w fma /proc/cpuinfo; then echo avx2; else return 0; fi
    if grep -q -w avx512f /proc/cpuinfo && grep -q -w avx512bw /proc/cpuinfo &&
        grep -q -w avx512dq /proc/cpuinfo && grep -q -w avx512vl /proc/cpuinfo; then
        echo avx512
    fi
}
# The last of them is in use if HEED_CPU is not set.
# shellcheck disable=SC2034
mapfile -t levels < <(cpu_levels)

# computed_with VARIABLE=VALUE...: tests what is computed, in the first build: no files, no ranks, no sources.
computed_with() {
    env "$@" meson test -C build --no-rebuild --print-errorlogs \
        --suite unit --suite cells --no-suite ranks --no-suite faults
}
