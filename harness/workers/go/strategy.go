package main

import (
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// virtualNodes is the default of AllocateMessageQueueConsistentHash; the Go client has none.
const virtualNodes = 10

// strategy is how a member's share of the queues is found.
type strategy struct {
	Name   string `json:"name"`
	Queues []struct {
		Topic  string `json:"topic"`
		Broker string `json:"broker"`
		Id     int    `json:"id"`
	} `json:"queues"`
	Rooms []string `json:"rooms"`
}

func (strategy strategy) allocate() (consumer.AllocateStrategy, error) {
	switch strategy.Name {
	case "", "average":
		return consumer.AllocateByAveragely, nil
	case "average-by-circle":
		return consumer.AllocateByAveragelyCircle, nil
	case "consistent-hash":
		return consumer.AllocateByConsistentHash(virtualNodes), nil
	case "machine-room-nearby":
		return consumer.AllocateByMachineNearby, nil
	case "machine-room":
		return consumer.AllocateByMachineRoom(strategy.Rooms), nil
	}
	if strategy.Name == "by-config" {
		return consumer.AllocateByConfig(strategy.configured()), nil
	}
	return nil, refuse("rocketmq-client-go has no strategy `%s` here", strategy.Name)
}

// configured is the queues that `by-config` names, of every topic.
func (strategy strategy) configured() []*primitive.MessageQueue {
	queues := make([]*primitive.MessageQueue, 0, len(strategy.Queues))
	for _, item := range strategy.Queues {
		queues = append(queues, &primitive.MessageQueue{Topic: item.Topic, BrokerName: item.Broker, QueueId: item.Id})
	}
	return queues
}
