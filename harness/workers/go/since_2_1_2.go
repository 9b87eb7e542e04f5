//go:build !before_2_1_2

package main

import (
	"encoding/json"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/hooks"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// countsPulls is whether this version of the client has a hook behind its filter.
const countsPulls = true

func counting(counts *pullCounts) []consumer.Option {
	return []consumer.Option{consumer.WithFilterMessageHook([]hooks.FilterMessageHook{counts.count})}
}

func (counts *pullCounts) count(found *hooks.FilterMessageContext) ([]*primitive.MessageExt, error) {
	counts.lock.Lock()
	defer counts.lock.Unlock()
	topic := found.MQ.Topic
	if counts.byTopic[topic] == nil {
		counts.byTopic[topic] = &pullCount{}
	}
	counts.byTopic[topic].found++
	counts.byTopic[topic].passed += len(found.Msg)
	return found.Msg, nil
}

// newerSetting is what only this version of the client has; nil: it has no such setting, or none of such a value.
func newerSetting(name string, value json.RawMessage) consumer.Option {
	var number int
	var text string
	if name == "consumeTimestamp" {
		if json.Unmarshal(value, &text) != nil {
			return nil
		}
		return consumer.WithConsumeTimestamp(text)
	}
	if json.Unmarshal(value, &number) != nil {
		return nil
	}
	switch name {
	case "consumeThreadMin", "consumeThreadMax":
		return consumer.WithConsumeGoroutineNums(number)
	case "pullThresholdForQueue":
		return consumer.WithPullThresholdForQueue(int64(number))
	}
	return nil
}

func (selector *chosenOrNext) Select(
	message *primitive.Message, queues []*primitive.MessageQueue, lastBroker string,
) *primitive.MessageQueue {
	if by := selector.by(message); by != nil {
		return by.Select(message, queues, lastBroker)
	}
	return chosen(message, queues)
}
