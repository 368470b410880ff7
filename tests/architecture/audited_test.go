package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writesOnPools lists the files that may write on a pool, without a transaction and without
// pg.Unaudited.
var writesOnPools = map[string]string{
	"pkg/pg/unaudited.go":                                "the one place",
	"pkg/pg/txhook.go":                                   "begins the transactions that take the row along",
	"pkg/testkit/pgtest/database.go":                     "makes databases for tests",
	"services/commons/internal/search/query/executor.go": "a read behind the settings that bound it",
}

// writingSQL matches statements that write.
var writingSQL = regexp.MustCompile("(?is)^[`\"]\\s*(INSERT|UPDATE|DELETE|MERGE|TRUNCATE|WITH\\b.*\\b(INSERT INTO|UPDATE|DELETE FROM))\\b")

// Writes go through pg.InTx, which adds their row to the audit log. A write that must not have a
// row goes through pg.Unaudited, with the reason.
func TestWritesAreAudited(t *testing.T) {
	t.Parallel()
	unaudited := 0
	eachFile(t, func(name, path string) {
		if writesOnPools[name] != "" || strings.HasPrefix(name, "services/standalone/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		statements := constants(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if typ, ok := spec.Type.(*ast.SelectorExpr); ok && typ.Sel.Name == "Unaudited" && isName(typ.X, "pg") {
					unaudited++
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isPool(method.X) && !queriesPool(method, call.Args) {
				return true
			}
			switch method.Sel.Name {
			case "Exec", "SendBatch", "CopyFrom", "Begin", "BeginTx":
				assert.Fail(t, "writes on a pool", "%s: %s of a pool: use pg.InTx, or pg.Unaudited with its reason", name, method.Sel.Name)
			case "Query", "QueryRow", "Collect", "CollectOne", "ForEach":
				for _, arg := range call.Args {
					text := statements[lastName(arg)]
					if literal, ok := arg.(*ast.BasicLit); ok {
						text = literal.Value
					}
					assert.False(t, writingSQL.MatchString(text), "%s: %.60s...: use pg.InTx, or pg.Unaudited with its reason", name, text)
				}
			}
			return true
		})
	})
	assert.Greater(t, unaudited, 5)
}

// queriesPool reports whether a call is one of the functions of pkg/pg that query, on a pool.
func queriesPool(function *ast.SelectorExpr, args []ast.Expr) bool {
	return isName(function.X, "pg") && slices.Contains([]string{"Collect", "CollectOne", "ForEach"}, function.Sel.Name) && len(args) > 1 && isPool(args[1])
}

// isPool reports whether an expression has the name that every pool has.
func isPool(x ast.Expr) bool {
	return strings.HasSuffix(strings.ToLower(lastName(x)), "pool")
}

// lastName returns the last name of a variable or of a field.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// constants returns the texts of a file's constants, by their names.
func constants(file *ast.File) map[string]string {
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
						found[name.Name] = literal.Value
					}
				}
			}
		}
		return true
	})
	return found
}
