# Sees to a container engine; sourced by .ci/run.

engine_log=build/dockerd.log
engine_limit_s=60
dockerd_pid=

# Prints what answers, or says why nothing does and returns 4.
engine_answers() {
    .venv/bin/python - << 'PYTHON'
import sys

from rocketchaos.harness.containers.container_engine import connect
from rocketchaos.harness.core.errors import EnvironmentNotReady

try:
    print(connect().description)
except EnvironmentNotReady as refusal:
    print(refusal.message)
    sys.exit(4)
PYTHON
}

can_install() {
    [[ $(id -u) == 0 ]] && command -v apt-get > /dev/null
}

install() {
    echo "Installing $* ..."
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" > /dev/null
}

# The first of these packages that apt knows.
known_package() {
    local name
    for name in "$@"; do
        if apt-cache show "$name" > /dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

# Prints what the images and the tests need in addition to the engine, and this machine lacks.
missing_tools() {
    command -v debootstrap > /dev/null || echo debootstrap
    command -v docker > /dev/null || known_package docker-cli docker.io
    if ! docker compose version > /dev/null 2>&1 && ! command -v docker-compose > /dev/null; then
        known_package docker-compose-plugin docker-compose-v2 docker-compose
    fi
}

# Tests report what is missing.
install_tools() {
    can_install && [[ -n $(missing_tools) ]] || return 0
    apt-get update -qq
    # shellcheck disable=SC2046 # one word each
    install $(missing_tools)
}

# Sees to it that an engine answers; where none can, `engine_refusal` says why.
start_engine() {
    local code=0
    engine_refusal=$(engine_answers) || code=$?
    if ((code == 0)); then
        echo "The engine that runs here: $engine_refusal"
        install_tools
        return
    fi
    # Anything else is no refusal, but a defect.
    ((code == 4)) || exit "$code"
    if ! can_install; then
        engine_refusal+=", and only root on Debian or Ubuntu can install and start one here"
        return 1
    fi
    if ! command -v dockerd > /dev/null; then
        apt-get update -qq
        install docker.io iptables || {
            engine_refusal="docker.io can't be installed"
            return 1
        }
    fi
    install_tools
    # Where there is a service manager, installing it has started it.
    engine_answers > /dev/null 2>&1 && return
    mkdir -p build
    dockerd > "$engine_log" 2>&1 &
    dockerd_pid=$!
    trap end_engine EXIT
    local deadline=$((SECONDS + engine_limit_s))
    until engine_answers > /dev/null 2>&1; do
        if ! kill -0 "$dockerd_pid" 2> /dev/null || ((SECONDS > deadline)); then
            # Its last message may have several lines.
            engine_refusal="dockerd doesn't start here: $(grep -A 5 'failed to start daemon' "$engine_log" || tail -n 3 "$engine_log")"
            return 1
        fi
        sleep 0.5
    done
    echo "Started an engine: $(engine_answers)"
}

# Ends the engine that was started here, and none other.
end_engine() {
    [[ -n $dockerd_pid ]] || return 0
    kill "$dockerd_pid" 2> /dev/null || true
    wait "$dockerd_pid" || true
    dockerd_pid=
}
