package seed

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
)

const (
	payroll = "/v1/commons/payroll/"
	// runName is the name of the payroll run. A second run with the name is refused with the code runTaken.
	runName  = "Demonstration"
	runTaken = "WRL-20913"
	// payrollLines selects the columns of the export.
	payrollLines = "SELECT person_num, apply_date, paycode_name, hours_amount, days_amount, money_amount FROM $Payroll"
)

// runPayroll stages the time of the employees with punches, until yesterday, and exports it.
func runPayroll(ctx context.Context, c *Client, now time.Time) error {
	var exports struct{ TotalElements int }
	if err := c.call(ctx, http.MethodGet, payroll+"export/async", nil, &exports); err != nil || exports.TotalElements > 0 {
		return err
	}
	var numbers []string
	for i := range punching {
		numbers = append(numbers, personNumber(i))
	}
	var run struct{ RequestID string }
	err := c.call(ctx, http.MethodPost, payroll+"staging/async", object{
		"executionId": runName, "exportType": "Payroll", "employees": object{"qualifiers": numbers},
		"dateRange": object{"startDateTime": iso(now.AddDate(0, 0, -punchedDays)) + "T00:00:00", "endDateTime": iso(now.AddDate(0, 0, -1)) + "T23:59:59"},
	}, &run)
	if err != nil && !hasCode(err, runTaken) {
		return err
	}
	if run.RequestID != "" {
		if err := awaitRun(ctx, c, run.RequestID); err != nil {
			return err
		}
	} else {
		// The export of an unknown id has the rows of the newest run, which an interrupted run of this program has made.
		run.RequestID = runName
	}
	return c.call(ctx, http.MethodPost, payroll+"export/async", object{
		"requestId": run.RequestID, "query": payrollLines, "exportConfig": object{"format": "CSV", "fileName": "payroll.csv"},
	}, nil)
}

// awaitRun waits until a run is complete.
func awaitRun(ctx context.Context, c *Client, id string) error {
	for wait := (backoff.Backoff{First: 50 * time.Millisecond, Max: time.Second}); ; {
		var run struct{ Status, Message string }
		if err := c.call(ctx, http.MethodGet, payroll+"staging/"+id+"/status", nil, &run); err != nil {
			return err
		}
		switch run.Status {
		case "success":
			return nil
		case "failed":
			return fmt.Errorf("the payroll run failed: %s", run.Message)
		}
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}
