package natsconn

import (
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
)

// Reporter logs when NATS becomes unavailable and available, once for all connections of a process
// that it observes. It is safe for concurrent use.
type Reporter struct {
	log *slog.Logger

	mu   sync.Mutex
	lost map[*nats.Conn]bool
}

// NewReporter returns a Reporter.
func NewReporter(log *slog.Logger) *Reporter {
	return &Reporter{log: log, lost: map[*nats.Conn]bool{}}
}

// options returns the options that make a connection notify the Reporter.
func (r *Reporter) options() []nats.Option {
	return []nats.Option{
		nats.ConnectHandler(r.onConnected),
		nats.ReconnectHandler(r.onConnected),
		nats.DisconnectErrHandler(func(conn *nats.Conn, err error) {
			if err != nil { // Without an error, this process closed the connection.
				r.onDisconnected(conn, err)
			}
		}),
		// Says why a connection is not established; its last error is deleted before the next try.
		nats.ReconnectErrHandler(r.onDisconnected),
		nats.ClosedHandler(r.onClosed),
	}
}

// onDisconnected records that a connection was lost, or never established.
func (r *Reporter) onDisconnected(conn *nats.Conn, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if conn.IsClosed() {
		return // No call of onClosed follows.
	}
	if len(r.lost) == 0 {
		r.log.Warn("NATS is unavailable; until it is back, events wait and copies are not updated", "error", err)
	}
	r.lost[conn] = true
	if conn.IsConnected() {
		// The connection was established in the meantime.
		r.markConnected(conn)
	}
}

// onConnected logs that NATS is available once the last lost connection is back.
func (r *Reporter) onConnected(conn *nats.Conn) {
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

// onClosed removes a connection.
func (r *Reporter) onClosed(conn *nats.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lost, conn)
}
