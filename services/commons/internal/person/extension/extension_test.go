package extension

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

func TestThePersonOfARequestedExtension(t *testing.T) {
	t.Parallel()
	type request = commonsv1.GetPersonExtensionRequest
	for _, c := range []struct {
		name string
		sent *request
		code string // "" for the person want
		want store.Key
	}{
		{"by person number", &request{PersonNumber: "N"}, "", store.Key{Number: "N"}},
		{"by the external pair", &request{Aoid: "a", Coid: "c"}, "", store.Key{External: [2]string{"a", "c"}}},
		{"nobody's", &request{}, rules.CodeNoIdentity, store.Key{}},
		{"by both", &request{PersonNumber: "N", Aoid: "a", Coid: "c"}, rules.CodeManyIdentities, store.Key{}},
		{"by person number and half a pair", &request{PersonNumber: "N", Coid: "c"}, rules.CodeManyIdentities, store.Key{}},
		{"by the aoid alone", &request{Aoid: "a"}, rules.CodeCombination, store.Key{}},
		{"by the coid alone", &request{Coid: "c"}, rules.CodeCombination, store.Key{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := readParameters(c.sent)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRequestedExtensions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want, has string }{ // has are the extensions in the response
		{"", "", "all"},
		{"Employee", "employee", "employee"},
		{"TIMEKEEPING", "timekeeping", "timekeeping"},
		{"scheduling", "scheduling", "scheduling"},
		{"accrual", "accrual", "accrual"},
		{"device", "device", "device"},
	} {
		t.Run("the kind "+c.given, func(t *testing.T) {
			t.Parallel()
			kind, err := readExtension("extensionType", c.given)
			require.NoError(t, err)
			require.Equal(t, c.want, kind)
			out := &commonsv1.PersonExtension{}
			newTestView(&commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{PersonNumber: "N"}}}).extend(out, kind)
			var has []string
			for name, there := range map[string]bool{
				"all": out.GetAllExtension() != nil, "employee": out.GetEmployeeExtension() != nil, "timekeeping": out.GetTimekeepingExtension() != nil,
				"scheduling": out.GetSchedulingExtension() != nil, "accrual": out.GetAccrualExtension() != nil, "device": out.GetDeviceExtension() != nil,
			} {
				if there {
					has = append(has, name)
				}
			}
			assert.Equal(t, c.has, strings.Join(has, " "))
		})
	}
	for _, given := range []string{"employees", " employee", "all"} {
		t.Run("the unknown kind "+given, func(t *testing.T) {
			t.Parallel()
			_, err := readExtension("extensionType", given)
			require.True(t, fault.HasCode(err, CodeExtension), "%v", err)
		})
	}
}

// newTestView is the view of a person on 15 March 2026.
func newTestView(p *commonsv1.Person) *view {
	person := &store.Person{Record: &record.Record{Message: p}, ID: 7}
	return Extensions{DefaultCurrency: "EUR"}.newView(person, civil.Of(2026, 3, 15), true)
}

// A dated entry is valid from its effective date until the day before its expiration date. Without
// a date it is valid from the beginning, or forever.
func TestEntriesInEffectOnTheSnapshotDate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		holds    bool
	}{
		{"2026-03-15", "2026-03-16", true},
		{"2026-03-14", "2026-03-15", false},
		{"2026-03-16", "2026-03-17", false},
		{"2026-03-15", "", true},
		{"", "2026-03-16", true},
		{"", "2026-03-15", false},
		{"", "", true},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			t.Parallel()
			v := newTestView(&commonsv1.Person{
				PersonInformation: &commonsv1.PersonInformation{
					Person:                &commonsv1.PersonDetails{},
					UserAccountStatusList: []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Inactive", EffectiveDate: c.from, ExpirationDate: c.to}},
					BadgeAssignments:      []*commonsv1.BadgeAssignment{{BadgeNumber: "B", EffectiveDate: c.from, ExpirationDate: c.to}},
				},
				JobAssignment: &commonsv1.JobAssignment{BaseWageRates: []*commonsv1.BaseWageRate{{HourlyRate: proto.Float64(20), EffectiveDate: c.from, ExpirationDate: c.to}}},
			})
			v.AccrualProfiles = []*commonsv1.ExtensionAccrualProfile{{AccrualProfileName: "Full time", EffectiveDate: c.from, ExpirationDate: c.to}}
			v.PayRules = []*commonsv1.ExtensionPayRule{{PayRuleName: "Hourly", EffectiveDate: c.from, ExpirationDate: c.to}}
			want := 0
			if c.holds {
				want = 1
			}
			employee, timekeeping := v.employee(), v.timekeeping()
			assert.Equal(t, c.holds, employee.GetAccountLocked())
			assert.Equal(t, c.holds, employee.GetIsEmployee(), "whom a pay rule pays is an employee")
			assert.Len(t, employee.GetEffDatedAccountStatusesForExtensionSnapshotDate(), want)
			assert.Len(t, timekeeping.GetPayRulesForSnapshotDate(), want)
			assert.Equal(t, c.holds, timekeeping.GetPayRuleName() == "Hourly")
			assert.Len(t, timekeeping.GetBaseWagesForExtensionSnapshotDate(), want)
			assert.Len(t, v.accrual().GetAccrualProfilesEntriesForSnapshotDate(), want)
			assert.Len(t, v.device().GetBadgeDetailsForExtensionSnapshotDate(), want)
			assert.Len(t, timekeeping.GetPayRuleEntries(), 1, "of any day")

			v.wages = false
			hidden := v.timekeeping()
			assert.Empty(t, hidden.GetBaseWages())
			assert.Empty(t, hidden.GetBaseWagesForExtensionSnapshotDate())
		})
	}
}

func TestExpectedHours(t *testing.T) {
	t.Parallel()
	hours := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	for _, c := range []struct{ name, period, quantity, want string }{ // of a day, a week and a pay period
		{"of a day", "Daily", "8", "8 - -"},
		{"of a week", "WEEKLY", "37.5", "- 37.5 -"},
		{"of a pay period", "pay period", "0", "- - 0"},
		{"without a quantity", "Daily", "", "- - -"},
		{"with spaces around the quantity", "Daily", " 7.5 ", "7.5 - -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newTestView(&commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{ExpectedHoursList: []*commonsv1.ExpectedHours{{TimePeriodTypeName: c.period, Quantity: c.quantity}}}})
			out := v.scheduling()
			assert.Equal(t, c.want, strings.Join([]string{hours(out.ExpectedDailyHours), hours(out.ExpectedWeeklyHours), hours(out.ExpectedByPayPeriodHours)}, " "))
		})
	}
}

func TestLicensesOfManagers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, license   string
		active, manages bool
	}{
		{"one of managers", "Workforce Manager", true, true},
		{"in capitals", "MANAGER", true, true},
		{"one that is not active", "Workforce Manager", false, false},
		{"another one", "Timekeeping", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newTestView(&commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{PersonLicenseTypes: []*commonsv1.PersonLicenseType{
				{LicenseTypeName: c.license, ActiveFlag: &c.active},
			}}})
			assert.Equal(t, c.manages, v.employee().GetIsManager())
		})
	}
}
