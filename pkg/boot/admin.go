package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	adminHeaderTimeout = 5 * time.Second
	adminStopTimeout   = 2 * time.Second
)

// AdminHandler answers what operators ask: /livez (the process runs), /readyz
// (it can work; says what fails), /metrics and /debug/pprof/. It belongs on a
// listener of its own that the outside does not reach.
func AdminHandler(ready *Checks, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		// A prober that goes away does not matter.
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { writeReadiness(w, r, ready) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func writeReadiness(w http.ResponseWriter, r *http.Request, ready *Checks) {
	state, failing := ready.Failing(r.Context())
	w.Header().Set("Content-Type", "application/json")
	if state != StateReady {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	build := CurrentBuild()
	_ = json.NewEncoder(w).Encode(struct {
		State     State             `json:"state"`
		Failing   map[string]string `json:"failing,omitempty"`
		Version   string            `json:"version"`
		TimeZones string            `json:"timeZones"`
	}{state, failing, build.Version, build.TimeZones})
}

// serveAdmin serves until stop is called, and answers where.
func serveAdmin(address string, handler http.Handler) (at net.Addr, stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("admin listener: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: adminHeaderTimeout}
	served := make(chan struct{})
	go func() {
		defer close(served)
		// It ends when it is stopped; the listener works until then.
		_ = server.Serve(listener)
	}()
	return listener.Addr(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), adminStopTimeout)
		defer cancel()
		if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			_ = server.Close()
		}
		<-served
	}, nil
}
