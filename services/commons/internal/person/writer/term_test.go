package writer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// Callers who may not put persons on terms can send back the terms of a response unchanged. All
// other changes need the permission.
func TestTermsThatComeBackAskForNothing(t *testing.T) {
	t.Parallel()
	from, until := civil.FromTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), civil.FromTime(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	have := []record.TermAssignment{{ID: 7, Name: "A", Days: civil.Range{From: from, To: until}}, {ID: 8, Name: "B", Days: civil.Range{From: until, To: civil.Forever}}}
	r := record.Record{Message: &commonsv1.Person{}, Terms: have}
	r.FillTerms()
	shown := r.Message.GetJobAssignment().GetEmploymentTermAssignments()
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
		t.Run(name, func(t *testing.T) {
			sent := &commonsv1.Person{JobAssignment: &commonsv1.JobAssignment{EmploymentTermAssignments: c.sent}}
			asked, err := rules.TakeTermRequests(sent, until)
			require.NoError(t, err)
			assert.Equal(t, c.want, isNoOp(have, asked), name)
		})
	}
}

func TestPermissionToPutPersonsOnTerms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who  authn.Principal
		want bool
	}{
		"who may write persons":          {authn.Principal{Subject: "a", Permissions: []string{"commons.person.write"}}, false},
		"who may write assignments, too": {authn.Principal{Subject: "a", Permissions: []string{"commons.person.write", termPermission}}, true},
		"a service for a user":           {authn.Principal{Subject: "a", Service: "timekeeping"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, mayAssignTerms(authn.With(t.Context(), &c.who, "")), name)
		})
	}
}
