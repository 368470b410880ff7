package employmentterm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func byID(id int64) *commonv1.Ref { return &commonv1.Ref{Id: &id} }

func byName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

func byBoth(id int64, name string) *commonv1.Ref { return &commonv1.Ref{Id: &id, Qualifier: &name} }

func TestLookupOfTerms(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	env.Exec(t, schedtest.InsertTerm, 5, "Warehouse 38h", true)
	env.Exec(t, schedtest.InsertTerm, 6, "Office", false)
	lookup := employmentterm.NewLookup(env.Pool)
	terms, err := lookup.Terms(env.Ctx, []*commonv1.Ref{byName("OFFICE"), byID(5), byBoth(5, "Office"), byName("warehouse 38H")})
	require.NoError(t, err)
	warehouse, office := employmentterm.Term{ID: 5, Name: "Warehouse 38h", AllowsInheritance: true}, employmentterm.Term{ID: 6, Name: "Office"}
	assert.Equal(t, []employmentterm.Term{office, warehouse, warehouse, warehouse}, terms)

	for name, ref := range map[string]*commonv1.Ref{
		"a bad id with a good name": byBoth(99, "Office"), "an unknown name": byName("Nowhere"),
		"an empty name": byName(""), "nothing": {}, "no ref": nil, "id 0": byID(0), "a long name": byName(strings.Repeat("ä", 10_000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := lookup.Terms(env.Ctx, []*commonv1.Ref{byID(5), ref})
			assert.True(t, fault.HasCode(err, "WFS-106607") && fault.HasStatus(err, 400), "%s: %v", name, err)
			assert.Less(t, len(err.Error()), 600, "an error does not repeat a long text")
		})
	}
}
