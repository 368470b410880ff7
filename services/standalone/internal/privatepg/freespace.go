package privatepg

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"time"
)

const (
	// minFreeSpace is the space in bytes that the private server needs to recover and to continue writing: two
	// segments of its log.
	minFreeSpace = 32 << 20
	// freeSpaceInterval is how often a full disk is checked.
	freeSpaceInterval = time.Second
)

var errFull = errors.New("the private PostgreSQL has stopped because its disk is full: free space on it")

var errDown = errors.New("the private PostgreSQL has stopped and is being restarted")

// Check returns an error while the private server is down.
func (d *Databases) Check(context.Context) error {
	switch {
	case d.full.Load():
		return errFull
	case d.down.Load():
		return errDown
	}
	return nil
}

// awaitFreeSpace waits until the disk of the private server has space, or ctx ends. It logs once that it waits.
func (d *Databases) awaitFreeSpace(ctx context.Context, log *slog.Logger) error {
	if hasFreeSpace(d.cfg.Dir) {
		return nil
	}
	d.full.Store(true)
	defer d.full.Store(false)
	log.Error("the private PostgreSQL has stopped and will be restarted when its disk has space", "folder", d.cfg.Dir, "room_mb", minFreeSpace>>20)
	for !hasFreeSpace(d.cfg.Dir) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(freeSpaceInterval):
		}
	}
	return nil
}

// hasFreeSpace reports whether users other than root can write minFreeSpace to the disk of a folder. It returns
// true if it cannot tell.
func hasFreeSpace(dir string) bool {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return true
	}
	return int64(disk.Bavail)*int64(disk.Bsize) >= minFreeSpace
}
