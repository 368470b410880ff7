//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endOrphan stops the server of a parent that died without stopping it, and removes its files. The
// caller holds the lock of the folder, so no running parent owns the server.
func (l layout) endOrphan(ctx context.Context) error {
	pidFile := filepath.Join(l.data, "postmaster.pid")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		pid, err := readPID(pidFile)
		if err != nil || pid == 0 {
			return err
		}
		// Another process may have the number by now, particularly in a container.
		if !runsIn(pid, l.data) {
			return ignoreMissing(os.Remove(pidFile))
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the server left by another process: %w", err)
		}
		if l.awaitExit(ctx, pid, 15*time.Second) {
			return ignoreMissing(os.Remove(pidFile))
		}
	}
	return fmt.Errorf("the server in %s that another process left running does not stop", l.data)
}

// awaitExit waits for the end of a server that is not our child. Its number stays if no process
// collects the exit codes of orphans, as in many containers.
func (l layout) awaitExit(ctx context.Context, pid int, atMost time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || !runsIn(pid, l.data) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// readPID returns the process id in a postmaster.pid, or 0 if there is none.
func readPID(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, ignoreMissing(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return 0, ignoreMissing(os.Remove(path)) // The file was truncated while it was written.
	}
	return pid, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
