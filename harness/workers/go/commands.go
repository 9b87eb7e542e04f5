package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	terminated      = 128 + int(syscall.SIGTERM)
	lastAnswerLimit = time.Second
)

type command struct {
	Id   int             `json:"id"`
	Do   string          `json:"do"`
	With json.RawMessage `json:"with"`
}

// refusal is what RocketMQ, its client or the network refused; any other error is a defect of this worker.
type refusal struct {
	message string
	code    *int
	// The class of what the client or the network returned; none where this worker refuses.
	exceptions []string
}

func (failure *refusal) Error() string { return failure.message }

func refuse(format string, of ...interface{}) error {
	return &refusal{message: fmt.Sprintf(format, of...)}
}

// refusedBy is what the client returned: its own error, or the network's, which is a Remoting… as in Java.
func refusedBy(err error) *refusal {
	if own, is := err.(*refusal); is {
		return own
	}
	class := strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	class = class[strings.LastIndex(class, ".")+1:]
	var network net.Error
	if errors.As(err, &network) {
		class = "RemotingError"
	}
	return &refusal{message: err.Error(), exceptions: []string{class}}
}

type handler func(with json.RawMessage) (fields, error)

// serve answers commands until standard input closes, which ends the process without goodbyes. SIGTERM ends it
// once every client has shut down.
func (worker *worker) serve() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	lines := make(chan []byte)
	go readLines(lines)
	worker.events.emit("ready", fields{"pid": os.Getpid()})
	var answering sync.WaitGroup
	for {
		select {
		case <-signals:
			worker.shutDown()
			waitAtMost(&answering, lastAnswerLimit)
			worker.events.close()
			os.Exit(terminated)
		case line, open := <-lines:
			if !open {
				os.Exit(0)
			}
			worker.begin(line, &answering)
		}
	}
}

func readLines(lines chan<- []byte) {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			close(lines)
			return
		}
		lines <- line
	}
}

func (worker *worker) begin(line []byte, answering *sync.WaitGroup) {
	var asked command
	if err := json.Unmarshal(line, &asked); err != nil {
		fail(err)
	}
	answering.Add(1)
	answer := func() {
		defer answering.Done()
		worker.answer(asked)
	}
	if asked.Do == "send" {
		worker.inTurn <- answer
	} else {
		go answer()
	}
}

func (worker *worker) answer(asked command) {
	defer func() {
		if defect := recover(); defect != nil {
			worker.defect(asked, fmt.Sprint(defect), string(debug.Stack()))
		}
	}()
	do, known := worker.handlers[asked.Do]
	if !known {
		worker.defect(asked, fmt.Sprintf("this worker has no command `%s`", asked.Do), "")
		return
	}
	result, err := do(asked.With)
	if failure, refused := err.(*refusal); refused {
		worker.events.emit("reply", fields{
			"id": asked.Id, "ok": false, "error": failure.message, "code": failure.code, "defect": false,
			// A nil slice would be null.
			"exceptions": append([]string{}, failure.exceptions...),
		})
	} else if err != nil {
		worker.defect(asked, err.Error(), "")
	} else {
		if result == nil {
			result = fields{}
		}
		worker.events.emit("reply", fields{"id": asked.Id, "ok": true, "result": result})
	}
}

func (worker *worker) defect(asked command, message string, stack string) {
	worker.events.emit("reply", fields{
		"id": asked.Id, "ok": false, "error": message, "code": nil, "defect": true, "traceback": stack,
	})
}

// decode reads what a command gets; unknown fields are refused, not ignored.
func decode(with json.RawMessage, into interface{}) error {
	decoder := json.NewDecoder(bytes.NewReader(with))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && err != io.EOF {
		return refuse("the Go client doesn't take this: %v", err)
	}
	return nil
}

func waitAtMost(group *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
