package main

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type fields map[string]interface{}

// eventPipe is the worker's way out: one event a line, stamped when it is written.
type eventPipe struct {
	lock sync.Mutex
	file *os.File
}

func newEventPipe(fd int) *eventPipe {
	syscall.CloseOnExec(fd)
	return &eventPipe{file: os.NewFile(uintptr(fd), "events")}
}

func (events *eventPipe) emit(kind string, data fields) {
	events.lock.Lock()
	defer events.lock.Unlock()
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	event := fields{"mono_ns": monotonicNs(), "wall_ms": time.Now().UnixMilli(), "kind": kind, "data": data}
	if err := encoder.Encode(event); err != nil {
		fail(err)
	}
	if _, err := events.file.Write(line.Bytes()); err != nil {
		os.Exit(1) // the harness is gone
	}
}

// close is for the end: a line that is being written is written to its end, and no other one begins.
func (events *eventPipe) close() {
	events.lock.Lock()
}

// monotonicNs is the clock by which the harness orders the events of all processes of a host.
func monotonicNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		fail(err)
	}
	return now.Nano()
}
