package client

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

const (
	// openingLasts is the time after which a starting process becomes ready even if it cannot reach
	// a service: one broken service must not take the others down.
	openingLasts = 30 * time.Second
	// openingWait is how long one check waits for the connection, so that a process becomes ready
	// at once if its services run.
	openingWait = time.Second
)

// Opening tracks the first connection to a service. A process rejects calls before it has
// connected, so its readiness waits for the connection. Opening is safe for concurrent use.
type Opening struct {
	conn  *grpc.ClientConn
	clock clock.Clock
	began time.Time
	over  atomic.Bool
}

// Open starts to connect, and does not wait.
func Open(conn *grpc.ClientConn, by clock.Clock) *Opening {
	conn.Connect()
	return &Opening{conn: conn, clock: by, began: by.Now()}
}

// Check returns an error until the connection was established once, or thirty seconds have passed.
// It waits for up to a second.
func (o *Opening) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openingWait)
	defer cancel()
	for !o.over.Load() {
		state := o.conn.GetState()
		if state == connectivity.Ready || o.clock.Now().Sub(o.began) >= openingLasts {
			o.over.Store(true)
			break
		}
		if state == connectivity.Idle {
			o.conn.Connect()
		}
		if !o.conn.WaitForStateChange(ctx, state) {
			return fmt.Errorf("not connected to %s yet: the connection is %s", o.conn.Target(), state)
		}
	}
	return nil
}
