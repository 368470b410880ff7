package punch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

func byID(id int64) *commonv1.Ref { return &commonv1.Ref{Id: &id} }

func TestPunchesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		sent       *timekeepingv1.Punch
	}{
		{"no time", timecardfault.CodeMissing, &timekeepingv1.Punch{}},
		{"a time that is none", fault.CodeDate, &timekeepingv1.Punch{PunchDtm: "2026-03-02T25:00:00"}},
		{"an instant that is none", timecardfault.CodeInvalid, &timekeepingv1.Punch{Instant: "2026-03-02T08:00:00"}},
		{"a time before 1900", timecardfault.CodeInvalid, &timekeepingv1.Punch{Instant: "1899-12-30T08:00:00Z"}},
		{"an empty time zone", timecardfault.CodeMissing, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TimeZone: &commonv1.Ref{}}},
		{"an unknown time zone", timecardfault.CodeInvalid, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TimeZone: refByName("Europe/Atlantis")}},
		{"an unknown direction", timecardfault.CodeInvalid, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TypeOverride: refByName("Sideways")}},
		{"a job with a zero byte", timecardfault.CodeInvalid, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", OrgJob: refByName("A\x00")}},
		{"a job that is too long", timecardfault.CodeInvalid, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", OrgJob: refByName(strings.Repeat("x", 1001))}},
		{"a punch that is too large", timecardfault.CodeInvalid, &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", CommentsNotes: []*structpb.Struct{{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(strings.Repeat("x", 16_384))}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := punch.Parse(&civil.Zones{}, c.sent, person.Person{ID: 7, TimeZone: "Europe/Berlin"})
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}

func TestPunchesOfRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sent *timekeepingv1.Punch
		want string // the time by UTC, zone, direction, job, work rule, and whether it transfers
	}{
		{"on the clock of the employee", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00"}, "2026-03-02T07:00:00Z Europe/Berlin 0   false"},
		{"on another clock", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TimeZone: refByName("UTC")}, "2026-03-02T08:00:00Z UTC 0   false"},
		{"an instant wins", &timekeepingv1.Punch{Instant: "2026-10-25T01:30:00Z", PunchDtm: "2026-03-02T08:00:00"}, "2026-10-25T01:30:00Z Europe/Berlin 0   false"},
		{"in", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TypeOverride: refByName("in punch")}, "2026-03-02T07:00:00Z Europe/Berlin 1   false"},
		{"out, by id", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", TypeOverride: byID(2)}, "2026-03-02T07:00:00Z Europe/Berlin 2   false"},
		{"in a job", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", OrgJob: refByName("A/Cook")}, "2026-03-02T07:00:00Z Europe/Berlin 0 A/Cook  false"},
		{
			"to a job and a work rule", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", Transfer: &timekeepingv1.PunchTransfer{TransferString: "A/Cook;Night"}},
			"2026-03-02T07:00:00Z Europe/Berlin 0 A/Cook Night true",
		},
		{
			"to a work rule", &timekeepingv1.Punch{PunchDtm: "2026-03-02T08:00:00", OrgJob: refByName("A/Cook"), Transfer: &timekeepingv1.PunchTransfer{WorkRule: refByName("Night")}},
			"2026-03-02T07:00:00Z Europe/Berlin 0 A/Cook Night true",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := proto.CloneOf(c.sent)
			e, err := punch.Parse(&civil.Zones{}, c.sent, person.Person{ID: 7, Number: "P-7", TimeZone: "Europe/Berlin"})
			require.NoError(t, err)
			assert.True(t, proto.Equal(before, c.sent), "what was sent stays as it is")
			shown := e.ToProto()
			assert.Equal(t, c.want, fmt.Sprintf("%s %s %d %s %s %t", shown.GetInstant(), shown.GetTimeZone().GetQualifier(), e.Direction, e.Job, e.WorkRule, e.Transfer))
			assert.Equal(t, "P-7", shown.GetEmployee().GetQualifier())
			assert.Equal(t, e.Direction == worktime.Any, shown.GetTypeOverride() == nil)
		})
	}
}

func TestPunchesOfNoTimeOfEmployment(t *testing.T) {
	t.Parallel()
	hired := civil.Of(2026, time.March, 2)
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	left := []civil.Range{civil.Through(civil.Of(2026, time.March, 5), civil.Of(2026, time.March, 6))}
	out, in := refByName("Out Punch"), refByName("In Punch")
	for _, c := range []struct {
		at, code   string
		hired      *civil.Date
		direction  *commonv1.Ref
		terminated []civil.Range
	}{
		{at: "2026-03-01T23:59:59", hired: &hired, code: timecardfault.CodeNotEmployed},
		{at: "2026-03-02T00:00:00", hired: &hired},
		{at: "2000-01-01T08:00:00", hired: &hired, code: timecardfault.CodeNotEmployed},
		{at: "2000-01-01T08:00:00"},
		{at: "2026-03-11T12:59:59", hired: &hired},
		{at: "2026-03-11T13:00:01", hired: &hired, code: timecardfault.CodeNotYet},
		{at: "2063-01-01T08:00:00", code: timecardfault.CodeNotYet},
		{at: "2026-03-04T23:59:59", terminated: left},
		{at: "2026-03-05T06:00:00", terminated: left},
		{at: "2026-03-05T06:00:01", terminated: left, direction: out},
		{at: "2026-03-05T06:00:02", terminated: left, direction: in, code: timecardfault.CodeNotEmployed},
		{at: "2026-03-05T12:00:01", terminated: left, direction: out, code: timecardfault.CodeNotEmployed},
		{at: "2026-03-06T06:00:00", terminated: left, code: timecardfault.CodeNotEmployed},
		{at: "2026-03-07T00:00:00", terminated: left},
	} {
		t.Run(c.at, func(t *testing.T) {
			t.Parallel()
			who := person.Person{ID: 7, TimeZone: "Europe/Berlin", HireDate: c.hired, Terminated: c.terminated}
			e, err := punch.Parse(&civil.Zones{}, &timekeepingv1.Punch{PunchDtm: c.at, TypeOverride: c.direction}, who)
			require.NoError(t, err)
			if err = e.CheckTime(now); c.code == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}
