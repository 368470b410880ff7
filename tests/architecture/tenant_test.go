package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutTenant lists the files that check whether there is a tenant, because they also work
// without one.
var withoutTenant = map[string]string{
	"pkg/pg/open.go":                                  "a connection without a tenant sees no rows",
	"pkg/rpc/client/client.go":                        "a call without a tenant goes out without one",
	"pkg/tenantclock/tenantclock.go":                  "work without a tenant has the real time",
	"pkg/obs/log.go":                                  "a line without a tenant is written without one",
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

// namesTenant matches the names of parameters for the id of a tenant.
var namesTenant = regexp.MustCompile(`(?i)^(of)?tenant(id)?$`)

// A context already has the tenant, because row-level security reads it from there. A tenant beside the
// context could be another one.
func TestNoSignatureHasAContextAndATenant(t *testing.T) {
	t.Parallel()
	signatures := 0
	eachFile(t, func(name, path string) {
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			signature, ok := n.(*ast.FuncType)
			if !ok || !takesContext(signature) {
				return true
			}
			signatures++
			for _, field := range signature.Params.List {
				for _, parameter := range field.Names {
					assert.False(t, namesTenant.MatchString(parameter.Name) && isName(field.Type, "int64"),
						"%s:%d: use tenant.Of(ctx), and let callers pass tenant.With(ctx, id)", name, positions.Position(parameter.Pos()).Line)
				}
			}
			return true
		})
	})
	assert.Greater(t, signatures, 1000, "signatures with a context")
}

func takesContext(signature *ast.FuncType) bool {
	return slices.ContainsFunc(signature.Params.List, func(field *ast.Field) bool {
		typ, ok := field.Type.(*ast.SelectorExpr)
		return ok && typ.Sel.Name == "Context" && isName(typ.X, "context")
	})
}
