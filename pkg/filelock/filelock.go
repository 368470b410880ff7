// Package filelock makes one process the owner of a file, and with it of a folder or a
// port.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked says that somebody else has the lock.
var ErrLocked = errors.New("the lock is held by another process")

// Lock is held until it is closed, or its process ends, however it ends.
type Lock struct{ file *os.File }

// Try makes the file if it is not there and locks it. It returns ErrLocked, and does
// not wait, when somebody has it. The file stays when the lock is closed.
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

// Close gives the lock back. To close the file is not enough: a process that is just
// being started has it, too, until it runs its program, and would keep the lock.
func (l *Lock) Close() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
