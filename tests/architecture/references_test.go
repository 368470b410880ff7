package architecture

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	sqlComment  = regexp.MustCompile(`--.*`)
	tableBody   = regexp.MustCompile(`(?s)CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\)`)
	tableColumn = regexp.MustCompile(`(?m)^\s+([a-z_]+)\s+(?:bigint|text|int|integer|uuid)\b`)
	tableChange = regexp.MustCompile(`(?s)ALTER TABLE (?:ONLY )?(\w+)\s+([^;]*);`)
	addColumn   = regexp.MustCompile(`ADD COLUMN (?:IF NOT EXISTS )?([a-z_]+)`)
	dropColumn  = regexp.MustCompile(`DROP COLUMN (?:IF EXISTS )?([a-z_]+)`)
	renameTable = regexp.MustCompile(`RENAME TO (\w+)`)
	dropTables  = regexp.MustCompile(`DROP TABLE (?:IF EXISTS )?([\w, ]+);`)
	foreignKey  = regexp.MustCompile(`FOREIGN KEY \(tenant_id, (\w+)\)`)
	// refers matches the names of columns that may name another object.
	refers = regexp.MustCompile(`_(ids?|names?|number|path)$`)
)

// table holds the columns of a table that have no foreign key.
type table map[string]bool

func (t table) read(definition string) {
	for _, column := range tableColumn.FindAllStringSubmatch(definition, -1) {
		t[column[1]] = true
	}
	t.alter(definition)
}

func (t table) alter(change string) {
	for _, column := range addColumn.FindAllStringSubmatch(change, -1) {
		t[column[1]] = true
	}
	for _, column := range slices.Concat(dropColumn.FindAllStringSubmatch(change, -1), foreignKey.FindAllStringSubmatch(change, -1)) {
		delete(t, column[1])
	}
}

// readTables returns the tables of a service after all its migrations.
func readTables(t *testing.T, service string) map[string]table {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "services", service, "migrations", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files, service)
	tables := map[string]table{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		text := sqlComment.ReplaceAllString(string(raw), "")
		for _, found := range tableBody.FindAllStringSubmatch(text, -1) {
			tables[found[1]] = table{}
			tables[found[1]].read(found[2])
		}
		for _, found := range tableChange.FindAllStringSubmatch(text, -1) {
			if tables[found[1]] == nil {
				continue
			}
			tables[found[1]].alter(found[2])
			if name := renameTable.FindStringSubmatch(found[2]); name != nil {
				tables[name[1]] = tables[found[1]]
				delete(tables, found[1])
			}
		}
		for _, found := range dropTables.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Split(found[1], ",") {
				delete(tables, strings.TrimSpace(name))
			}
		}
	}
	return tables
}

// Every column that names another object has a row in docs/references.md, or a reason why it needs none.
// Columns with a foreign key need none: the database keeps them.
func TestReferencesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "references.md"))
	require.NoError(t, err)
	columns := map[string][]string{}
	for _, service := range []string{"auth", "commons", "platform", "recruiting", "scheduling", "timekeeping"} {
		for name, table := range readTables(t, service) {
			for column := range table {
				if column != "tenant_id" && refers.MatchString(column) {
					columns[column] = append(columns[column], fmt.Sprintf("%s.%s", service, name))
				}
			}
		}
	}
	require.Greater(t, len(columns), 50)
	reasons := map[string]string{}
	for reason, names := range withoutReferenceRow {
		for _, name := range strings.Fields(names) {
			reasons[name] = reason
		}
	}
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			row, documented := referenceRows[column]
			_, excluded := reasons[column]
			require.True(t, documented != excluded,
				"%s of %s: write how it is kept into docs/references.md and its row into referenceRows, or a reason into withoutReferenceRow",
				column, strings.Join(columns[column], ", "))
			if documented {
				assert.Contains(t, string(page), "\n| "+row, "docs/references.md has no row that begins with %q", row)
			}
		})
	}
	for _, column := range slices.Concat(slices.Collect(maps.Keys(referenceRows)), slices.Collect(maps.Keys(reasons))) {
		assert.Contains(t, columns, column, "no table has this column: remove it from the lists")
	}
}

// referenceRows maps columns to the beginnings of their rows in docs/references.md.
var referenceRows = map[string]string{
	"access_profile_name":            "access profile of a user",
	"accrual_profile_name":           "accrual profile of a person",
	"contained_id":                   "hyperfind in another hyperfind",
	"creator_id":                     personRow,
	"delegate_profile_name":          textRow,
	"device_group_id":                "device group of a person",
	"device_group_name":              "device group of a person",
	"emp_mgr_transfer_set_name":      textRow,
	"employee_id":                    personRow,
	"employee_ids":                   personRow,
	"employment_term_id":             "employment term of a person",
	"employment_term_ids":            "employment term of a person",
	"entered_by_id":                  personRow,
	"gdap_name":                      textRow,
	"hiring_manager_id":              personRow,
	"home_hyper_find_query_name":     textRow,
	"initiator_person_id":            personRow,
	"job_board_id":                   "job board of an opportunity",
	"job_board_ids":                  "job board of an opportunity",
	"labor_category_name":            textRow,
	"locale_policy_name":             textRow,
	"logon_profile_name":             textRow,
	"manager_employee_group_name":    "employee group of a manager",
	"manager_transfer_set_name":      textRow,
	"notification_profile_name":      textRow,
	"onboarding_owner_id":            personRow,
	"organization_path":              "primary job of a person",
	"pay_rule_name":                  "pay rule of a person",
	"person_id":                      personRow,
	"preference_profile_name":        textRow,
	"professional_transfer_set_name": textRow,
	"profile_names":                  "access profile of a user",
	"query_id":                       "hyperfind in a hyperfind profile",
	"recruiter_id":                   personRow,
	"schedule_group_name":            "schedule group of a person",
	"subtype_id":                     "request subtype of a request",
	"supervisor_person_number":       "supervisor of a person",
	"time_entry_type_name":           textRow,
	"work_rule_id":                   "work rule of a punch",
	"work_rule_name":                 "work rule of a job of a person",
	"worker_type_name":               textRow,
}

const (
	personRow = "person of rows of other services"
	textRow   = "time entry type, worker type"
)

// withoutReferenceRow holds the columns without a row, by the reason.
var withoutReferenceRow = map[string]string{
	"a name, number or id of the object itself, or its copy in another service": `badge_number external_id file_name first_name
		full_name last_name order_number person_number persistent_id present_name requisition_number row_number short_name user_name`,
	"an object that never changes and is never deleted while it is used": `assignment_id assignment_ids first_employee_id
		item_ids last_employee_id lineage_id pattern_id pattern_ids propagation_id propagation_ids undoes_propagation_id`,
	"the hidden entry, which stays hidden when it is generated again": `hides_employee_id hides_lineage_id hides_pattern_id`,
	"a part of the object, which is written and deleted with it":      `holiday_id location_id opportunity_id shift_id`,
	"a fixed list of the program":                                     `context_id status_id`,
	"a kind that the request names, without an object":                `contact_type_name type_name`,
	"the caller, or a credential that ends with its owner":            `client_id`,
	"a step between services, which ends with it":                     `execution_id ref_id request_id request_ids staging_id`,
	"a log or a result of payroll, which shows the past": `delivery_id message_id notification_id notification_name pay_code_id
		planner_id planner_name punch_id webhook_id`,
	"a preview, which ends after fifteen minutes":                          `inheriting_term_ids`,
	"the former name of an object, deleted with the object by the program": `resource_id`,
}
