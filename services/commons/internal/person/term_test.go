package person

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestWhatAskingForTermsComesTo(t *testing.T) {
	t.Parallel()
	day := func(text string) civil.Date {
		d, err := civil.ParseDate(text)
		require.NoError(t, err)
		return d
	}
	have := []termDays{{7, "A", civil.Range{From: day("2026-01-01"), To: civil.Forever}}}
	for name, c := range map[string]struct {
		sent []*commonsv1.TermAssignment
		want string
	}{
		"the same again":     {[]*commonsv1.TermAssignment{{Name: "A", StartDate: "2026-02-01"}}, "A 2026-01-01..3000-01-01 "},
		"another from today": {[]*commonsv1.TermAssignment{{Name: "B"}}, "A 2026-01-01..2026-06-01 B 2026-06-01..3000-01-01 "},
		"two, one after the other": {[]*commonsv1.TermAssignment{{Name: "B", StartDate: "2026-03-01"}, {Name: "A", StartDate: "2026-05-01"}},
			"A 2026-01-01..2026-03-01 B 2026-03-01..2026-05-01 A 2026-05-01..3000-01-01 "},
		"off for some days":  {[]*commonsv1.TermAssignment{{StartDate: "2026-03-01", EndDate: "2026-04-01"}}, "A 2026-01-01..2026-03-01 A 2026-04-01..3000-01-01 "},
		"off from today":     {[]*commonsv1.TermAssignment{{}}, "A 2026-01-01..2026-06-01 "},
		"moved":              {[]*commonsv1.TermAssignment{{Name: "A", OriginalStartDate: "2026-01-01", StartDate: "2026-02-01"}}, "A 2026-02-01..3000-01-01 "},
		"taken back":         {[]*commonsv1.TermAssignment{{OriginalStartDate: "2026-01-01"}}, ""},
		"one that was never": {[]*commonsv1.TermAssignment{{OriginalStartDate: "2025-01-01"}}, "A 2026-01-01..3000-01-01 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := takeTerms(&commonsv1.Person{JobAssignment: &commonsv1.JobAssignment{EmploymentTermAssignments: c.sent}}, day("2026-06-01"))
			require.NoError(t, err)
			for i := range asked {
				asked[i].id = map[string]int64{"A": 7, "B": 8}[asked[i].name]
			}
			got := ""
			for _, d := range ask(have, asked) {
				got += d.name + " " + d.days.From.String() + ".." + d.days.To.String() + " "
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// What an answer shows can come back from who may not put persons on terms. All
// else needs the permission.
func TestTermsThatComeBackAskForNothing(t *testing.T) {
	t.Parallel()
	from, until := civil.FromTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), civil.FromTime(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	have := []termDays{{7, "A", civil.Range{From: from, To: until}}, {8, "B", civil.Range{From: until, To: civil.Forever}}}
	r := record{person: &commonsv1.Person{}, terms: have}
	r.showTerms()
	shown := r.person.GetJobAssignment().GetEmploymentTermAssignments()
	first := shown[:1]
	for name, c := range map[string]struct {
		sent []*commonsv1.TermAssignment
		want bool
	}{
		"what is shown":      {shown, true},
		"a part of it":       {first, true},
		"for longer":         {[]*commonsv1.TermAssignment{{Name: "A", StartDate: "2026-01-01", EndDate: "2026-03-02"}}, false},
		"another":            {[]*commonsv1.TermAssignment{{Name: "B", StartDate: "2026-01-01", EndDate: "2026-03-01"}}, false},
		"one they never had": {[]*commonsv1.TermAssignment{{Name: "C", StartDate: "2026-01-01", EndDate: "2026-03-01"}}, false},
		"off":                {[]*commonsv1.TermAssignment{{StartDate: "2026-01-01", EndDate: "2026-02-01"}}, false},
		"taken back":         {[]*commonsv1.TermAssignment{{OriginalStartDate: "2026-01-01"}}, false},
		"moved":              {[]*commonsv1.TermAssignment{{Name: "A", OriginalStartDate: "2026-01-01", StartDate: "2026-02-01", EndDate: "2026-03-01"}}, false},
	} {
		sent := &commonsv1.Person{JobAssignment: &commonsv1.JobAssignment{EmploymentTermAssignments: c.sent}}
		asked, err := takeTerms(sent, until)
		require.NoError(t, err)
		assert.Equal(t, c.want, nothingAsked(have, asked), name)
	}
}

func TestWhoMayPutPersonsOnTerms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who  authn.Principal
		want bool
	}{
		"who may write persons":          {authn.Principal{Subject: "a", Permissions: []string{"commons.person.write"}}, false},
		"who may write assignments, too": {authn.Principal{Subject: "a", Permissions: []string{"commons.person.write", termPermission}}, true},
		"a service for a user":           {authn.Principal{Subject: "a", Service: "timekeeping"}, true},
	} {
		assert.Equal(t, c.want, mayAssign(authn.With(t.Context(), &c.who, "")), name)
	}
}
