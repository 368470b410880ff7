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

// realTimeUsers are the folders and files of services that use the real time also in a sandbox, with
// the reasons.
var realTimeUsers = map[string]string{
	"services/auth/bootstrap.go":                    "audit rows",
	"services/auth/operate.go":                      "audit rows, and the clocks of sandboxes themselves",
	"services/auth/operateusers.go":                 "audit rows",
	"services/auth/tenants.go":                      "audit rows and revoked tokens",
	"services/auth/internal/client/":                "revoked tokens",
	"services/auth/internal/federation/":            "keys and tokens of identity providers",
	"services/auth/internal/loginlimit/":            "password attempts",
	"services/auth/internal/profile/":               "revoked tokens",
	"services/auth/internal/revoked/":               "revoked tokens",
	"services/auth/internal/sandbox/":               "the clocks of sandboxes themselves",
	"services/auth/internal/signing/":               "signing keys",
	"services/auth/internal/token/":                 "tokens and sessions",
	"services/auth/internal/user/escalation.go":     "revoked tokens",
	"services/auth/internal/user/lockout.go":        "revoked tokens, and the sweep of all tenants",
	"services/auth/internal/user/rules.go":          "revoked tokens",
	"services/auth/internal/user/user.go":           "revoked tokens",
	"services/platform/internal/dataaccess/":        "caches",
	"services/platform/internal/delivery/":          "attempts of deliveries",
	"services/platform/internal/idempotency/":       "idempotency keys",
	"services/platform/internal/limit/history.go":   "the history of schedules",
	"services/platform/internal/messaging/":         "the creation of deliveries",
	"services/platform/internal/ratelimit/":         "rates",
	"services/platform/internal/webhook/":           "signatures of messages, and secrets",
	"services/scheduling/operate.go":                "audit rows",
	"services/scheduling/internal/propagation/":     "retention of the history",
	"services/scheduling/internal/schedulepreview/": "the time for which previews are kept, and the default window",
	"services/standalone/":                          "commands of operators, certificates",
}

// Rules of tenants use the clock of the tenant, because a sandbox has its own (decision 158).
func TestServicesReadTheClockOfTheTenant(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	eachFile(t, func(name, path string) {
		if !strings.HasPrefix(name, "services/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.SelectorExpr)
			switch {
			case !ok:
			case isName(called.X, "clock") && called.Sel.Name == "OfTenant":
				return false
			case strings.EqualFold(called.Sel.Name, "Now") && len(call.Args) == 0:
				known := false
				for user := range realTimeUsers {
					if strings.HasPrefix(name, user) {
						known, seen[user] = true, true
					}
				}
				assert.True(t, known, "%s reads the real time: use clock.OfTenant for a rule of a tenant, or give the reason in realTimeUsers", name)
			}
			return true
		})
	})
	for user := range realTimeUsers {
		assert.True(t, seen[user], "%s does not read the time", user)
	}
}
