package account

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// datedRecord is a person of a status of the employment and one of the account; "" for none.
func datedRecord(employment, account, from, to string) *record.Record {
	info := &commonsv1.PersonInformation{}
	if employment != "" {
		info.EmploymentStatusList = []*commonsv1.EmploymentStatus{{EmploymentStatusName: employment, EffectiveDate: from, ExpirationDate: to}}
	}
	if account != "" {
		info.UserAccountStatusList = []*commonsv1.UserAccountStatus{{UserAccountStatusName: account, EffectiveDate: from, ExpirationDate: to}}
	}
	return &record.Record{Message: &commonsv1.Person{PersonInformation: info}}
}

func TestChangesOfDaysWithoutLogIn(t *testing.T) {
	t.Parallel()
	const from, to = "2026-03-01", "2026-04-01"
	for _, c := range []struct {
		name     string
		old      *record.Record // nil for a new person
		now      *record.Record
		zone     string
		notified bool
	}{
		{"a new person who may always", nil, datedRecord("Active", "Active", from, to), "UTC", false},
		{"a new person of whom nothing is known", nil, datedRecord("", "", from, to), "UTC", false},
		{"a new person who was terminated", nil, datedRecord("Terminated", "", from, to), "UTC", true},
		{"a new person whose account is not active", nil, datedRecord("", "Inactive", from, to), "UTC", true},
		{"nothing", datedRecord("Terminated", "", from, to), datedRecord("Terminated", "", from, to), "UTC", false},
		{"the same days for another reason", datedRecord("Terminated", "", from, to), datedRecord("", "Inactive", from, to), "UTC", false},
		{"an inactive employment", datedRecord("Active", "", from, to), datedRecord("Inactive", "", from, to), "UTC", false},
		{"a termination", datedRecord("Active", "", from, to), datedRecord("Terminated", "", from, to), "UTC", true},
		{"a termination taken back", datedRecord("Terminated", "", from, to), datedRecord("Active", "", from, to), "UTC", true},
		{"a day more", datedRecord("Terminated", "", from, to), datedRecord("Terminated", "", from, "2026-04-02"), "UTC", true},
		{"the time zone", datedRecord("Terminated", "", from, to), datedRecord("Terminated", "", from, to), "Asia/Tokyo", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			change := store.Change{Draft: &rules.Draft{Record: c.now, Zone: c.zone}, ID: 7}
			if c.old != nil {
				change.Old = &store.Person{Record: c.old, Zone: "UTC"}
			}
			assert.Equal(t, c.notified, len(ChangesLockout([]store.Change{change})) == 1)
		})
	}
}

// Days begin and end at the midnights of the person's zone, also when clocks change.
func TestPeriodsOfLockouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, zone, from, to, first, end string }{
		{"in UTC", "UTC", "2026-03-01", "2026-03-02", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
		{"east of it", "Asia/Tokyo", "2026-03-01", "2026-03-02", "2026-02-28T15:00:00Z", "2026-03-01T15:00:00Z"},
		{"a day of 23 hours", "Europe/Berlin", "2026-03-29", "2026-03-30", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"a day of 25 hours", "Europe/Berlin", "2026-10-25", "2026-10-26", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"a day without a midnight", "Africa/Cairo", "2026-04-24", "2026-04-25", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		{"forever", "UTC", "2026-03-01", "", "2026-03-01T00:00:00Z", "3000-01-01T00:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := NewLockouts(nil, nil, &civil.Zones{}, nil)
			got, err := l.personLockout(&store.Person{Record: datedRecord("Terminated", "", c.from, c.to), ID: 7, Version: 3, Zone: c.zone})
			require.NoError(t, err)
			require.Len(t, got.GetPeriods(), 1)
			assert.Equal(t, c.first, time.Unix(got.GetPeriods()[0].GetFrom(), 0).UTC().Format(time.RFC3339))
			assert.Equal(t, c.end, time.Unix(got.GetPeriods()[0].GetTo(), 0).UTC().Format(time.RFC3339))
			assert.EqualValues(t, 3, got.GetVersion())
		})
	}
}

// The last administrators are not locked out; the other users are.
func TestLockoutsThatAuthRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		refused  map[int64]bool
		requests []int64 // the last time
		calls    int
	}{
		{"none", nil, []int64{1, 2, 3, 4}, 1},
		{"the first and the third", map[int64]bool{1: true, 3: true}, []int64{2, 4}, 2},
		{"the last", map[int64]bool{4: true}, []int64{1, 2, 3}, 2},
		{"all", map[int64]bool{1: true, 2: true, 3: true, 4: true}, []int64{1, 2, 3, 4}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			auth := &refusing{ids: c.refused}
			req := &authv1.LockOutUsersRequest{}
			for id := int64(1); id <= 4; id++ {
				req.Users = append(req.Users, &authv1.UserLockout{PersonId: id})
			}
			require.NoError(t, NewLockouts(nil, auth, &civil.Zones{}, pgtest.Log(t)).lockOut(t.Context(), req))
			assert.Equal(t, c.requests, auth.requests)
			assert.Equal(t, c.calls, auth.calls)
		})
	}
}
