package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Table tests run each case with t.Run, so that one can be run alone and a failure
// names it.
func TestTablesRunTheirCases(t *testing.T) {
	t.Parallel()
	tables := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			for _, loop := range findTables(f.Body) {
				tables++
				alone := calls(loop.Body, "Run") || !calls(loop.Body, "")
				assert.True(t, alone, "%s: run each case with t.Run", files.Position(loop.Pos()))
			}
		}
		return nil
	}))
	assert.Greater(t, tables, 100)
}

// findTables returns the loops over the cases of tables in a test.
func findTables(body *ast.BlockStmt) []*ast.RangeStmt {
	literals, loops := map[string]*ast.CompositeLit{}, []*ast.RangeStmt{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return !takesRapid(x.Type)
		case *ast.AssignStmt:
			for i, left := range x.Lhs {
				if name, ok := left.(*ast.Ident); ok && i < len(x.Rhs) {
					if literal, ok := x.Rhs[i].(*ast.CompositeLit); ok {
						literals[name.Name] = literal
					}
				}
			}
		case *ast.RangeStmt:
			literal, ok := x.X.(*ast.CompositeLit)
			if name, named := x.X.(*ast.Ident); named {
				literal, ok = literals[name.Name]
			}
			if ok && isTable(literal, x.Body) {
				loops = append(loops, x)
			}
		}
		return true
	})
	return loops
}

// isTable reports whether a literal holds cases: structs, or expected values by name, unless the
// loop consists of one comparison.
func isTable(literal *ast.CompositeLit, body *ast.BlockStmt) bool {
	if len(literal.Elts) < 3 {
		return false // A pair is not a table.
	}
	switch x := literal.Type.(type) {
	case *ast.ArrayType:
		_, ok := x.Elt.(*ast.StructType)
		return ok
	case *ast.MapType:
		_, ok := x.Value.(*ast.StructType)
		return ok || isName(x.Key, "string") && len(body.List) > 1
	}
	return false
}

// takesRapid reports whether a function has a parameter of type *rapid.T, which has no subtests.
func takesRapid(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok && isName(s.X, "rapid") {
				return true
			}
		}
	}
	return false
}

// calls reports whether a node calls a method, or, for "", an assertion.
func calls(body ast.Node, method string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || s.Sel.Name == method || method == "" && (isName(s.X, "assert") || isName(s.X, "require"))
		}
		return !found
	})
	return found
}
