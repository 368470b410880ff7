package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutTenant are the files that ask whether there is a tenant, because they work
// without one as well.
var withoutTenant = map[string]string{
	"pkg/pg/open.go":           "a connection without a tenant sees no rows",
	"pkg/rpc/client/client.go": "a call without a tenant goes out without one",
	"pkg/obs/log.go":           "a line without a tenant is written without one",
	"services/platform/internal/ratelimit/handler.go": "callers who are not known yet have a rate, too",
	"services/platform/internal/ratelimit/store.go":   "without a tenant it is that of the installation",
}

// Work of one tenant takes it from tenant.Of, which needs no branch: pkg/rpc refuses calls
// without a tenant. Only what also works without one asks whether there is one.
func TestOnlyWorkWithoutTenantAsksForOne(t *testing.T) {
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
