package natsconn

import (
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
)

// Reporter says in the log when NATS is away and when it is back, once for all
// connections of a process that it reports on. It is safe for concurrent use.
type Reporter struct {
	log *slog.Logger

	mu   sync.Mutex
	lost map[*nats.Conn]bool
}

// NewReporter makes a Reporter.
func NewReporter(log *slog.Logger) *Reporter {
	return &Reporter{log: log, lost: map[*nats.Conn]bool{}}
}

// options are those with which a connection notifies the Reporter.
func (r *Reporter) options() []nats.Option {
	return []nats.Option{
		nats.ConnectHandler(r.connected),
		nats.ReconnectHandler(r.connected),
		nats.DisconnectErrHandler(func(conn *nats.Conn, err error) {
			if err != nil { // Without one, we closed it ourselves.
				r.disconnected(conn, err)
			}
		}),
		nats.ClosedHandler(r.closed),
	}
}

// disconnected says that a connection was lost, or never made.
func (r *Reporter) disconnected(conn *nats.Conn, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lost) == 0 {
		r.log.Warn("NATS is away; events wait, and changes reach no copies, until it is back", "error", err)
	}
	r.lost[conn] = true
	if conn.IsConnected() {
		// It was made while this was said.
		r.markConnected(conn)
	}
}

// connected says that NATS is there, when the last connection that was away is back.
func (r *Reporter) connected(conn *nats.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.markConnected(conn)
}

func (r *Reporter) markConnected(conn *nats.Conn) {
	if !r.lost[conn] {
		return
	}
	delete(r.lost, conn)
	if len(r.lost) == 0 {
		r.log.Info("NATS is back", "server", conn.ConnectedUrlRedacted(), "version", conn.ConnectedServerVersion())
	}
}

// closed forgets a connection.
func (r *Reporter) closed(conn *nats.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lost, conn)
}
