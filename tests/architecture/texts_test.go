package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneText are fault texts that one function builds, with that function and its file.
var oneText = []struct {
	text      *regexp.Regexp
	use, file string
}{
	{
		regexp.MustCompile(`(?i)(exactly|only|give|needs) one of|exclude each other`),
		"fault.ExactlyOne, fault.OneOf or fault.AtMostOne", "pkg/fault/choice.go",
	},
	{
		regexp.MustCompile(`(is|are) more than the allowed|Service limits are exceeded`),
		"policy.FindLimit for a limit of the contract, or else fault.OverLimit", "pkg/fault/fault.go",
	},
}

// Each kind of fault has one text, wherever it occurs.
func TestFaultTextsAreNotRepeated(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	eachProductFile(t, func(name string, n ast.Node) {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return
		}
		for _, one := range oneText {
			if one.text.MatchString(literal.Value) {
				seen[one.file] = seen[one.file] || name == one.file
				assert.Equal(t, one.file, name, "%s: use %s", literal.Value, one.use)
			}
		}
	})
	for _, one := range oneText {
		assert.True(t, seen[one.file], "%s no longer has the text %s", one.file, one.text)
	}
}

// The names in the text of a choice stand for the conditions after it.
func TestChoicesNameEachCondition(t *testing.T) {
	t.Parallel()
	checked := 0
	eachProductFile(t, func(name string, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Ellipsis.IsValid() {
			return
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		at := map[string]int{"ExactlyOne": 2, "AtMostOne": 2, "OneOf": 3}[lastName(call.Fun)]
		if !ok || at == 0 || !isName(called.X, "fault") {
			return
		}
		if literal, ok := call.Args[at].(*ast.BasicLit); ok {
			names, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			assert.Len(t, call.Args[at+1:], len(strings.Split(strings.Replace(names, " and ", ", ", 1), ", ")), "%s: %s", name, names)
			checked++
		}
	})
	assert.Greater(t, checked, 10)
}

// eachProductFile calls do for each node of each Go file of pkg, gateway and the services, except
// tests. Name is the file's path in the repository.
func eachProductFile(t *testing.T, do func(name string, n ast.Node)) {
	t.Helper()
	walk := func(name, path string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			do(name, n)
			return true
		})
	}
	eachFile(t, walk)
	eachModuleFile(t, "gateway", walk)
}
