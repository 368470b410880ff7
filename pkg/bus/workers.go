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

	// stopping is closed when no further message may be begun; the handlers'
	// context ends DrainTimeout later.
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
	// From the beginning, since a counter that first shows as 1 has not grown.
	b.metrics.dead.WithLabelValues(c.Durable)
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for range c.Concurrency {
		w.wg.Go(w.work)
	}
	return w
}

// stop lets the handlers finish, for a bounded time, and returns when they
// have. What was not begun is given back to the broker.
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

// receive takes a message from the client library, which waits while the
// workers are busy and so asks for no more.
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
	// When it does not arrive, the broker finds out after AckWait.
	_ = m.Nak()
	w.inFlight.remove(m)
}

func (w *workers) work() {
	for {
		select {
		case <-w.stopping:
			return
		case first := <-w.incoming:
			w.handle(w.nextBatch(first))
		}
	}
}

// nextBatch returns a message with those that are waiting behind it.
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
