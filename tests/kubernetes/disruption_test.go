//go:build kubecluster

package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// programs are the components that run in Deployments, and servers the components that run in
// StatefulSets.
var (
	programs = []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform", "propagator", "gateway"}
	servers  = []string{"nats", "database"}
)

// upgrade replaces every pod by one of another image, and rolls that back. The nodes know each
// image by two tags.
func (c *cluster) upgrade(t *testing.T, _ *load) {
	images := func() []string {
		list := strings.Fields(c.kubectl(t, "get", "deployments", "--output", "jsonpath={.items[*].spec.template.spec.containers[*].image}"))
		require.Len(t, list, len(programs))
		return list
	}
	before := c.pods(t, programs...)
	c.helm(t, "upgrade", release, filepath.Join(launch.Root(t), "deploy/helm/rotaloom"), "--values", "testdata/values.yaml",
		"--set", "image.tag=next", "--wait", "--timeout", waitTimeout.String())
	c.awaitReady(t)
	for _, image := range images() {
		assert.True(t, strings.HasSuffix(image, ":next"), image)
	}
	c.requireReplaced(t, before)
	before = c.pods(t, programs...)
	c.helm(t, "rollback", release, "1", "--wait", "--timeout", waitTimeout.String())
	c.awaitReady(t)
	for _, image := range images() {
		assert.True(t, strings.HasSuffix(image, ":test"), image)
	}
	c.requireReplaced(t, before)
}

// requireReplaced fails if one of the pods still exists.
func (c *cluster) requireReplaced(t *testing.T, before []pod) {
	t.Helper()
	require.NotEmpty(t, before)
	for _, now := range c.pods(t) {
		for _, was := range before {
			assert.NotEqual(t, was.Metadata.UID, now.Metadata.UID, was.Metadata.Name)
		}
	}
}

// kill ends the process of each pod at once, as a crash would, one pod after the other.
func (c *cluster) kill(t *testing.T, l *load) {
	for _, component := range append(slices.Clone(programs), servers...) {
		for _, victim := range c.pods(t, component) {
			t.Run(victim.Metadata.Name, func(t *testing.T) {
				l.podsKilled.Store(component == "gateway")
				processes := firstProcesses(t, victim)
				require.Len(t, processes, 1)
				require.NoError(t, syscall.Kill(processes[0], syscall.SIGKILL))
				launch.Await(t, waitTimeout, "the container is started again", func() bool {
					for _, now := range c.pods(t, component) {
						if now.Metadata.UID == victim.Metadata.UID {
							return now.restarts() > victim.restarts() && now.ready()
						}
					}
					return false
				})
				c.awaitReady(t)
				l.podsKilled.Store(false)
				l.requireNone(t)
			})
		}
	}
}

// firstProcesses returns the first processes of the pod's containers, without the pause process
// that keeps the pod's namespaces. Their child processes, and probes that the kubelet runs, are not
// the first of their namespace.
func firstProcesses(t *testing.T, victim pod) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	var first []int
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", id))
		if err != nil || !strings.Contains(string(groups), "pod"+victim.Metadata.UID) {
			continue // the process has ended, or belongs to another pod
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
		if err != nil {
			continue
		}
		of := map[string][]string{}
		for line := range strings.Lines(string(status)) {
			name, values, _ := strings.Cut(line, ":")
			of[name] = strings.Fields(values)
		}
		// NSpid lists its numbers, the innermost namespace's last.
		if inner := of["NSpid"]; inner[len(inner)-1] == "1" && of["Name"][0] != "busybox" {
			first = append(first, id)
		}
	}
	return first
}

// evict requests the eviction of two pods of each program at once. The second pod must stay until
// the first one is replaced.
func (c *cluster) evict(t *testing.T, l *load) {
	for _, component := range append(slices.Clone(programs), "nats") {
		t.Run(component, func(t *testing.T) {
			pods := c.pods(t, component)
			require.GreaterOrEqual(t, len(pods), 2)
			require.NoError(t, c.tryEvict(t, pods[0]))
			err := c.tryEvict(t, pods[1])
			require.ErrorContains(t, err, "TooManyRequests")
			require.ErrorContains(t, err, "disruption budget")
			launch.Await(t, waitTimeout, "a second pod may be evicted", func() bool { return c.tryEvict(t, pods[1]) == nil })
			c.awaitReady(t)
			c.requireReplaced(t, pods[:2])
			l.requireNone(t)
		})
	}
}

// tryEvict asks the API server for an eviction, as a drain of the node does.
func (c *cluster) tryEvict(t *testing.T, victim pod) error {
	t.Helper()
	name := victim.Metadata.Name
	_, err := tool(t, fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"namespace": %q, "name": %q}}`, namespace, name),
		"kubectl", "create", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", namespace, name), "--filename", "-")
	return err
}

// drain moves all pods off each node in turn.
func (c *cluster) drain(t *testing.T, l *load) {
	for _, node := range []string{"node1", "node2"} {
		t.Run(node, func(t *testing.T) {
			c.kubectl(t, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", waitTimeout.String())
			for _, pod := range c.pods(t) {
				assert.NotEqual(t, node, pod.Spec.NodeName, pod.Metadata.Name)
			}
			c.kubectl(t, "uncordon", node)
			c.awaitReady(t)
			l.requireNone(t)
		})
	}
}
