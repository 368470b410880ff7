package contract

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxSharedReason bounds the number of types that give the same reason. A reason may apply to
// siblings: the kinds of contacts, and the extensions of persons that have the same list, are three
// each. A reason that more types share is too general to explain anything.
const maxSharedReason = 3

// Each missing or different property has a reason of its own.
func TestReferenceIsExplained(t *testing.T) {
	t.Parallel()
	r, err := references()
	require.NoError(t, err)
	require.NotEmpty(t, r.Types)
	assert.Empty(t, r.findUnexplained())
}

// findUnexplained describes missing and repeated reasons in the rows "missing" and "differs".
func (r *referenceData) findUnexplained() []string {
	var problems []string
	given := map[string][]string{} // rows by reason
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		seen := map[string]bool{}
		for kind, rows := range map[string]map[string][]string{"missing": r.Types[name].Missing, "differs": r.Types[name].Differs} {
			for _, reason := range slices.Sorted(maps.Keys(rows)) {
				row := name + " " + kind
				words := strings.Join(strings.Fields(strings.ToLower(strings.TrimRight(reason, ". "))), " ")
				if words == "" {
					problems = append(problems, row+" has a row without a reason")
				} else {
					given[words] = append(given[words], row)
				}
				if len(rows[reason]) == 0 {
					problems = append(problems, row+": the reason is of no property: "+reason)
				}
				for _, property := range rows[reason] {
					if seen[property] {
						problems = append(problems, row+": "+property+" is there twice")
					}
					seen[property] = true
				}
			}
		}
	}
	for _, words := range slices.Sorted(maps.Keys(given)) {
		if rows := given[words]; len(rows) > maxSharedReason {
			problems = append(problems, "say of each why, and not of all: "+words+": "+strings.Join(rows, ", "))
		}
	}
	return problems
}

func TestReferenceIsNotExplainedByARule(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, types, problem string }{
		{name: "a reason for each", types: `a: {missing: {other says it: [b]}, differs: {a text in what clients read: [c]}}`},
		{name: "three siblings", types: `a: {missing: {x says it: [e]}}
b: {missing: {x says it: [e]}}
c: {missing: {x says it: [e]}}`},
		{name: "no reason", types: `a: {missing: {"": [b]}}`, problem: "a missing has a row without a reason"},
		{name: "blanks", types: `a: {differs: {" . ": [b]}}`, problem: "a differs has a row without a reason"},
		{name: "a reason of nothing", types: `a: {missing: {x says it: []}}`, problem: "of no property"},
		{name: "a property twice", types: `a: {missing: {x says it: [b], there is no such thing: [b]}}`, problem: "b is there twice"},
		{name: "missing and different", types: `a: {missing: {x says it: [b]}, differs: {a text here: [b]}}`, problem: "b is there twice"},
		{name: "a rule", types: `a: {missing: {x says it: [e]}}
b: {missing: {X  says it: [e]}}
c: {missing: {x says it.: [e]}}
d: {differs: {x says it: [e]}}`, problem: "not of all: x says it: a missing, b missing, c missing, d differs"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := "types:\n  " + strings.ReplaceAll(test.types, "\n", "\n  ")
			r, err := loadReference(fstest.MapFS{"a.yaml": {Data: []byte(text)}})
			require.NoError(t, err)
			if test.problem == "" {
				assert.Empty(t, r.findUnexplained())
				return
			}
			require.Len(t, r.findUnexplained(), 1)
			assert.Contains(t, r.findUnexplained()[0], test.problem)
		})
	}
}
