package pg

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"

	"github.com/rotaloom/rotaloom/pkg/outage"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

// serverKind names the server in the log.
const serverKind = "the database server"

// connectTracer reports to an [outage.Reporter] whether connections succeed. A server that refuses
// a connection for lack of free ones is reachable.
type connectTracer struct {
	server  string
	outages *outage.Reporter
}

// ReportConnections makes the connections of a configuration report to outages, in addition to their
// present tracer.
func ReportConnections(cc *pgx.ConnConfig, outages *outage.Reporter) {
	names := []string{serverName(cc.Host, cc.Port)}
	for _, fallback := range cc.Fallbacks {
		if name := serverName(fallback.Host, fallback.Port); name != names[len(names)-1] {
			names = append(names, name)
		}
	}
	t := connectTracer{strings.Join(names, ","), outages}
	if cc.Tracer == nil {
		cc.Tracer = t
		return
	}
	cc.Tracer = multitracer.New(cc.Tracer, t)
}

func serverName(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// attemptKey is the key of a context for the [outage.Attempt].
type attemptKey struct{}

// TraceConnectStart begins an attempt.
func (t connectTracer) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return context.WithValue(ctx, attemptKey{}, t.outages.Begin(serverKind, t.server))
}

// TraceConnectEnd records the result of the attempt.
func (t connectTracer) TraceConnectEnd(ctx context.Context, end pgx.TraceConnectEndData) {
	attempt, _ := ctx.Value(attemptKey{}).(outage.Attempt)
	switch {
	case end.Err == nil:
		attempt.Succeeded()
	case pgerr.Unreachable(end.Err) && !errors.Is(ctx.Err(), context.Canceled):
		attempt.Failed(end.Err)
	}
}

// TraceQueryStart does nothing.
func (t connectTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd does nothing.
func (t connectTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
