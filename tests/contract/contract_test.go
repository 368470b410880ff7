package contract_test

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// only is a text in the paths of the cases to run; every path contains "".
var only = flag.String("case", "", "run the cases whose path contains this")

func TestStandalone(t *testing.T) {
	t.Parallel()
	runAll(t, launch.Standalone(t).Target(t), &passed{})
}

func TestSeparateProcesses(t *testing.T) {
	t.Parallel()
	deployment := launch.Deployed(t)
	var ran passed
	t.Run("cases", func(t *testing.T) { runAll(t, launch.Login(t, deployment.Client, deployment.Ready), &ran) })
	requireAudited(t, deployment, ran.cases)
}

// The programs have fewer database sessions than connections, and get another session for each
// transaction.
func TestBehindPooler(t *testing.T) {
	t.Parallel()
	deployment := launch.DeployedBehindPooler(t)
	runAll(t, launch.Login(t, deployment.Client, deployment.Ready), &passed{})
}

// passed holds the cases that ran to their end.
type passed struct {
	mu    sync.Mutex
	cases []contract.Case
}

func (p *passed) add(c contract.Case) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cases = append(p.cases, c)
}

// runAll starts the cases, and records those that pass. They have ended when t has ended.
func runAll(t *testing.T, target contract.Target, p *passed) {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(c contract.Case) bool { return !strings.Contains(c.Path, *only) })
	require.NotEmpty(t, all, "no path of a case below tests/contract/cases contains %q", *only)
	for _, c := range all {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, contract.Run(t.Context(), target, c), c.Name)
			p.add(c)
		})
	}
}
