package locationtype_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type locationType = commonsv1.LocationType

func newName(name string) *string { return &name }

func byName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

func newTypes(t *testing.T) (context.Context, *pg.Pool, *locationtype.Handler) {
	t.Helper()
	pool := pooltest.New(t)
	return tenant.With(t.Context(), 1), pool, locationtype.New(pool)
}

// describeType describes a type as text.
func describeType(l *locationType) string {
	return fmt.Sprintf("%s %q %s..%s %s", l.GetName(), l.GetDescription(), l.GetEffectiveDate(), l.GetExpirationDate(), l.GetMapContextType().GetQualifier())
}

func TestNewTypes(t *testing.T) {
	t.Parallel()
	ctx, _, h := newTypes(t)
	_, err := h.CreateLocationType(ctx, &locationType{Name: newName("Taken"), PersistentId: "taken"})
	require.NoError(t, err)
	_, err = h.CreateLocationType(tenant.With(t.Context(), 2), &locationType{Name: newName("Taken"), PersistentId: "taken"})
	require.NoError(t, err, "tenants have their own")
	for _, c := range []struct {
		name string
		sent *locationType
		code string // "" for one that is stored as want
		want string
	}{
		{"a name alone", &locationType{Name: newName("A")}, "", `A "" 1900-01-01..3000-01-01 `},
		{"some days", &locationType{Name: newName("B"), EffectiveDate: "2026-01-01", ExpirationDate: "2026-01-02"}, "", `B "" 2026-01-01..2026-01-02 `},
		{"days beyond the calendar", &locationType{Name: newName("C"), EffectiveDate: "1850-01-01", ExpirationDate: "9999-12-31"}, "", `C "" 1900-01-01..3000-01-01 `},
		{"a context", &locationType{Name: newName("D"), MapContextType: byName("FORECAST")}, "", `D "" 1900-01-01..3000-01-01 FORECAST`},
		{"a context by its id", &locationType{Name: newName("E"), MapContextType: &commonv1.Ref{Id: proto.Int64(1)}}, "", `E "" 1900-01-01..3000-01-01 ORG`},
		{"an id", &locationType{Id: proto.Int64(1), Name: newName("X")}, structure.CodeIDGiven, ""},
		{"no name", &locationType{}, structure.CodeMissing, ""},
		{"a blank name", &locationType{Name: newName(" ")}, structure.CodeMissing, ""},
		{"a name with a bell", &locationType{Name: newName("a\x07b")}, structure.CodeValue, ""},
		{"a name that is taken", &locationType{Name: newName("Taken")}, structure.CodeTaken, ""},
		{"a persistent id that is taken", &locationType{Name: newName("X"), PersistentId: "taken"}, structure.CodeTaken, ""},
		{"no day", &locationType{Name: newName("X"), EffectiveDate: "2026-01-01", ExpirationDate: "2026-01-01"}, structure.CodeExpiry, ""},
		{"no day of the calendar", &locationType{Name: newName("X"), EffectiveDate: "3000-01-01"}, structure.CodeExpiry, ""},
		{"a day that is not", &locationType{Name: newName("X"), EffectiveDate: "2026-02-30"}, fault.CodeDate, ""},
		{"an unknown context", &locationType{Name: newName("X"), MapContextType: byName("org")}, structure.CodeValue, ""},
		{"the id of no context", &locationType{Name: newName("X"), MapContextType: &commonv1.Ref{Id: proto.Int64(3)}}, structure.CodeValue, ""},
		{"a negative id of a context", &locationType{Name: newName("X"), MapContextType: &commonv1.Ref{Id: proto.Int64(-1)}}, structure.CodeValue, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made, err := h.CreateLocationType(ctx, c.sent)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, describeType(made))
			assert.NotEmpty(t, made.GetPersistentId())
		})
	}
}

func TestTypesChange(t *testing.T) {
	t.Parallel()
	ctx, _, h := newTypes(t)
	_, err := h.CreateLocationType(ctx, &locationType{Name: newName("Taken"), PersistentId: "taken"})
	require.NoError(t, err)
	const before = `"old" 2026-01-01..2027-01-01 ORG`
	for i, c := range []struct {
		name string
		sent *locationType
		code string
		want string // without the name
	}{
		{"nothing", nil, "", before},
		{"the end", &locationType{ExpirationDate: "2026-01-02"}, "", `"old" 2026-01-01..2026-01-02 ORG`},
		{"the beginning", &locationType{EffectiveDate: "2026-12-31"}, "", `"old" 2026-12-31..2027-01-01 ORG`},
		{"a persistent id that is taken", &locationType{PersistentId: "taken"}, "", before}, // it never changes
		{"no description", &locationType{Description: newName("")}, "", `"" 2026-01-01..2027-01-01 ORG`},
		{"both contexts", &locationType{MapContextType: byName("")}, "", `"old" 2026-01-01..2027-01-01 `},
		{"an end on the first day", &locationType{ExpirationDate: "2026-01-01"}, structure.CodeExpiry, before},
		{"a beginning after the last day", &locationType{EffectiveDate: "2027-01-01"}, structure.CodeExpiry, before},
		{"a name that is taken", &locationType{Name: newName("Taken")}, structure.CodeTaken, before},
		{"an empty name", &locationType{Name: newName("")}, structure.CodeMissing, before},
		{"another id", &locationType{Id: proto.Int64(0)}, structure.CodeOtherID, before},
		{"an unknown context", &locationType{MapContextType: byName("BOTH")}, structure.CodeValue, before},
		{"a day that is not", &locationType{ExpirationDate: "2026-13-01"}, fault.CodeDate, before},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprint("T-", i)
			made, err := h.CreateLocationType(ctx, &locationType{
				Name: &name, Description: newName("old"), EffectiveDate: "2026-01-01", ExpirationDate: "2027-01-01", MapContextType: byName("ORG"),
			})
			require.NoError(t, err)
			_, err = h.UpdateLocationType(ctx, &commonsv1.UpdateLocationTypeRequest{Id: made.GetId(), LocationType: c.sent})
			if c.code == "" {
				require.NoError(t, err)
			} else {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
			}
			now, err := h.GetLocationType(ctx, &commonsv1.GetLocationTypeRequest{Id: made.GetId()})
			require.NoError(t, err)
			assert.Equal(t, name+" "+c.want, describeType(now))
			assert.Equal(t, made.GetPersistentId(), now.GetPersistentId())
		})
	}
}

// Types are kept for as long as a location has them on any day.
func TestTypesOfLocations(t *testing.T) {
	t.Parallel()
	ctx, pool, h := newTypes(t)
	shop, err := h.CreateLocationType(ctx, &locationType{Name: newName("Shop"), EffectiveDate: "2026-01-01", ExpirationDate: "2026-07-01"})
	require.NoError(t, err)
	locations := location.New(pool, clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	for _, l := range []*commonsv1.Location{
		{Name: newName("Plain")},
		{Name: newName("Corner"), OrgNodeTypeRef: byName("Shop"), EffectiveDate: "2026-03-01", ExpirationDate: "2026-06-01"},
	} {
		_, err := locations.CreateLocation(ctx, l)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name, day string
		ref       *commonv1.Ref
		code      string // "" for the type that it has, want
		want      string
	}{
		{"one with a type, on its first day", "2026-03-01", byName("Corner"), "", "Shop"},
		{"on its last day", "2026-05-31", byName("Corner"), "", "Shop"},
		{"after its last day", "2026-06-01", byName("Corner"), structure.CodeNotOnDate, ""},
		{"before its first day", "2026-02-28", byName("Corner"), structure.CodeUnknown, ""},
		{"one without a type", "2026-03-01", byName("Plain"), "", ""},
		{"one that never was", "2026-03-01", byName("Nowhere"), structure.CodeUnknown, ""},
		{"none", "2026-03-01", nil, structure.CodeNoRef, ""},
		{"on no day", "", byName("Plain"), structure.CodeNoDate, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := h.ReadTypeOfLocation(ctx, &commonsv1.ReadTypeOfLocationRequest{ForLocation: &commonsv1.TypeOfLocation{Date: c.day, LocationRef: c.ref}})
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.GetLocationType().GetName())
		})
	}
	t.Run("stay", func(t *testing.T) {
		t.Parallel()
		_, err := h.DeleteLocationType(ctx, &commonsv1.DeleteLocationTypeRequest{Id: shop.GetId()})
		require.True(t, fault.HasCode(err, structure.CodeInUse), "%v", err)
	})
	for _, day := range []string{"2025-12-31", "2026-07-01"} {
		t.Run("are not given on "+day, func(t *testing.T) {
			t.Parallel()
			_, err := locations.CreateLocation(ctx, &commonsv1.Location{Name: newName("On " + day), OrgNodeTypeRef: byName("Shop"), EffectiveDate: day})
			require.True(t, fault.HasCode(err, structure.CodeNotOnDate), "%v", err)
		})
	}
}
