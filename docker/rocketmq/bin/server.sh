#!/bin/sh
# One of RocketMQ's servers: server.sh NAME CLASS [ARGUMENT ...]
# JAVA_OPT_EXT comes after the options here, and so wins over them.
set -eu

name=$1
class=$2
shift 2
cd "$ROCKETMQ_HOME/bin"

# The three packages: a 4.9.x broker unmaps its files by reflection (`MappedFile.clean`).
# shellcheck disable=SC2086  # both variables hold several options
exec java \
    -Xmx512m \
    -XX:MaxDirectMemorySize=15g \
    -XX:+UseSerialGC \
    -XX:+ExitOnOutOfMemoryError \
    -XX:-UsePerfData \
    --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
    --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED \
    ${JAVA_OPT:-} \
    ${JAVA_OPT_EXT:-} \
    -cp "../conf:../lib/*" \
    "-Drmq.logback.configurationFile=$ROCKETMQ_HOME/conf/rmq.$name.logback.xml" \
    "$class" "$@"
