package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only contracts contain the numbers of fields: code finds fields by pkg/protofield or by
// descriptors.
func TestFieldNumbersAreNotTyped(t *testing.T) {
	t.Parallel()
	argument := map[string]int{"AppendTag": 1, "EncodeTag": 0, "ByNumber": 0, "hole": 0, "nested": 0}
	look := func(name, path string) {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		at := func(n ast.Node) string { return fmt.Sprintf("%s:%d", name, fset.Position(n.Pos()).Line) }
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				call, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if i, ok := argument[call.Sel.Name]; ok && len(n.Args) > i {
					assert.False(t, isNumber(n.Args[i]), "%s: %s of a number of a field that is typed; see pkg/protofield", at(n), call.Sel.Name)
				}
			case *ast.CompositeLit:
				list, ok := n.Type.(*ast.ArrayType)
				if !ok || !isFieldNumber(list.Elt) {
					return true
				}
				for _, e := range n.Elts {
					assert.False(t, isNumber(e), "%s: the number of a field is typed; see pkg/protofield", at(e))
				}
			}
			return true
		})
	}
	eachFile(t, look)
	eachModuleFile(t, "gateway", look)
}

func isNumber(e ast.Expr) bool {
	if pair, ok := e.(*ast.KeyValueExpr); ok {
		e = pair.Value
	}
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.INT
}

func isFieldNumber(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Number" || s.Sel.Name == "FieldNumber")
}
