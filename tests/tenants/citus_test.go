package tenants

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spread lists the services whose tables may be distributed over several servers by tenant_id, as
// Citus does (docs/scale.md). The others are small.
var spread = []string{"commons", "timekeeping", "scheduling"}

// catalogRules are queries for violations of Citus' rules for distributed tables. checkCatalog
// checks that keys, unique indexes and foreign keys have the tenant.
var catalogRules = map[string]string{
	"the column is a bigint that is never null": `SELECT attrelid::regclass::text FROM pg_attribute
		WHERE attname = 'tenant_id' AND attrelid IN (SELECT oid FROM tables) AND NOT (atttypid = 'bigint'::regtype AND attnotnull)`,
	"an exclusion constraint compares the tenant for equality": `SELECT conrelid::regclass || ' ' || conname FROM pg_constraint k WHERE contype = 'x'
		AND NOT EXISTS (SELECT FROM unnest(conkey, conexclop) AS part (number, operator)
			JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = part.number AND a.attname = 'tenant_id'
			JOIN pg_operator o ON o.oid = part.operator AND o.oprname = '=')`,
	"a foreign key that sets something leaves the tenant": `SELECT conrelid::regclass || ' ' || conname FROM pg_constraint k WHERE contype = 'f'
		AND (confdeltype = 'd' OR confupdtype IN ('n', 'd') OR confdeltype = 'n' AND (confdelsetcols IS NULL OR EXISTS (
			SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attname = 'tenant_id' AND a.attnum = ANY(confdelsetcols))))`,
	"a key leads to another table by the columns in the same places": `SELECT conrelid::regclass || ' ' || conname FROM pg_constraint k WHERE contype = 'f'
		AND NOT EXISTS (SELECT FROM unnest(conkey, confkey) AS pair (mine, theirs)
			JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.mine AND a.attname = 'tenant_id'
			JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.theirs AND b.attname = 'tenant_id')`,
	"numbers that the database gives are bigints": `SELECT attrelid::regclass || ' ' || attname FROM pg_attribute
		WHERE attrelid IN (SELECT oid FROM tables) AND attidentity <> '' AND atttypid <> 'bigint'::regtype`,
	"no rule": `SELECT ev_class::regclass || ' ' || rulename FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM tables)`,
	"no inheritance but of partitions": `SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE NOT c.relispartition AND c.oid IN (SELECT oid FROM tables)`,
}

// ownTables lists the tables that have a tenant.
const ownTables = `WITH tables AS (SELECT c.oid FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
	WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace) `

// triggersOfKeys set a column of the written row from another column, so they need no other server.
// The previous release writes persons without the column.
var triggersOfKeys = []string{"person person_number_key_of_changed", "person person_number_key_of_new"}

// assertDistributable shows that the tables and the statements hold the rules of a database that is
// distributed by tenant.
func assertDistributable(t *testing.T, w *fixture, statements []string) {
	t.Helper()
	var tables []string
	for _, service := range spread {
		tables = append(tables, w.tables(t, service)...)
		for rule, sql := range catalogRules {
			rows, err := w.admin[service].Query(t.Context(), ownTables+sql)
			require.NoError(t, err, rule)
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, rule)
			assert.Empty(t, found, "%s: %s", service, rule)
		}
		rows, err := w.admin[service].Query(t.Context(), ownTables+`SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger
			WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM tables) ORDER BY 1`)
		require.NoError(t, err)
		triggers, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		assert.ElementsMatch(t, map[string][]string{"scheduling": triggersOfThePast, "commons": triggersOfKeys}[service], triggers, "%s: triggers", service)
	}
	finder := newTenantless(tables)
	looked := 0
	for _, sql := range statements {
		names, without := finder.look(sql)
		if len(names) == 0 {
			continue
		}
		looked++
		if len(without) == 0 {
			continue
		}
		known := slices.ContainsFunc(acrossTenants, func(of exception) bool { return strings.Contains(flat(sql), of.part) })
		assert.True(t, known, "does not say the tenant of %v, so every server would be asked: %.1500s", without, flat(sql))
	}
	t.Logf("%d statements on tables of tenants", looked)
	assert.Greater(t, looked, 300)
}

// exception is a statement that works on all tenants at once, with the reason. Every server can
// carry it out on its own rows.
type exception struct{ part, reason string }

// tenantless finds tables of tenants that a statement uses without a condition on their tenant.
type tenantless struct{ named, into *regexp.Regexp }

func newTenantless(tables []string) *tenantless {
	slices.Sort(tables)
	names := strings.Join(slices.Compact(tables), "|")
	const alias = `(?:\s+(?:as\s+)?([a-z_][a-z_0-9]*))?`
	return &tenantless{
		named: regexp.MustCompile(`(?:\bfrom|\bjoin|\bupdate|\busing)\s+(?:only\s+)?(` + names + `)\b` + alias),
		into:  regexp.MustCompile(`\binto\s+(` + names + `)\b` + alias + `\s*\(([^)]*)\)`),
	}
}

// noAlias matches words that follow the name of a table and are not its alias.
var noAlias = regexp.MustCompile(`^(where|on|set|join|left|right|inner|cross|full|order|group|limit|for|returning|using|union|as|values|select|having|natural|and|or|offset|except|intersect|tablesample)$`)

var (
	quoted      = regexp.MustCompile(`'(?:[^']|'')*'`)
	conflict    = regexp.MustCompile(`on conflict \([^)]*\)`)
	unqualified = regexp.MustCompile(`(?:^|[^.\w])tenant_id\s*(?:=|in\b)|=\s*tenant_id\b|\(\s*tenant_id\b`)
)

// flat returns a statement in one line of small letters, without its string literals.
func flat(sql string) string {
	return strings.ToLower(strings.Join(strings.Fields(quoted.ReplaceAllString(sql, "''")), " "))
}

// isQualified reports whether a statement says whose rows of a table it uses.
func isQualified(name, text string) bool {
	return regexp.MustCompile(`\b` + name + `\.tenant_id\s*(?:=|in\b)|=\s*` + name + `\.tenant_id\b|\(\s*` + name + `\.tenant_id\b`).MatchString(text)
}

// look returns the tables of tenants in a statement, and the tables among them without a condition
// on the tenant. A condition compares "t.tenant_id"; or there are as many bare tenant_id as tables
// without an alias. It understands no further SQL.
func (f *tenantless) look(sql string) (names, without []string) {
	text := conflict.ReplaceAllString(flat(sql), "")
	bare := len(unqualified.FindAllString(text, -1))
	for _, m := range f.into.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
		if columns := strings.Split(m[3], ","); !slices.ContainsFunc(columns, func(c string) bool { return strings.TrimSpace(c) == "tenant_id" }) {
			without = append(without, m[1])
		} else {
			bare--
		}
	}
	for _, m := range f.named.FindAllStringSubmatch(text, -1) {
		name := m[1]
		names = append(names, name)
		if m[2] != "" && !noAlias.MatchString(m[2]) {
			name = m[2]
		}
		if isQualified(name, text) {
			continue
		}
		if bare--; bare < 0 {
			without = append(without, m[1])
		}
	}
	return names, without
}

func TestStatementsWithoutTheirTenantAreFound(t *testing.T) {
	t.Parallel()
	finder := newTenantless([]string{"span", "person", "outbox"})
	for sql, want := range map[string][]string{
		`SELECT id FROM span WHERE tenant_id = $1`:                                                       nil,
		`SELECT id FROM span WHERE id = $1`:                                                              {"span"},
		`SELECT s.id FROM span s JOIN person AS p ON p.tenant_id = s.tenant_id WHERE s.tenant_id = $1`:   nil,
		`SELECT s.id FROM span s JOIN person p ON p.id = s.person WHERE s.tenant_id = $1`:                {"person"},
		`SELECT s.id FROM span s JOIN person p USING (tenant_id, person_id) WHERE tenant_id = $1`:        nil,
		`SELECT 1 FROM span WHERE tenant_id = $1 AND EXISTS (SELECT FROM person WHERE id = span.person)`: {"person"},
		`INSERT INTO span (tenant_id, id) VALUES ($1, $2)`:                                               nil,
		`INSERT INTO span (id) SELECT id FROM person WHERE tenant_id = $1`:                               {"span"},
		`INSERT INTO span AS s (tenant_id, id) SELECT $1, id FROM person`:                                {"person"},
		`UPDATE span SET id = 1 WHERE name = 'tenant_id = 1'`:                                            {"span"},
		`DELETE FROM outbox`: {"outbox"},
		`SELECT tenant_id, id FROM outbox ORDER BY tenant_id`: {"outbox"},
		`SELECT 1`: nil,
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			_, without := finder.look(sql)
			assert.Equal(t, fmt.Sprint(want), fmt.Sprint(without))
		})
	}
}

// acrossTenants lists the statements that work on all tenants at once, in the form that flat
// returns. Some are sent once in minutes, so a run may not see each of them.
var acrossTenants = []exception{
	{"subject, event, payload, request_id, traceparent from outbox where sent_at is null", "the relay sends the events of all tenants"},
	{"update outbox set sent_at", "the relay notes which it has sent"},
	{"delete from outbox where (tenant_id, id) in", "events that were sent go after a time"},
	{"from (select created_at from outbox where sent_at is null", "a metric"},
	{"select state, count(*) from propagation", "a metric"},
	{"select tenant_id, id from propagation where state <>", "finds stalled propagations"},
	{"delete from propagation where (tenant_id, id) in", "deletes old rows"},
	{"delete from audit_event where (tenant_id, occurred_at, id) in", "deletes old rows"},
	{"delete from schedule_preview where expires_at < $1", "deletes old rows"},
	{"delete from span_past_block where believed_until", "deletes old rows"},
	{"_past where believed_until < $1", "deletes old rows"},
	{"select state, count(*) from payroll_staging", "a metric"},
	{"select tenant_id, resource_id from setup_former_name where not followed", "finds names that commons does not have yet"},
	{"select tenant_id, group_id from schedule_group_former_name where changed_at", "finds names that commons does not have yet"},
	{"select tenant_id, id, false from payroll_staging", "finds stalled and old runs"},
	{"select distinct tenant_id from replica_gap", "looks for the tenants whose copies lack something"},
	{"from replica_gap where topic = $1", "a metric"},
	{"from dead_letter where replay_at is not null", "finds dead letters that an operator replays"},
	{"from account_intent where created_at <", "finds intents of processes that died"},
	{"from lockout_intent where due_at <=", "finds due lockouts"},
	{"from leave_report where changed_at <", "leave that is not handed over yet"},
	{"from time_off_claim where claimed_at <", "changes that were broken off"},
	{"as allows_inheritance from employee) t on t.tenant_id = a.tenant_id", "none: the subquery hands its tenant to the join"},
	// This statement is a known obstacle to a distributed database (docs/scale.md).
	{"with recursive t as ( (select tenant_id from", "lists the tenants that a copy has, by skipping through an index"},
}

// triggersOfThePast are known obstacles to distributing scheduling's tables (docs/scale.md).
var triggersOfThePast = []string{
	"day_lock keep_deleted", "day_lock keep_updated", "leave_edit keep_deleted", "leave_edit keep_updated",
	"locked_leave keep_deleted", "locked_leave keep_updated",
	"membership keep_deleted", "membership keep_updated", "schedule_item keep_deleted", "schedule_item keep_updated",
}
