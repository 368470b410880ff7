package boot

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	adminHeaderTimeout = 5 * time.Second
	adminReadTimeout   = 10 * time.Second
	// adminWriteTimeout allows a profile of a minute.
	adminWriteTimeout = 90 * time.Second
	adminIdleTimeout  = time.Minute
	adminHeaderBytes  = 16 << 10
	// maxScrapes bounds the concurrent reads of the metrics.
	maxScrapes       = 8
	adminStopTimeout = 2 * time.Second
)

// AdminConfig configures the admin listener.
type AdminConfig struct {
	// Profiles serves /debug/pprof/. All clients that reach the listener can then inspect the
	// process and slow it down; on the loopback, that is every user of the machine.
	Profiles bool `name:"admin-profiles" help:"Serve profiles of the process under /debug/pprof/ of the admin listener, to all clients that reach it."`
	// Hosts are the host names that requests to the listener may use, in addition to addresses and
	// localhost.
	Hosts []string `name:"admin-hosts" help:"Host names that requests to the admin listener may use, in addition to addresses and localhost."`
}

// AdminHandler serves operators: /livez (the process runs), /readyz (it can work, or lists
// failures), /metrics, and profiles if they are enabled. Use it on a separate listener that is not
// reachable from outside.
func AdminHandler(cfg AdminConfig, ready *Checks, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		// A probe that disconnects does not matter.
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { writeReadiness(w, r, ready) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true, // The format with exemplars.
	}))
	if cfg.Profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return byName(cfg.Hosts, mux)
}

// byName rejects requests with other host names than the listener's. Otherwise, a page in an
// operator's browser could read the responses after its name was pointed here (DNS rebinding). An
// address cannot be pointed elsewhere.
func byName(names []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
		known := host == "localhost" || net.ParseIP(host) != nil ||
			slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
		if !known {
			http.Error(w, "This listener does not have that name. Use its address, or see --admin-hosts.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
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
		Notices   map[string]string `json:"notices,omitempty"`
		Version   string            `json:"version"`
		TimeZones string            `json:"timeZones"`
	}{state, failing, ready.Notices(), build.Version, build.TimeZones})
}

// serveAdmin serves until stop is called, and returns the address.
func serveAdmin(address string, handler http.Handler) (at net.Addr, stop func(), err error) {
	listener, err := Listen("--admin-address", address)
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: adminHeaderTimeout, ReadTimeout: adminReadTimeout,
		WriteTimeout: adminWriteTimeout, IdleTimeout: adminIdleTimeout, MaxHeaderBytes: adminHeaderBytes,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		// Serve returns when the server is stopped.
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
