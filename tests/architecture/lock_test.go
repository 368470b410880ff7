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

// lockSQL lists the files that lock with SQL of their own.
var lockSQL = map[string]string{
	"pkg/pg/advisory/lock.go":        "the one place",
	"pkg/testkit/pgtest/database.go": "the database of templates belongs to no service",
}

// Two locks with one name would be one lock. So the names are constants of the type advisory.Lock,
// each name is unique, and no code builds keys in another way.
func TestAdvisoryLocksHaveUniqueNames(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	eachFile(t, func(name, path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BasicLit:
				if lockSQL[name] == "" && x.Kind == token.STRING {
					assert.False(t, strings.Contains(x.Value, "_advisory_"), "%s: use an advisory.Lock", name)
				}
			case *ast.ValueSpec:
				typ, ok := x.Type.(*ast.SelectorExpr)
				if !(ok && typ.Sel.Name == "Lock" && isName(typ.X, "advisory")) && !(strings.HasPrefix(name, "pkg/pg/advisory/") && x.Type != nil && isName(x.Type, "Lock")) {
					return true
				}
				for i := range x.Names {
					value, ok := x.Values[i].(*ast.BasicLit)
					if assert.True(t, ok, "%s: the name of %s is not a constant", name, x.Names[i]) {
						assert.Empty(t, names[value.Value], "%s: the lock %s is there already", name, value.Value)
						names[value.Value] = name
					}
				}
			case *ast.CallExpr:
				if typ, ok := x.Fun.(*ast.SelectorExpr); ok && typ.Sel.Name == "Lock" && isName(typ.X, "advisory") {
					assert.Fail(t, "a lock whose name is not a constant", name)
				}
			}
			return true
		})
	})
	assert.Greater(t, len(names), 10)
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
