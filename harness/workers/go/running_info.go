package main

import (
	"reflect"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// runningInfo is what the client would answer a broker that asks for its running info (307). The type of that is
// internal to the client, the method isn't.
func (made *pushConsumer) runningInfo() (fields, error) {
	method := reflect.ValueOf(made.client).MethodByName("GetConsumerRunningInfo")
	if !method.IsValid() {
		return nil, refuse("this version of rocketmq-client-go doesn't tell its queues")
	}
	with := []reflect.Value{}
	if method.Type().NumIn() > 0 { // since 2.1.1: whether to bring a dump of all stacks
		with = append(with, reflect.ValueOf(false))
	}
	info := method.Call(with)[0].Elem()
	queues := []fields{}
	for table := info.FieldByName("MQTable").MapRange(); table.Next(); {
		queue := table.Key().Interface().(primitive.MessageQueue)
		queues = append(queues, fields{
			"topic": queue.Topic, "broker": queue.BrokerName, "queue_id": queue.QueueId,
			"commit_offset": table.Value().FieldByName("CommitOffset").Int(),
			"cached":        table.Value().FieldByName("CachedMsgCount").Int(),
		})
	}
	subscriptions := fields{}
	for _, item := range info.FieldByName("SubscriptionData").MapKeys() {
		data := item.Elem()
		subscriptions[data.FieldByName("Topic").String()] = fields{
			"expression":  data.FieldByName("SubString").String(),
			"type":        data.FieldByName("ExpType").String(),
			"sub_version": data.FieldByName("SubVersion").Int(),
		}
	}
	return fields{"queues": queues, "subscriptions": subscriptions}, nil
}
