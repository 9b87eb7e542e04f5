package main

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// behaviour is what a listener does with its messages, as scenarios say it.
type behaviour struct {
	Fail   int32    `json:"fail"`
	By     string   `json:"by"`
	Block  blockSet `json:"block"`
	SlowMs int      `json:"slow_ms"`
	Only   []string `json:"only"`
}

// concerns says whether the listener fails and is slow on the message with this key.
func (behaves behaviour) concerns(key string) bool {
	for _, item := range behaves.Only {
		if item == key {
			return true
		}
	}
	return len(behaves.Only) == 0
}

// blockSet is the keys of the messages on which a listener blocks: a list, or `all`.
type blockSet struct {
	all  bool
	keys map[string]bool
}

func (block *blockSet) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		block.all = word == "all"
		return nil
	}
	var keys []string
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	block.keys = map[string]bool{}
	for _, key := range keys {
		block.keys[key] = true
	}
	return nil
}

// listener reports each message of one consumer, and behaves as the scenario says.
type listener struct {
	name      string
	events    *eventPipe
	behaviour behaviour
	released  chan struct{}
	abandoned chan struct{}
	releasing sync.Once
	leaving   sync.Once
}

func newListener(name string, events *eventPipe, behaves behaviour) *listener {
	return &listener{
		name: name, events: events, behaviour: behaves,
		released: make(chan struct{}), abandoned: make(chan struct{}),
	}
}

// receive reports messages, and takes the time that it takes. ok: they succeed; gone: the consumer was shut down
// meanwhile, and nothing is reported any more.
func (listener *listener) receive(messages []*primitive.MessageExt, broker string) (ok bool, gone bool) {
	for _, message := range messages {
		event := listener.described(message, broker)
		event["batch"] = len(messages)
		listener.events.emit("received", event)
	}
	for _, message := range messages {
		key, _ := keysOf(message)
		if listener.behaviour.SlowMs > 0 && listener.behaviour.concerns(key) {
			select {
			case <-listener.abandoned:
			case <-time.After(time.Duration(listener.behaviour.SlowMs) * time.Millisecond):
			}
		}
		if (listener.behaviour.Block.all || listener.behaviour.Block.keys[key]) && listener.blocks(message) {
			return false, true
		}
	}
	ok = true
	for _, message := range messages {
		key, _ := keysOf(message)
		ok = ok && (message.ReconsumeTimes >= listener.behaviour.Fail || !listener.behaviour.concerns(key))
	}
	return ok, false
}

// blocks waits for the release; whether the consumer is gone instead.
func (listener *listener) blocks(message *primitive.MessageExt) bool {
	select {
	case <-listener.released:
		return false
	default:
	}
	listener.events.emit("blocked", listener.identity(message))
	select {
	case <-listener.abandoned:
		return true
	case <-listener.released:
		return false
	}
}

func (listener *listener) report(messages []*primitive.MessageExt, status string) {
	for _, message := range messages {
		event := listener.identity(message)
		event["status"] = status
		listener.events.emit("consumed", event)
	}
}

func (listener *listener) release() { listener.releasing.Do(func() { close(listener.released) }) }

func (listener *listener) abandon() { listener.leaving.Do(func() { close(listener.abandoned) }) }

func (listener *listener) identity(message *primitive.MessageExt) fields {
	key, _ := keysOf(message)
	return fields{
		"consumer": listener.name, "key": textOrNull(key),
		"msg_id": message.MsgId, "offset_msg_id": message.OffsetMsgId,
	}
}

// described has the queue from which the message was pulled: that of the retry topic, for a retry.
func (listener *listener) described(message *primitive.MessageExt, broker string) fields {
	event := listener.identity(message)
	_, further := keysOf(message)
	event["topic"] = message.Topic
	event["tag"] = textOrNull(message.GetTags())
	event["keys"] = further
	event["broker"] = broker
	event["queue_id"] = message.Queue.QueueId
	event["offset"] = message.QueueOffset
	event["reconsume_times"] = message.ReconsumeTimes
	return event
}

func keysOf(message *primitive.MessageExt) (first string, further []string) {
	keys := strings.Fields(message.GetKeys())
	if len(keys) == 0 {
		return "", []string{}
	}
	return keys[0], keys[1:]
}

func textOrNull(text string) interface{} {
	if text == "" {
		return nil
	}
	return text
}
