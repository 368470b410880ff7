package tenants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
)

// theWatermarks is the reason why tables of restore watermarks have no tenant.
const theWatermarks = "how far the database has come, of all tenants together"

// sharedTables lists the tables whose rows belong to no tenant, with the reasons.
var sharedTables = map[string]string{
	"scheduling.corrected_clock": "times of the server's clock at which changes of any tenant were numbered",
	"auth.signing_key":           "the keys of the installation",
	"auth.tenant":                "a row is a tenant; it has policies of its own",

	"auth.restore_state": theWatermarks, "commons.restore_state": theWatermarks, "timekeeping.restore_state": theWatermarks, "scheduling.restore_state": theWatermarks, "recruiting.restore_state": theWatermarks, "platform.restore_state": theWatermarks,
	"auth.restore_witness": theWatermarks, "commons.restore_witness": theWatermarks, "timekeeping.restore_witness": theWatermarks, "scheduling.restore_witness": theWatermarks, "recruiting.restore_witness": theWatermarks, "platform.restore_witness": theWatermarks,

	"commons.outbox_stream":     "which stream of the broker the service fills",
	"timekeeping.outbox_stream": "which stream of the broker the service fills",
	"scheduling.outbox_stream":  "which stream of the broker the service fills",
}

// sharedIndexes lists the unique indexes over all tenants, with the reasons.
var sharedIndexes = map[string]string{
	"auth.identity_provider_issuer": "by issuer and audience the installation knows whose token it sees",
}

// setupRows give the owner a row in each table of pkg/setup. The cases leave none in a service whose
// kinds have no references or no unique texts.
var setupRows = map[string]string{
	"setup_reference": `INSERT INTO setup_reference (tenant_id, kind, id, target_kind, target_id) VALUES ($1, 'probe', 1, 'probe', 2)`,
	"setup_unique":    `INSERT INTO setup_unique (tenant_id, kind, property, value, id) VALUES ($1, 'probe', 'probe', 'probe', 1)`,
}

// pendingTables lists the tables whose rows are work to do, with the end of the work. They have no row once it
// is done, so that only their policies are checked.
var pendingTables = map[string]string{
	"account_intent":             "auth has the user account",
	"lockout_intent":             "auth has the lockout",
	"term_request":               "timekeeping has the assignment",
	"leave_report":               "scheduling has the leave",
	"time_off_claim":             "the request is decided",
	"locked_leave":               "the days are unlocked",
	"locked_leave_past":          "the days are unlocked",
	"propagation_batch":          "the employees have the change",
	"outbox":                     "the broker has the event",
	"dead_letter":                "an operator has replayed the event",
	"delivery_attempt":           "the event is applied",
	"replica_gap":                "the owner has sent the state",
	"schedule_group_former_name": "commons has written the new name",
}

// assertRowSecurity shows that the tables keep tenants apart for any statement. The owner has rows
// in them; other is another tenant.
func assertRowSecurity(t *testing.T, w *fixture, owner, other string) {
	t.Helper()
	for _, service := range services {
		checkCatalog(t, w.admin[service], service)
		conn, err := pgx.Connect(t.Context(), w.database.AdminURL("rotaloom_"+service)+"&role="+localpg.Role)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		for _, table := range w.tables(t, service) {
			if sql, ok := setupRows[table]; ok {
				_, err := w.admin[service].Exec(t.Context(), strings.Replace(sql, "$1", owner, 1))
				require.NoError(t, err)
			}
			partition := false // A partition has the rows of its table.
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT relispartition FROM pg_class WHERE oid = $1::text::regclass`, table).Scan(&partition))
			if !checkTable(t, conn, w.admin[service], service+"."+table, table, owner, other) && !partition {
				assert.NotEmpty(t, pendingTables[table], "%s.%s needs a row of the owner, or a reason why it has none", service, table)
			}
		}
	}
}

// checkCatalog looks for tables without policies, and for roles that bypass policies.
func checkCatalog(t *testing.T, admin *pgx.Conn, service string) {
	t.Helper()
	list := func(sql string) []string {
		rows, err := admin.Query(t.Context(), sql)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return found
	}
	assert.Empty(t, list(`SELECT rolname::text FROM pg_roles WHERE rolname = '`+localpg.Role+`' AND (rolsuper OR rolbypassrls)`),
		"%s: the role of the services is bound by row-level security", service)
	assert.Empty(t, list(`SELECT relname::text FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace = 'public'::regnamespace
			AND NOT coalesce('security_invoker=true' = ANY(reloptions), false)
		UNION ALL SELECT proname::text FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace`),
		"%s: views and functions that work with the rights of others", service)
	for _, table := range list(`SELECT relname::text FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
		AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped)`) {
		if name := service + "." + table; !strings.HasSuffix(table, "_version") {
			assert.NotEmpty(t, sharedTables[name], "%s needs a column tenant_id, or a reason why not", name)
		}
	}
	// The database checks foreign keys without policies.
	assert.Empty(t, list(`SELECT conrelid::regclass || ' ' || conname FROM pg_constraint k WHERE contype = 'f' AND NOT EXISTS (
		SELECT FROM unnest(conkey, confkey) AS pair (mine, theirs)
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.mine AND a.attname = 'tenant_id'
		JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.theirs AND (b.attname = 'tenant_id' OR k.confrelid = to_regclass('tenant') AND b.attname = 'id'))`),
		"%s: foreign keys that lead from one tenant to another", service)
	for _, index := range list(`SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND NOT a.attnum = ANY(i.indkey)`) {
		assert.NotEmpty(t, sharedIndexes[service+"."+index], "%s.%s shows one tenant the data of another", service, index)
	}
	for _, table := range list(`SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`) {
		assert.Fail(t, "row-level security is not enabled and forced", "%s.%s", service, table)
	}
	// A policy refers to the session's tenant, or to work for all tenants, which may only read and
	// delete old rows.
	assert.Empty(t, list(`SELECT polrelid::regclass || ' ' || polname || ': ' || expression FROM (
			SELECT polrelid, polname, polcmd, coalesce(pg_get_expr(polqual, polrelid), '') AS expression FROM pg_policy
			UNION ALL SELECT polrelid, polname, polcmd, coalesce(pg_get_expr(polwithcheck, polrelid), '') FROM pg_policy) p
		WHERE expression <> '' AND polrelid <> coalesce(to_regclass('tenant'), 0)
		AND NOT (expression ~ 'tenant_id' AND expression ~ 'current_setting\(''rotaloom.tenant_id''')
		AND NOT (polcmd IN ('r', 'd') AND expression = '(current_setting(''rotaloom.tenant_id''::text, true) = ''*''::text)')`), service)
	// Statements for all tenants evaluate the policy of one tenant too, which must not fail.
	assert.Empty(t, list(`SELECT DISTINCT one.polrelid::regclass::text FROM pg_policy one JOIN pg_policy of_all USING (polrelid)
		WHERE pg_get_expr(of_all.polqual, polrelid) = '(current_setting(''rotaloom.tenant_id''::text, true) = ''*''::text)'
		AND pg_get_expr(one.polqual, polrelid) ~ 'bigint' AND pg_get_expr(one.polqual, polrelid) !~ '[*]'`),
		"%s: the policy of one tenant fails in sessions of all tenants", service)
}

// checkTable runs statements as another tenant without any condition on the tenant, which our own
// statements always have. It reports whether the owner has rows in the table.
func checkTable(t *testing.T, conn, admin *pgx.Conn, name, table, owner, other string) bool {
	t.Helper()
	ctx, quoted := t.Context(), pgx.Identifier{table}.Sanitize()
	var rows int64
	require.NoError(t, admin.QueryRow(ctx, fmt.Sprintf(`SELECT count(*) FROM %s WHERE tenant_id = %s`, quoted, owner)).Scan(&rows))
	// concerned returns how many rows of the owner a statement affects.
	concerned := func(as, sql string) (int64, error) {
		tx, err := conn.Begin(ctx)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(ctx)) }()
		_, err = tx.Exec(ctx, `SELECT set_config('rotaloom.tenant_id', $1, true)`, as)
		require.NoError(t, err)
		done, err := tx.Exec(ctx, sql)
		return done.RowsAffected(), err
	}
	mine := fmt.Sprintf(` WHERE tenant_id = %s`, owner)
	for _, as := range []string{other, ""} {
		for _, sql := range []string{`SELECT FROM ` + quoted + mine, `DELETE FROM ` + quoted + mine, `UPDATE ` + quoted + ` SET tenant_id = tenant_id` + mine} {
			n, err := concerned(as, sql)
			require.NoError(t, err, "%s: %s", name, sql)
			assert.Zero(t, n, "%s as %q: %s", name, as, sql)
		}
		_, err := concerned(as, fmt.Sprintf(`INSERT INTO %s (tenant_id) VALUES (%s)`, quoted, owner))
		assert.True(t, isForbidden(err), "%s as %q: a row for another tenant: %v", name, as, err)
	}
	n, err := concerned(owner, fmt.Sprintf(`UPDATE %s SET tenant_id = %s`, quoted, other))
	assert.True(t, n == 0 && (err == nil || isForbidden(err)), "%s: rows given to another tenant: %v", name, err)
	if rows > 0 {
		seen, err := concerned(owner, `SELECT FROM `+quoted)
		require.NoError(t, err)
		assert.Equal(t, rows, seen, "%s: a tenant sees its own rows, and no others", name)
	}
	return rows > 0
}

// isForbidden recognises a refusal by row-level security.
func isForbidden(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "42501"
}
