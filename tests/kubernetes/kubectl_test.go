//go:build kubecluster

package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const (
	namespace = "rotaloom"
	release   = "rotaloom"
	// waitTimeout bounds how long pods may take to become ready on a loaded machine.
	waitTimeout = 5 * time.Minute
)

// cluster is the cluster that tools/kubernetes/cluster/run.sh has started around this test.
type cluster struct {
	// dir is a folder that all nodes see.
	dir string
}

// tool runs a program and returns its output.
func tool(t *testing.T, stdin, name string, args ...string) (stdout string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// kubectl runs a command in the release's namespace, and requires its success.
func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.apply(t, "", args...)
}

// apply runs kubectl with standard input.
func (c *cluster) apply(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := tool(t, stdin, "kubectl", append([]string{"--namespace", namespace}, args...)...)
	require.NoError(t, err)
	return out
}

// helm runs a command, and requires its success.
func (c *cluster) helm(t *testing.T, args ...string) {
	t.Helper()
	_, err := tool(t, "", "helm", append([]string{"--namespace", namespace}, args...)...)
	require.NoError(t, err)
}

// pod holds the fields of a pod that the tests read.
type pod struct {
	Metadata struct {
		Name, UID         string
		DeletionTimestamp string
		Labels            map[string]string
	}
	Spec   struct{ NodeName string }
	Status struct {
		PodIP             string
		Conditions        []struct{ Type, Status string }
		ContainerStatuses []struct{ RestartCount int }
	}
}

func (p pod) component() string { return p.Metadata.Labels["app.kubernetes.io/component"] }

func (p pod) ready() bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True" && p.Metadata.DeletionTimestamp == ""
		}
	}
	return false
}

func (p pod) restarts() int {
	if len(p.Status.ContainerStatuses) == 0 {
		return 0
	}
	return p.Status.ContainerStatuses[0].RestartCount
}

// pods returns the pods of the release, or of some components. It leaves out pods of jobs.
func (c *cluster) pods(t *testing.T, components ...string) []pod {
	t.Helper()
	selector := "app.kubernetes.io/instance=" + release + ",!batch.kubernetes.io/job-name"
	if len(components) > 0 {
		selector += ",app.kubernetes.io/component in (" + strings.Join(components, ",") + ")"
	}
	var list struct{ Items []pod }
	require.NoError(t, json.Unmarshal([]byte(c.kubectl(t, "get", "pods", "--selector", selector, "--output", "json")), &list))
	return list.Items
}

// awaitReady waits until every Deployment and StatefulSet has its desired state, and no old pod is
// left.
func (c *cluster) awaitReady(t *testing.T) {
	t.Helper()
	for _, workload := range strings.Fields(c.kubectl(t, "get", "deployments,statefulsets", "--output", "name")) {
		c.kubectl(t, "rollout", "status", workload, "--timeout", waitTimeout.String())
	}
	launch.Await(t, waitTimeout, "all pods are ready", func() bool {
		for _, pod := range c.pods(t) {
			if !pod.ready() {
				return false
			}
		}
		return true
	})
}

// secret returns the data of a Secret.
func (c *cluster) secret(t *testing.T, name string) map[string][]byte {
	t.Helper()
	var secret struct{ Data map[string][]byte }
	require.NoError(t, json.Unmarshal([]byte(c.kubectl(t, "get", "secret", name, "--output", "json")), &secret))
	return secret.Data
}

// verification is the JSON output of the operator's command.
type verification struct {
	Different  int `json:"different"`
	Unfinished int `json:"unfinishedPropagations"`
	Copies     []struct {
		Topic string `json:"topic"`
		Keys  int    `json:"differentKeys"`
	} `json:"copies"`
}

// isComplete reports whether everything was compared and nothing differs.
func (v verification) isComplete() bool {
	for _, c := range v.Copies {
		if c.Keys > 0 {
			return false
		}
	}
	return v.Different == 0 && v.Unfinished == 0 && len(v.Copies) > 0
}

// verify waits until all propagations have finished. Then the operator's command compares the
// stored shifts with the rules, and the copies with their owners.
func (c *cluster) verify(t *testing.T) {
	t.Helper()
	var printed string
	defer func() { t.Log(strings.TrimSpace(printed)) }()
	launch.Await(t, waitTimeout, "all propagations have finished, and nothing differs", func() bool {
		out, err := tool(t, "", "kubectl", "--namespace", namespace, "exec", "deployment/"+release+"-propagator", "--", "/propagator", "verify", "--output=json")
		if err != nil {
			printed = err.Error()
			require.NotContains(t, printed, "not what the rules say")
			return false
		}
		printed = out
		var v verification
		require.NoError(t, json.Unmarshal([]byte(out), &v))
		return v.isComplete()
	})
}

// report logs the objects that an operator would look at.
func (c *cluster) report(t *testing.T) {
	for _, args := range [][]string{{"get", "pods", "--output", "wide"}, {"get", "events", "--sort-by", ".lastTimestamp"}} {
		out, err := tool(t, "", "kubectl", append([]string{"--namespace", namespace}, args...)...)
		t.Log(out[max(0, len(out)-6000):], err)
	}
	logs := os.Getenv("ROTALOOM_CLUSTER") + "/log"
	for _, pod := range c.pods(t) {
		for _, previous := range []string{"false", "true"} {
			out, err := tool(t, "", "kubectl", "--namespace", namespace, "logs", "--previous="+previous, pod.Metadata.Name)
			if err == nil {
				require.NoError(t, os.WriteFile(fmt.Sprintf("%s/%s-previous-%s.log", logs, pod.Metadata.Name, previous), []byte(out), 0o600))
			}
		}
	}
}
