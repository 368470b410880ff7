package pg_test

import (
	"testing"
	"testing/fstest"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// notes is a table as every service has them: tenant first in the key, and
// row-level security that its owner cannot pass either.
func notes() pg.Migrations {
	return pg.Migrations{Table: "notes_version", FS: files(map[string]string{
		"00001_note.sql": `
			CREATE TABLE note (tenant_id bigint, id bigint, text text NOT NULL,
			  CONSTRAINT note_pk PRIMARY KEY (tenant_id, id),
			  CONSTRAINT note_not_empty CHECK (text <> ''));
			ALTER TABLE note ENABLE ROW LEVEL SECURITY;
			ALTER TABLE note FORCE ROW LEVEL SECURITY;
			CREATE POLICY tenant ON note
			  USING (tenant_id = nullif(current_setting('rotaloom.tenant_id', true), '')::bigint);`,
		"00002_mark.sql": `
			CREATE TABLE mark (tenant_id bigint, note_id bigint, id bigint,
			  PRIMARY KEY (tenant_id, id),
			  CONSTRAINT mark_note_fk FOREIGN KEY (tenant_id, note_id) REFERENCES note);`,
	})}
}

func files(statements map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, sql := range statements {
		fsys[name] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)}
	}
	return fsys
}
