//go:build unix

// Package localpg runs a private PostgreSQL server. It uses the PostgreSQL binaries of the machine
// and a cluster in a folder, listens on a Unix socket only, and ends with the program that started
// it, however that ends.
//
// The only access control is the folder of the socket: only the user of the cluster and root can
// enter it. Roles have no passwords.
// socket, and that is the whole of its access control: roles have no passwords.
package localpg

import (
	"log/slog"
	"time"
)

// Role is the role that owns the databases of EnsureDatabases. It is not a superuser, and row-level
// security applies to it.
const Role = "rotaloom"

// adminRole is the superuser that initdb creates.
const adminRole = "postgres"

// Config describes the server. Only Dir is required.
type Config struct {
	// Dir is the folder of the cluster, and holds nothing else. Start creates it if it is missing.
	// Only one server at a time can run in it.
	Dir string
	// BinDir is the folder of initdb and postgres; empty means to search for them.
	BinDir string
	// MaxConnections bounds the connections of all clients; 0 means 200.
	MaxConnections int
	// SharedBuffers is the server's cache in bytes; 0 means an eighth of the memory, between 64 MB
	// and 1 GB.
	SharedBuffers int64
	// Disposable trades durability for speed: a crash of the machine may lose committed data, and
	// the server does not shut down cleanly when its parent dies. It is for tests.
	Disposable bool
	// StartTimeout bounds the start, including recovery after a crash; 0 means a minute.
	StartTimeout time.Duration
	// StopTimeout bounds an orderly stop; after that, the server is stopped as in a crash. 0 means
	// 20 seconds.
	StopTimeout time.Duration
	// Log receives the output of the server; nil drops it.
	Log *slog.Logger
}
