package localnats

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
)

// Failed delivers the error of a failed write to the disk. A stream or consumer with such an error
// accepts nothing more until the server is restarted.
func (s *Server) Failed() <-chan error { return s.log.failed }

// minFreeBytes is the free space in the folder that a restart needs.
const minFreeBytes = 1 << 20

// CheckFreeSpace returns an error if nothing can be written to the folder of the streams.
func (s *Server) CheckFreeSpace() (err error) {
	file, err := os.CreateTemp(s.opts.StoreDir, "room-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if _, err := file.Write(make([]byte, minFreeBytes)); err != nil {
		return err
	}
	return file.Sync()
}

// Restart ends the server and starts it again from its disk. Connections of InProcess reconnect.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stop(s.server)
	select {
	case <-s.log.failed: // An error while ending no longer matters.
	default:
	}
	started, err := s.start()
	if err != nil {
		return err
	}
	s.server = started
	return nil
}

// logger receives the server's log.
type logger struct {
	log    *slog.Logger
	failed chan error
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

func (l *logger) Warnf(format string, v ...any) {
	l.log.Warn("nats", "said", fmt.Sprintf(format, v...))
	l.checkDiskError(v)
}

func (l *logger) Errorf(format string, v ...any) {
	l.log.Error("nats", "said", fmt.Sprintf(format, v...))
	l.checkDiskError(v)
}

// Fatalf receives errors that prevent the start; Start returns them too.
func (l *logger) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

// checkDiskError looks for a disk error among the values of a log line.
func (l *logger) checkDiskError(values []any) {
	for _, v := range values {
		err, ok := v.(error)
		if !ok || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EIO) {
			continue
		}
		select {
		case l.failed <- err:
		default: // An error is pending already.
		}
	}
}
