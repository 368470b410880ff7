package bus

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// workers are the goroutines that handle the messages of one session.
type workers struct {
	bus      *Bus
	consumer Consumer
	inFlight inFlight
	incoming chan jetstream.Msg
	wg       sync.WaitGroup

	// stopping is closed when no further message may be started. The handlers' context ends
	// DrainTimeout later.
	stopping chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc
}

func newWorkers(ctx context.Context, b *Bus, c Consumer) *workers {
	w := &workers{
		bus: b, consumer: c,
		inFlight: inFlight{messages: map[jetstream.Msg]struct{}{}},
		incoming: make(chan jetstream.Msg, c.BatchSize),
		stopping: make(chan struct{}),
	}
	// Register the counter at zero: a counter that first appears as 1 shows no increase.
	b.metrics.dead.WithLabelValues(c.Durable)
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for range c.Concurrency {
		w.wg.Go(w.run)
	}
	return w
}

// stop gives the handlers a bounded time to finish, and waits for them. It returns messages that
// were not started to the broker.
func (w *workers) stop() {
	close(w.stopping)
	late := time.AfterFunc(w.consumer.DrainTimeout, w.cancel)
	w.wg.Wait()
	late.Stop()
	w.cancel()
	for {
		select {
		case m := <-w.incoming:
			w.nak(m)
		default:
			return
		}
	}
}

// receive accepts a message from the client library. It blocks while the workers are busy, so that
// the library fetches no more.
func (w *workers) receive(m jetstream.Msg) {
	w.inFlight.add(m)
	select {
	case <-w.stopping:
		w.nak(m)
		return
	default:
	}
	select {
	case w.incoming <- m:
	case <-w.stopping:
		w.nak(m)
	}
}

func (w *workers) nak(m jetstream.Msg) {
	// If this is lost, the broker redelivers the message after AckWait.
	_ = m.Nak()
	w.inFlight.remove(m)
}

func (w *workers) run() {
	for {
		select {
		case <-w.stopping:
			return
		case first := <-w.incoming:
			w.handle(w.nextBatch(first))
		}
	}
}

// nextBatch returns a message together with the messages that wait behind it.
func (w *workers) nextBatch(first jetstream.Msg) []jetstream.Msg {
	fetched := []jetstream.Msg{first}
	for len(fetched) < w.consumer.BatchSize {
		select {
		case m := <-w.incoming:
			fetched = append(fetched, m)
		default:
			return fetched
		}
	}
	return fetched
}
