package launch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// brokers is the number of NATS servers in a cluster. Each has a copy of every stream.
const brokers = 3

// broker is a NATS server of a cluster.
type broker struct {
	process *Process
	config  string
	port    int
}

// DeployedOnCluster is Deployed with a cluster of three NATS servers, in separate processes.
func DeployedOnCluster(t testing.TB, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{disposable: true, cluster: true},
		append([]string{"ROTALOOM_STREAM_REPLICAS=3", "ROTALOOM_REVOCATION_REPLICAS=3"}, settings...))
}

// startCluster starts the servers and waits until they share streams.
func (d *Deployment) startCluster(t testing.TB) {
	t.Helper()
	routes := make([]string, brokers)
	for i := range routes {
		routes[i] = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	}
	for i := range brokers {
		b := &broker{config: filepath.Join(filepath.Dir(d.natsUsers), fmt.Sprintf("broker-%d.conf", i)), port: freePort(t)}
		require.NoError(t, os.WriteFile(b.config, fmt.Appendf(nil, `server_name: broker-%d
listen: "127.0.0.1:%d"
jetstream: {store_dir: %q, max_memory_store: 64MB, max_file_store: 16GB}
cluster: {name: rotaloom, listen: %q, routes: ["nats://%s"]}
include %s
`, i, b.port, filepath.Join(d.natsDir, fmt.Sprint(i)), routes[i], strings.Join(routes, `", "nats://`), filepath.Base(d.natsUsers)), 0o600))
		d.cluster = append(d.cluster, b)
		d.StartBroker(t, i)
	}
	Await(t, startTimeout, "the cluster has a leader", func() bool {
		js, end := d.jetStream(t)
		defer end()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := js.AccountInfo(ctx)
		return err == nil
	})
}

// Brokers returns the number of NATS servers in the cluster.
func (d *Deployment) Brokers() int { return len(d.cluster) }

// StartBroker starts a NATS server of the cluster, with its earlier data.
func (d *Deployment) StartBroker(t testing.TB, i int) {
	t.Helper()
	d.cluster[i].process = Start(t, natsProgram(t), nil, "--config", d.cluster[i].config)
}

// KillBroker kills a NATS server of the cluster, like a crash.
func (d *Deployment) KillBroker(t testing.TB, i int) {
	t.Helper()
	d.cluster[i].process.Kill(t)
}

// AwaitBrokers waits until every server of the cluster has all messages of every stream.
func (d *Deployment) AwaitBrokers(t testing.TB) {
	t.Helper()
	Await(t, startTimeout, "every server has all of every stream", func() bool {
		js, end := d.jetStream(t)
		defer end()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		streams := js.ListStreams(ctx)
		n := 0
		for stream := range streams.Info() {
			n++
			if stream.Cluster == nil || stream.Cluster.Leader == "" || len(stream.Cluster.Replicas) != brokers-1 {
				return false
			}
			for _, replica := range stream.Cluster.Replicas {
				if !replica.Current || replica.Offline {
					return false
				}
			}
		}
		return streams.Err() == nil && n > 0
	})
}

// jetStream connects to the cluster as an operator.
func (d *Deployment) jetStream(t testing.TB) (js jetstream.JetStream, end func()) {
	t.Helper()
	conn, err := nats.Connect(d.NATSURL(), nats.RetryOnFailedConnect(true))
	require.NoError(t, err)
	js, err = jetstream.New(conn)
	require.NoError(t, err)
	return js, conn.Close
}

// natsProgram returns the path of NATS' own server, in the version that the modules require.
func natsProgram(t testing.TB) string {
	t.Helper()
	find := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(Root(t), "tools", "nats"), "tool", "-n", "nats-server")
	find.Env = append(os.Environ(), "GOWORK=off")
	out, err := find.Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
