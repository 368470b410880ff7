package operation

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// operator runs the program's commands as an operator does, with a context file of its own.
type operator struct {
	t        *testing.T
	binary   string
	contexts string
}

func newOperator(t *testing.T) operator {
	t.Helper()
	return operator{t, launch.Build(t, "services/standalone/cmd/rotaloom"), filepath.Join(t.TempDir(), "config", "contexts.yaml")}
}

func (o operator) try(args ...string) (out, errs string, code int) {
	o.t.Helper()
	return launch.Run(o.t, o.binary, []string{"ROTALOOM_CONTEXTS=" + o.contexts, "ROTALOOM_LOG_LEVEL=warn"}, args...)
}

// run runs a command and requires its success.
func (o operator) run(args ...string) string {
	o.t.Helper()
	out, errs, code := o.try(args...)
	require.Zero(o.t, code, "%v: %s", args, errs)
	return out
}

// read runs a command, requires its success, and decodes its JSON output.
func (o operator) read(into any, args ...string) {
	o.t.Helper()
	out := o.run(append(args, "--output", "json")...)
	require.NoError(o.t, json.Unmarshal([]byte(out), into), out)
}
