package leavecasepolicy_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecasepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const seeding pg.Unaudited = "test"

// Employees of a fixture: the profile of the first says what cases may have, the second has
// no profile.
const (
	withProfile    = int64(7)
	withoutProfile = int64(8)
)

// fixture is a tenant that has set up leave.
type fixture struct {
	cases       *leavecase.Handler
	rules       *leavecasepolicy.CaseRules
	fields      *leavecasepolicy.CaseFields
	grants      *leavecasepolicy.Grants
	assignments *leavecasepolicy.Assignments
	made        atomic.Int32
}

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

// newFixture sets leave up. The profile Staff gives medical leave the rule Short, the type
// Sick, and the fields Doctor, which is required, and Side. The rule Past and the type Unused
// are switched off.
func newFixture(t *testing.T) (context.Context, *fixture) {
	t.Helper()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	persontest.Add(ctx, t, pool, withProfile, withoutProfile)
	off := proto.Bool(false)
	for _, rule := range []*timekeepingv1.LeaveRule{{Name: "Short"}, {Name: "Long"}, {Name: "Past", IsActive: off}} {
		_, err := leavepolicy.NewRules(pool).CreateLeaveRule(ctx, rule)
		require.NoError(t, err)
	}
	for _, kind := range []*timekeepingv1.LeaveType{{Name: "Sick"}, {Name: "Vacation"}, {Name: "Unused", Enabled: off}} {
		_, err := leavepolicy.NewTypes(pool).CreateLeaveType(ctx, kind)
		require.NoError(t, err)
	}
	for _, field := range []*timekeepingv1.LeaveCustomField{{Name: "Doctor"}, {Name: "Side", Type: "LIST", Values: []string{"left", "right"}}, {Name: "Room"}} {
		_, err := leavepolicy.NewFields(pool).CreateLeaveCustomField(ctx, field)
		require.NoError(t, err)
	}
	for _, profile := range []*timekeepingv1.LeaveProfile{
		{Name: "Staff", LeaveProfileCategory: &timekeepingv1.LeaveProfileCategoryList{Items: []*timekeepingv1.LeaveProfileCategory{{
			Qualifier: proto.String("Medical"), LeaveProfileCategoryRule: []*commonv1.Ref{refByName("Short")}, LeaveProfileCategoryType: []*commonv1.Ref{refByName("Sick")},
			LeaveProfileCategoryConfigurableData: []*timekeepingv1.LeaveProfileConfigurableData{
				{Qualifier: proto.String("Doctor"), Required: proto.Bool(true)}, {Qualifier: proto.String("Side")},
			},
		}}}},
		{Name: "Former", IsActive: off},
	} {
		_, err := leavepolicy.NewProfiles(pool).CreateLeaveProfile(ctx, profile)
		require.NoError(t, err)
	}
	_, err := seeding.Exec(ctx, pool, `INSERT INTO leave_profile_assignment (tenant_id, employee_id, leave_profile_id)
		SELECT 1, $1, id FROM leave_profile WHERE tenant_id = 1 AND name = 'Staff'`, withProfile)
	require.NoError(t, err)
	persons := person.NewDirectory(pool, absent{}, nil)
	w := &fixture{
		fields: leavecasepolicy.NewCaseFields(pool, persons), grants: leavecasepolicy.NewGrants(pool, persons),
		assignments: leavecasepolicy.NewAssignments(pool, persons),
	}
	report := func(context.Context, ...int64) error { return nil }
	w.cases = leavecase.New(pool, persons, leaveedit.OfCases{}, leavecase.Ranges{}, report)
	w.rules = leavecasepolicy.NewCaseRules(pool, persons, leaveedit.OfCases{}, report)
	return ctx, w
}

// newCase makes a case of medical leave in March 2026.
func (w *fixture) newCase(ctx context.Context, t *testing.T, employee int64, status string) *commonv1.Ref {
	t.Helper()
	made, err := w.cases.CreateLeaveCase(ctx, &timekeepingv1.LeaveCase{
		Employee: &timekeepingv1.LeaveEmployee{Id: &employee}, Category: refByName("Medical"), Reason: refByName("Surgery"), Frequency: refByName("Continuous"),
		Status: refByName(status), ApprovalStatus: refByName("Approved"), StartDate: "2026-03-02", EndDate: "2026-03-31", RequestDate: "2026-02-01",
		FrequencyEffectiveDate: "2026-03-02", CaseCode: fmt.Sprintf("M-%d", w.made.Add(1)),
	})
	require.NoError(t, err)
	return &commonv1.Ref{Id: made.Id}
}
