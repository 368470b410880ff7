package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/launch"
)

func TestStandalone(t *testing.T) {
	t.Parallel()
	runAll(t, launch.Standalone(t).Target(t))
}

func TestSeparateProcesses(t *testing.T) {
	t.Parallel()
	deployment := launch.Deployed(t)
	runAll(t, launch.Login(t, deployment.Client, deployment.Ready))
}

func runAll(t *testing.T, target contract.Target) {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	for _, c := range all {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, contract.Run(t.Context(), target, c), c.Name)
		})
	}
}
