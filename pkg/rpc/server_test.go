package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

func TestHealthNeedsNoToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "network", rpc.Config{})
	response, err := healthv1.NewHealthClient(f.edge).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, healthv1.HealthCheckResponse_SERVING, response.GetStatus())
	f.stop()
	for _, line := range f.log.lines(t, "rpc") {
		assert.Equal(t, "DEBUG", line["level"], "probes do not fill the log")
	}
}

func TestAStoppingServerLetsCallsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "network", rpc.Config{})
	ended := make(chan error, 1)
	go func() {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "wait"`)
		ended <- err
	}()
	<-f.echo.entered
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		f.stop()
	}()
	// New calls are refused while the old one still runs.
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(f.user(t.Context()), time.Second)
		defer cancel()
		_, err := f.ask(t, ctx, f.edge, askMethod, "")
		return fault.HasStatus(err, 503)
	}, 20*time.Second, time.Millisecond)
	select {
	case <-stopped:
		t.Fatal("the server stopped under a call")
	default:
	}
	close(f.echo.release)
	require.NoError(t, <-ended)
	<-stopped
}

func TestUnknownPeersMayNotConnect(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "network", rpc.Config{})
	target := f.edge.(*grpc.ClientConn).Target()
	listener := fixedAddress(target)

	// Another authority's certificate does not get through the handshake.
	other, err := certs.OpenLocalCA(t.TempDir(), time.Now())
	require.NoError(t, err)
	conn := dial(t, listener, certificates(t, other, "edge").ClientConfig)
	_, err = f.ask(t, f.user(t.Context()), conn, openMethod, "")
	assert.Equal(t, fault.CodeUnavailable, fault.FromError(err).Code)
	assert.Nil(t, f.echo.metadata())
}

func TestClientsMustBeOnTheList(t *testing.T) {
	t.Parallel()
	ca, err := certs.OpenLocalCA(t.TempDir(), time.Now())
	require.NoError(t, err)
	f := newFixture(t, "in process", rpc.Config{})
	server, err := rpc.NewServer(f.chain, certificates(t, ca, "echo").ServerConfig(), false)
	require.NoError(t, err)
	server.RegisterService(f.echo.describe(), f.echo)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener, time.Second) }()
	defer func() { stop(); assert.NoError(t, <-served) }()

	conn := dial(t, listener, certificates(t, ca, "stranger").ClientConfig)
	_, err = f.ask(t, f.user(t.Context()), conn, openMethod, "")
	assert.Equal(t, fault.CodeForbidden, fault.FromError(err).Code)
	assert.Nil(t, f.echo.metadata(), "the handler was not called")

	// Both logs name the certificate and the setting, and so does the caller's readiness.
	said := fmt.Sprint(f.log.lines(t, "a client was rejected because of its certificate"))
	assert.Contains(t, said, "stranger")
	assert.Contains(t, said, "--rpc-clients")
	var log bytes.Buffer
	now := clock.NewFake(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	callee := client.NewPeer("dns:///echo:8443", now, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, callee.Check(t.Context()), "nothing was called")
	dialed, err := client.Dial(client.Config{Target: listener.Addr().String(), TLS: certificates(t, ca, "stranger").ClientConfig, Peer: callee})
	require.NoError(t, err)
	defer dialed.Close()
	for range 2 {
		_, err = f.ask(t, f.user(t.Context()), dialed, openMethod, "")
		require.Error(t, err)
	}
	require.ErrorContains(t, callee.Check(t.Context()), "(stranger, localhost) is in --rpc-clients")
	assert.Equal(t, 1, strings.Count(log.String(), "rejects this process because of its certificate"))

	// A process that is not ready gets no calls, so it must become ready without a call.
	now.Advance(10 * time.Second)
	require.NoError(t, callee.Check(t.Context()))
	_, err = f.ask(t, f.user(t.Context()), dialed, openMethod, "")
	require.Error(t, err)
	require.Error(t, callee.Check(t.Context()))
}

// A connection that ends before the certificate was checked is not a refusal. It may belong to a
// service that stops, or to a balancer without a backend.
func TestAConnectionThatEndsIsNoRefusal(t *testing.T) {
	t.Parallel()
	ca, err := certs.OpenLocalCA(t.TempDir(), time.Now())
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // The listener is closed.
			}
			_ = conn.Close()
		}
	})
	defer func() { _ = listener.Close(); accepting.Wait() }()
	callee := client.NewPeer("dns:///echo:8443", clock.System{}, slog.New(slog.DiscardHandler))
	dialed, err := client.Dial(client.Config{Target: listener.Addr().String(), TLS: certificates(t, ca, "edge").ClientConfig, Peer: callee})
	require.NoError(t, err)
	defer dialed.Close()
	f := newFixture(t, "in process", rpc.Config{})
	_, err = f.ask(t, f.user(t.Context()), dialed, openMethod, "")
	require.ErrorContains(t, err, "authentication handshake failed")
	require.NoError(t, callee.Check(t.Context()))
}

// An edge calls on behalf of any user. So it counts as a service only for operations between
// services that are meant for edges.
func TestAnEdgeIsAServiceBetweenServicesOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "network", rpc.Config{Edges: []string{"edge"}})
	_, err := f.ask(t, t.Context(), f.edge, edgeMethod, "")
	require.NoError(t, err)
	_, err = f.ask(t, t.Context(), f.edge, insideMethod, "")
	assert.True(t, fault.HasStatus(err, 403), "an operation for services only")
	_, err = f.ask(t, f.user(t.Context()), f.edge, askMethod, "")
	require.NoError(t, err)
	_, err = f.ask(t, t.Context(), f.edge, askMethod, "")
	assert.True(t, fault.HasStatus(err, 401), "nobody asks")
	_, err = f.ask(t, f.user(t.Context()), f.edge, writeMethod, "")
	assert.True(t, fault.HasCode(err, fault.CodeNoAccess), "the user is not permitted")
}

func TestNothingIsServedWithoutTLSByAccident(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "in process", rpc.Config{})
	_, err := rpc.NewServer(f.chain, nil, false)
	require.Error(t, err)
	_, err = client.Dial(client.Config{Target: "localhost:1"})
	require.Error(t, err)
	ca, err := certs.OpenLocalCA(t.TempDir(), time.Now())
	require.NoError(t, err)
	_, err = rpc.NewServer(f.chain, certificates(t, ca, "echo").HTTPSConfig(), false)
	require.Error(t, err, "a configuration that does not ask for client certificates")
	_, err = rpc.NewServer(f.chain, nil, true)
	require.NoError(t, err)
}

type fixedAddress string

func (a fixedAddress) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (a fixedAddress) Close() error              { return nil }
func (a fixedAddress) Addr() net.Addr            { return a }
func (a fixedAddress) Network() string           { return "tcp" }
func (a fixedAddress) String() string            { return string(a) }
