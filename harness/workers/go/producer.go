package main

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// producerSettings is what `start-producer` gets.
type producerSettings struct {
	Name             string `json:"name"`
	Group            string `json:"group"`
	Nameserver       string `json:"nameserver"`
	ClientIp         string `json:"client_ip"`
	Instance         string `json:"instance"`
	PollNameServerMs *int   `json:"poll_name_server_ms"`
	Namespace        string `json:"namespace"`
	Access           access `json:"access"`
	Settings         struct {
		Retries int `json:"retryTimesWhenSendFailed"`
		// Each `send` brings it again, as its TimeoutMs.
		SendTimeoutMs int `json:"sendMsgTimeout"`
	} `json:"settings"`
}

// outgoing is a message to be sent, as `send` gets it.
type outgoing struct {
	Name  string  `json:"name"`
	Topic string  `json:"topic"`
	Tag   *string `json:"tag"`
	Key   *string `json:"key"`
	Body  string  `json:"body"`
	Queue *struct {
		Broker string `json:"broker"`
		Id     int    `json:"id"`
	} `json:"queue"`
	TimeoutMs  int               `json:"timeout_ms"`
	Keys       []string          `json:"keys"`
	Properties map[string]string `json:"properties"`
	HashKey    *string           `json:"hash_key"`
	// Batch is the further messages of the same request.
	Batch []struct {
		Tag  *string  `json:"tag"`
		Key  string   `json:"key"`
		Keys []string `json:"keys"`
		Body *string  `json:"body"`
	} `json:"batch"`
	How struct {
		Async      bool `json:"async"`
		Oneway     bool `json:"oneway"`
		DelayLevel int  `json:"delay_level"`
	} `json:"how"`
}

var sendStatuses = map[primitive.SendStatus]string{
	primitive.SendOK:                "SEND_OK",
	primitive.SendFlushDiskTimeout:  "FLUSH_DISK_TIMEOUT",
	primitive.SendFlushSlaveTimeout: "FLUSH_SLAVE_TIMEOUT",
	primitive.SendSlaveNotAvailable: "SLAVE_NOT_AVAILABLE",
}

// The client has RocketMQ's response code in its text alone (rmqClient.ProcessSendResponse).
var codeInText = regexp.MustCompile(`^CODE: (\d+)`)

const callbackLimit = 6 * time.Second

// messageProducer never sends again what was not acknowledged, except as often as its settings have it.
type messageProducer struct {
	wanted producerSettings
	client rocketmq.Producer
}

func newMessageProducer(wanted producerSettings) (*messageProducer, error) {
	if wanted.PollNameServerMs != nil {
		return nil, refuse("rocketmq-client-go asks the name server every 30 s: it has no setting to change that")
	}
	client, err := rocketmq.NewProducer(
		producer.WithGroupName(wanted.Group),
		producer.WithNameServer(nameServers(wanted.Nameserver)),
		producer.WithInstanceName(instanceName(wanted.ClientIp, wanted.Instance)),
		producer.WithRetry(wanted.Settings.Retries),
		producer.WithNamespace(wanted.Namespace),
		producer.WithCredentials(wanted.Access.credentials()),
		producer.WithQueueSelector(&chosenOrNext{
			byHash: producer.NewHashQueueSelector(), next: producer.NewRoundRobinQueueSelector(),
		}),
	)
	if err != nil {
		return nil, refusedBy(err)
	}
	return &messageProducer{wanted: wanted, client: client}, nil
}

func (made *messageProducer) clientId() string {
	return clientId(made.wanted.ClientIp, made.wanted.Instance)
}

func (made *messageProducer) start() error {
	if err := made.client.Start(); err != nil {
		return refusedBy(err)
	}
	return nil
}

func (made *messageProducer) stop() error {
	if err := made.client.Shutdown(); err != nil {
		return refusedBy(err)
	}
	return nil
}

func (made *messageProducer) send(wanted outgoing) (fields, error) {
	messages := wanted.messages()
	limited, cancel := context.WithTimeout(
		context.Background(), time.Duration(wanted.TimeoutMs)*time.Millisecond,
	)
	defer cancel()
	if wanted.How.Oneway {
		if err := made.client.SendOneWay(limited, messages...); err != nil {
			return nil, refusedBy(err)
		}
		// Nothing tells where it is stored; the client itself has given it this id.
		return fields{
			"status": nil, "broker": nil, "queue_id": nil, "queue_offset": nil, "offset_msg_id": nil,
			"msg_id": messages[0].GetProperty(primitive.PropertyUniqueClientMessageIdKeyIndex),
		}, nil
	}
	send := made.client.SendSync
	if wanted.How.Async {
		send = made.sendAsync
	}
	result, err := send(limited, messages...)
	if err != nil {
		failure := refusedBy(err)
		if code := codeInText.FindStringSubmatch(failure.message); code != nil {
			number, _ := strconv.Atoi(code[1])
			failure.code = &number
		}
		return nil, failure
	}
	return fields{
		"status": sendStatuses[result.Status], "broker": result.MessageQueue.BrokerName,
		"queue_id": result.MessageQueue.QueueId, "queue_offset": result.QueueOffset,
		"msg_id": result.MsgID, "offset_msg_id": result.OffsetMsgID,
	}, nil
}

// messages are the one message, or all of a batch.
func (wanted outgoing) messages() []*primitive.Message {
	keys := wanted.Keys
	if wanted.Key != nil {
		keys = append([]string{*wanted.Key}, keys...)
	}
	messages := []*primitive.Message{wanted.message(wanted.Tag, keys, wanted.Body)}
	for _, further := range wanted.Batch {
		body := further.Key
		if further.Body != nil {
			body = *further.Body
		}
		keys := append([]string{further.Key}, further.Keys...)
		messages = append(messages, wanted.message(further.Tag, keys, body))
	}
	return messages
}

// message is one message, with all that those of a batch have in common.
func (wanted outgoing) message(tag *string, keys []string, body string) *primitive.Message {
	message := primitive.NewMessage(wanted.Topic, []byte(body))
	if tag != nil {
		message.WithTag(*tag)
	}
	if len(keys) > 0 {
		message.WithKeys(keys)
	}
	for name, value := range wanted.Properties {
		message.WithProperty(name, value)
	}
	if wanted.HashKey != nil {
		message.WithShardingKey(*wanted.HashKey)
	}
	if wanted.How.DelayLevel > 0 {
		message.WithDelayTimeLevel(wanted.How.DelayLevel)
	}
	if wanted.Queue != nil {
		message.Queue = &primitive.MessageQueue{
			Topic: wanted.Topic, BrokerName: wanted.Queue.Broker, QueueId: wanted.Queue.Id,
		}
	}
	return message
}

// sendAsync waits for the callback, which the client calls when the context is over, too.
func (made *messageProducer) sendAsync(
	limited context.Context, messages ...*primitive.Message,
) (*primitive.SendResult, error) {
	type outcome struct {
		result *primitive.SendResult
		err    error
	}
	called := make(chan outcome, 1)
	err := made.client.SendAsync(limited, func(_ context.Context, result *primitive.SendResult, err error) {
		called <- outcome{result, err}
	}, messages...)
	if err != nil {
		return nil, err
	}
	select {
	case answer := <-called:
		if answer.err == nil && (answer.result == nil || answer.result.MessageQueue == nil) {
			// 2.1.0 does this where a broker refuses the message, and the answer of the broker is lost.
			return nil, refuse("the callback got no error, and a result without a queue")
		}
		return answer.result, answer.err
	case <-time.After(callbackLimit):
		return nil, refuse("the callback was not called within %v", callbackLimit)
	}
}

// chosenOrNext is the queue that a message names, that of its sharding key's hash, or the next one.
type chosenOrNext struct{ byHash, next producer.QueueSelector }

// by is the selector that chooses the queue of a message; nil: the message names its queue.
func (selector *chosenOrNext) by(message *primitive.Message) producer.QueueSelector {
	switch {
	case message.Queue != nil:
		return nil
	case message.GetShardingKey() != "":
		return selector.byHash
	}
	return selector.next
}

func chosen(message *primitive.Message, queues []*primitive.MessageQueue) *primitive.MessageQueue {
	for _, queue := range queues {
		if queue.BrokerName == message.Queue.BrokerName && queue.QueueId == message.Queue.QueueId {
			return queue
		}
	}
	return nil
}
