// Package architecture checks the rules between the modules: dependencies run one way, and no
// service depends on another.
package architecture

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "github.com/rotaloom/rotaloom/"

// allowed says which of our modules a module may require.
var allowed = map[string][]string{
	"proto":                {},
	"pkg":                  {"proto"},
	"gateway":              {"proto", "pkg"},
	"services/auth":        {"proto", "pkg"},
	"services/commons":     {"proto", "pkg"},
	"services/timekeeping": {"proto", "pkg"},
	"services/scheduling":  {"proto", "pkg"},
	"services/recruiting":  {"proto", "pkg"},
	"services/platform":    {"proto", "pkg"},
	"services/standalone": {
		"proto", "pkg", "gateway", "services/auth", "services/commons", "services/timekeeping", "services/scheduling",
		"services/recruiting", "services/platform",
	},
	"tests": {"proto", "pkg"},
}

func TestDependenciesRunOneWay(t *testing.T) {
	t.Parallel()
	for _, module := range workspace(t) {
		may, known := allowed[module.path]
		if !known {
			t.Errorf("module %s is new: say here what it may require", module.path)
			continue
		}
		for _, required := range requirements(t, module.dir) {
			require.Contains(t, may, required, "module %s must not require %s", module.path, required)
		}
	}
}

// The standalone binary links nats-server and the PostgreSQL launcher; the binary of a service must
// not.
func TestServiceBinariesCarryNoServers(t *testing.T) {
	t.Parallel()
	for _, module := range workspace(t) {
		if !strings.HasPrefix(module.path, "services/") && module.path != "gateway" || module.path == "services/standalone" {
			continue
		}
		out := run(t, module.dir, "go", "list", "-deps", "./cmd/...")
		for _, forbidden := range []string{"github.com/nats-io/nats-server/", root + "pkg/localpg", root + "pkg/localnats", root + "pkg/testkit"} {
			require.NotContains(t, out, forbidden, "a binary of %s links %s", module.path, forbidden)
		}
	}
}

type module struct{ path, dir string }

func workspace(t *testing.T) []module {
	t.Helper()
	var modules []module
	for _, line := range strings.Split(strings.TrimSpace(run(t, ".", "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")), "\n") {
		path, dir, _ := strings.Cut(line, " ")
		modules = append(modules, module{strings.TrimPrefix(path, root), dir})
	}
	require.NotEmpty(t, modules)
	return modules
}

func requirements(t *testing.T, dir string) []string {
	t.Helper()
	var file struct{ Require []struct{ Path string } }
	require.NoError(t, json.Unmarshal([]byte(run(t, dir, "go", "mod", "edit", "-json", filepath.Join(dir, "go.mod"))), &file))
	var ours []string
	for _, r := range file.Require {
		if path, ok := strings.CutPrefix(r.Path, root); ok {
			ours = append(ours, path)
		}
	}
	return ours
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	out, err := command.Output()
	require.NoError(t, err, "%s %v", name, args)
	return string(out)
}
