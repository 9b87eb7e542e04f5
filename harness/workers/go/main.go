// The `go` worker: apache/rocketmq-client-go v2, in this process. It speaks harness/workers/protocol.py.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Where broadcasting consumers keep their offsets: the client reads it once, before main (consumer.init).
const offsetsVariable = "rocketmq.client.localOffsetStoreDir"

func main() {
	eventsFd := flag.Int("events-fd", -1, "where events are written")
	folder := flag.String("folder", ".", "for all that the client writes")
	flag.Parse()
	offsets := filepath.Join(*folder, "offsets")
	if os.Getenv(offsetsVariable) != offsets {
		restartWith(offsets)
	}
	if err := logInto(filepath.Join(*folder, "rocketmq_client.log")); err != nil {
		fail(err)
	}
	events := newEventPipe(*eventsFd)
	newWorker(events).serve()
}

// restartWith makes this process the same program again, with the folder of the offsets in its environment.
func restartWith(offsets string) {
	program, err := os.Executable()
	if err == nil {
		err = os.Setenv(offsetsVariable, offsets)
	}
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	fail(err)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
