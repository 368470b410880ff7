package scheduleruleset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleruleset"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	*schedtest.Env
	client schedulingv1.ScheduleRuleSetServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	schedulingv1.RegisterScheduleRuleSetServiceServer(env.Local, scheduleruleset.New(env.Pool))
	return &fixture{env, schedulingv1.NewScheduleRuleSetServiceClient(env.Conn())}
}

func property(name string) *schedulingv1.ScheduleRuleProperty {
	return &schedulingv1.ScheduleRuleProperty{Name: name}
}

func TestWhenWeeksAndNightsBegin(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for i, c := range []struct {
		name                     string
		week, anchor, start, end string
		want, code               string
	}{
		{"usually", "", "", "", "", "MONDAY 23:00:00 06:00:00", ""},
		{"on a day of the week", "SUNDAY", "", "", "", "SUNDAY 23:00:00 06:00:00", ""},
		{"on the day of an anchor", "", "2026-03-04", "", "", "WEDNESDAY 23:00:00 06:00:00", ""},
		{"on a day that is the anchor's", "WEDNESDAY", "2026-03-04", "", "", "WEDNESDAY 23:00:00 06:00:00", ""},
		{"on a day that is not the anchor's", "MONDAY", "2026-03-04", "", "", "", scheduleruleset.CodeInvalid},
		{"on no day of the week", "monday", "", "", "", "", scheduleruleset.CodeInvalid},
		{"on an anchor that is not there", "", "2026-02-29", "", "", "", fault.CodeDate},
		{"at other times", "", "", "22:00", "05:30:15.5", "MONDAY 22:00:00 05:30:15", ""},
		{"at a time that is none", "", "", "24:00", "", "", fault.CodeTime},
		{"when the usual night ends", "", "", "06:00", "", "", scheduleruleset.CodeInvalid},
		{"when they end", "", "", "21:00", "21:00:00", "", scheduleruleset.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := w.client.CreateScheduleRuleSet(w.Ctx, &schedulingv1.ScheduleRuleSet{
				Name: fmt.Sprint("Set ", i), RuleType: property("employee"), WeekStartDay: c.week, AnchorDate: c.anchor, NightStartTime: c.start, NightEndTime: c.end,
			})
			faulttest.RequireCode(t, c.code, err)
			if c.code == "" {
				assert.Equal(t, c.want, strings.Join([]string{out.GetWeekStartDay(), out.GetNightStartTime(), out.GetNightEndTime()}, " "))
			}
		})
	}
}

// rule is a rule of a set, by its name, with values by the names of their parameters in
// turn.
func rule(name, severity string, values ...any) *schedulingv1.ScheduleRuleSetRule {
	out := &schedulingv1.ScheduleRuleSetRule{Rule: &schedulingv1.ScheduleRule{Name: name}}
	if severity != "" {
		out.Severity = property(severity)
	}
	for i := 0; i < len(values); i += 2 {
		p := &schedulingv1.ScheduleRuleSetParameter{RuleParameterType: &schedulingv1.ScheduleRuleParameterType{Name: values[i].(string)}}
		switch value := values[i+1].(type) {
		case float64:
			p.Value = structpb.NewNumberValue(value)
		case string:
			p.Value = structpb.NewStringValue(value)
		case bool:
			p.Value = structpb.NewBoolValue(value)
		}
		out.RuleParameters = append(out.RuleParameters, p)
	}
	return out
}

func TestRulesThatSetsHave(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const minors, days = "ERULE_MINOR_MAX_HOURS_DAY", "ERULE_MAX_DAYS_ROW"
	for i, c := range []struct {
		name       string
		sent       *schedulingv1.ScheduleRuleSetRule
		want, code string
	}{
		{"by its name alone", rule(minors, ""), minors + " Warning MAX_HOURS=8 AGE=18", ""},
		{"in another case", rule(strings.ToLower(minors), "error"), minors + " Error MAX_HOURS=8 AGE=18", ""},
		{"by its id, which wins", &schedulingv1.ScheduleRuleSetRule{Rule: &schedulingv1.ScheduleRule{Id: proto.Int64(3), Name: minors}}, days + " Warning MAX_DAYS=6", ""},
		{"with one value of two", rule(minors, "", "age", 16.0), minors + " Warning MAX_HOURS=8 AGE=16", ""},
		{"with values in another order", rule(minors, "", "AGE", 16.0, "MAX_HOURS", 7.5), minors + " Warning MAX_HOURS=7.5 AGE=16", ""},
		{"with a value as a text", rule(minors, "", "MAX_HOURS", " 7.5 "), minors + " Warning MAX_HOURS=7.5 AGE=18", ""},
		{"without a name", rule("", ""), "", scheduleruleset.CodeMissing},
		{"that is not there", rule("ERULE_SMILE", ""), "", scheduleruleset.CodeUnknownRule},
		{"with another severity", rule(minors, "Fatal"), "", scheduleruleset.CodeInvalid},
		{"with a parameter that is another rule's", rule(days, "", "MAX_HOURS", 8.0), "", scheduleruleset.CodeUnknownRule},
		{"with a parameter that is not there", rule(days, "", "LUCK", 8.0), "", scheduleruleset.CodeUnknownRule},
		{"with a parameter twice", rule(minors, "", "AGE", 16.0, "age", 16.0), "", scheduleruleset.CodeInvalid},
		{"without a value", rule(minors, "", "AGE", nil), "", scheduleruleset.CodeMissing},
		{"with a value that is true", rule(minors, "", "AGE", true), "", scheduleruleset.CodeInvalid},
		{"with a value that is a word", rule(minors, "", "AGE", "sixteen"), "", scheduleruleset.CodeInvalid},
		{"with a value that is no number", rule(minors, "", "AGE", "NaN"), "", scheduleruleset.CodeInvalid},
		{"with a value that is too much", rule(minors, "", "MAX_HOURS", 24.5), "", scheduleruleset.CodeInvalid},
		{"with a value that is too little", rule(days, "", "MAX_DAYS", 0.0), "", scheduleruleset.CodeInvalid},
		{"with half a day", rule(days, "", "MAX_DAYS", 5.5), "", scheduleruleset.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made, err := w.client.CreateScheduleRuleSet(w.Ctx, &schedulingv1.ScheduleRuleSet{
				Name: fmt.Sprint("Set ", i), RuleType: property("Employee"), Rules: []*schedulingv1.ScheduleRuleSetRule{c.sent},
			})
			faulttest.RequireCode(t, c.code, err)
			if c.code != "" {
				return
			}
			out, err := w.client.GetScheduleRuleSet(w.Ctx, &schedulingv1.GetScheduleRuleSetRequest{Id: made.GetId()})
			require.NoError(t, err)
			require.Len(t, out.GetRules(), 1)
			got := out.GetRules()[0]
			words := []string{got.GetRule().GetName(), got.GetSeverity().GetName()}
			for _, p := range got.GetRuleParameters() {
				words = append(words, fmt.Sprintf("%s=%v", p.GetRuleParameterType().GetName(), p.GetValue().GetNumberValue()))
			}
			assert.Equal(t, c.want, strings.Join(words, " "))
		})
	}
}

func TestRuleSetsChange(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var ids []int64
	for _, s := range []*schedulingv1.ScheduleRuleSet{
		{Name: "One", RuleType: property("Employee"), PersistentId: "one"}, {Name: "Two", RuleType: property("Employee")},
	} {
		made, err := w.client.CreateScheduleRuleSet(w.Ctx, s)
		require.NoError(t, err)
		ids = append(ids, made.GetId())
	}
	for _, c := range []struct {
		name string
		id   int64
		sent *schedulingv1.ScheduleRuleSet
		code string
	}{
		{"with their own persistent id", ids[0], &schedulingv1.ScheduleRuleSet{Name: "One", RuleType: property("Employee"), PersistentId: "one"}, ""},
		{"not to the persistent id of another", ids[1], &schedulingv1.ScheduleRuleSet{Name: "Two", RuleType: property("Employee"), PersistentId: "one"}, scheduleruleset.CodeTaken},
		{"not to another type", ids[1], &schedulingv1.ScheduleRuleSet{Name: "Two", RuleType: property("Organization")}, scheduleruleset.CodeRuleType},
		{"not to an unknown type", ids[1], &schedulingv1.ScheduleRuleSet{Name: "Two", RuleType: property("Robot")}, scheduleruleset.CodeRuleType},
		{"not to no type", ids[1], &schedulingv1.ScheduleRuleSet{Name: "Two"}, scheduleruleset.CodeMissing},
		{"not to the name of another", ids[1], &schedulingv1.ScheduleRuleSet{Name: "ONE", RuleType: property("Employee")}, scheduleruleset.CodeTaken},
		{"not to another id", ids[1], &schedulingv1.ScheduleRuleSet{Id: &ids[0], Name: "Two", RuleType: property("Employee")}, scheduleruleset.CodeOtherID},
		{"not when they are not there", 999, &schedulingv1.ScheduleRuleSet{Name: "Two", RuleType: property("Employee")}, scheduleruleset.CodeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.client.UpdateScheduleRuleSet(w.Ctx, &schedulingv1.UpdateScheduleRuleSetRequest{Id: c.id, Body: c.sent})
			faulttest.RequireCode(t, c.code, err)
			assert.True(t, c.code == "" || fault.FromError(err).Status == 400, "%v", err)
		})
	}
}
