package locationset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationset"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func at(path string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &path} }

// newSets has the locations Acme and Acme/East on all days, Acme/Old through 2025 and
// Acme/New from 2026-06-01 on. Today is 2026-03-01.
func newSets(t *testing.T) (context.Context, *locationset.Handler) {
	t.Helper()
	pool, now := pooltest.New(t), clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	ctx := tenant.With(t.Context(), 1)
	for _, l := range []*commonsv1.Location{
		{Name: proto.String("Acme")},
		{Name: proto.String("East"), ParentNodeRef: at("Acme")},
		{Name: proto.String("Old"), ParentNodeRef: at("Acme"), ExpirationDate: "2026-01-01"},
		{Name: proto.String("New"), ParentNodeRef: at("Acme"), EffectiveDate: "2026-06-01"},
	} {
		_, err := location.New(pool, now).CreateLocation(ctx, l)
		require.NoError(t, err)
	}
	return ctx, locationset.New(pool, now)
}

func create(ctx context.Context, h *locationset.Handler, day string, set *commonsv1.LocationSet) (*commonsv1.LocationSet, error) {
	return h.CreateLocationSet(ctx, &commonsv1.CreateLocationSetRequest{LocationSet: set, Date: day})
}

// describeSet is a set with its description, how often it was changed, and its locations.
func describeSet(set *commonsv1.LocationSet) string {
	var paths []string
	for _, ref := range set.GetNodeRefs() {
		paths = append(paths, ref.GetQualifier())
	}
	return fmt.Sprintf("%q %d %v", set.GetDescription(), set.GetVersionCount(), paths)
}

func TestSetsThatAreNotCreated(t *testing.T) {
	t.Parallel()
	ctx, h := newSets(t)
	type set = commonsv1.LocationSet
	one, two := proto.Int32(1), proto.Int32(2)
	_, err := create(ctx, h, "", &set{Name: "Managers", TypeId: one, PersistentId: "p-1"})
	require.NoError(t, err)
	for _, c := range []struct {
		name, code, day string
		sent            *set
	}{
		{"an id", structure.CodeIDGiven, "", &set{Id: proto.Int64(1), Name: "A", TypeId: one}},
		{"no type", structure.CodeMissing, "", &set{Name: "A"}},
		{"no such type", structure.CodeValue, "", &set{Name: "A", TypeId: proto.Int32(5)}},
		{"no name", structure.CodeMissing, "", &set{TypeId: one}},
		{"a name that ends with a space", structure.CodeValue, "", &set{Name: "A ", TypeId: one}},
		{"a description that is too long", structure.CodeValue, "", &set{Name: "A", TypeId: one, Description: strings.Repeat("é", 1001)}},
		{"a persistent id that is too long", structure.CodeValue, "", &set{Name: "A", TypeId: one, PersistentId: strings.Repeat("é", structure.MaxName+1)}},
		{"a name that is taken", structure.CodeTaken, "", &set{Name: "Managers", TypeId: one}},
		{"a persistent id that is taken", structure.CodeTaken, "", &set{Name: "A", TypeId: two, PersistentId: "p-1"}},
		{"no such location", structure.CodeUnknown, "", &set{Name: "A", TypeId: one, NodeRefs: []*commonv1.Ref{at("Acme"), at("Acme/West")}}},
		{"a location on the day before it is there", structure.CodeUnknown, "2026-05-31", &set{Name: "A", TypeId: one, NodeRefs: []*commonv1.Ref{at("Acme/New")}}},
		{"a ref to nothing", structure.CodeNoName, "", &set{Name: "A", TypeId: one, NodeRefs: []*commonv1.Ref{{}}}},
		{"a day that is not", fault.CodeDate, "2026-02-30", &set{Name: "A", TypeId: one}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := create(ctx, h, c.day, c.sent)
			require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
			list, err := h.ListLocationSets(ctx, &commonsv1.ListLocationSetsRequest{})
			require.NoError(t, err)
			assert.Len(t, list.GetLocationSets(), 1, "nothing is left of it")
		})
	}
	t.Run("the name of a set of another type", func(t *testing.T) {
		made, err := create(ctx, h, "2026-06-01", &set{Name: "Managers", TypeId: two, Description: "é", NodeRefs: []*commonv1.Ref{at("Acme/New"), at("Acme"), at("Acme")}})
		require.NoError(t, err)
		assert.Equal(t, `"é" 1 [Acme Acme/New]`, describeSet(made))
	})
}

func TestChangesOfSets(t *testing.T) {
	t.Parallel()
	ctx, h := newSets(t)
	type change = commonsv1.LocationSetChange
	one, own := proto.Int32(1), proto.Int64(0)
	_, err := create(ctx, h, "", &commonsv1.LocationSet{Name: "Other", TypeId: one})
	require.NoError(t, err)
	const before = `"Staff" 1 [Acme]`
	for i, c := range []struct {
		name string
		sent *change // The id 0 stands for the set's id, and an empty name for its name.
		code string
		want string
	}{
		{"nothing, by name", &change{TypeId: one}, "", `"Staff" 2 [Acme]`},
		{"another name, by id", &change{Id: own, Name: "Renamed", TypeId: one}, "", `"Staff" 2 [Acme]`},
		{"no description", &change{TypeId: one, Description: proto.String("")}, "", `"" 2 [Acme]`},
		{"one location more", &change{TypeId: one, AddNodeRefs: []*commonv1.Ref{at("Acme/East")}}, "", `"Staff" 2 [Acme Acme/East]`},
		{"one that is there", &change{TypeId: one, AddNodeRefs: []*commonv1.Ref{at("Acme")}}, "", `"Staff" 2 [Acme]`},
		{"no location", &change{TypeId: one, RemoveNodeRefs: []*commonv1.Ref{at("Acme")}}, "", `"Staff" 2 []`},
		{"one that is not there", &change{TypeId: one, RemoveNodeRefs: []*commonv1.Ref{at("Acme/East")}}, "", `"Staff" 2 [Acme]`},
		{"removed and added", &change{TypeId: one, AddNodeRefs: []*commonv1.Ref{at("Acme")}, RemoveNodeRefs: []*commonv1.Ref{at("Acme")}}, "", `"Staff" 2 [Acme]`},
		{"the version that is stored", &change{TypeId: one, VersionCount: proto.Int64(1)}, "", `"Staff" 2 [Acme]`},
		{"another version", &change{TypeId: one, VersionCount: proto.Int64(2)}, fault.CodeStale, before},
		{"the name of another set", &change{Id: own, Name: "Other", TypeId: one}, structure.CodeTaken, before},
		{"no type", &change{}, structure.CodeMissing, before},
		{"a type that the database has no room for", &change{TypeId: proto.Int32(1 << 20)}, structure.CodeValue, before},
		{"an id that is not there", &change{Id: proto.Int64(1 << 40), TypeId: one}, structure.CodeUnknown, before},
		{"a new set without locations", &change{TypeId: proto.Int32(2)}, structure.CodeMissing, before},
		{"a location that is not there on the day", &change{TypeId: one, EffectiveOnDate: "2026-05-31", AddNodeRefs: []*commonv1.Ref{at("Acme/New")}}, structure.CodeUnknown, before},
		{"what cannot be removed", &change{TypeId: one, Description: proto.String("new"), RemoveNodeRefs: []*commonv1.Ref{at("Nowhere")}}, structure.CodeUnknown, before},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made, err := create(ctx, h, "", &commonsv1.LocationSet{Name: fmt.Sprint("S-", i), TypeId: one, Description: "Staff", NodeRefs: []*commonv1.Ref{at("Acme")}})
			require.NoError(t, err)
			if c.sent.GetName() == "" {
				c.sent.Name = made.GetName()
			}
			if c.sent.Id == own {
				c.sent.Id = made.Id
			}
			_, err = h.UpsertLocationSets(ctx, &commonsv1.LocationSetChangeList{Changes: []*change{c.sent}})
			if c.code == "" {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
				assert.Equal(t, c.code, fault.FromError(err).Details.GetResults()[0].GetError().GetErrorCode())
			}
			now, err := h.GetLocationSet(ctx, &commonsv1.GetLocationSetRequest{Id: made.GetId()})
			require.NoError(t, err)
			assert.Equal(t, c.want, describeSet(now))
		})
	}
}

// A set keeps its locations. It shows those that are there on the day.
func TestSetsShowTheLocationsOfADay(t *testing.T) {
	t.Parallel()
	ctx, h := newSets(t)
	made, err := create(ctx, h, "2025-06-01", &commonsv1.LocationSet{Name: "All", TypeId: proto.Int32(1), NodeRefs: []*commonv1.Ref{at("Acme/East"), at("Acme/Old")}})
	require.NoError(t, err)
	_, err = h.UpsertLocationSets(ctx, &commonsv1.LocationSetChangeList{Changes: []*commonsv1.LocationSetChange{
		{Id: made.Id, Name: "All", TypeId: proto.Int32(1), EffectiveOnDate: "2026-06-01", AddNodeRefs: []*commonv1.Ref{at("Acme/New")}},
	}})
	require.NoError(t, err)
	for day, want := range map[string][]string{
		"2025-12-31": {"Acme/East", "Acme/Old"}, "2026-01-01": {"Acme/East"}, "": {"Acme/East"},
		"2026-05-31": {"Acme/East"}, "2026-06-01": {"Acme/East", "Acme/New"},
	} {
		t.Run("on "+day, func(t *testing.T) {
			t.Parallel()
			got, err := h.GetLocationSet(ctx, &commonsv1.GetLocationSetRequest{Id: made.GetId(), Date: day})
			require.NoError(t, err)
			var paths []string
			for _, ref := range got.GetNodeRefs() {
				paths = append(paths, ref.GetQualifier())
			}
			assert.Equal(t, want, paths)
		})
	}
}
