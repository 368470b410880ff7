//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotaloom/rotaloom/pkg/filelock"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Server is a running PostgreSQL server.
type Server struct {
	layout layout
	cmd    *exec.Cmd
	lock   *filelock.Lock
	output *output
	stop   time.Duration
	// done is closed when the server has ended; exit is valid from then on.
	done chan struct{}
	exit error
}

// Start creates the cluster if it does not exist, starts its server and returns when the server
// responds. First it ends the orphaned server of a killed parent. ctx bounds only the start; the
// server runs until Stop, or until this process ends.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithTimeout(ctx, positiveOr(cfg.StartTimeout, time.Minute))
	defer cancel()
	defer func() {
		if err != nil {
			err = fmt.Errorf("localpg: %w", err)
		}
	}()

	as, err := pickOwner()
	if err != nil {
		return nil, err
	}
	where, err := newLayout(cfg.Dir, as)
	if err != nil {
		return nil, err
	}
	lock, err := where.lock()
	if err != nil {
		return nil, err
	}
	s := &Server{
		layout: where, lock: lock, done: make(chan struct{}),
		output: &output{log: cfg.Log}, stop: positiveOr(cfg.StopTimeout, 20*time.Second),
	}
	if err := s.start(ctx, cfg, as); err != nil {
		return nil, errors.Join(err, s.cleanUp(), lock.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, cfg Config, as owner) (err error) {
	if s.layout.rootDir, err = openRootDir(ctx, s.layout.root, as); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.layout.rootDir.close()) }()
	major, err := s.layout.major()
	if err != nil {
		return err
	}
	bin, err := find(ctx, cfg.BinDir, s.layout.data, major, as)
	if err != nil {
		return err
	}
	if err := s.layout.initialize(ctx, bin, as, cfg.Disposable); err != nil {
		return err
	}
	if err := s.layout.endOrphan(ctx); err != nil {
		return err
	}
	s.cmd = s.layout.rootDir.command(context.WithoutCancel(ctx), as, s.layout.data, bin.path("postgres"), cfg.arguments(s.layout)...)
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	// A child of the server that outlives it must not block Wait.
	s.cmd.WaitDelay = 5 * time.Second
	lastWill := syscall.SIGINT
	if cfg.Disposable {
		lastWill = syscall.SIGQUIT
	}
	tieToParent(s.cmd.SysProcAttr, lastWill)
	if err := s.launch(); err != nil {
		return err
	}
	if err := s.awaitReady(ctx); err != nil {
		return errors.Join(err, s.end(context.WithoutCancel(ctx)))
	}
	return nil
}

// launch starts the process on its own thread, which lives as long as the process: the kernel ties
// a child to the thread that started it, and Go may end or reuse other threads at any time.
func (s *Server) launch() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.exit = s.cmd.Wait()
			close(s.done)
		}
	}()
	return <-started
}

func (s *Server) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.AdminURL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		var unreadable *pgconn.ParseConfigError
		if errors.As(err, &unreadable) {
			return err // Waiting does not fix that.
		}
		select {
		case <-s.done:
			return fmt.Errorf("the server ended while starting: %s", s.output.recent())
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w; it said: %s", err, s.output.recent())
		case <-tick.C:
		}
	}
}

// Done is closed when the server has ended, whether by Stop or not.
func (s *Server) Done() <-chan struct{} { return s.done }

// Exit returns how the server ended; it is empty before Done is closed, and after an orderly end.
func (s *Server) Exit() string {
	select {
	case <-s.done:
	default:
		return ""
	}
	if s.exit == nil {
		return ""
	}
	return s.exit.Error()
}

// Stop ends the server: it rolls back open transactions and flushes all data. If that takes longer
// than Config.StopTimeout, or ctx ends, Stop ends the server as in a crash, from which it recovers
// at the next start.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.end(ctx); err != nil {
		return fmt.Errorf("localpg: stop: %w", err)
	}
	_ = s.lock.Close() // It is already closed if Stop is called again.
	return s.cleanUp()
}

// end signals the process to end, with increasing force.
func (s *Server) end(ctx context.Context) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{
		{syscall.SIGINT, s.stop},
		{syscall.SIGQUIT, 5 * time.Second},
		{syscall.SIGKILL, 5 * time.Second},
	} {
		if err := s.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		if s.awaitEnd(ctx, step.wait) {
			return nil
		}
		ctx = context.WithoutCancel(ctx) // The remaining steps are short.
	}
	return errors.New("the server does not stop")
}

func (s *Server) awaitEnd(ctx context.Context, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// cleanUp removes the socket's folder if it is outside the root folder.
func (s *Server) cleanUp() error {
	if strings.HasPrefix(s.layout.socket, s.layout.root) {
		return nil
	}
	return os.RemoveAll(s.layout.socket)
}

// URL returns the URL of a database for the role that owns the databases.
func (s *Server) URL(database string) string { return s.url(database, Role) }

// AdminURL returns the URL of a database for the superuser; "postgres" always exists.
func (s *Server) AdminURL(database string) string { return s.url(database, adminRole) }

func (s *Server) url(database, role string) string {
	query := url.Values{"host": {s.layout.socket}, "port": {port}, "user": {role}, "sslmode": {"disable"}}
	return "postgres:///" + url.PathEscape(database) + "?" + pg.EncodeQuery(query)
}

func positiveOr(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
