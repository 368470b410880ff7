package localnats

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
)

// Failed gives the error with which the server could not write to its disk. A stream, or
// a consumer, that has met one takes nothing more until the server is started again.
func (s *Server) Failed() <-chan error { return s.log.failed }

// minFreeBytes is what must fit into the folder before a restart makes sense.
const minFreeBytes = 1 << 20

// CheckFreeSpace says why nothing can be written to the folder of the streams, or nil.
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

// Restart ends the server and starts it again with what its disk holds. Connections made
// by InProcess come back by themselves.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stop(s.server)
	select {
	case <-s.log.failed: // What the end could not write is of the past.
	default:
	}
	started, err := s.start()
	if err != nil {
		return err
	}
	s.server = started
	return nil
}

// logger takes what the server logs.
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

// Fatalf receives what keeps the server from starting, which shows in Start too.
func (l *logger) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

// checkDiskError looks for an error of the disk among the values of a line.
func (l *logger) checkDiskError(values []any) {
	for _, v := range values {
		err, ok := v.(error)
		if !ok || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EIO) {
			continue
		}
		select {
		case l.failed <- err:
		default: // One is known already.
		}
	}
}
