package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts"
)

// notLimits lists the files that use the number of a limit with another meaning.
var notLimits = map[string]string{
	"pkg/boot/certs/localca.go 365":                                      "days of a year",
	"pkg/civil/date.go 365":                                              "days of a year",
	"services/commons/internal/symbolicperiod/handler.go 365":            "how long a pay period of the settings may be",
	"services/scheduling/internal/schedule/request/changes.go 92":        "the days after today of the default window of changes",
	"services/scheduling/internal/schedulewarning/schedulewarning.go 92": "the days whose shifts a warning compares",
	"services/scheduling/internal/dataprovider/terms.go 84000":           "the service limit of TK, which no operation of scheduling has",
}

// ownBounds lists constants that callers see as limits although no contract has them: they bound
// stored objects, or the work that a program can do at once.
var ownBounds = map[string]string{
	"services/commons/internal/search/hyperfind maxProfiles":  "profiles of a tenant",
	"services/commons/internal/locationset maxLocations":      "locations of the sets of a response",
	"services/scheduling/internal/employmentterm maxVersions": "versions of a stored term",
}

// Only the contracts contain the limits; code that enforces a limit or depends on it calls
// policy.Max. Round numbers have many meanings, so the test searches for the other numbers in all
// files, and for constants that callers see as limits.
func TestLimitsStandInTheContracts(t *testing.T) {
	t.Parallel()
	limits := distinctLimits(t)
	seen := map[string]bool{}
	constants := map[string]string{}
	reported := map[string]string{}
	eachFile(t, func(name, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		folder := path.Dir(name)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.BasicLit:
				number := strings.ReplaceAll(x.Value, "_", "")
				if x.Kind == token.INT && limits[number] {
					at := name + " " + number
					seen[at] = true
					assert.NotEmpty(t, notLimits[at], "%s: use policy.Max, or say here what the number is", at)
				}
			case *ast.ValueSpec:
				for i := range x.Names {
					if i < len(x.Values) {
						if literal, ok := x.Values[i].(*ast.BasicLit); ok && literal.Kind == token.INT {
							constants[folder+" "+x.Names[i].Name] = literal.Value
						}
					}
				}
			case *ast.CallExpr:
				// Both functions take the number that the limit allows.
				if at := map[string]int{"WithLimits": 1, "OverLimit": 4}[lastName(x.Fun)]; at > 0 && at < len(x.Args) {
					if allowed := stripConversion(x.Args[at]); lastName(allowed) != "" {
						reported[folder+" "+lastName(allowed)] = name
					} else if _, ok := allowed.(*ast.BasicLit); ok {
						assert.Fail(t, "a limit that is not in the contract", "%s: use policy.Max", name)
					}
				}
			}
			return true
		})
	})
	for at, name := range reported {
		if constants[at] != "" {
			seen[at] = true
			assert.NotEmpty(t, ownBounds[at], "%s: callers see %s = %s as a limit: put it into the contract and use policy.Max, or say here what it is",
				name, at, constants[at])
		}
	}
	for i, list := range []map[string]string{notLimits, ownBounds} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			for at := range list {
				assert.True(t, seen[at], "%s no longer exists", at)
			}
		})
	}
	assert.Greater(t, len(reported), 5)
}

// distinctLimits returns the limits of the contracts that are not round numbers.
func distinctLimits(t *testing.T) map[string]bool {
	t.Helper()
	operations, err := policy.NewTable(nil).Operations()
	require.NoError(t, err)
	limits := map[string]bool{}
	for _, o := range operations {
		for _, l := range o.Limits {
			if number := strconv.FormatInt(l.Max, 10); len(strings.TrimRight(number, "0")) > 1 {
				limits[number] = true
			}
		}
	}
	require.Contains(t, limits, "56000", fmt.Sprint(limits))
	return limits
}

// stripConversion returns an expression without its conversion: x for int64(x).
func stripConversion(x ast.Expr) ast.Expr {
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && isName(call.Fun, "int64") {
		return call.Args[0]
	}
	return x
}
