package commons

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	DataPath = "/v1/commons/data/multi_read"
	// DataEmployees is the largest number of employees in one request.
	DataEmployees = 500
)

// dataElements are twenty elements of three providers.
var dataElements = []string{
	"EMP_COMMON_FULL_NAME", "EMP_COMMON_PRIMARY_JOB", "EMP_COMMON_PRIMARY_ORG", "PEOPLE_PERSON_NUMBER", "PEOPLE_HIRE_DATE", "PEOPLE_EMP_STATUS",
	"PEOPLE_BADGE_NUMBER", "PEOPLE_BASE_WAGE", "PEOPLE_WORKER_TYPE", "PEOPLE_TIME_ZONE",
	"SCH_SCHEDULED_HOURS", "SCH_BREAK_HOURS", "SCH_WEEKEND_HOURS", "SCH_SHIFT_COUNT", "SCH_FIRST_START", "SCH_LAST_END",
	"PEOPLE_EMP_TERM", "TK_EMP_TERM_DAYS", "TK_EMP_TERM_COUNT", "TK_IS_TERMINATED",
}

// DataRequest returns a request for elements of employees in a range of days: for all days
// together, or day by day as a series.
func DataRequest(employees []int64, first, last string, series bool, elements ...string) scenario.Object {
	columns := make([]scenario.Object, len(elements))
	for i, key := range elements {
		columns[i] = scenario.Object{"key": key}
	}
	view := 0
	if series {
		view = 2
	}
	return scenario.Object{
		"select": columns,
		"from": scenario.Object{"view": view, "employeeSet": scenario.Object{
			"employees": scenario.Object{"ids": employees}, "dateRange": scenario.Object{"startDate": first, "endDate": last},
		}},
		// Do not use the result of an earlier read.
		"options": scenario.Object{"refresh": true},
	}
}

// dataFigure compares a read of data elements with the sequence of its statements.
func dataFigure(h *harness.Host, o harness.Options, p *companyServer) (harness.Figure, error) {
	f := harness.Figure{
		Name: data, Unit: "ms", AtMost: 1.5,
		Note: "p50; 20 elements of three providers for 500 employees over HTTPS, against the same statements one after another",
	}
	product, err := harness.Post(p.api, DataPath, p.dataRequest())
	if err != nil {
		return f, err
	}
	if err := product.Read(h.Context()); err != nil {
		return f, err
	}
	if err := checkData(product.Received.Bytes()); err != nil {
		return f, err
	}
	baseline, err := newReplay(tenant.With(h.Context(), p.company.Tenant), p.dataStatements, p.postgres)
	if err != nil {
		return f, err
	}
	defer baseline.close(h.Context())
	rows, err := baseline.run(h.Context())
	if err != nil || rows < 2*DataEmployees {
		return f, fmt.Errorf("the statements of a reading give %d rows: %w", rows, err)
	}
	h.Logf("a reading of data runs %d statements, which give %d rows", len(baseline.statements), rows)
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		harness.P50(product.Read),
		harness.P50(func(ctx context.Context) error { _, err := baseline.run(ctx); return err }))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// checkData checks that each employee has a value of each element.
func checkData(body []byte) error {
	var read struct {
		Metadata struct{ Errors []json.RawMessage }
		Data     struct {
			Children []struct {
				Attributes []struct{ Key, RawValue string }
			}
		}
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return err
	}
	if len(read.Metadata.Errors) > 0 || len(read.Data.Children) != DataEmployees {
		return fmt.Errorf("data of %d employees is read instead of %d: %.500s", len(read.Data.Children), DataEmployees, body)
	}
	for _, node := range read.Data.Children {
		var missing []string
		for _, a := range node.Attributes {
			if a.RawValue == "" {
				missing = append(missing, a.Key)
			}
		}
		if len(node.Attributes) != len(dataElements) || len(missing) > 0 {
			return fmt.Errorf("an employee has %d elements, and nothing of %s", len(node.Attributes), strings.Join(missing, ", "))
		}
	}
	return nil
}
