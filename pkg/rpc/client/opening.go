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
	// openingLasts is for how long a process that starts may lack a service before it is
	// ready without it: one service that is broken must not take the others away.
	openingLasts = 30 * time.Second
	// openingWait is for how long one check waits for the connection, so that a process
	// whose services are there is ready at once.
	openingWait = time.Second
)

// Opening is the first connection to a service. A process that gets calls before it has
// connected refuses them, so its readiness waits for that. It is safe for concurrent use.
type Opening struct {
	conn  *grpc.ClientConn
	clock clock.Clock
	began time.Time
	over  atomic.Bool
}

// Open begins to connect, and does not wait for it.
func Open(conn *grpc.ClientConn, by clock.Clock) *Opening {
	conn.Connect()
	return &Opening{conn: conn, clock: by, began: by.Now()}
}

// Check returns an error until the connection was there once, or thirty seconds have
// passed. It waits for up to a second.
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
