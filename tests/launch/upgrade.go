package launch

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// DeployedOnNewSchema is Deployed with the programs in a folder, from an older version, on
// databases with the schema of the tree.
func DeployedOnNewSchema(t testing.TB, binaries string, settings ...string) *Deployment {
	t.Helper()
	return newDeployed(t, how{disposable: true, binaries: binaries}, settings)
}

// Commands returns the folders of the programs of a deployment.
func Commands() []string {
	list := []string{"gateway/cmd/gateway", "services/scheduling/cmd/propagator"}
	for _, p := range programs {
		list = append(list, p.command)
	}
	return list
}

// UseNewPrograms makes later starts use the programs of the tree.
func (d *Deployment) UseNewPrograms() { d.binaries = "" }

// binary returns the path of a command's program.
func (d *Deployment) binary(t testing.TB, command string) string {
	t.Helper()
	if d.binaries != "" {
		return filepath.Join(d.binaries, filepath.Base(command))
	}
	return Build(t, command)
}

// migrate brings the databases to the schema of the tree.
func (d *Deployment) migrate(t testing.TB) {
	t.Helper()
	for _, p := range programs {
		_, errs, code := Run(t, Build(t, p.command), nil, append([]string{"migrate"}, d.databaseArgs(p.name)...)...)
		require.Zero(t, code, "%s: %s", p.name, errs)
	}
}

// Verify runs the operators' command that compares schedules with the rules, and copies with their
// owners.
func (d *Deployment) Verify(t testing.TB) (stdout, stderr string, code int) {
	t.Helper()
	return Run(t, d.binary(t, "services/scheduling/cmd/propagator"), nil, "verify", "--database-url", d.DatabaseURL("scheduling"), "--nats-url", d.NATSURL())
}
