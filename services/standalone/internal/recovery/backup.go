package recovery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

const (
	manifestName = "manifest.json"
	// fenceTries bounds how often a moment without writes is tried for.
	fenceTries = 5
	// fence waits until the writes that run have committed, and holds others back: each
	// takes a row of the audit log along.
	fence = `BEGIN; SET LOCAL lock_timeout = '5s'; LOCK TABLE audit_event IN SHARE MODE`
)

// Backup is the command that backs up the databases of an installation.
type Backup struct {
	Installation
	Folder string `arg:"" type:"path" help:"Folder of the backup, which must not exist."`
}

// manifest says what a backup consists of. It is written last, so a backup with one is
// complete.
type manifest struct {
	// At is the moment of all databases.
	At      time.Time               `json:"at"`
	Version string                  `json:"version"`
	Files   map[string]manifestFile `json:"files"`
}

// manifestFile is the dump of the database of a service.
type manifestFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Progress and Sequences are the marks of the database.
	Progress  int64            `json:"progress"`
	Sequences map[string]int64 `json:"sequences"`
}

// moment is a snapshot of one database, which lasts while its connection does.
type moment struct {
	conn *pgx.Conn
	url  string
	id   string
	file manifestFile
}

// Do holds writes back for a moment, in which it takes a snapshot of each database, and
// dumps the snapshots. The key that encrypts signing keys is no part of the backup.
func (b *Backup) Do(ctx context.Context, log *slog.Logger, out io.Writer) (err error) {
	if err := os.Mkdir(b.Folder, 0o700); err != nil {
		return fmt.Errorf("folder of the backup: %w", err)
	}
	moments, at, err := b.snapshots(ctx)
	defer func() {
		for _, m := range moments {
			err = errors.Join(err, m.conn.Close(context.WithoutCancel(ctx)))
		}
	}()
	if err != nil {
		return err
	}
	made := manifest{At: at, Version: boot.CurrentBuild().Version, Files: map[string]manifestFile{}}
	for service, m := range moments {
		log.InfoContext(ctx, "dumping", "service", service)
		m.file.Name = service + ".dump"
		path := filepath.Join(b.Folder, m.file.Name)
		if err := b.run(ctx, "pg_dump", m.url, "--format=custom", "--no-owner", "--no-privileges", "--snapshot="+m.id, "--file="+path); err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
		if m.file.Bytes, m.file.SHA256, err = sum(path); err != nil {
			return err
		}
		made.Files[service] = m.file
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.Folder, manifestName), append(text, '\n'), 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "backed up %d databases as of %s into %s\n"+
		"keep the key that encrypts signing keys apart from it: %s\n", len(made.Files), at.UTC().Format(time.RFC3339), b.Folder,
		filepath.Join(b.StateDir, "key-encryption"))
	return err
}

// snapshots takes a snapshot of each database while none of them is written to.
func (b *Backup) snapshots(ctx context.Context) (moments map[string]*moment, at time.Time, err error) {
	moments = map[string]*moment{}
	for _, service := range services {
		raw, err := b.adminURL(ctx, service)
		if err != nil {
			return moments, at, err
		}
		conn, err := b.connect(ctx, raw)
		if err != nil {
			return moments, at, fmt.Errorf("database of %s: %w", service, err)
		}
		moments[service] = &moment{conn: conn, url: raw}
	}
	for try := 1; ; try++ {
		err := b.hold(ctx, moments, &at)
		if err == nil || try == fenceTries || !isLockTimeout(err) {
			return moments, at, err
		}
	}
}

// hold takes the snapshots behind fences, and removes the fences.
func (b *Backup) hold(ctx context.Context, moments map[string]*moment, at *time.Time) (err error) {
	for _, service := range services {
		conn, err := b.connect(ctx, moments[service].url)
		if err != nil {
			return fmt.Errorf("database of %s: %w", service, err)
		}
		// Closing the connection ends the transaction.
		defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
		if _, err := conn.PgConn().Exec(ctx, fence).ReadAll(); err != nil {
			return fmt.Errorf("hold the writes of %s back: %w", service, err)
		}
	}
	if err := moments[services[0]].conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(at); err != nil {
		return err
	}
	for service, m := range moments {
		if err := m.take(ctx); err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
	}
	return nil
}

func (m *moment) take(ctx context.Context) error {
	begin := `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	if m.id != "" {
		begin = "ROLLBACK; " + begin // Of a try before.
	}
	if _, err := m.conn.PgConn().Exec(ctx, begin).ReadAll(); err != nil {
		return err
	}
	if err := m.conn.QueryRow(ctx, `SELECT pg_export_snapshot(), progress FROM restore_state`).Scan(&m.id, &m.file.Progress); err != nil {
		return err
	}
	m.file.Sequences = map[string]int64{}
	var name string
	var last int64
	err := pg.ForEach(ctx, m.conn, []any{&name, &last}, func() error {
		m.file.Sequences[name] = last
		return nil
	}, `SELECT sequencename::text, coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = current_schema()`)
	return err
}

// sum returns the size of a file and its checksum.
func sum(path string) (bytes int64, checksum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	bytes, err = io.Copy(hash, file)
	return bytes, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}

// lockNotAvailable is the state of a lock that was waited for too long.
const lockNotAvailable = "55P03"

func isLockTimeout(err error) bool {
	refused := new(pgconn.PgError)
	return errors.As(err, &refused) && refused.Code == lockNotAvailable
}
