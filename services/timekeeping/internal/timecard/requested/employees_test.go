package requested_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newDirectory knows the employees 7 and 8, T-7 and T-8.
func newDirectory(t *testing.T) (context.Context, *person.Directory) {
	t.Helper()
	ctx, pool := tenant.With(t.Context(), 1), pooltest.New(t)
	persontest.Add(ctx, t, pool, 7, 8)
	return ctx, person.NewDirectory(pool, persontest.NobodyElse{}, nil)
}

func TestPersonsOfLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		list *commonv1.RefList
		code string // "" for the keys want
		want []person.Key
	}{
		{"refs, ids and numbers", &commonv1.RefList{Qualifiers: []string{"T-9"}, Ids: []int64{8}, Refs: []*commonv1.Ref{{Id: proto.Int64(7)}}}, "", []person.Key{{ID: 7}, {ID: 8}, {Number: "T-9"}}},
		{"the same twice", &commonv1.RefList{Ids: []int64{8, 7, 8}, Refs: []*commonv1.Ref{{Id: proto.Int64(7)}}}, "", []person.Key{{ID: 7}, {ID: 8}}},
		{"an id and a number, of which the id wins", &commonv1.RefList{Refs: []*commonv1.Ref{{Id: proto.Int64(7), Qualifier: proto.String("T-8")}}}, "", []person.Key{{ID: 7}}},
		{"no list", nil, timecardfault.CodeMissing, nil},
		{"an empty list", &commonv1.RefList{}, timecardfault.CodeMissing, nil},
		{"the id 0", &commonv1.RefList{Ids: []int64{0}}, timecardfault.CodeMissing, nil},
		{"the id 0 with a number", &commonv1.RefList{Refs: []*commonv1.Ref{{Id: proto.Int64(0), Qualifier: proto.String("T-7")}}}, timecardfault.CodeMissing, nil},
		{"an empty number", &commonv1.RefList{Qualifiers: []string{""}}, timecardfault.CodeMissing, nil},
		{"a ref to nobody", &commonv1.RefList{Refs: []*commonv1.Ref{nil}}, timecardfault.CodeMissing, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keys, err := requested.Keys("where.employees", c.list)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, keys)
		})
	}
}

func TestEmployeesOfSets(t *testing.T) {
	t.Parallel()
	ctx, directory := newDirectory(t)
	ids := func(ids ...int64) *commonv1.RefList { return &commonv1.RefList{Ids: ids} }
	of := func(n int) *commonv1.RefList {
		list := &commonv1.RefList{}
		for i := range n {
			list.Ids = append(list.Ids, int64(1000+i))
		}
		return list
	}
	for _, c := range []struct {
		name      string
		employees *commonv1.RefList
		hyperfind string
		last      string // the first day is 2026-03-01
		code      string // "" for the ids want
		want      []int64
	}{
		{"in the order asked for", ids(8, 7), "", "2026-03-01", "", []int64{8, 7}},
		{"somebody by id and by number", &commonv1.RefList{Ids: []int64{7}, Qualifiers: []string{"T-7", "T-8"}}, "", "2026-03-01", "", []int64{7, 8}},
		{"nobody", nil, "", "2026-03-01", timecardfault.CodeMissing, nil},
		{"somebody beside an employee who is not there", ids(7, 9), "", "2026-03-01", "", []int64{7}},
		{"an employee who is not there", ids(9), "", "2026-03-01", timecardfault.CodeReference, nil},
		{"a number that is not there", &commonv1.RefList{Qualifiers: []string{"t-7"}}, "", "2026-03-01", timecardfault.CodeReference, nil},
		{"too many on the days", of(calculation.MaxEmployeeDays/100 + 1), "", "2026-06-08", timecardfault.CodeLimit, nil},
		{"whom a hyperfind finds", nil, "Two", "2026-03-31", "", []int64{7, 8}},
		{"whom a hyperfind does not find", nil, "None", "2026-03-31", "", nil},
		{"a hyperfind and a list", ids(7), "Two", "2026-03-31", timecardfault.CodeInvalid, nil},
		{"an unknown hyperfind", nil, "Unknown", "2026-03-31", timecardfault.CodeReference, nil},
		{"a hyperfind that finds too many", nil, "Everybody", "2026-03-31", timecardfault.CodeLimit, nil},
		{"a hyperfind that cannot be asked now", nil, "broken", "2026-03-31", fault.CodeUnavailable, nil},
		{"days backwards", ids(7), "", "2026-02-28", timecardfault.CodeNoRange, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := &commons{finds: map[string][]int64{"Two": {7, 8}}}
			set := &timekeepingv1.TimecardEmployeeSet{Employees: c.employees, DateRange: &commonv1.DateRange{StartDate: "2026-03-01", EndDate: c.last}}
			if c.hyperfind != "" {
				set.HyperFind = refByName(c.hyperfind)
			}
			got, err := requested.New(directory, asked).Set(ctx, "where", set)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				assert.Equal(t, c.code == timecardfault.CodeLimit, fault.HasStatus(err, http.StatusRequestEntityTooLarge))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.IDs)
			assert.Equal(t, slices.Contains(c.employees.GetIds(), 9), len(got.Unknown) == 1, "unknown employees: %v", got.Unknown)
			assert.Equal(t, "2026-03-01 "+c.last, fmt.Sprint(got.Days.From, " ", got.Days.To-1))
			if c.hyperfind != "" {
				assert.Equal(t, c.last, asked.request.GetDateRange().GetEndDate(), "the last day is included there")
			}
		})
	}
}

func TestOwnTimecards(t *testing.T) {
	t.Parallel()
	ctx, directory := newDirectory(t)
	for _, c := range []struct {
		name   string
		caller *authn.Principal
		code   string
	}{
		{"an employee", &authn.Principal{Tenant: 1, Subject: "t", PersonID: 7, Rows: "own"}, ""},
		{"a user who is no person", &authn.Principal{Tenant: 1, Subject: "t", Rows: "all"}, timecardfault.CodeOwn},
		{"nobody", nil, timecardfault.CodeOwn},
		{"somebody who is gone", &authn.Principal{Tenant: 1, Subject: "t", PersonID: 9, Rows: "own"}, timecardfault.CodeReference},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := ctx
			if c.caller != nil {
				ctx = authn.With(ctx, c.caller, "")
			}
			who, err := requested.New(directory, &commons{}).Self(ctx)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "T-7", who.Number)
		})
	}
}
