package privatepg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/localpg"
)

const (
	// maxRestarts is how often the private server is started again within
	// restartWindow. One that ends more often needs somebody to look at it.
	maxRestarts   = 5
	restartWindow = 10 * time.Minute
	// restartWait is how long one restart may take, with all its tries: what the
	// server left behind may need some time to end, and the data to recover.
	restartWait = time.Minute
	retryStart  = 250 * time.Millisecond
)

// Watch starts the private server again when it ends by itself (killed for want of
// memory, say), until ctx ends. What was committed is there again; calls that ran have
// failed. While its disk is full it waits for room. When the server does not start, or
// ends too often, the error says so.
func (d *Databases) Watch(ctx context.Context, log *slog.Logger) error {
	var restarts []time.Time
	for {
		d.mu.Lock()
		server := d.local
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-done(server):
		}
		if err := d.awaitFreeSpace(ctx, log); err != nil {
			return nil // It is ctx that ended.
		}
		now := time.Now()
		for len(restarts) > 0 && now.Sub(restarts[0]) > restartWindow {
			restarts = restarts[1:]
		}
		if len(restarts) == maxRestarts {
			return fmt.Errorf("the private PostgreSQL in %s ended %d times within %s", d.cfg.Dir, maxRestarts+1, restartWindow)
		}
		restarts = append(restarts, now)
		took := clock.Start()
		log.Error("the private PostgreSQL has ended by itself and is started again", "exit", server.Exit(), "folder", d.cfg.Dir)
		if err := d.restart(ctx, log, server); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the private PostgreSQL has ended and does not start again: %w", err)
		}
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

// restart starts the server anew, in place of one that has ended.
func (d *Databases) restart(ctx context.Context, log *slog.Logger, ended *localpg.Server) error {
	// It has ended; this lets go of its folder.
	if err := ended.Stop(ctx); err != nil {
		return err
	}
	for {
		server, err := d.startAgain(ctx)
		if err == nil {
			return d.replace(ctx, server)
		}
		if hasFreeSpace(d.cfg.Dir) {
			return err
		}
		if err := d.awaitFreeSpace(ctx, log); err != nil {
			return err
		}
	}
}

// startAgain tries to start the server until restartWait is over, or its disk is full.
func (d *Databases) startAgain(ctx context.Context) (*localpg.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, restartWait)
	defer cancel()
	for {
		server, err := localpg.Start(ctx, d.cfg)
		if err == nil || !hasFreeSpace(d.cfg.Dir) {
			return server, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(retryStart):
		}
	}
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
