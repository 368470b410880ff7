package delegation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestDaysAndRolesOfDelegations(t *testing.T) {
	t.Parallel()
	today := civil.Of(2028, 2, 29)
	role := func(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }
	for _, c := range []struct {
		name        string
		first, last string
		role        *commonv1.Ref
		says        string // "" for one that has the role want
		want        string
	}{
		{"today", "2028-02-29", "2028-02-29", nil, "", ""},
		{"from tomorrow on", "2028-03-01", "2028-03-02", nil, "", ""},
		{"as long as may be", "2028-02-29", "2029-02-28", nil, "", ""},
		{"a day longer", "2028-02-29", "2029-03-01", nil, "at most 366 days", ""},
		{"until the end of time", "2028-02-29", "9999-12-31", nil, "at most 366 days", ""},
		{"from yesterday on", "2028-02-28", "2028-03-01", nil, "startDate: 2028-02-28 is over", ""},
		{"until yesterday", "2028-02-27", "2028-02-28", nil, "endDate: 2028-02-28 is over", ""},
		{"backwards", "2028-03-02", "2028-03-01", nil, "endDate: the last day", ""},
		{"no first day", "", "2028-03-01", nil, "startDate is required", ""},
		{"no last day", "2028-03-01", "", nil, "endDate is required", ""},
		{"a first day that is not", "2028-02-30", "2028-03-01", nil, "startDate: ", ""},
		{"a last day that is not", "2028-03-01", "2028-3-2", nil, "endDate: ", ""},
		{"a role", "2028-03-01", "2028-03-02", role(" Planner "), "", "Planner"},
		{"a role of no name", "2028-03-01", "2028-03-02", &commonv1.Ref{Id: proto.Int64(1)}, "role: ", ""},
		{"a role of spaces", "2028-03-01", "2028-03-02", role(" \t"), "role: ", ""},
		{"a role with a zero byte", "2028-03-01", "2028-03-02", role("a\x00"), "role: ", ""},
		{"a role that is too long", "2028-03-01", "2028-03-02", role(strings.Repeat("x", maxName+1)), "role: ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := parse(&commonsv1.Delegation{StartDate: c.first, EndDate: c.last, Role: c.role}, today)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, d.Role)
			assert.Equal(t, c.first+" "+c.last, d.Start.String()+" "+d.End.String())
		})
	}
	t.Run("the codes of days", func(t *testing.T) {
		t.Parallel()
		_, err := parse(&commonsv1.Delegation{StartDate: "soon"}, today)
		assert.True(t, fault.HasCode(err, fault.CodeDate), "%v", err)
		_, err = parse(&commonsv1.Delegation{}, today)
		assert.True(t, fault.HasCode(err, CodeInvalid), "%v", err)
	})
}

func TestStatusesOfDelegations(t *testing.T) {
	t.Parallel()
	d := delegation{ID: 1, Start: civil.Of(2026, 3, 10), End: civil.Of(2026, 3, 12)}
	for _, c := range []struct {
		name, want string
		today      civil.Date
	}{
		{"the day before", "PENDING", d.Start - 1},
		{"the first day", "ACTIVE", d.Start},
		{"the last day", "ACTIVE", d.End},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shown := d.message(c.today)
			assert.Equal(t, c.want, shown.GetStatus())
			assert.Nil(t, shown.GetRole(), "without a role there is none")
		})
	}
}

// A delegation does not make the delegate see all persons by their own profile.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	for rows, want := range map[string]bool{"all": true, "group": false, "own": false, "": false, "ALL": false} {
		t.Run("rows "+rows, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, administers(&authn.Principal{Rows: rows, PersonID: 7}))
		})
	}
}
