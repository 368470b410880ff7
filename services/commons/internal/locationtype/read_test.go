package locationtype_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

func typeNames(list []*locationType) []string {
	out := []string{}
	for _, l := range list {
		out = append(out, l.GetName())
	}
	return out
}

// A type is in effect from its effective date on, until the day before its expiration
// date.
func TestTypesInEffect(t *testing.T) {
	t.Parallel()
	ctx, _, h := newTypes(t)
	made, err := h.CreateLocationType(ctx, &locationType{Name: newName("Spring"), EffectiveDate: "2026-03-01", ExpirationDate: "2026-06-01"})
	require.NoError(t, err)
	for day, isInEffect := range map[string]bool{
		"": true, "2026-02-28": false, "2026-03-01": true, "2026-05-31": true, "2026-06-01": false,
	} {
		t.Run("on "+day, func(t *testing.T) {
			t.Parallel()
			_, err := h.GetLocationType(ctx, &commonsv1.GetLocationTypeRequest{Id: made.GetId(), Date: day})
			assert.Equal(t, isInEffect, err == nil, "%v", err)
			assert.Equal(t, !isInEffect, fault.HasCode(err, structure.CodeNotOnDate), "%v", err)
			list, err := h.ListLocationTypes(ctx, &commonsv1.ListLocationTypesRequest{Date: day})
			require.NoError(t, err)
			assert.Equal(t, isInEffect, slices.ContainsFunc(list.GetLocationTypes(), func(l *locationType) bool { return l.GetId() == made.GetId() }))
		})
	}
}

func TestTypesByCriteria(t *testing.T) {
	t.Parallel()
	ctx, _, h := newTypes(t)
	for _, l := range []*locationType{
		{Name: newName("Site"), HierarchyOrder: proto.Int32(2)},
		{Name: newName("Area"), HierarchyOrder: proto.Int32(2), DisplayOrder: proto.Int32(-1), MapContextType: byName("ORG")},
		{Name: newName("Firm"), HierarchyOrder: proto.Int32(1), MapContextType: byName("FORECAST")},
		{Name: newName("Spring"), HierarchyOrder: proto.Int32(3), EffectiveDate: "2026-03-01", ExpirationDate: "2026-06-01"},
	} {
		_, err := h.CreateLocationType(ctx, l)
		require.NoError(t, err)
	}
	type where = commonsv1.LocationTypeWhere
	span := func(first, last, mapContext string) *where {
		return &where{Span: &commonsv1.LocationTypesDuring{StartDate: first, EndDate: last, Context: mapContext}}
	}
	during := func(first, last string, names ...string) *where {
		return &where{LocationTypeRefSpan: &commonsv1.LocationTypesSpan{StartDate: first, EndDate: last, LocationTypeRefs: &commonv1.RefList{Qualifiers: names}}}
	}
	for _, c := range []struct {
		name  string
		where *where
		since string
		code  string // "" for those that are found
		want  []string
	}{
		{"all of a day, by their levels and then in their display order", span("2026-05-31", "2026-05-31", ""), "", "", []string{"Job", "Firm", "Area", "Site", "Spring"}},
		{"the day before one begins", span("2026-02-01", "2026-02-28", ""), "", "", []string{"Job", "Firm", "Area", "Site"}},
		{"the day on which one ends", span("2026-06-01", "2026-06-30", ""), "", "", []string{"Job", "Firm", "Area", "Site"}},
		{"of a context, or of both", span("2026-06-01", "2026-06-30", "ORG"), "", "", []string{"Job", "Area", "Site"}},
		{"changed since", span("2026-05-31", "2026-05-31", ""), "2999-01-01T00:00:00", "", []string{}},
		{"by name, in the order asked for", &where{Qualifiers: []string{"Spring", "Area", "Firm"}}, "", "", []string{"Spring", "Area", "Firm"}},
		{"by name on days", during("2026-06-01", "2026-06-02", "Spring", "Area"), "", "", []string{"Area"}},
		{"nothing", nil, "", structure.CodeNoList, nil},
		{"two criteria", &where{Ids: []int64{1}, Span: span("2026-01-01", "2026-01-02", "").GetSpan()}, "", structure.CodeOneCriterion, nil},
		{"two spans", &where{Span: span("2026-01-01", "2026-01-02", "").GetSpan(), LocationTypeRefSpan: during("2026-01-01", "2026-01-02", "Site").GetLocationTypeRefSpan()}, "", structure.CodeOneCriterion, nil},
		{"two kinds of list", &where{Ids: []int64{1}, Qualifiers: []string{"Site"}}, "", structure.CodeNoList, nil},
		{"a span that ends before it starts", span("2026-01-02", "2026-01-01", ""), "", structure.CodeRange, nil},
		{"a span without an end", span("2026-01-02", "", ""), "", structure.CodeNoDate, nil},
		{"an unknown context", span("2026-01-01", "2026-01-02", "BOTH"), "", structure.CodeValue, nil},
		{"a span of no types", during("2026-01-01", "2026-01-02"), "", structure.CodeNoList, nil},
		{"a time that is none", span("2026-01-01", "2026-01-02", ""), "2026-01-01", fault.CodeTime, nil},
		{"none that is known", &where{Qualifiers: []string{"site"}}, "", fault.CodeBulkFailed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, err := h.MultiReadLocationTypes(ctx, &commonsv1.MultiReadLocationTypesRequest{
				Where: c.where, MultiReadOptions: &commonsv1.MultiReadOptions{ModifiedSince: c.since},
			})
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, typeNames(list.GetLocationTypes()))
		})
	}
}
