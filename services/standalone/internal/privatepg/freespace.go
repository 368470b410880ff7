package privatepg

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"time"
)

const (
	// minFreeSpace is what the private server needs to recover and to write on: two segments
	// of its log.
	minFreeSpace = 32 << 20
	// freeSpaceInterval is how often a full disk is looked at.
	freeSpaceInterval = time.Second
)

var errFull = errors.New("the disk of the private PostgreSQL is full, and it has ended: make room on it")

var errDown = errors.New("the private PostgreSQL has ended, and is started again")

// Check returns an error while the private server has ended.
func (d *Databases) Check(context.Context) error {
	switch {
	case d.full.Load():
		return errFull
	case d.down.Load():
		return errDown
	}
	return nil
}

// awaitFreeSpace waits until the disk of the private server has room, or ctx ends. It says
// once that it waits.
func (d *Databases) awaitFreeSpace(ctx context.Context, log *slog.Logger) error {
	if hasFreeSpace(d.cfg.Dir) {
		return nil
	}
	d.full.Store(true)
	defer d.full.Store(false)
	log.Error("the private PostgreSQL has ended, and is started again when its disk has room", "folder", d.cfg.Dir, "room_mb", minFreeSpace>>20)
	for !hasFreeSpace(d.cfg.Dir) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(freeSpaceInterval):
		}
	}
	return nil
}

// hasFreeSpace reports whether others than root can write minFreeSpace to the disk of a folder. A
// disk that cannot be asked counts as one that has.
func hasFreeSpace(dir string) bool {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return true
	}
	return int64(disk.Bavail)*int64(disk.Bsize) >= minFreeSpace
}
