package location_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestMovesKeepHistory(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t)
	b.has(t, "", "Acme")
	b.has(t, "Acme", "East")
	b.has(t, "Acme", "West")
	store := b.has(t, "Acme/East", "Store 12")
	b.has(t, "Acme/East/Store 12", "Clerk")
	moved, err := b.MoveLocations(ctx, &commonsv1.MoveLocationsRequest{Move: &commonsv1.LocationMove{
		Where: &commonsv1.MovedLocations{SourceRefs: &commonv1.RefList{Qualifiers: []string{"Acme/East/Store 12"}}},
		Do:    &commonsv1.LocationDestination{DestinationRef: byPath("Acme/West"), StartDate: "2026-02-01"},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Acme/West/Store 12"}, paths(moved))
	assert.Equal(t, "2026-02-01", moved.GetLocations()[0].GetEffectiveDate())
	assert.False(t, moved.GetLocations()[0].GetFirstRevision())
	assert.True(t, moved.GetLocations()[0].GetLastRevision())

	assert.Equal(t, []string{"Acme/East/Store 12", "Acme/East/Store 12/Clerk"}, b.below(t, byPath("Acme/East"), "2026-01-31"))
	assert.Empty(t, b.below(t, byPath("Acme/West"), "2026-01-31"))
	assert.Empty(t, b.below(t, byPath("Acme/East"), "2026-02-01"))
	assert.Equal(t, []string{"Acme/West/Store 12", "Acme/West/Store 12/Clerk"}, b.below(t, byPath("Acme/West"), "2026-02-01"))

	t.Run("an old path names the location until another one takes it", func(t *testing.T) {
		found, err := b.FindLocation(ctx, &commonsv1.FindLocationRequest{Path: "Acme/East/Store 12", Context: "ORG", Date: "2026-02-02"})
		require.NoError(t, err)
		assert.Equal(t, store, found.GetNodeId())
		assert.Equal(t, "Acme/West/Store 12", found.GetOrgPath())
		next := b.has(t, "Acme/East", "Store 12", func(l *commonsv1.Location) { l.EffectiveDate = "2026-03-01" })
		for day, want := range map[string]int64{"2026-02-28": store, "2026-03-01": next, "2026-01-31": store} {
			t.Run(day, func(t *testing.T) {
				found, err := b.FindLocation(ctx, &commonsv1.FindLocationRequest{Path: "Acme/East/Store 12", Context: "ORG", Date: day})
				require.NoError(t, err)
				assert.Equal(t, want, found.GetNodeId(), day)
			})
		}
	})
	t.Run("a move into its own subtree is refused, on whatever day", func(t *testing.T) {
		for _, parent := range []string{"Acme/West/Store 12", "Acme/West/Store 12/Clerk"} {
			_, err := b.MoveLocations(ctx, moveTo(store, &commonsv1.LocationDestination{DestinationRef: byPath(parent), StartDate: "2026-04-01"}))
			requireRefused(t, err, "WRL-10206")
		}
		assert.Equal(t, []string{"Acme/West/Store 12/Clerk"}, b.below(t, &commonv1.Ref{Id: &store}, "2026-04-01"), "nothing changed")
	})
	t.Run("a move for a while ends where it began", func(t *testing.T) {
		_, err := b.MoveLocations(ctx, moveTo(store, &commonsv1.LocationDestination{StartDate: "2026-05-01", EndDate: "2026-05-31"}))
		require.NoError(t, err)
		for day, want := range map[string]string{"2026-04-30": "Acme/West/Store 12", "2026-05-31": "Store 12", "2026-06-01": "Acme/West/Store 12"} {
			t.Run(day, func(t *testing.T) {
				got, err := b.GetLocation(ctx, &commonsv1.GetLocationRequest{Id: store, Date: day})
				require.NoError(t, err)
				assert.Equal(t, want, got.GetOrgPath(), day)
			})
		}
		during := b.reads(t, &commonsv1.LocationWhere{LocationsSpan: &commonsv1.LocationsSpan{
			Context: "ORG", StartDate: "2026-01-01", EndDate: "2026-12-31", LocationRef: &commonv1.Ref{Id: &store},
		}})
		assert.Equal(t, []string{"Acme/East/Store 12", "Acme/West/Store 12", "Acme/West/Store 12", "Store 12"}, during, "every version")
	})
}

func TestInvalidLocationsOfATree(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t)
	top := b.has(t, "", "Acme")
	path := "Acme"
	for range 11 {
		b.has(t, path, "x")
		path += "/x"
	}
	for name, c := range map[string]struct {
		code string
		l    *commonsv1.Location
	}{
		"thirteen levels":  {"WRL-10207", &commonsv1.Location{Name: proto.String("x"), ParentNodeRef: byPath(path)}},
		"a taken name":     {"WRL-10204", &commonsv1.Location{Name: proto.String("Acme")}},
		"a slash":          {"WRL-10203", &commonsv1.Location{Name: proto.String("a/b")}},
		"no name":          {"WCO-103006", &commonsv1.Location{}},
		"an id":            {"WCO-103001", &commonsv1.Location{NodeId: &top, Name: proto.String("y")}},
		"no such parent":   {"WRL-10201", &commonsv1.Location{Name: proto.String("y"), ParentNodeRef: byPath("Nowhere")}},
		"no such type":     {"WRL-10201", &commonsv1.Location{Name: proto.String("y"), OrgNodeTypeRef: byPath("Nowhere")}},
		"no such job":      {"WCO-103108", &commonsv1.Location{Name: proto.String("y"), GenericJobRef: byPath("Nowhere")}},
		"an end too early": {"WCO-103023", &commonsv1.Location{Name: proto.String("y"), EffectiveDate: "2026-01-01", ExpirationDate: "2026-01-01"}},
		"101 per cent":     {"WRL-10203", &commonsv1.Location{Name: proto.String("y"), DirectWorkPercent: proto.Int32(101)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.CreateLocation(ctx, c.l)
			requireRefused(t, err, c.code)
		})
	}
	t.Run("a parent that ends", func(t *testing.T) {
		b.has(t, "Acme", "Old", func(l *commonsv1.Location) { l.ExpirationDate = "2026-01-01" })
		_, err := b.CreateLocation(ctx, &commonsv1.Location{Name: proto.String("y"), ParentNodeRef: byPath("Acme/Old")})
		requireRefused(t, err, "WRL-10208")
	})
	t.Run("a parent that is used", func(t *testing.T) {
		_, err := b.MultiDeleteLocations(ctx, &commonsv1.MultiDeleteLocationsRequest{Where: &commonsv1.LocationDeletion{Nodes: &commonv1.RefList{Ids: []int64{top}}}})
		requireRefused(t, err, "WRL-10205")
	})
	t.Run("a path that gets too long", func(t *testing.T) {
		long := string(make([]byte, 0, 200))
		for range 50 {
			long += "äöüß"
		}
		parent := "Acme/x/x"
		var err error
		for range 6 {
			_, err = b.CreateLocation(ctx, &commonsv1.Location{Name: &long, ParentNodeRef: byPath(parent)})
			if err != nil {
				break
			}
			parent += "/" + long
		}
		requireRefused(t, err, "WRL-10207")
	})
}

func TestLocationsInUseStay(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t)
	b.has(t, "", "Acme")
	b.has(t, "Acme", "Clerk")
	_, err := b.pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES (1, 1, 'a', 'a', 'UTC', '')`)
	require.NoError(t, err)
	_, err = b.pool.Exec(ctx, `INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
		VALUES (1, 1, '2020-01-01', '2026-01-01', 'Acme/Clerk', '')`)
	require.NoError(t, err)
	remove := func(day string, refs ...string) error {
		_, err := b.MultiDeleteLocations(ctx, &commonsv1.MultiDeleteLocationsRequest{Where: &commonsv1.LocationDeletion{
			Nodes: &commonv1.RefList{Qualifiers: refs}, ForDate: day,
		}})
		return err
	}
	requireRefused(t, remove("2025-12-31", "Acme/Clerk"), "WRL-10205")
	requireRefused(t, remove("", "Acme/Clerk"), "WRL-10205")
	_, err = b.pool.Exec(ctx, `INSERT INTO employment_status VALUES (1, 1, '2020-01-01', '2025-06-01', 'Active'),
		(1, 1, '2025-06-01', '2025-09-01', 'Terminated'), (1, 1, '2025-09-01', '2025-10-01', 'Active'), (1, 1, '2025-10-01', '3000-01-01', 'Terminated')`)
	require.NoError(t, err)
	requireRefused(t, remove("2025-07-01", "Acme/Clerk"), "WRL-10205")
	require.NoError(t, remove("2025-10-01", "Acme/Clerk"), "the employment is terminated from then on")
	assert.Equal(t, []string{"Acme/Clerk"}, b.below(t, byPath("Acme"), "2025-09-30"))
	assert.Empty(t, b.below(t, byPath("Acme"), "2025-10-01"))
	_, err = b.pool.Exec(ctx, `DELETE FROM person WHERE tenant_id = 1`)
	require.NoError(t, err)
	require.NoError(t, remove("", "Acme", "Acme/Clerk"), "a location with what lies below it")
	assert.Empty(t, b.reads(t, &commonsv1.LocationWhere{Query: &commonsv1.LocationQuery{Context: "ORG", Date: "2025-01-01", Q: "/"}}))
}

// moveTo is the request that moves a location.
func moveTo(id int64, do *commonsv1.LocationDestination) *commonsv1.MoveLocationsRequest {
	return &commonsv1.MoveLocationsRequest{Move: &commonsv1.LocationMove{
		Where: &commonsv1.MovedLocations{SourceRef: &commonv1.Ref{Id: &id}}, Do: do,
	}}
}
