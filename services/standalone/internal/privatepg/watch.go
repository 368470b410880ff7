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
	// firstRestartWait is the pause after the second crash in a row. It doubles with each crash, up to
	// maxRestartWait. There is no pause after the first crash.
	firstRestartWait = 500 * time.Millisecond
	maxRestartWait   = 5 * time.Second
	// calmAfter is the running time after which a crash counts as the first one again.
	calmAfter = 10 * time.Minute
	// recoverWithin bounds one start, which includes recovery.
	recoverWithin = 10 * time.Minute
)

// errNoCluster is returned if the data folder contains no data.
var errNoCluster = errors.New("its data folder contains no cluster: restore a backup")

// Watch restarts the private server whenever it crashes (for example, killed for lack of memory), until ctx
// ends. Committed data is preserved; running calls fail, and calls in between get 503. While the disk is full,
// Watch waits for space. It returns an error only if waiting cannot help: the data folder has lost the cluster,
// or contains data of another major version.
func (d *Databases) Watch(ctx context.Context, log *slog.Logger) error {
	pause := backoff.Backoff{First: firstRestartWait, Max: maxRestartWait}
	for runs := clock.Start(); ; runs = clock.Start() {
		d.mu.Lock()
		server := d.local
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-serverDone(server):
		}
		d.down.Store(true)
		log.Error("the private PostgreSQL has stopped unexpectedly and is being restarted", "exit", server.Exit(), "folder", d.cfg.Dir)
		took := clock.Start()
		if runs.Elapsed() > calmAfter {
			pause.Reset()
		}
		if err := d.restart(ctx, log, server, &pause); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the private PostgreSQL has stopped and cannot be restarted: %w", err)
		}
		d.down.Store(false)
		log.Warn("the private PostgreSQL runs again", "took", took.Elapsed())
	}
}

// serverDone returns the channel that is closed when the server stops. It is never ready for a configured
// server.
func serverDone(server *localpg.Server) <-chan struct{} {
	if server == nil {
		return nil
	}
	return server.Done()
}

// restart replaces a server that has stopped. It tries until the server responds, ctx ends, or waiting cannot
// help.
func (d *Databases) restart(ctx context.Context, log *slog.Logger, ended *localpg.Server, pause *backoff.Backoff) error {
	logged := false
	for wait := pause.Attempts() > 0; ; wait = true {
		if wait {
			if err := pause.Wait(ctx); err != nil {
				return err
			}
		} else {
			pause.Next() // The next crash is the second one.
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
		if !logged {
			log.Error("the private PostgreSQL does not start; trying again until it runs", "error", err, "folder", d.cfg.Dir)
			logged = true
		}
	}
}

// startAgain starts the server once, in the folder of the stopped one. It does not create a cluster, because an
// empty one would hide the loss of data.
func (d *Databases) startAgain(ctx context.Context, ended *localpg.Server) (*localpg.Server, error) {
	if err := ended.Stop(ctx); err != nil { // The server has stopped; this releases its folder.
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(d.cfg.Dir, "data", "PG_VERSION")); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoCluster
	}
	cfg := d.cfg
	cfg.StartTimeout = recoverWithin
	return localpg.Start(ctx, cfg)
}

// replace stores the new server, or stops it if Stop was called before.
func (d *Databases) replace(ctx context.Context, server *localpg.Server) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return errors.Join(context.Canceled, server.Stop(context.WithoutCancel(ctx)))
	}
	d.local = server
	return nil
}
