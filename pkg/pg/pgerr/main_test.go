package pgerr_test

import (
	"testing"
	"testing/fstest"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// notes are two tables with one constraint of each kind.
func notes() pg.Migrations {
	return pg.Migrations{Table: "notes_version", FS: fstest.MapFS{
		"00001_note.sql": &fstest.MapFile{Data: []byte(`-- +goose Up
			CREATE TABLE note (tenant_id bigint, id bigint, text text NOT NULL,
			  CONSTRAINT note_pk PRIMARY KEY (tenant_id, id),
			  CONSTRAINT note_not_empty CHECK (text <> ''));
			CREATE TABLE mark (tenant_id bigint, note_id bigint, id bigint,
			  PRIMARY KEY (tenant_id, id),
			  CONSTRAINT mark_note_fk FOREIGN KEY (tenant_id, note_id) REFERENCES note);`)},
	}}
}
