package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rotaloom/rotaloom/tests/bench/baseline"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/bench/link"
	"github.com/rotaloom/rotaloom/tests/bench/reads"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// network is a line between offices.
var network = link.Shape{Rate: 100_000_000, Delay: 20 * time.Millisecond, Queue: 100 * time.Millisecond}

// networkReads measures schedule reads of a client in a network namespace of its own.
func networkReads(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	l, err := link.Open(network)
	if errors.Is(err, link.ErrUnavailable) {
		return []harness.Figure{
			{Name: reads.ReadNetwork, AtMost: reads.NetworkTarget, NotMeasured: err.Error()},
			{Name: reads.ReadNetworkCompressed, AtMost: reads.CompressedNetworkTarget, NotMeasured: err.Error()},
		}, nil
	}
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() {
		if err := l.Close(); err != nil {
			h.Errorf("close the link: %v", err)
		}
	})
	settings := []string{"--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles, "--listen", net.JoinHostPort(link.ServerAddress, "0")}
	server := launch.Standalone(h, settings...)
	if err := dialAs(server, new(net.Dialer).DialContext); err != nil {
		return nil, err
	}
	t, err := baseline.Beside(scenario.API{Target: server.Target(h)}, server)
	if err != nil {
		return nil, err
	}
	return reads.ScheduleFigures(h, o, reads.ReadNetwork, t, func() (baseline.Target, error) {
		server.Stop(h)
		server = launch.StandaloneIn(h, server.StateDir, nil, settings...)
		if err := dialAs(server, l.DialContext); err != nil {
			return t, err
		}
		t, err := baseline.Beside(scenario.API{Target: server.Target(h)}, server)
		t.Host = link.ServerAddress
		return t, err
	})
}

// dialAs makes the client of a server connect to the servers' end of the link with a dialer. The
// name in URLs stays localhost, which is the name in the certificates.
func dialAs(server *launch.Server, dial func(ctx context.Context, network, address string) (net.Conn, error)) error {
	address, err := url.Parse(server.BaseURL)
	if err != nil {
		return err
	}
	server.BaseURL = "https://localhost:" + address.Port()
	server.Client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return dial(ctx, network, net.JoinHostPort(link.ServerAddress, port))
	}
	return nil
}
