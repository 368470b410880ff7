// Package filelock reserves a file, and with it a folder or a port, for one process.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("the lock is held by another process")

// Lock is held until it is closed or its process ends, in whatever way.
type Lock struct{ file *os.File }

// Try creates the file if it is missing, and locks it. It does not wait: it returns ErrLocked if
// another process holds the lock. The file stays when the lock is closed.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, errors.Join(err, file.Close()))
	}
	return &Lock{file}, nil
}

// Close releases the lock. Closing the file would not suffice: a child process that is just being
// started also has the file open until it runs its program, and would keep the lock.
func (l *Lock) Close() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
