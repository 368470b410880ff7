package employmentterm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

type version = schedulingv1.EmploymentTermVersion

func term(versions ...*version) *schedulingv1.EmploymentTerm {
	return &schedulingv1.EmploymentTerm{
		Name: "x", ProcessType: enforceEndDate,
		Versions: &schedulingv1.EmploymentTermVersions{EmploymentTermVersion: versions},
	}
}

func TestPrepareNew(t *testing.T) {
	t.Parallel()
	good := func() *version { return &version{StartDate: "2024-01-01", EndDate: "2025-01-01"} }
	for name, c := range map[string]struct {
		change func(*schedulingv1.EmploymentTerm)
		code   string
	}{
		"as it is":             {func(*schedulingv1.EmploymentTerm) {}, ""},
		"versions that touch":  {func(e *schedulingv1.EmploymentTerm) { add(e, "2025-01-01", "3000-01-01") }, ""},
		"no name":              {func(e *schedulingv1.EmploymentTerm) { e.Name = " " }, CodeIncomplete},
		"a long name":          {func(e *schedulingv1.EmploymentTerm) { e.Name = strings.Repeat("ä", maxText+1) }, CodeInvalid},
		"a control character":  {func(e *schedulingv1.EmploymentTerm) { e.Name = "a\x00" }, CodeInvalid},
		"lines in a text":      {func(e *schedulingv1.EmploymentTerm) { e.Description = "a\nb" }, ""},
		"a long description":   {func(e *schedulingv1.EmploymentTerm) { e.Description = strings.Repeat("x", maxDescription+1) }, CodeInvalid},
		"another process type": {func(e *schedulingv1.EmploymentTerm) { e.ProcessType = "X" }, CodeInvalid},
		"no versions":          {func(e *schedulingv1.EmploymentTerm) { e.Versions = nil }, CodeIncomplete},
		"no end":               {func(e *schedulingv1.EmploymentTerm) { add(e, "2025-01-01", "") }, CodeInvalid},
		"end at the start":     {func(e *schedulingv1.EmploymentTerm) { add(e, "2025-01-01", "2025-01-01") }, CodeInvalid},
		"no date":              {func(e *schedulingv1.EmploymentTerm) { add(e, "2025-02-30", "2026-01-01") }, CodeInvalid},
		"overlap":              {func(e *schedulingv1.EmploymentTerm) { add(e, "2024-12-31", "3000-01-01") }, CodeInvalid},
		"too many versions": {func(e *schedulingv1.EmploymentTerm) {
			e.Versions.EmploymentTermVersion = make([]*version, maxVersions+1)
		}, fault.CodeItemLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := term(good())
			c.change(e)
			_, err := prepareNew(e)
			if c.code == "" {
				assert.NoError(t, err)
			} else {
				assert.True(t, fault.HasCode(err, c.code), err)
			}
		})
	}
}

func add(e *schedulingv1.EmploymentTerm, from, to string) {
	// The later one first, because a caller's order does not matter.
	e.Versions.EmploymentTermVersion = append([]*version{{StartDate: from, EndDate: to}}, e.Versions.EmploymentTermVersion...)
}

func TestVersionsAreOrdered(t *testing.T) {
	t.Parallel()
	e := term(&version{StartDate: "2025-01-01", EndDate: "9999-12-31"}, &version{StartDate: "0001-01-01", EndDate: "2024-01-01"})
	got, err := prepareNew(e)
	require.NoError(t, err)
	versions := got.GetVersions().GetEmploymentTermVersion()
	assert.Equal(t, "1900-01-01", versions[0].GetStartDate(), "dates are pulled into the calendar")
	assert.Equal(t, "3000-01-01", versions[1].GetEndDate())
	assert.Equal(t, "9999-12-31", e.GetVersions().GetEmploymentTermVersion()[0].GetEndDate(), "the request stays as it was")
	assert.True(t, got.GetIsActive())
	assert.False(t, got.GetAllowsInheritance())
}
