package reads

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const tracing = "tracing"

// tracingFigure compares the processor time of a GET of a shift template in a process that sends
// traces, with the default share of requests, and in a process that sends none.
func tracingFigure(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	receiver, err := startReceiver(h)
	if err != nil {
		return nil, err
	}
	traced, err := templateGetter(h, "--tracing-endpoint", "http://"+receiver.address, "--admin-profiles", "--admin-address", o.Profiles)
	if err != nil {
		return nil, err
	}
	untraced, err := templateGetter(h)
	if err != nil {
		return nil, err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, traced.round, untraced.round)
	if err != nil {
		return nil, err
	}
	if receiver.count.Load() == 0 {
		return nil, errors.New("no trace was sent")
	}
	return []harness.Figure{{
		Name: tracing, Unit: "µs", Measured: samples[0], Baseline: samples[1], AtMost: 1.15,
		Note: "processor time of a GET, PostgreSQL included; the default share of requests is traced",
	}}, nil
}

// templateGetter starts a standalone process, creates a shift template and returns a getter of it.
func templateGetter(h *harness.Host, settings ...string) (*getter, error) {
	server := launch.Standalone(h, append([]string{"--log-level", "warn"}, settings...)...)
	api := scenario.API{Target: server.Target(h)}
	objects, err := smallObjects(h.Context(), api)
	if err != nil {
		return nil, err
	}
	postmaster, err := harness.FirstNumber(filepath.Join(server.StateDir, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		return nil, err
	}
	return &getter{
		client: concurrentClient(api.Client), url: api.BaseURL + objects[0].path, token: api.Token,
		used: func() (time.Duration, error) { return harness.ProcessorTimes(server.Process.Process.Pid, postmaster) },
	}, nil
}

// receiver accepts traces like an OpenTelemetry collector, and counts the requests.
type receiver struct {
	collectorv1.UnimplementedTraceServiceServer

	address string
	count   atomic.Int64
}

func startReceiver(h *harness.Host) (*receiver, error) {
	listener, err := new(net.ListenConfig).Listen(h.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r, server := &receiver{address: listener.Addr().String()}, grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, r)
	go func() {
		if err := server.Serve(listener); err != nil {
			h.Errorf("receive traces: %v", err)
		}
	}()
	h.Cleanup(server.Stop)
	return r, nil
}

// Export counts a request.
func (r *receiver) Export(context.Context, *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	r.count.Add(1)
	return &collectorv1.ExportTraceServiceResponse{}, nil
}
