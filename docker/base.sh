#!/usr/bin/env bash
# Makes rocketchaos/base:bookworm with debootstrap, for machines that reach a Debian mirror but no image registry:
# Debian with all that the Dockerfiles here would install, so that building from it needs no network.
# Usage: docker/base.sh [LABEL=VALUE]     MIRROR=URL names another mirror than debootstrap's own.
set -euo pipefail

image=rocketchaos/base:bookworm
packages=openjdk-17-jre-headless,python3,python3-venv,iptables,iproute2,ca-certificates

fail() {
    echo "$image can't be made: $1" >&2
    exit 4
}
[[ $(id -u) == 0 ]] || fail "debootstrap needs root. Run \`sudo $0\`, or pull debian:bookworm-slim."
command -v docker > /dev/null || fail "there is no program \`docker\`. On Debian and Ubuntu: apt install docker.io"
command -v debootstrap > /dev/null || fail "there is no debootstrap. On Debian and Ubuntu: apt install debootstrap"

folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT

# debootstrap writes a line for each of two hundred packages.
debootstrap --variant=minbase --include="$packages" bookworm "$folder/root" ${MIRROR:+"$MIRROR"} > "$folder/log" || {
    tail -n 20 "$folder/log" >&2
    fail "debootstrap failed. MIRROR=URL names another Debian mirror."
}
find "$folder"/root/var/cache/apt "$folder"/root/var/lib/apt/lists "$folder"/root/usr/share/{locale,man} -type f -delete
find "$folder"/root/usr/share/doc -type f ! -name copyright -delete

tar --directory "$folder/root" --create . | docker import ${1:+--change "LABEL $1"} - "$image" > /dev/null
