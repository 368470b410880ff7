package privatepg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/localpg"
)

const (
	// firstRestartWait is how long the private server is left alone after the second end in
	// a row. The wait doubles with each end, up to maxRestartWait. The first end is not
	// waited after.
	firstRestartWait = 500 * time.Millisecond
	maxRestartWait   = 5 * time.Second
	// calmAfter is how long the server must have run for an end to count as the first.
	calmAfter = 10 * time.Minute
	// recoverWithin is how long one start may take: the data recovers in it.
	recoverWithin = 10 * time.Minute
)

// errNoCluster is returned when the data folder has no data any more.
var errNoCluster = errors.New("its data folder holds no cluster any more: restore a backup")

// Watch starts the private server again when it ends by itself (killed for want of
// memory, say), until ctx ends, however often it ends. What was committed is there again;
// calls that ran have failed, and calls in between get 503. While its disk is full it waits
// for room. Watch returns an error only when no wait helps: the data folder has lost the
// cluster, or holds the data of another major version.
func (d *Databases) Watch(ctx context.Context, log *slog.Logger) error {
	pause := backoff.Backoff{First: firstRestartWait, Max: maxRestartWait}
	for runs := clock.Start(); ; runs = clock.Start() {
		d.mu.Lock()
		server := d.local
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-done(server):
		}
		d.down.Store(true)
		log.Error("the private PostgreSQL has ended by itself and is started again", "exit", server.Exit(), "folder", d.cfg.Dir)
		took := clock.Start()
		if runs.Elapsed() > calmAfter {
			pause.Reset()
		}
		if err := d.restart(ctx, log, server, &pause); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the private PostgreSQL has ended and does not start again: %w", err)
		}
		d.down.Store(false)
		log.Warn("the private PostgreSQL runs again", "took", took.Elapsed())
	}
}

// done is never ready for a server that is not ours.
func done(server *localpg.Server) <-chan struct{} {
	if server == nil {
		return nil
	}
	return server.Done()
}

// restart starts a server in place of one that has ended. It tries until the server
// responds, ctx ends, or no wait helps.
func (d *Databases) restart(ctx context.Context, log *slog.Logger, ended *localpg.Server, pause *backoff.Backoff) error {
	for wait := pause.Attempts() > 0; ; wait = true {
		if wait {
			if err := pause.Wait(ctx); err != nil {
				return err
			}
		} else {
			pause.Next() // The next end is the second one.
		}
		if err := d.awaitFreeSpace(ctx, log); err != nil {
			return err
		}
		server, err := d.startAgain(ctx, ended)
		if err == nil {
			return d.replace(ctx, server)
		}
		var other *localpg.OtherVersion
		if ctx.Err() != nil || errors.Is(err, errNoCluster) || errors.As(err, &other) {
			return err
		}
		log.Error("the private PostgreSQL does not start, and is tried again", "error", err, "folder", d.cfg.Dir)
	}
}

// startAgain starts the server once, in the folder of one that has ended. It makes no
// cluster: an empty one would look like one whose data is lost.
func (d *Databases) startAgain(ctx context.Context, ended *localpg.Server) (*localpg.Server, error) {
	if err := ended.Stop(ctx); err != nil { // It has ended; this lets go of its folder.
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(d.cfg.Dir, "data", "PG_VERSION")); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoCluster
	}
	cfg := d.cfg
	cfg.StartTimeout = recoverWithin
	return localpg.Start(ctx, cfg)
}

// replace makes server ours, unless we were stopped meanwhile.
func (d *Databases) replace(ctx context.Context, server *localpg.Server) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return errors.Join(context.Canceled, server.Stop(context.WithoutCancel(ctx)))
	}
	d.local = server
	return nil
}
