//go:build unix

// Package localpg runs a PostgreSQL server of one's own: real binaries found on
// the machine, a cluster made once in a folder, reachable by a unix socket
// only, and gone when the program that started it is gone, however that ends.
//
// Nobody but the user of the cluster (and root) can enter the folder of its
// socket, and that is the whole of its access control: roles have no passwords.
package localpg

import (
	"log/slog"
	"time"
)

// Role is the role that owns the databases of EnsureDatabases. It is neither
// superuser nor exempt from row-level security.
const Role = "rotaloom"

// adminRole is the superuser that initdb makes.
const adminRole = "postgres"

// Config says where the server lives. Only Dir is required.
type Config struct {
	// Dir is the folder of the cluster and is used for nothing else. It is made
	// when absent. One server at a time can run in it.
	Dir string
	// BinDir is the folder of initdb and postgres; empty means to look for them.
	BinDir string
	// MaxConnections bounds the connections of all clients; 0 means 200.
	MaxConnections int
	// SharedBuffers is the server's cache in bytes; 0 means an eighth of the
	// memory, within reason.
	SharedBuffers int64
	// Disposable trades durability for speed: what was committed may be lost in a
	// crash of the machine, and the server does not shut down cleanly when its
	// parent dies. For tests.
	Disposable bool
	// StartTimeout bounds the start, recovery after a crash included; 0 means a
	// minute.
	StartTimeout time.Duration
	// StopTimeout bounds an orderly stop, after which the server is stopped as in
	// a crash; 0 means 20 seconds.
	StopTimeout time.Duration
	// Log receives what the server says; nil drops it.
	Log *slog.Logger
}
