package throttle

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
)

// counts are the numbers of requests that were admitted, and that each edge refused.
type counts struct {
	admitted int64
	refused  [3]int64
}

func (c counts) since(before counts) counts {
	c.admitted -= before.admitted
	for i := range c.refused {
		c.refused[i] -= before.refused[i]
	}
	return c
}

// refusedEverywhere reports whether each edge has refused at least the given number.
func (c counts) refusedEverywhere(atLeast int64) bool {
	for _, n := range c.refused {
		if n < atLeast {
			return false
		}
	}
	return true
}

// load sends requests to every edge until its end.
type load struct {
	w        *fixture
	admitted atomic.Int64
	refused  [3]atomic.Int64
	done     chan struct{}
	clients  sync.WaitGroup
}

func newLoad(w *fixture) *load {
	l := &load{w: w, done: make(chan struct{})}
	for i, edge := range w.edges {
		for range 2 {
			l.clients.Go(func() { l.ask(i, edge) })
		}
	}
	return l
}

func (l *load) now() (c counts) {
	c.admitted = l.admitted.Load()
	for i := range c.refused {
		c.refused[i] = l.refused[i].Load()
	}
	return c
}

func (l *load) end() {
	close(l.done)
	l.clients.Wait()
}

// ask sends requests to one edge, at the rate that all edges together may admit.
func (l *load) ask(i int, edge string) {
	ticker := time.NewTicker(time.Second / rate)
	defer ticker.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-ticker.C:
		}
		response, _, err := l.w.send(http.MethodGet, edge+path, "")
		switch {
		case !assert.NoError(l.w.t, err):
			return
		case response.StatusCode == http.StatusTooManyRequests:
			l.refused[i].Add(1)
		case assert.Equal(l.w.t, http.StatusNotFound, response.StatusCode): // the template does not exist
			l.admitted.Add(1)
		}
	}
}
