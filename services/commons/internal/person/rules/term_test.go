package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

func TestRequestedTerms(t *testing.T) {
	t.Parallel()
	day := func(text string) civil.Date {
		d, err := civil.ParseDate(text)
		require.NoError(t, err)
		return d
	}
	have := []record.TermAssignment{{ID: 7, Name: "A", Days: civil.Range{From: day("2026-01-01"), To: civil.Forever}}}
	for name, c := range map[string]struct {
		sent []*commonsv1.TermAssignment
		want string
	}{
		"the same again":     {[]*commonsv1.TermAssignment{{Name: "A", StartDate: "2026-02-01"}}, "A 2026-01-01..3000-01-01 "},
		"another from today": {[]*commonsv1.TermAssignment{{Name: "B"}}, "A 2026-01-01..2026-06-01 B 2026-06-01..3000-01-01 "},
		"two, one after the other": {
			[]*commonsv1.TermAssignment{{Name: "B", StartDate: "2026-03-01"}, {Name: "A", StartDate: "2026-05-01"}},
			"A 2026-01-01..2026-03-01 B 2026-03-01..2026-05-01 A 2026-05-01..3000-01-01 ",
		},
		"off for some days":  {[]*commonsv1.TermAssignment{{StartDate: "2026-03-01", EndDate: "2026-04-01"}}, "A 2026-01-01..2026-03-01 A 2026-04-01..3000-01-01 "},
		"off from today":     {[]*commonsv1.TermAssignment{{}}, "A 2026-01-01..2026-06-01 "},
		"moved":              {[]*commonsv1.TermAssignment{{Name: "A", OriginalStartDate: "2026-01-01", StartDate: "2026-02-01"}}, "A 2026-02-01..3000-01-01 "},
		"taken back":         {[]*commonsv1.TermAssignment{{OriginalStartDate: "2026-01-01"}}, ""},
		"one that was never": {[]*commonsv1.TermAssignment{{OriginalStartDate: "2025-01-01"}}, "A 2026-01-01..3000-01-01 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := TakeTermRequests(&commonsv1.Person{JobAssignment: &commonsv1.JobAssignment{EmploymentTermAssignments: c.sent}}, day("2026-06-01"))
			require.NoError(t, err)
			for i := range asked {
				asked[i].ID = map[string]int64{"A": 7, "B": 8}[asked[i].Name]
			}
			got := ""
			for _, d := range record.ApplyTermRequests(have, asked) {
				got += d.Name + " " + d.Days.From.String() + ".." + d.Days.To.String() + " "
			}
			assert.Equal(t, c.want, got)
		})
	}
}
