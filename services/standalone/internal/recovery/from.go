package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// From is the command that restores all databases from a backup.
type From struct {
	boot.Output
	Installation
	Folder  string `arg:"" type:"path" help:"Folder of the backup."`
	Replace bool   `help:"Replace databases that have tables. Changes since the backup are lost."`
}

// Do checks the backup, restores each database next to the existing one, and then replaces that. Writes are
// refused until the restore is finished. After an interruption it can be repeated.
func (f *From) Do(ctx context.Context, log *slog.Logger, out io.Writer) (err error) {
	backup, err := f.read()
	if err != nil {
		return err
	}
	private := len(f.Databases) == 0 && f.Database.URL == ""
	if private {
		stop, err := f.startPrivate(ctx, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	targets := map[string]*target{}
	known := map[string]restore.Watermarks{}
	for _, service := range services {
		t, err := f.target(ctx, service)
		if err == nil {
			err = t.look(ctx, f, known)
		}
		if err != nil {
			return fmt.Errorf("database of %s: %w", service, err)
		}
		targets[service] = t
	}
	for _, service := range services {
		if targets[service].used && !f.Replace {
			return fmt.Errorf("the database of %s has tables: use empty databases, or add --replace to delete their contents", service)
		}
	}
	for _, service := range services {
		log.InfoContext(ctx, "restoring", "service", service)
		if err := targets[service].load(ctx, f, backup, known[service], log); err != nil {
			return fmt.Errorf("restore the database of %s: %w", service, err)
		}
	}
	next := "empty the broker, start the programs, and run: rotaloom restore finish"
	if private {
		if err := os.RemoveAll(filepath.Join(f.StateDir, "nats")); err != nil {
			return fmt.Errorf("empty the broker: %w", err)
		}
		next = "start the server, and run: rotaloom restore finish --state-dir " + f.StateDir
	}
	return f.PrintLine(out, map[string]any{"databases": len(services), "at": backup.At.UTC(), "next": next},
		"restored %d databases as of %s; writes are refused until the restore is finished\n%s",
		len(services), backup.At.UTC().Format(time.RFC3339), next)
}

// read reads the manifest and verifies the files.
func (f *From) read() (backup manifest, err error) {
	text, err := os.ReadFile(filepath.Join(f.Folder, manifestName))
	if err != nil {
		return backup, fmt.Errorf("the backup is not complete: %w", err)
	}
	if err := json.Unmarshal(text, &backup); err != nil {
		return backup, fmt.Errorf("read %s: %w", manifestName, err)
	}
	for _, service := range services {
		file, has := backup.Files[service]
		if !has {
			return backup, fmt.Errorf("the backup has no database of %s", service)
		}
		bytes, checksum, err := sum(filepath.Join(f.Folder, filepath.Base(file.Name)))
		if err != nil {
			return backup, err
		}
		if bytes != file.Bytes || checksum != file.SHA256 {
			return backup, fmt.Errorf("%s of the backup is damaged: its checksum differs from %s", file.Name, manifestName)
		}
	}
	return backup, nil
}

// startPrivate starts the private PostgreSQL of a server that is not running.
func (f *From) startPrivate(ctx context.Context, log *slog.Logger) (stop func() error, err error) {
	folder, err := state.Open(f.StateDir)
	if err != nil {
		return nil, err
	}
	running, err := privatepg.Start(ctx, f.Database, folder.Path("postgresql"), log, services...)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return func() error { return errors.Join(running.Stop(context.WithoutCancel(ctx)), folder.Close()) }, nil
}

// target is a database to replace. An interrupted run may have left it under a temporary name.
type target struct {
	service, name, url, server string
	owner                      string
	// at lists the existing databases: the original one, and the one that an earlier run renamed.
	at   []string
	used bool
}

func (t *target) temporaryName() string { return t.name + "_restoring" }
func (t *target) replacedName() string  { return t.name + "_replaced" }

func (f *From) target(ctx context.Context, service string) (*target, error) {
	raw, err := f.adminURL(ctx, service)
	if err != nil {
		return nil, err
	}
	name, err := databaseName(raw)
	if err != nil {
		return nil, err
	}
	server, err := inDatabase(raw, "postgres")
	return &target{service: service, name: name, url: raw, server: server}, err
}

// look reads the owner of the database, whether it has tables, and all known watermarks.
func (t *target) look(ctx context.Context, f *From, known map[string]restore.Watermarks) error {
	conn, err := f.connect(ctx, t.server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, name := range []string{t.name, t.replacedName()} {
		var owner string
		err := conn.QueryRow(ctx, `SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = $1`, name).Scan(&owner)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		t.owner, t.at = owner, append(t.at, name)
		if err := t.readWatermarks(ctx, f, name, known); err != nil {
			return err
		}
	}
	if len(t.at) == 0 {
		return fmt.Errorf("there is no database %s; create an empty one that the role of the service owns", t.name)
	}
	return nil
}

func (t *target) readWatermarks(ctx context.Context, f *From, name string, known map[string]restore.Watermarks) error {
	raw, err := inDatabase(t.url, name)
	if err != nil {
		return err
	}
	conn, err := f.connect(ctx, raw)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var tables, watermarks bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')),
		to_regclass('restore_state') IS NOT NULL`).Scan(&tables, &watermarks); err != nil {
		return err
	}
	t.used = t.used || tables
	if !watermarks {
		return nil
	}
	all, err := restore.ReadWatermarks(ctx, conn, t.service)
	if err != nil {
		return err
	}
	for service, watermarks := range all {
		merged := known[service]
		merged.Merge(watermarks)
		known[service] = merged
	}
	return nil
}

// load restores the dump into a new database, makes that refuse writes, and renames it to the final name.
func (t *target) load(ctx context.Context, f *From, backup manifest, known restore.Watermarks, log *slog.Logger) error {
	conn, err := f.connect(ctx, t.server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	quoted := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + quoted(t.temporaryName()) + " WITH (FORCE)",
		"CREATE DATABASE " + quoted(t.temporaryName()) + " OWNER " + quoted(t.owner) + " TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	raw, err := inDatabase(t.url, t.temporaryName())
	if err != nil {
		return err
	}
	dump := filepath.Join(f.Folder, filepath.Base(backup.Files[t.service].Name))
	if err := f.run(ctx, "pg_restore", raw, "--exit-on-error", "--no-owner", "--no-privileges", "--role="+t.owner, dump); err != nil {
		return err
	}
	if err := f.refuse(ctx, raw, t.service, backup, known, log); err != nil {
		return err
	}
	var steps []string
	if slices.Contains(t.at, t.name) {
		steps = append(steps, "DROP DATABASE IF EXISTS "+quoted(t.replacedName())+" WITH (FORCE)",
			"ALTER DATABASE "+quoted(t.name)+" RENAME TO "+quoted(t.replacedName()))
	}
	steps = append(steps, "ALTER DATABASE "+quoted(t.temporaryName())+" RENAME TO "+quoted(t.name),
		"DROP DATABASE IF EXISTS "+quoted(t.replacedName())+" WITH (FORCE)")
	for _, sql := range steps {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("rename the restored database (close all connections to the old one): %w", err)
		}
	}
	return nil
}

// refuse makes a restored database refuse writes, and stores the known watermarks in it.
func (f *From) refuse(ctx context.Context, raw, service string, backup manifest, known restore.Watermarks, log *slog.Logger) error {
	pool, err := pg.Open(ctx, pg.Config{URL: obs.Secret(raw), AllowInsecure: f.Database.AllowInsecure, MaxConns: 1}, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	file := backup.Files[service]
	known.Merge(restore.Watermarks{Progress: file.Progress, Sequences: maps.Clone(file.Sequences)})
	return restore.Refuse(ctx, service, pool, "the database was restored from the backup of "+backup.At.UTC().Format(time.RFC3339), known)
}
