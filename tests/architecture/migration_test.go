package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atOnce holds the newest migration of the first release in each folder. An installation of that
// release runs these migrations on empty tables, before any program starts. Until the release, a
// migration that breaks a rule may raise a number; afterwards the numbers stay.
var atOnce = map[string]int{
	"pkg/audit/migrations":            3,
	"pkg/outbox/migrations":           4,
	"pkg/replica/migrations":          2,
	"pkg/restore/migrations":          1,
	"pkg/setup/migrations":            1,
	"services/auth/migrations":        23,
	"services/commons/migrations":     34,
	"services/platform/migrations":    6,
	"services/recruiting/migrations":  1,
	"services/scheduling/migrations":  35,
	"services/timekeeping/migrations": 28,
}

// isolatedByHand holds the migrations with a policy that isolate_tenants does not create: a table
// with a policy for each command, a table whose key is the tenant, and a function that protects
// partitions when they are made.
var isolatedByHand = map[string]bool{
	"pkg/audit/migrations/0001_audit_event.sql":              true,
	"services/auth/migrations/0001_identities.sql":           true,
	"services/scheduling/migrations/0012_past_in_blocks.sql": true,
}

// Migrations run on large tables while the programs of the previous release work
// (docs/add-an-operation.md).
func TestMigrationsLetTheReleaseBeforeWork(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, top := range []string{"services", "pkg"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".sql" || filepath.Base(filepath.Dir(path)) != "migrations" {
				return err
			}
			folder, err := filepath.Rel(filepath.Join("..", ".."), filepath.Dir(path))
			require.NoError(t, err)
			number, _, _ := strings.Cut(filepath.Base(path), "_")
			version, err := strconv.Atoi(number)
			require.NoError(t, err, path)
			known, ok := atOnce[folder]
			require.True(t, ok, "%s is new: what of it belongs to the first release?", folder)
			seen[folder] = true
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			problems := migrationProblems(string(text))
			if version <= known { // Check only the rules for all migrations.
				problems = slices.DeleteFunc(problems, func(p string) bool { return p != downMigration && p != ownTimeout && p != byHand })
			}
			if isolatedByHand[filepath.ToSlash(filepath.Join(folder, filepath.Base(path)))] {
				problems = slices.DeleteFunc(problems, func(p string) bool { return p == byHand })
			}
			assert.Empty(t, problems, path)
			return nil
		}))
	}
	assert.Len(t, seen, len(atOnce))
}

const (
	downMigration = "migrations go forward only: no \"goose Down\""
	ownTimeout    = "the migrator sets lock_timeout and tries again"
	byHand        = "isolate_tenants restricts a table to the rows of a tenant: no ENABLE ROW LEVEL SECURITY"
	blocksWrite   = "an index on a table that is there is made CONCURRENTLY"
	inTx          = "CONCURRENTLY needs \"-- +goose NO TRANSACTION\", and a file without a transaction has nothing else"
	again         = "an index that was broken off is there, and wrong: DROP INDEX CONCURRENTLY IF EXISTS comes before"
	scans         = "a constraint on a table that is there is added NOT VALID, and validated by another migration"
	noDefault     = "a column that must have a value has a DEFAULT: the release before does not write it"
	stillUsed     = "the release before uses it: say \"-- unused since v<version>\" above the statement once it does not"
	rewrites      = "a new type rewrites the table, and the release before reads the old one: add a column"
)

var (
	comments    = regexp.MustCompile(`(?m)--.*$`)
	createTable = regexp.MustCompile(`(?i)\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)`)
	createIndex = regexp.MustCompile(`(?is)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(CONCURRENTLY\s+)?.*?\bON\s+(?:ONLY\s+)?(\w+)`)
	alterTable  = regexp.MustCompile(`(?i)\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?(\w+)`)
	constraint  = regexp.MustCompile(`(?i)\bADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:CHECK|FOREIGN\s+KEY)\b`)
	mustHave    = regexp.MustCompile(`(?i)\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+[^,;]*\bNOT\s+NULL\b`)
	hasDefault  = regexp.MustCompile(`(?i)\b(?:DEFAULT|GENERATED)\b`)
	dropped     = regexp.MustCompile(`(?i)\b(?:DROP\s+(?:TABLE|COLUMN|FUNCTION|VIEW)|RENAME|SET\s+NOT\s+NULL)\b`)
	newType     = regexp.MustCompile(`(?i)\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b`)
	unused      = regexp.MustCompile(`-- unused since v\d`)
	rowSecurity = regexp.MustCompile(`(?i)\bENABLE\s+ROW\s+LEVEL\s+SECURITY\b`)
	timeout     = regexp.MustCompile(`(?i)\b(?:lock_timeout|statement_timeout)\b`)
)

// migrationProblems lists the faults of a migration that runs while the programs of the previous
// release work.
func migrationProblems(text string) []string {
	var found []string
	report := func(wrong bool, problem string) {
		if wrong && !slices.Contains(found, problem) {
			found = append(found, problem)
		}
	}
	report(strings.Contains(text, "+goose Down"), downMigration)
	report(timeout.MatchString(comments.ReplaceAllString(text, "")), ownTimeout)
	report(rowSecurity.MatchString(comments.ReplaceAllString(text, "")), byHand)
	alone := strings.Contains(text, "-- +goose NO TRANSACTION")
	made := map[string]bool{}
	for _, match := range createTable.FindAllStringSubmatch(comments.ReplaceAllString(text, ""), -1) {
		made[match[1]] = true
	}
	for commented := range strings.SplitSeq(text, ";") {
		sql := strings.TrimSpace(comments.ReplaceAllString(commented, ""))
		concurrent := strings.Contains(strings.ToUpper(sql), "CONCURRENTLY")
		report(sql != "" && concurrent != alone, inTx)
		if match := createIndex.FindStringSubmatch(sql); match != nil && !made[match[2]] {
			report(match[1] == "", blocksWrite)
			report(match[1] != "" && !strings.Contains(strings.ToUpper(text), "DROP INDEX CONCURRENTLY IF EXISTS"), again)
		}
		altered := alterTable.FindStringSubmatch(sql)
		if altered != nil && made[altered[1]] {
			continue
		}
		report(dropped.MatchString(sql) && !unused.MatchString(commented), stillUsed)
		if altered == nil {
			continue
		}
		report(constraint.MatchString(sql) && !strings.Contains(strings.ToUpper(sql), "NOT VALID"), scans)
		report(newType.MatchString(sql), rewrites)
		for _, column := range mustHave.FindAllString(sql, -1) {
			rest := sql[strings.Index(sql, column)+len(column):]
			rest, _, _ = strings.Cut(rest, ",")
			report(!hasDefault.MatchString(column+rest), noDefault)
		}
	}
	return found
}

func TestRulesOfMigrations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sql  string
		want []string
	}{
		"a new table with its index": {"CREATE TABLE a (b int NOT NULL);\nCREATE INDEX a_b ON a (b);\nALTER TABLE a ADD CONSTRAINT c CHECK (b > 0);", nil},
		"a column with a default":    {"ALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0;", nil},
		"a column that may be empty": {"ALTER TABLE a ADD COLUMN b int;", nil},
		"a generated column":         {"ALTER TABLE a ADD COLUMN b int NOT NULL GENERATED ALWAYS AS (c) STORED;", nil},
		"an index beside writers":    {"-- +goose NO TRANSACTION\n-- +goose Up\nDROP INDEX CONCURRENTLY IF EXISTS a_b;\nCREATE INDEX CONCURRENTLY a_b ON a (b);", nil},
		"a check for later":          {"ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0) NOT VALID;", nil},
		"an unused column":           {"CREATE TABLE b (c int);\n-- unused since v1.4.0\nALTER TABLE a DROP COLUMN b;", nil},
		"an isolated table":          {"CREATE TABLE a (tenant_id bigint);\nSELECT isolate_tenants('a');", nil},
		"a word in a comment":        {"-- No lock_timeout, no DROP TABLE here.\nCREATE TABLE b (c int);", nil},

		"the way back":                   {"-- +goose Up\nCREATE TABLE b (c int);\n-- +goose Down\nSELECT 1;", []string{downMigration}},
		"a timeout":                      {"SET lock_timeout = 0;", []string{ownTimeout}},
		"a policy by hand":               {"CREATE TABLE a (b int);\nALTER TABLE a ENABLE ROW LEVEL SECURITY;", []string{byHand}},
		"an index that stops writers":    {"CREATE UNIQUE INDEX a_b ON a (b);", []string{blocksWrite}},
		"an index within a transaction":  {"DROP INDEX CONCURRENTLY IF EXISTS a_b; CREATE INDEX CONCURRENTLY a_b ON a (b);", []string{inTx}},
		"a transaction left out":         {"-- +goose NO TRANSACTION\nCREATE TABLE b (c int);", []string{inTx}},
		"an index that is tried once":    {"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY a_b ON a (b);", []string{again}},
		"a check of all rows":            {"ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0);", []string{scans}},
		"a foreign key of all rows":      {"ALTER TABLE a\n  ADD CONSTRAINT c FOREIGN KEY (b) REFERENCES d;", []string{scans}},
		"a column that others leave out": {"ALTER TABLE a ADD COLUMN b text NOT NULL;", []string{noDefault}},
		"one of two columns":             {"ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT '', ADD COLUMN c int NOT NULL;", []string{noDefault}},
		"a column that is used":          {"ALTER TABLE a DROP COLUMN b;", []string{stillUsed}},
		"a table that is used":           {"DROP TABLE a;", []string{stillUsed}},
		"another name":                   {"ALTER TABLE a RENAME COLUMN b TO c;", []string{stillUsed}},
		"a value that must be there":     {"ALTER TABLE a ALTER COLUMN b SET NOT NULL;", []string{stillUsed}},
		"another type":                   {"ALTER TABLE a ALTER COLUMN b TYPE bigint;", []string{rewrites}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, migrationProblems(test.sql))
		})
	}
}
