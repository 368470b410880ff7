package launch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// DeployedInPairs is Deployed with two processes of each program, the second one named "auth-2" and
// so on. Callers of a program reach a ready process, as in a cluster.
func DeployedInPairs(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{disposable: true, pairs: true}, append([]string{"ROTALOOM_DRAIN_DELAY=1s"}, settings...))
}

// balancer forwards connections to its ready backends. Existing connections stay with their
// backend.
type balancer struct {
	listener net.Listener
	mu       sync.Mutex
	backends []*backend
	next     atomic.Uint64
}

// backend is a process, with the address of its listener and the address of its readiness.
type backend struct {
	listen, admin string
	ready         atomic.Bool
}

func startBalancer(t testing.TB) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	require.NoError(t, err)
	b := &balancer{listener: listener}
	var accepting sync.WaitGroup
	t.Cleanup(accepting.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // The listener is closed.
			}
			go b.pass(conn)
		}
	})
	return b
}

func (b *balancer) address() string { return b.listener.Addr().String() }

// add adds a process as a backend, which gets connections while it is ready. A program without a
// listener is only watched.
func (b *balancer) add(t testing.TB, listen, admin string) *backend {
	t.Helper()
	added := &backend{listen: listen, admin: admin}
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	t.Cleanup(func() { cancel(); looking.Wait() })
	looking.Go(func() {
		for ctx.Err() == nil {
			added.ready.Store(added.isReady(ctx))
			time.Sleep(pollInterval) // Pause between two polls.
		}
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, added)
	return added
}

func (k *backend) isReady(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.admin+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// pass connects a caller with a backend, until either side ends.
func (b *balancer) pass(caller net.Conn) {
	defer caller.Close()
	for _, chosen := range b.readyBackends() {
		server, err := net.Dial("tcp", chosen.listen)
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(server, caller) // Either side ends the connection for both.
			_ = server.Close()
		}()
		_, _ = io.Copy(caller, server)
		return
	}
}

// readyBackends returns the ready backends, starting with another one each time.
func (b *balancer) readyBackends() []*backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ready []*backend
	for _, k := range b.backends {
		if k.ready.Load() {
			ready = append(ready, k)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	first := int(b.next.Add(1) % uint64(len(ready)))
	return slices.Concat(ready[first:], ready[:first])
}

// startPair starts both processes of a program behind a balancer.
func (d *Deployment) startPair(t testing.TB, b *balancer, name, command string, env []string, listens bool, args ...string) {
	t.Helper()
	for _, process := range []string{name, name + "-2"} {
		admin := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		own := append(slices.Clone(args), "--admin-address", admin)
		listen := ""
		if listens {
			listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
			own = append(own, "--listen", listen)
		}
		d.program(t, process, command, env, own...)
		d.pairs = append(d.pairs, process)
		d.backends[process] = b.add(t, listen, admin)
	}
}

// Pairs returns the names of all processes of DeployedInPairs.
func (d *Deployment) Pairs() []string { return d.pairs }

// awaitPairs waits until all started processes are ready.
func (d *Deployment) awaitPairs(t testing.TB) {
	t.Helper()
	for _, process := range d.pairs {
		d.AwaitReady(t, process)
	}
}

// AwaitReady waits until a process of DeployedInPairs is ready.
func (d *Deployment) AwaitReady(t testing.TB, process string) {
	t.Helper()
	Await(t, startTimeout, process+" is ready", d.backends[process].ready.Load)
}
