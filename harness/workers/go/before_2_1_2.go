//go:build before_2_1_2

package main

import (
	"encoding/json"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// countsPulls is whether this version of the client has a hook behind its filter.
const countsPulls = false

func counting(*pullCounts) []consumer.Option { return nil }

func newerSetting(string, json.RawMessage) consumer.Option { return nil }

func (selector *chosenOrNext) Select(
	message *primitive.Message, queues []*primitive.MessageQueue,
) *primitive.MessageQueue {
	if by := selector.by(message); by != nil {
		return by.Select(message, queues)
	}
	return chosen(message, queues)
}
