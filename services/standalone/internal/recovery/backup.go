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
	// fenceTries is the number of attempts to stop the writes.
	fenceTries = 5
	// fence waits until the running writes have committed, and blocks further ones. It locks the audit log,
	// because each write adds a row to it.
	fence = `BEGIN; SET LOCAL lock_timeout = '5s'; LOCK TABLE audit_event IN SHARE MODE`
)

// Backup is the command that backs up the databases of an installation.
type Backup struct {
	boot.Output
	Installation
	Folder string `arg:"" type:"path" help:"Folder of the backup, which must not exist."`
}

// manifest lists the contents of a backup. It is written last, so a backup that has one is complete.
type manifest struct {
	// At is the time of all snapshots.
	At      time.Time               `json:"at"`
	Version string                  `json:"version"`
	Files   map[string]manifestFile `json:"files"`
}

// manifestFile describes the dump of a service's database.
type manifestFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Progress and Sequences are the restore watermarks of the database.
	Progress  int64            `json:"progress"`
	Sequences map[string]int64 `json:"sequences"`
}

// moment is a snapshot of one database. It lasts as long as its connection.
type moment struct {
	conn *pgx.Conn
	url  string
	id   string
	file manifestFile
}

// Do blocks writes for a moment while it takes a snapshot of each database, and then dumps the snapshots. The
// backup does not contain the key that encrypts signing keys.
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
	backup := manifest{At: at, Version: boot.CurrentBuild().Version, Files: map[string]manifestFile{}}
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
		backup.Files[service] = m.file
	}
	text, err := json.MarshalIndent(backup, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.Folder, manifestName), append(text, '\n'), 0o600); err != nil {
		return err
	}
	key := filepath.Join(b.StateDir, "key-encryption")
	return b.PrintLine(out, map[string]any{"folder": b.Folder, "at": at.UTC(), "databases": len(backup.Files), "keyEncryptionFile": key},
		"backed up %d databases as of %s into %s\nstore the key that encrypts signing keys separately: %s",
		len(backup.Files), at.UTC().Format(time.RFC3339), b.Folder, key)
}

// snapshots takes a snapshot of each database while all writes are blocked.
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
		err := b.holdFences(ctx, moments, &at)
		if err == nil || try == fenceTries || !isLockTimeout(err) {
			return moments, at, err
		}
	}
}

// holdFences sets the fences, takes the snapshots, and removes the fences.
func (b *Backup) holdFences(ctx context.Context, moments map[string]*moment, at *time.Time) (err error) {
	for _, service := range services {
		conn, err := b.connect(ctx, moments[service].url)
		if err != nil {
			return fmt.Errorf("database of %s: %w", service, err)
		}
		// Closing the connection ends the transaction.
		defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
		if _, err := conn.PgConn().Exec(ctx, fence).ReadAll(); err != nil {
			return fmt.Errorf("block the writes of %s: %w", service, err)
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
		begin = "ROLLBACK; " + begin // ends the snapshot of an earlier attempt
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

// sum returns the size and the checksum of a file.
func sum(path string) (bytes int64, checksum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	bytes, err = io.Copy(hash, file)
	return bytes, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}

// lockNotAvailable is the SQLSTATE of a lock timeout.
const lockNotAvailable = "55P03"

func isLockTimeout(err error) bool {
	refused := new(pgconn.PgError)
	return errors.As(err, &refused) && refused.Code == lockNotAvailable
}
