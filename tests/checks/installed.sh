# shellcheck shell=sh
# Helpers that the checks of an installed heed share. A script that sources this file gets its arguments as variables, a
# temporary folder $work, the version, install_heed and expect.
# usage: . installed.sh SOURCE BUILD PREFIX LIBDIR INCLUDEDIR DATADIR KINDS MESON
#   PREFIX, LIBDIR, INCLUDEDIR, DATADIR   the options of the build
#   KINDS                                 its default_library: shared, static or both
# shellcheck disable=SC2034 # each script uses some of them
source=$1 build=$2 prefix=$3 libdir=$4 includedir=$5 datadir=$6 kinds=$7 meson=$8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$source/meson.build")
built_shared() { [ "$kinds" != static ]; }
built_static() { [ "$kinds" != shared ]; }
# built NAME: the library beside heed, viz, hf, config or mpi, is in the build.
built() { [ -e "$build/meson-private/heed-$1.pc" ]; }

# install_heed ARGUMENTS...: installs under $work/root.
install_heed() {
    rm -rf "$work/root"
    mkdir -p "$work/root$prefix"
    "$meson" install -C "$build" --no-rebuild --destdir "$work/root" "$@" > "$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
}

failed=0
# expect WHAT COMMAND...: the command must succeed; otherwise its output is shown.
expect() {
    what=$1
    shift
    if "$@" > "$work/output" 2>&1; then
        echo "passed: $what"
    else
        echo "FAILED: $what: $*"
        cat "$work/output"
        failed=$((failed + 1))
    fi
}
