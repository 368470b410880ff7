package payrollstaging

import (
	"regexp"
	"strings"
)

// columnSQL is what each column of an export shows; custom fields follow under their
// own names.
var columnSQL = []struct{ name, sql string }{
	{"person_num", "e.person_number"},
	{"full_name", "e.full_name"},
	{"amount_type", "CASE WHEN r.days IS NOT NULL THEN 'DAY' WHEN r.hours IS NULL AND r.seconds = 0 AND r.money IS NOT NULL THEN 'MONEY' ELSE 'HOUR' END"},
	{"apply_date", "r.apply_date::text"},
	// Seconds need not be a finite decimal of an hour; seconds_amount is exact.
	{"hours_amount", "trim_scale(coalesce(r.hours, round(r.seconds::numeric / 3600, 6)))::text"},
	{"seconds_amount", "CASE WHEN r.hours IS NULL THEN r.seconds::text ELSE '' END"},
	{"days_amount", "coalesce(r.days::text, '')"},
	{"money_amount", "coalesce(r.money::text, '')"},
	{"paycode_name", "r.pay_code"},
	{"job", "r.job"},
	{"source", "r.kind"},
	{"historical_date", "coalesce(r.historical_date::text, '')"},
	{"range_start_date", "s.start_date::text"},
	{"range_end_date", "s.end_date::text"},
}

// column is one of an export.
type column struct {
	name string
	// sql is what the row shows, or "" for a custom field.
	sql string
	// field is the place of the custom field, from 1.
	field int
}

func allColumns(customFields []string) []column {
	var out []column
	for _, c := range columnSQL {
		out = append(out, column{name: c.name, sql: c.sql})
	}
	for i, name := range customFields {
		out = append(out, column{name: name, field: i + 1})
	}
	return out
}

var (
	queryForm = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+"?\$payroll"?\s*;?\s*$`)
	itemForm  = regexp.MustCompile(`(?is)^\s*("[^"]+"|[\w.]+)(?:\s+as\s+("[^"]+"|\w+))?\s*$`)
)

// columnsOf returns the columns that a query selects.
func columnsOf(query string, customFields []string) ([]column, error) {
	all := allColumns(customFields)
	if strings.TrimSpace(query) == "" {
		return all, nil
	}
	form := queryForm.FindStringSubmatch(query)
	if form == nil || len(query) > 10_000 {
		return nil, invalid("query: a query has the form SELECT column, column AS name FROM $Payroll.")
	}
	var out []column
	for item := range strings.SplitSeq(form[1], ",") {
		if strings.TrimSpace(item) == "*" {
			out = append(out, all...)
			continue
		}
		parts := itemForm.FindStringSubmatch(item)
		if parts == nil {
			return nil, invalid("query: %q is neither a column nor a column AS a name.", strings.TrimSpace(item))
		}
		name, found := strings.Trim(parts[1], `"`), false
		for _, c := range all {
			if found = strings.EqualFold(c.name, name); found {
				if alias := strings.Trim(parts[2], `"`); alias != "" {
					c.name = alias
				}
				out = append(out, c)
				break
			}
		}
		if !found {
			return nil, invalid("query: there is no column %q.", name)
		}
	}
	return out, nil
}
