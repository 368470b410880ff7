package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	companyPersons   = 100_000
	companyLocations = 10_000
	// pageOfPersons is how many persons one page of apply_read has at most.
	pageOfPersons = 10_000
)

// personTables are the tables that the rows of a typical person are in, and the
// column that names the person.
var personTables = []struct{ table, person string }{
	{"person", "id"},
	{"employment_status", "person_id"},
	{"primary_labor_account", "person_id"},
	{"base_wage_rate", "person_id"},
	{"badge_assignment", "person_id"},
}

// company is a tenant's persons and locations: half of the persons, those with
// even numbers, are active.
type company struct {
	name string
	// tenant and person are the tenant's id, and that of the person before the
	// first; root is the location that all others are below.
	tenant, person, root int64
}

// id is that of person n, from 1 to companyPersons.
func (c *company) id(n int) int64 { return c.person + int64(n) }

// numbered is the person number of person n.
func (c *company) numbered(n int) string { return fmt.Sprintf("%s-%d", c.name, n) }

// path is where person n has their primary job: nine thousand jobs of nine
// hundred stores of 99 regions.
func (c *company) path(n int) string {
	job := n % 9000
	store := job / 10
	return fmt.Sprintf("%s/Region %d/Store %d/Job %d", c.name, store%99, store, job%10)
}

// typical is a person as clients send one.
func (c *company) typical(number string, n int) scenario.Object {
	since := func(properties scenario.Object) []scenario.Object {
		properties["effectiveDate"], properties["expirationDate"] = "2020-01-01", "3000-01-01"
		return []scenario.Object{properties}
	}
	return scenario.Object{
		"personInformation": scenario.Object{
			"person": scenario.Object{
				"personNumber": number, "firstName": fmt.Sprintf("First%d", n%500), "lastName": fmt.Sprintf("Last%d", n), "hireDate": "2020-01-01",
			},
			"employmentStatusList": since(scenario.Object{"employmentStatusName": "Active"}),
			"badgeAssignments":     since(scenario.Object{"badgeNumber": "B-" + number}),
		},
		"jobAssignment": scenario.Object{
			"jobAssignmentDetails": scenario.Object{"timeZoneName": "Europe/Zurich", "workerTypeName": "Regular"},
			"primaryLaborAccounts": since(scenario.Object{"organizationPath": c.path(n)}),
			"baseWageRates":        since(scenario.Object{"hourlyRate": 20 + float64(n%1000)/100}),
		},
	}
}

// found stores a company's persons and locations as commons would have stored
// them, one statement for each table, and checks that the API shows them.
// commons is the URL of its database for the superuser.
func found(ctx context.Context, api scenario.API, commons string) (*company, error) {
	c := &company{name: scenario.Unique("company")}
	var first struct {
		PersonIdentity struct{ PersonKey int64 }
	}
	if _, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons", c.typical(c.numbered(0), 0), &first); err != nil {
		return nil, err
	}
	c.person = first.PersonIdentity.PersonKey
	conn, err := pgx.Connect(ctx, commons)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, `SELECT tenant_id FROM person WHERE id = $1`, c.person).Scan(&c.tenant); err != nil {
		return nil, err
	}
	for _, fill := range []func(context.Context, *pgx.Conn) error{c.fillLocations, c.fillPersons} {
		if err := fill(ctx, conn); err != nil {
			return nil, fmt.Errorf("fill the company: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, "VACUUM (ANALYZE)"); err != nil {
		return nil, err
	}
	if _, err := api.Call(ctx, http.MethodDelete, fmt.Sprintf("/v1/commons/persons/%d", c.person), nil, nil); err != nil {
		return nil, err
	}
	return c, c.check(ctx, api)
}

func (c *company) args() pgx.NamedArgs {
	return pgx.NamedArgs{
		"tenant": c.tenant, "person": c.person, "persons": companyPersons, "name": c.name, "locations": companyLocations, "before": c.root - 1,
	}
}

func (c *company) fillLocations(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, `SELECT coalesce(max(id), 0) + 1 FROM location`).Scan(&c.root); err != nil {
		return err
	}
	// The root, regions, stores and jobs, of which each knows its parent.
	const tree = `WITH RECURSIVE node AS (
			SELECT n, CASE WHEN n = 1 THEN NULL WHEN n <= 100 THEN 1 WHEN n <= 1000 THEN 2 + (n - 101) % 99 ELSE 101 + (n - 1001) / 10 END AS parent,
			       CASE WHEN n = 1 THEN @name WHEN n <= 100 THEN 'Region ' || n - 2 WHEN n <= 1000 THEN 'Store ' || n - 101 ELSE 'Job ' || (n - 1001) % 10 END AS name,
			       CASE WHEN n > 1000 THEN @before::bigint + (n - 1001) % 10 + 1 END AS job
			FROM generate_series(1, @locations) AS n),
		place AS (
			SELECT n, 1 AS depth, '.' || @before::bigint + n || '.' AS lineage, name AS path FROM node WHERE n = 1
			UNION ALL SELECT node.n, depth + 1, lineage || @before::bigint + node.n || '.', path || '/' || name FROM place JOIN node ON parent = place.n)`
	for _, sql := range []string{
		`INSERT INTO job (tenant_id, id, persistent_id) SELECT @tenant, @before::bigint + n, @name || n FROM generate_series(1, 10) AS n`,
		`INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name)
			SELECT @tenant, @before::bigint + n, '1900-01-01', '3000-01-01', @name || ' job ' || n - 1 FROM generate_series(1, 10) AS n`,
		`INSERT INTO location (tenant_id, id, persistent_id) SELECT @tenant, @before::bigint + n, @name || n FROM generate_series(1, @locations) AS n`,
		tree + ` INSERT INTO location_version (tenant_id, location_id, from_date, to_date, parent_id, name, job_id)
			SELECT @tenant, @before::bigint + n, '1900-01-01', '3000-01-01', @before::bigint + parent, name, job FROM node`,
		tree + ` INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
			SELECT @tenant, @before::bigint + n, '1900-01-01', '3000-01-01', depth, lineage, path FROM place`,
		`SELECT setval(pg_get_serial_sequence('location', 'id'), @before::bigint + @locations), setval(pg_get_serial_sequence('job', 'id'), @before::bigint + 10)`,
	} {
		if _, err := conn.Exec(ctx, sql, c.args()); err != nil {
			return err
		}
	}
	return nil
}

// fillPersons copies the rows of the first person, with what differs.
func (c *company) fillPersons(ctx context.Context, conn *pgx.Conn) error {
	const job = `n % 9000`
	differs := map[string]string{
		"id": `o.id + n`, "person_id": `o.person_id + n`, "person_number": `@name || '-' || n`, "badge_number": `'B-' || @name || '-' || n`,
		"first_name": `'First' || n % 500`, "last_name": `'Last' || n`, "full_name": `'Last' || n || ', First' || n % 500`,
		"status":            `CASE WHEN n % 2 = 0 THEN 'Active' ELSE 'Inactive' END`,
		"organization_path": `format('%s/Region %s/Store %s/Job %s', @name::text, ` + job + ` / 10 % 99, ` + job + ` / 10, ` + job + ` % 10)`,
		"hourly_rate":       `20 + n % 1000 / 100::float8`,
	}
	for _, t := range personTables {
		columns, err := written(ctx, conn, t.table)
		if err != nil {
			return err
		}
		values := make([]string, len(columns))
		for i, column := range columns {
			values[i] = "o." + column
			if other, ok := differs[column]; ok {
				values[i] = other
			}
		}
		_, err = conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %[1]s o, generate_series(1, @persons) AS n
			WHERE o.tenant_id = @tenant AND o.%[4]s = @person`, t.table, strings.Join(columns, ", "), strings.Join(values, ", "), t.person), c.args())
		if err != nil {
			return fmt.Errorf("%s: %w", t.table, err)
		}
	}
	_, err := conn.Exec(ctx, `SELECT setval('person_id', @person::bigint + @persons)`, c.args())
	return err
}

// written returns the columns of a table that rows are written with.
func written(ctx context.Context, conn *pgx.Conn, table string) ([]string, error) {
	rows, err := conn.Query(ctx, `SELECT attname::text FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// check reads the company through the API.
func (c *company) check(ctx context.Context, api scenario.API) error {
	numbers, err := c.readAll(ctx, api)
	if err != nil {
		return err
	}
	if len(numbers) != companyPersons {
		return fmt.Errorf("%d persons of the company are read instead of %d", len(numbers), companyPersons)
	}
	for n := 1; n <= companyPersons; n++ {
		if numbers[c.id(n)] != c.numbered(n) {
			return fmt.Errorf("person %d is read as %q instead of %q", c.id(n), numbers[c.id(n)], c.numbered(n))
		}
	}
	for _, n := range []int{2, 31_416, companyPersons} {
		if err := c.checkPerson(ctx, api, n); err != nil {
			return err
		}
	}
	var below struct{ Children []json.RawMessage }
	_, body, err := api.Bytes(ctx, http.MethodPost, "/v1/commons/locations/multi_read", scenario.Object{"where": scenario.Object{
		"descendantsOf": scenario.Object{"context": "ORG", "date": readFirst, "locationRef": scenario.Object{"id": c.root}},
	}})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, &below.Children); err != nil || len(below.Children) != companyLocations-1 {
		return fmt.Errorf("%d locations are read below %d: %w", len(below.Children), c.root, err)
	}
	return nil
}

// readAll reads the numbers of the company's persons, page by page.
func (c *company) readAll(ctx context.Context, api scenario.API) (map[int64]string, error) {
	numbers := make(map[int64]string, companyPersons)
	for page := 0; ; page++ {
		var read struct {
			TotalElements string
			Records       []struct {
				PersonID                       int64
				PersonNumber, EmploymentStatus string
			}
		}
		_, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons/apply_read", scenario.Object{"where": scenario.Object{}, "index": page, "count": pageOfPersons}, &read)
		if err != nil {
			return nil, err
		}
		if read.TotalElements != strconv.Itoa(len(read.Records)) {
			return nil, fmt.Errorf("a page of %d persons says that it has %s", len(read.Records), read.TotalElements)
		}
		for _, r := range read.Records {
			if strings.HasPrefix(r.PersonNumber, c.name+"-") {
				numbers[r.PersonID] = r.PersonNumber
			}
		}
		if len(read.Records) < pageOfPersons {
			return numbers, nil
		}
	}
}

// checkPerson reads one person and compares them with what was stored.
func (c *company) checkPerson(ctx context.Context, api scenario.API, n int) error {
	_, body, err := api.Bytes(ctx, http.MethodGet, fmt.Sprintf("/v1/commons/persons/%d", c.id(n)), nil)
	if err != nil {
		return err
	}
	var read, want any
	if err := json.Unmarshal(body, &read); err != nil {
		return err
	}
	sent, err := json.Marshal(c.typical(c.numbered(n), n))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(sent, &want); err != nil {
		return err
	}
	if !contains(read, want) {
		return fmt.Errorf("person %d is read as %s instead of %s", c.id(n), body, sent)
	}
	return nil
}

// contains reports whether JSON has everything that other JSON has.
func contains(has, wants any) bool {
	switch wants := wants.(type) {
	case map[string]any:
		object, ok := has.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range wants {
			if !contains(object[name], value) {
				return false
			}
		}
		return true
	case []any:
		list, ok := has.([]any)
		return ok && slices.EqualFunc(list, wants, contains)
	default:
		return has == wants
	}
}

// logged runs a step and logs how long it took.
func logged[T any](h *host, what string, step func() (T, error)) (T, error) {
	began := time.Now()
	out, err := step()
	h.Logf("%s: %.1f s", what, time.Since(began).Seconds())
	return out, err
}

// crew puts the first persons on a term with a shift on each day, and waits
// until their schedules show it.
func (c *company) crew(ctx context.Context, api scenario.API, size int) (*scenario.Crew, error) {
	crew, err := scenario.NewCrew(ctx, api, 0, from)
	if err != nil {
		return nil, err
	}
	for n := 1; n <= size; n++ {
		crew.Persons = append(crew.Persons, c.id(n))
	}
	const most = 100 // of one call
	for some := range slices.Chunk(crew.Persons, most) {
		if err := scenario.PutOnTerm(ctx, api, crew.TermID, some, from, "3000-01-01"); err != nil {
			return nil, err
		}
	}
	label := scenario.Unique("bench")
	if _, err := crew.Assign(ctx, api, everyDay(label), from, "", 0); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return crew, settled(ctx, api, crew, label)
}
