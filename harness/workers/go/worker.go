package main

import (
	"encoding/json"
	"sync"
)

// worker holds the clients of this process, by the names that the harness gave them.
type worker struct {
	events    *eventPipe
	handlers  map[string]handler
	inTurn    chan func()
	lock      sync.Mutex
	consumers map[string]*pushConsumer
	producers map[string]*messageProducer
}

type named struct {
	Name string `json:"name"`
}

func newWorker(events *eventPipe) *worker {
	made := &worker{
		events:    events,
		inTurn:    make(chan func(), 1024),
		consumers: map[string]*pushConsumer{},
		producers: map[string]*messageProducer{},
	}
	made.handlers = map[string]handler{
		"ping":             func(json.RawMessage) (fields, error) { return nil, nil },
		"start-consumer":   made.startConsumer,
		"stop-consumer":    made.stopConsumer,
		"subscribe":        made.subscribe,
		"unsubscribe":      made.unsubscribe,
		"suspend-consumer": made.ofNamed((*pushConsumer).suspend),
		"resume-consumer":  made.ofNamed((*pushConsumer).resume),
		"release-listener": made.ofNamed((*pushConsumer).releaseListener),
		"pull-counts":      made.pullCounts,
		"start-producer":   made.startProducer,
		"stop-producer":    made.stopProducer,
		"send":             made.send,
		"assignment":       made.ofNamed((*pushConsumer).runningInfo),
		"pull-once":        refused("a push consumer's application doesn't pull"),
		"producer-route":   refused("rocketmq-client-go doesn't tell what it knows of a route"),
	}
	go func() {
		for answer := range made.inTurn {
			answer()
		}
	}()
	return made
}

func refused(why string) handler {
	return func(json.RawMessage) (fields, error) { return nil, refuse("%s", why) }
}

func (worker *worker) startConsumer(with json.RawMessage) (fields, error) {
	var request consumerSettings
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	made, err := newPushConsumer(request, worker.events)
	if err != nil {
		return nil, err
	}
	worker.lock.Lock()
	_, runs := worker.consumers[request.Name]
	if !runs {
		worker.consumers[request.Name] = made
	}
	worker.lock.Unlock()
	if runs {
		return nil, refuse("`%s` runs already in this worker", request.Name)
	}
	if err := made.start(); err != nil {
		worker.lock.Lock()
		delete(worker.consumers, request.Name)
		worker.lock.Unlock()
		return nil, err
	}
	// The client shows its subVersions to brokers alone.
	return fields{"client_id": made.clientId(), "versions": fields{}}, nil
}

func (worker *worker) consumer(name string, take bool) (*pushConsumer, error) {
	worker.lock.Lock()
	defer worker.lock.Unlock()
	found, runs := worker.consumers[name]
	if !runs {
		return nil, refuse("nothing named `%s` runs in this worker", name)
	}
	if take {
		delete(worker.consumers, name)
	}
	return found, nil
}

// ofNamed handles a command with nothing but a consumer's name.
func (worker *worker) ofNamed(answer func(*pushConsumer) (fields, error)) handler {
	return func(with json.RawMessage) (fields, error) {
		var request named
		if err := decode(with, &request); err != nil {
			return nil, err
		}
		found, err := worker.consumer(request.Name, false)
		if err != nil {
			return nil, err
		}
		return answer(found)
	}
}

func (worker *worker) stopConsumer(with json.RawMessage) (fields, error) {
	var request named
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	found, err := worker.consumer(request.Name, true)
	if err != nil {
		return nil, err
	}
	return nil, found.stop()
}

func (worker *worker) subscribe(with json.RawMessage) (fields, error) {
	var request struct {
		named
		Topic      string     `json:"topic"`
		Expression expression `json:"expression"`
	}
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	found, err := worker.consumer(request.Name, false)
	if err != nil {
		return nil, err
	}
	return nil, found.subscribe(request.Topic, request.Expression)
}

func (worker *worker) unsubscribe(with json.RawMessage) (fields, error) {
	var request struct {
		named
		Topic string `json:"topic"`
	}
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	found, err := worker.consumer(request.Name, false)
	if err != nil {
		return nil, err
	}
	return nil, found.unsubscribe(request.Topic)
}

func (worker *worker) pullCounts(with json.RawMessage) (fields, error) {
	if !countsPulls {
		return nil, refuse("this version of rocketmq-client-go counts no pulls")
	}
	var request struct {
		named
		Topic string `json:"topic"`
	}
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	found, err := worker.consumer(request.Name, false)
	if err != nil {
		return nil, err
	}
	return found.counts.of(request.Topic), nil
}

func (worker *worker) startProducer(with json.RawMessage) (fields, error) {
	var request producerSettings
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	made, err := newMessageProducer(request)
	if err != nil {
		return nil, err
	}
	worker.lock.Lock()
	defer worker.lock.Unlock()
	if _, runs := worker.producers[request.Name]; runs {
		return nil, refuse("`%s` runs already in this worker", request.Name)
	}
	if err := made.start(); err != nil {
		return nil, err
	}
	worker.producers[request.Name] = made
	return fields{"client_id": made.clientId()}, nil
}

func (worker *worker) stopProducer(with json.RawMessage) (fields, error) {
	var request named
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	worker.lock.Lock()
	found, runs := worker.producers[request.Name]
	delete(worker.producers, request.Name)
	worker.lock.Unlock()
	if !runs {
		return nil, refuse("nothing named `%s` runs in this worker", request.Name)
	}
	return nil, found.stop()
}

func (worker *worker) send(with json.RawMessage) (fields, error) {
	var request outgoing
	if err := decode(with, &request); err != nil {
		return nil, err
	}
	worker.lock.Lock()
	found, runs := worker.producers[request.Name]
	worker.lock.Unlock()
	if !runs {
		return nil, refuse("nothing named `%s` runs in this worker", request.Name)
	}
	return found.send(request)
}

// shutDown shuts every client down gracefully, at the same time.
func (worker *worker) shutDown() {
	worker.lock.Lock()
	var leaving sync.WaitGroup
	shut := func(stop func() error) {
		leaving.Add(1)
		go func() {
			defer leaving.Done()
			_ = stop()
		}()
	}
	for _, consumer := range worker.consumers {
		shut(consumer.stop)
	}
	for _, producer := range worker.producers {
		shut(producer.stop)
	}
	worker.lock.Unlock()
	leaving.Wait()
}
