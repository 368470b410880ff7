package main

import (
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
)

// memory returns a response that was stored in it: the cost of a response without the cost of
// producing it.
type memory struct {
	body  atomic.Pointer[[]byte]
	chunk int
}

func (m *memory) putObject(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.body.Store(&body)
	w.WriteHeader(http.StatusNoContent)
}

// ServeHTTP writes the response in chunks, as the handler of shifts does.
func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body := m.body.Load()
	if body == nil {
		http.Error(w, "nothing was put here", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	for rest := *body; len(rest) > 0; {
		n := min(max(m.chunk, 1), len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			slog.Error("response", "error", err)
			panic(http.ErrAbortHandler)
		}
		rest = rest[n:]
	}
}
