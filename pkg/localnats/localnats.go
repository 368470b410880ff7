// Package localnats runs a NATS server with JetStream inside the process. It is
// for the program that brings everything along, and for tests: a service that
// is deployed talks to a server elsewhere and must not import this package.
package localnats

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Config says where the server keeps its streams. Only Dir is required.
type Config struct {
	// Dir is the folder of the streams.
	Dir string
	// Port is a TCP port on the loopback address; Random picks a free one and 0
	// opens none, so that only this process can connect.
	Port int
	// MaxStore bounds what all streams may take on disk, in bytes; 0 means 16 GB.
	// It is a bound, not a reservation.
	MaxStore int64
	// Users is a file of the server's configuration with the users and what they may
	// do; without one everybody may do everything.
	Users string
	// SyncInterval is how often streams are flushed to the disk; 0 means every
	// two minutes. What came since the last flush is lost when the machine stops.
	SyncInterval time.Duration
	// Log gets the server's warnings and errors; nil discards them.
	Log *slog.Logger
}

// Random asks for any free port.
const Random = server.RANDOM_PORT

// startTimeout bounds the start, in which streams are read and repaired.
const startTimeout = 30 * time.Second

// Server is a running NATS server.
type Server struct {
	opts *server.Options
	log  *logger

	mu     sync.Mutex
	server *server.Server
}

// Start returns a server that is ready for connections.
func Start(cfg Config) (*Server, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, log: &logger{log: cfg.Log, failed: make(chan error, 1)}}
	s.server, err = s.start()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// options are those of the server in the process.
func (cfg Config) options() (*server.Options, error) {
	if cfg.Dir == "" {
		return nil, errors.New("localnats: no folder is given")
	}
	opts := &server.Options{
		ServerName:         "rotaloom",
		Host:               "127.0.0.1",
		Port:               cfg.Port,
		DontListen:         cfg.Port == 0,
		JetStream:          true,
		StoreDir:           cfg.Dir,
		JetStreamMaxStore:  cfg.MaxStore,
		JetStreamMaxMemory: 64 << 20,
		SyncInterval:       cfg.SyncInterval,
		// The program has its own handler of signals, and its own log.
		NoSigs: true,
	}
	if cfg.Users != "" {
		users, err := server.ProcessConfigFile(cfg.Users)
		if err != nil {
			return nil, fmt.Errorf("localnats: users: %w", err)
		}
		opts.Users, opts.Nkeys = users.Users, users.Nkeys
	}
	if opts.JetStreamMaxStore == 0 {
		opts.JetStreamMaxStore = 16 << 30
	}
	return opts, nil
}

func (s *Server) start() (*server.Server, error) {
	opts := s.opts.Clone()
	started, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("localnats: %w", err)
	}
	started.SetLogger(s.log, false, false)
	started.Start()
	if !started.ReadyForConnections(startTimeout) {
		stop(started)
		return nil, fmt.Errorf("localnats: the server in %s did not become ready in %s", opts.StoreDir, startTimeout)
	}
	if !started.JetStreamEnabled() {
		stop(started)
		return nil, fmt.Errorf("localnats: JetStream does not start in %s", opts.StoreDir)
	}
	return started, nil
}

func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

func (s *Server) current() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

// URL is where the server listens, or "" without a port.
func (s *Server) URL() string {
	addr := s.current().Addr()
	if addr == nil {
		return ""
	}
	return "nats://" + addr.String()
}

// InProcess is the option with which this process connects without a socket, and
// connects again after a Restart.
func (s *Server) InProcess() nats.Option { return nats.InProcessServer(inProcess{s}) }

// inProcess leads to the server that runs now.
type inProcess struct{ *Server }

// InProcessConn connects.
func (p inProcess) InProcessConn() (net.Conn, error) { return p.current().InProcessConn() }

// Stop ends the server and writes everything out. Clients should have drained.
func (s *Server) Stop() { stop(s.current()) }
