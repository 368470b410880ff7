// Package localnats runs a NATS server with JetStream inside the process. It is for the standalone
// program and for tests: deployed services use an external server, and must not import this
// package.
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

// Config configures the server. Only Dir is required.
type Config struct {
	// Dir is the folder of the streams.
	Dir string
	// Port is a TCP port on the loopback address; Random picks a free one, and 0 opens none, so
	// that only this process can connect.
	Port int
	// MaxStore bounds the disk space of all streams, in bytes; 0 means 16 GB. It is a limit, not a
	// reservation.
	MaxStore int64
	// Users is a file of the server's configuration with the users and their permissions. Without
	// it, all clients have all permissions.
	Users string
	// SyncInterval is how often streams are flushed to disk; 0 means every two minutes. A crash of
	// the machine loses the data since the last flush.
	SyncInterval time.Duration
	// Log receives the server's warnings and errors; nil discards them.
	Log *slog.Logger
}

// Random selects any free port.
const Random = server.RANDOM_PORT

// startTimeout bounds the start, which reads and repairs the streams.
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

// options returns the server's options.
func (cfg Config) options() (*server.Options, error) {
	if cfg.Dir == "" {
		return nil, errors.New("localnats: no folder is set")
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
		// The program has its own signal handler and log.
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

// URL returns the address of the server, or "" without a port.
func (s *Server) URL() string {
	addr := s.current().Addr()
	if addr == nil {
		return ""
	}
	return "nats://" + addr.String()
}

// InProcess returns the option that connects this process without a socket, and reconnects it after
// a Restart.
func (s *Server) InProcess() nats.Option { return nats.InProcessServer(inProcess{s}) }

// inProcess connects to the current server.
type inProcess struct{ *Server }

// InProcessConn returns a connection.
func (p inProcess) InProcessConn() (net.Conn, error) { return p.current().InProcessConn() }

// Stop ends the server and writes its data to disk. Drain the clients first.
func (s *Server) Stop() { stop(s.current()) }
