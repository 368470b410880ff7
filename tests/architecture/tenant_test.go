package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutTenant lists the files that check whether there is a tenant, because they also work
// without one.
var withoutTenant = map[string]string{
	"pkg/pg/open.go":           "a connection without a tenant sees no rows",
	"pkg/rpc/client/client.go": "a call without a tenant goes out without one",
	"pkg/obs/log.go":           "a line without a tenant is written without one",
	"services/platform/internal/ratelimit/handler.go": "callers who are not known yet have a rate, too",
	"services/platform/internal/ratelimit/store.go":   "without a tenant it is the installation's rate limit",
}

// Code that works for one tenant takes it from tenant.Of, without a check: pkg/rpc refuses calls
// without a tenant. Only code that also works without a tenant checks whether there is one.
func TestOnlyWorkWithoutTenantChecksForOne(t *testing.T) {
	t.Parallel()
	eachFile(t, func(name, path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "From" {
				return true
			}
			if of, ok := call.X.(*ast.Ident); ok && of.Name == "tenant" {
				assert.NotEmpty(t, withoutTenant[name], "%s: use tenant.Of, or say here why there may be no tenant", name)
			}
			return true
		})
	})
}
