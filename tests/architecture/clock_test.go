package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// systemClockUsers lists the files that read the machine's clock, with the reasons.
var systemClockUsers = map[string]string{
	"pkg/clock/clock.go":           "the one place",
	"pkg/pg/pgerr/fault.go":        "the server had no room some seconds ago, for all who use it in the process",
	"pkg/pg/migrate.go":            "the same",
	"pkg/rpc/steps_outer.go":       "deadlines of contexts are the machine's",
	"pkg/replica/replicator.go":    "waits by timers, which are the machine's",
	"pkg/replica/compare.go":       "the same",
	"pkg/replica/copy.go":          "the same",
	"gateway/listener/drain.go":    "deadlines of connections are the machine's",
	"gateway/listener/deadline.go": "the same",
	"gateway/listener/linger.go":   "the same",
	"gateway/chain.go":             "the same: a request's deadline is its connection's",
	"gateway/accesslog.go":         "the same",
}

// Code reads the present time from a clock that it is given, so that tests can choose the time. It
// measures durations with a stopwatch.
func TestTimeIsReadFromAClock(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	look := func(name, path string) {
		if strings.HasPrefix(name, "pkg/testkit/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			x, ok := n.(*ast.SelectorExpr)
			if !ok || !isName(x.X, "time") {
				return true
			}
			switch x.Sel.Name {
			case "Now", "Since", "Until":
				seen[name] = true
				assert.NotEmpty(t, systemClockUsers[name], "%s: time.%s: take a clock.Clock, or a clock.Stopwatch for how long something takes", name, x.Sel.Name)
			}
			return true
		})
	}
	eachFile(t, look)
	eachModuleFile(t, "gateway", look)
	for name := range systemClockUsers {
		assert.True(t, seen[name], "%s asks no machine for the time", name)
	}
}

// ownClocks lists the files that choose the machine's clock.
var ownClocks = map[string]string{
	"pkg/boot/app.go": "what every program begins with",
	"services/standalone/internal/standalone/doctor.go": "a command that runs no program",
	"services/standalone/internal/standalone/certs.go":  "the same",
	"services/standalone/internal/standalone/demo.go":   "the same",
	"services/auth/operate.go":                          "the same",
	"services/scheduling/operate.go":                    "the same",
	"pkg/replica/operate.go":                            "the same",
	"pkg/serve/deadletter.go":                           "the same",
}

// A service gets one clock with its other dependencies, and passes it on.
func TestServicesAreGivenTheirClock(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	look := func(name, path string) {
		if strings.HasPrefix(name, "pkg/testkit/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && isName(x.X, "clock") && x.Sel.Name == "System" {
				seen[name] = true
				assert.NotEmpty(t, ownClocks[name], "%s: take the clock that the service is given", name)
			}
			return true
		})
	}
	eachFile(t, look)
	eachModuleFile(t, "gateway", look)
	for name := range ownClocks {
		assert.True(t, seen[name], "%s chooses no clock", name)
	}
}
