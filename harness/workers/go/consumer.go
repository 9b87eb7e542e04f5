package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// consumerSettings is what `start-consumer` gets.
type consumerSettings struct {
	Name            string                     `json:"name"`
	Group           string                     `json:"group"`
	Nameserver      string                     `json:"nameserver"`
	Namespace       string                     `json:"namespace"`
	ClientIp        string                     `json:"client_ip"`
	Instance        string                     `json:"instance"`
	Subscribe       map[string]expression      `json:"subscribe"`
	Settings        map[string]json.RawMessage `json:"settings"`
	Api             string                     `json:"api"`
	Model           string                     `json:"model"`
	Listener        string                     `json:"listener"`
	ConsumeFrom     string                     `json:"consume_from"`
	Strategy        strategy                   `json:"strategy"`
	Behaviour       behaviour                  `json:"behaviour"`
	Access          access                     `json:"access"`
	RetryDelayLevel int                        `json:"retry_delay_level"`
	// Other consumers of this host never share its offsets: the path of their file has the client id, with the pid.
	OffsetsOfHost bool `json:"offsets_of_host"`
}

// expression is a tag expression, or SQL: `{"sql": "a = 1"}`.
type expression struct{ consumer.MessageSelector }

func (expression *expression) UnmarshalJSON(data []byte) error {
	var tags string
	if json.Unmarshal(data, &tags) == nil {
		expression.MessageSelector = consumer.MessageSelector{Type: consumer.TAG, Expression: tags}
		return nil
	}
	var by struct {
		Sql string `json:"sql"`
	}
	if err := json.Unmarshal(data, &by); err != nil {
		return err
	}
	expression.MessageSelector = consumer.MessageSelector{Type: consumer.SQL92, Expression: by.Sql}
	return nil
}

var consumesFrom = map[string]consumer.ConsumeFromWhere{
	"":             consumer.ConsumeFromFirstOffset,
	"first-offset": consumer.ConsumeFromFirstOffset,
	"last-offset":  consumer.ConsumeFromLastOffset,
	"timestamp":    consumer.ConsumeFromTimestamp,
}

var statuses = map[consumer.ConsumeResult]string{
	consumer.ConsumeSuccess:             "CONSUME_SUCCESS",
	consumer.ConsumeRetryLater:          "RECONSUME_LATER",
	consumer.SuspendCurrentQueueAMoment: "SUSPEND_CURRENT_QUEUE_A_MOMENT",
}

// pushConsumer is a push consumer of the client's, with a listener that reports every message.
type pushConsumer struct {
	wanted   consumerSettings
	client   rocketmq.PushConsumer
	listener *listener
	counts   *pullCounts
}

func newPushConsumer(wanted consumerSettings, events *eventPipe) (*pushConsumer, error) {
	made := &pushConsumer{
		wanted: wanted, listener: newListener(wanted.Name, events, wanted.Behaviour),
		counts: &pullCounts{byTopic: map[string]*pullCount{}},
	}
	if wanted.Api != "" && wanted.Api != "push" {
		return nil, refuse("rocketmq-client-go has no `api: %s` here", wanted.Api)
	}
	model := consumer.Clustering
	if wanted.Model == "broadcasting" {
		model = consumer.BroadCasting
	}
	options := []consumer.Option{
		consumer.WithGroupName(wanted.Group),
		consumer.WithNameServer(nameServers(wanted.Nameserver)),
		consumer.WithInstance(instanceName(wanted.ClientIp, wanted.Instance)),
		consumer.WithConsumerModel(model),
		consumer.WithConsumerOrder(wanted.Listener == "orderly"),
		consumer.WithConsumeFromWhere(consumesFrom[wanted.ConsumeFrom]),
		consumer.WithNamespace(wanted.Namespace),
		consumer.WithCredentials(wanted.Access.credentials()),
	}
	options = append(options, counting(made.counts)...)
	allocate, err := wanted.Strategy.allocate()
	if err != nil {
		return nil, err
	}
	options = append(options, consumer.WithStrategy(allocate))
	for name, value := range wanted.Settings {
		option, err := setting(name, value)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
	}
	if made.client, err = rocketmq.NewPushConsumer(options...); err != nil {
		return nil, refusedBy(err)
	}
	for topic, by := range wanted.Subscribe {
		if err := made.subscribe(topic, by); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// setting is what the client has for a property of DefaultMQPushConsumer.
func setting(name string, value json.RawMessage) (consumer.Option, error) {
	if option := newerSetting(name, value); option != nil {
		return option, nil
	}
	var number int
	if err := json.Unmarshal(value, &number); err != nil {
		return nil, refuse("rocketmq-client-go takes no %s for `%s`", value, name)
	}
	switch name {
	case "maxReconsumeTimes":
		return consumer.WithMaxReconsumeTimes(int32(number)), nil
	case "consumeMessageBatchMaxSize":
		return consumer.WithConsumeMessageBatchMaxSize(number), nil
	case "pullInterval":
		return consumer.WithPullInterval(time.Duration(number) * time.Millisecond), nil
	}
	return nil, refuse("rocketmq-client-go has no setting `%s` in this version", name)
}

func (made *pushConsumer) clientId() string {
	return clientId(made.wanted.ClientIp, made.wanted.Instance)
}

func (made *pushConsumer) start() error {
	if err := made.client.Start(); err != nil {
		return refusedBy(err)
	}
	return nil
}

// stop shuts it down gracefully; the client doesn't wait for a listener that is at work.
func (made *pushConsumer) stop() error {
	err := made.client.Shutdown()
	made.listener.abandon()
	if err != nil {
		return refusedBy(err)
	}
	return nil
}

func (made *pushConsumer) subscribe(topic string, by expression) error {
	if err := made.client.Subscribe(topic, by.MessageSelector, made.consume); err != nil {
		return refusedBy(err)
	}
	return nil
}

func (made *pushConsumer) unsubscribe(topic string) error {
	if err := made.client.Unsubscribe(topic); err != nil {
		return refusedBy(err)
	}
	return nil
}

// suspends is what a push consumer can do since 2.1.1.
type suspends interface {
	Suspend()
	Resume()
}

func (made *pushConsumer) suspend() (fields, error) {
	able, is := made.client.(suspends)
	if !is {
		return nil, refuse("this version of rocketmq-client-go can't suspend a consumer")
	}
	able.Suspend()
	return nil, nil
}

func (made *pushConsumer) resume() (fields, error) {
	able, is := made.client.(suspends)
	if !is {
		return nil, refuse("this version of rocketmq-client-go can't resume a consumer")
	}
	able.Resume()
	return nil, nil
}

func (made *pushConsumer) releaseListener() (fields, error) {
	made.listener.release()
	return nil, nil
}

// wantedPanic is that of a listener that fails by an exception, as its scenario says.
const wantedPanic = "the listener fails, as its scenario says"

// consume is what the listener answers.
func (made *pushConsumer) consume(
	ctx context.Context, messages ...*primitive.MessageExt,
) (result consumer.ConsumeResult, err error) {
	success, failure := consumer.ConsumeSuccess, consumer.ConsumeRetryLater
	if made.wanted.Listener == "orderly" && made.listener.behaviour.By != "retry-later" {
		failure = consumer.SuspendCurrentQueueAMoment
	}
	defer func() {
		if defect := recover(); defect != nil {
			if defect == wantedPanic {
				panic(defect)
			}
			made.listener.events.emit(
				"listener-error", fields{"consumer": made.wanted.Name, "error": fmt.Sprint(defect)},
			)
			result = failure
		}
	}()
	broker := ""
	if concurrently, there := primitive.GetConcurrentlyCtx(ctx); there {
		concurrently.DelayLevelWhenNextConsume = made.wanted.RetryDelayLevel
		broker = concurrently.MQ.BrokerName
	} else if orderly, there := primitive.GetOrderlyCtx(ctx); there {
		broker = orderly.MQ.BrokerName
	}
	succeeds, gone := made.listener.receive(messages, broker)
	if gone {
		return failure, nil
	}
	if result = failure; succeeds {
		result = success
	}
	if !succeeds && made.listener.behaviour.By == "exception" {
		made.listener.report(messages, "PANIC")
		panic(wantedPanic)
	}
	status := statuses[result]
	if made.wanted.Listener == "orderly" && succeeds {
		status = "SUCCESS"
	}
	made.listener.report(messages, status)
	return result, nil
}

type pullCount struct{ found, passed int }

// pullCounts counts, by topic, the pulls that brought messages, and what the client's own filter let through.
type pullCounts struct {
	lock    sync.Mutex
	byTopic map[string]*pullCount
}

func (counts *pullCounts) of(topic string) fields {
	counts.lock.Lock()
	defer counts.lock.Unlock()
	counted := counts.byTopic[topic]
	if counted == nil {
		counted = &pullCount{}
	}
	return fields{"found_pulls": counted.found, "passed_messages": counted.passed}
}
