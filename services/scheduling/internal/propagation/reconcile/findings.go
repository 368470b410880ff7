package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
)

const insertFindings = `
INSERT INTO propagation_finding (tenant_id, propagation_id, code, assignment_id, employee_ids, from_dates, to_dates, description)
SELECT $1, $2, f.code, nullif(f.assignment_id, 0), f.employee_ids, f.from_dates, f.to_dates, f.description
FROM jsonb_to_recordset($3::jsonb) AS f (code text, assignment_id bigint, employee_ids bigint[], from_dates date[], to_dates date[], description text)`

// finding is a reason why days of some employees were skipped, or a warning about their schedules. Employees
// with the same days share a finding.
type finding struct {
	Code         string   `json:"code"`
	AssignmentID int64    `json:"assignment_id"`
	EmployeeIDs  []int64  `json:"employee_ids"`
	FromDates    []string `json:"from_dates"`
	ToDates      []string `json:"to_dates"` // the days after the last days
	Description  string   `json:"description"`
}

// findings are the findings of a batch.
type findings struct {
	list []finding
	at   map[string]int // by everything but the employees
}

func (f *findings) reset() {
	f.list = f.list[:0]
	clear(f.at)
}

// add adds a finding of an employee.
func (f *findings) add(employee int64, code string, assignmentID int64, days []civil.Range, description string) {
	days = days[:min(len(days), propagation.MaxSkippedRanges)]
	var key strings.Builder
	fmt.Fprint(&key, code, " ", assignmentID, days, description)
	i, known := f.at[key.String()]
	if !known {
		if f.at == nil {
			f.at = map[string]int{}
		}
		i = len(f.list)
		f.at[key.String()] = i
		one := finding{Code: code, AssignmentID: assignmentID, Description: description, FromDates: []string{}, ToDates: []string{}}
		for _, r := range days {
			one.FromDates, one.ToDates = append(one.FromDates, r.From.String()), append(one.ToDates, r.To.String())
		}
		f.list = append(f.list, one)
	}
	f.list[i].EmployeeIDs = append(f.list[i].EmployeeIDs, employee)
}

// addSkipped adds skipped days of an employee.
func (c *Changes) addSkipped(employee int64, reason string, days []civil.Range) {
	c.findings.add(employee, reason, 0, days, "")
}

// addWarning adds a warning about the schedule of an employee.
func (c *Changes) addWarning(employee int64, w *schedulewarning.Warning) {
	days := make([]civil.Range, len(w.Dates))
	for i, day := range w.Dates {
		days[i] = civil.Range{From: day, To: day + 1}
	}
	c.findings.add(employee, string(w.Code), w.AssignmentID, days, w.Text)
}

// QueueFindings adds the statement that stores the skipped days and the warnings of employees, whose
// ids ascend, for a propagation.
func (c *Changes) QueueFindings(batch *pgx.Batch, tenantID, propagationID int64, employees []int64) error {
	var stored []finding
	for _, one := range c.findings.list {
		one.EmployeeIDs = slices.DeleteFunc(slices.Clone(one.EmployeeIDs), func(id int64) bool {
			_, found := slices.BinarySearch(employees, id)
			return !found
		})
		if slices.Sort(one.EmployeeIDs); len(one.EmployeeIDs) > 0 {
			stored = append(stored, one)
		}
	}
	if len(stored) == 0 {
		return nil
	}
	body, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("propagation: encode findings: %w", err)
	}
	batch.Queue(insertFindings, tenantID, propagationID, string(body))
	return nil
}
