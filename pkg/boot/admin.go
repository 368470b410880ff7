package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// adminWriteTimeout leaves room for a profile of a minute.
	adminWriteTimeout = 90 * time.Second
	adminIdleTimeout  = time.Minute
	adminHeaderBytes  = 16 << 10
	// maxScrapes is how many readings of the metrics run at a time.
	maxScrapes       = 8
	adminStopTimeout = 2 * time.Second
)

// AdminConfig says what operators may ask, and by which names.
type AdminConfig struct {
	// Profiles serves /debug/pprof/. Whoever reaches the listener can then look into the
	// process, and slow it down; on the loopback that is every user of the machine.
	Profiles bool `name:"admin-profiles" help:"Serve profiles of the process under /debug/pprof/ of the admin listener, to everybody who reaches it."`
	// Hosts are the names by which the listener may be asked, beside addresses and
	// localhost.
	Hosts []string `name:"admin-hosts" help:"Names by which the admin listener may be asked, beside addresses and localhost."`
}

// AdminHandler serves what operators ask: /livez (the process runs), /readyz
// (it can work; says what fails), /metrics, and profiles when they are switched on.
// It belongs on a listener of its own that the outside does not reach.
func AdminHandler(cfg AdminConfig, ready *Checks, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		// A prober that goes away does not matter.
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { writeReadiness(w, r, ready) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true, // The form that has exemplars.
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

// byName refuses requests for other names than those of the listener: a page in an
// operator's browser whose name was made to lead here would otherwise read the responses
// (DNS rebinding). An address is no such name.
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
			http.Error(w, "This listener is not known by that name. Use its address, or see --admin-hosts.", http.StatusMisdirectedRequest)
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

// serveAdmin serves until stop is called, and returns where.
func serveAdmin(address string, handler http.Handler) (at net.Addr, stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("admin listener: %w", err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: adminHeaderTimeout, ReadTimeout: adminReadTimeout,
		WriteTimeout: adminWriteTimeout, IdleTimeout: adminIdleTimeout, MaxHeaderBytes: adminHeaderBytes,
	}
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
