//go:build kubecluster

package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/guides"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// TestCluster installs the product and uses it. Under load, it then upgrades, kills, evicts and
// scales pods, as happens in clusters. No request fails, and no acknowledged change is lost.
func TestCluster(t *testing.T) {
	dir := os.Getenv("ROTALOOM_CLUSTER")
	require.NotEmpty(t, dir, "this needs a cluster around it: make kube-test")
	c := &cluster{dir: dir}
	defer func() {
		if t.Failed() {
			c.report(t)
		}
	}()
	l := &load{tally: &tally{}}
	must := func(step string, do func(t *testing.T)) {
		began := time.Now()
		if !t.Run(step, do) {
			t.FailNow()
		}
		t.Logf("%s: %s", step, time.Since(began).Round(time.Second))
	}
	must("install", func(t *testing.T) { c.install(t); l.ready = c.openRelease(t) })
	must("the first session of README", func(t *testing.T) { l.firstSession(t) })
	must("contract cases of the main job", l.contractCases)
	l.start(t)
	only, err := regexp.Compile(os.Getenv("ROTALOOM_KUBE_STEPS"))
	require.NoError(t, err, "ROTALOOM_KUBE_STEPS")
	for _, step := range []struct {
		name string
		do   func(t *testing.T, l *load)
	}{
		{"upgrade and rollback", c.upgrade},
		{"each pod is killed", c.kill},
		{"evictions are held by the budgets", c.evict},
		{"each node is drained", c.drain},
		{"certificates are renewed", c.renewCertificates},
		{"propagators come and go", c.scale},
	} {
		if !only.MatchString(step.name) {
			t.Logf("%s: left out, as ROTALOOM_KUBE_STEPS says", step.name)
			continue
		}
		must(step.name, func(t *testing.T) {
			step.do(t, l)
			l.requireNone(t)
		})
	}
	must("nothing is lost", func(t *testing.T) {
		l.end()
		l.requireNone(t)
		l.requireKept(t)
		c.verify(t)
	})
}

// install follows the documentation of the chart.
func (c *cluster) install(t *testing.T) {
	// Storage behaves like network storage: each claim gets a volume, on any node.
	for n := range 4 {
		volume := filepath.Join(c.dir, "volumes", fmt.Sprint(n))
		require.NoError(t, os.MkdirAll(volume, 0o755))
		require.NoError(t, os.Chmod(volume, 0o777)) //nolint:gosec // Each image has a user of its own.
		c.apply(t, fmt.Sprintf(`{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "volume-%d"}, "spec": {
			"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": %q}}}`, n, volume), "apply", "--filename", "-")
	}
	c.kubectl(t, "create", "namespace", namespace)
	c.kubectl(t, "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	c.helm(t, "install", release, filepath.Join(launch.Root(t), "deploy/helm/rotaloom"), "--values", "testdata/values.yaml", "--wait", "--timeout", waitTimeout.String())
	c.awaitReady(t)
	for _, pod := range c.pods(t) {
		t.Logf("%s runs on %s, started again %d times", pod.Metadata.Name, pod.Spec.NodeName, pod.restarts())
	}
}

// openRelease returns the first administrator's access to the edge's Service, as the notes of the
// chart describe it.
func (c *cluster) openRelease(t *testing.T) launch.Ready {
	t.Helper()
	var ready launch.Ready
	ready.BaseURL, ready.CAFile = "https://"+host, filepath.Join(c.dir, "ca.pem")
	require.NoError(t, os.WriteFile(ready.CAFile, c.secret(t, release+"-authority")["tls.crt"], 0o600))
	administrator := c.secret(t, release+"-administrator")
	ready.Credentials.Username, ready.Credentials.Password = string(administrator["username"]), string(administrator["password"])
	ready.Credentials.ClientID, ready.Credentials.ClientSecret = string(administrator["client-id"]), string(administrator["client-secret"])
	// A load balancer or an Ingress would provide this name.
	address := c.kubectl(t, "get", "service", release+"-gateway", "--output", "jsonpath={.spec.clusterIP}")
	hosts, err := os.OpenFile("/etc/hosts", os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintln(hosts, address, host)
	require.NoError(t, err)
	require.NoError(t, hosts.Close())
	return ready
}

// firstSession creates the demonstration as an operator does, and runs README's commands.
func (l *load) firstSession(t *testing.T) {
	dir := t.TempDir()
	who := l.ready.Credentials
	binary, contexts := launch.Build(t, "services/standalone/cmd/rotaloom"), []string{"ROTALOOM_CONTEXTS=" + filepath.Join(dir, "contexts.yaml")}
	for _, args := range [][]string{
		{
			"context", "add", "cluster", "--url", l.ready.BaseURL, "--ca-file", l.ready.CAFile, "--client-id", who.ClientID,
			"--client-secret", who.ClientSecret, "--username", who.Username, "--password", who.Password,
		},
		{"demo"},
		{"propagation", "list"},
	} {
		out, errs, code := launch.Run(t, binary, contexts, args...)
		require.Zero(t, code, "%s: %s", args[0], errs)
		t.Log(out)
	}
	// The commands read the file that a local server writes.
	ready, err := json.Marshal(l.ready)
	require.NoError(t, err)
	authority, err := os.ReadFile(l.ready.CAFile)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".state", "tls"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".state", "ready.json"), ready, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".state", "tls", "ca.pem"), authority, 0o600))
	commands := "set -euo pipefail\n" + strings.ReplaceAll(guides.FirstSession(t), guides.Address, l.ready.BaseURL)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", commands)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"shifts":[{`)
	require.Contains(t, string(out), `"state":"`)
	require.NotContains(t, string(out), "errorCode")
}

// contractCases runs contract cases of the main resources.
func (l *load) contractCases(t *testing.T) {
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	_, api, err := l.session(t, false)
	require.NoError(t, err)
	// The cases also expect errors, so the client must not repeat requests.
	api.Client.Transport = connections(t, l.ready, false)
	ran := 0
	t.Run("cases", func(t *testing.T) {
		for _, c := range all {
			for _, of := range []string{"employment_term_schedule_pattern/", "employee_schedule_pattern/", "propagation/", "schedule/"} {
				if strings.HasPrefix(c.Path, "scheduling/"+of) {
					ran++
					t.Run(c.Path, func(t *testing.T) { require.NoError(t, contract.Run(t.Context(), api.Target, c), c.Name) })
				}
			}
		}
	})
	require.Greater(t, ran, 15)
	l.requireNone(t)
}
