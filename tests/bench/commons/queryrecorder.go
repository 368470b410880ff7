package commons

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

// statement is a statement that a service ran: its text and its arguments in their wire format.
type statement struct {
	database, sql string
	formats       []int16
	values        [][]byte
	resultFormats []int16
	preparedName  string
}

func (s *statement) equal(other *statement) bool {
	return s.database == other.database && s.sql == other.sql && slices.EqualFunc(s.values, other.values, bytes.Equal)
}

// queryRecorder is a proxy between services and their database server that records their
// statements.
type queryRecorder struct {
	listener net.Listener
	socket   string

	mu       sync.Mutex
	recorded []*statement
}

// startQueryRecorder starts a recorder in front of the server at a Unix socket.
func startQueryRecorder(h *harness.Host, socket string) (*queryRecorder, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { listener.Close() })
	t := &queryRecorder{listener: listener, socket: socket}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // The listener was closed.
			}
			go t.serve(client)
		}
	}()
	return t, nil
}

// url returns the URL of the recorder for a superuser.
func (t *queryRecorder) url() string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: t.listener.Addr().String(), Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

// serve copies the traffic of both sides until one of them closes the connection.
func (t *queryRecorder) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", t.socket)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, server) // Either side may end the connection.
	}()
	backend := pgproto3.NewBackend(io.TeeReader(client, server), io.Discard)
	start, err := backend.ReceiveStartupMessage()
	if err != nil {
		return
	}
	startup, ok := start.(*pgproto3.StartupMessage)
	if !ok {
		return // The message is a cancel request.
	}
	texts := map[string]string{}
	for {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Parse:
			texts[m.Name] = m.Query
		case *pgproto3.Bind:
			t.record(startup.Parameters["database"], texts[m.PreparedStatement], m)
		}
	}
}

func (t *queryRecorder) record(database, sql string, bind *pgproto3.Bind) {
	s := &statement{
		database: database, sql: sql,
		formats: slices.Clone(bind.ParameterFormatCodes), resultFormats: slices.Clone(bind.ResultFormatCodes),
	}
	for _, value := range bind.Parameters {
		s.values = append(s.values, bytes.Clone(value))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recorded = append(t.recorded, s)
}

// recordedRounds is how often an operation runs to record its statements.
const recordedRounds = 3

// statements returns the statements of an operation, in order. It drops statements that not every
// run has: the services run some on their own.
func (t *queryRecorder) statements(do func() error) ([]*statement, error) {
	var rounds [recordedRounds][]*statement
	for i := range rounds {
		t.mu.Lock()
		t.recorded = nil
		t.mu.Unlock()
		if err := do(); err != nil {
			return nil, err
		}
		t.mu.Lock()
		rounds[i] = t.recorded
		t.mu.Unlock()
	}
	return slices.DeleteFunc(rounds[recordedRounds-1], func(s *statement) bool {
		return slices.ContainsFunc(rounds[:recordedRounds-1], func(round []*statement) bool { return !slices.ContainsFunc(round, s.equal) })
	}), nil
}

// replay runs statements one after another.
type replay struct {
	statements []*statement
	conns      map[string]*pgx.Conn
}

// newReplay prepares the statements, with the role of the services and for the tenant.
func newReplay(ctx context.Context, statements []*statement, server func(database string) string) (*replay, error) {
	tenantID := tenant.Of(ctx)
	r := &replay{statements: statements, conns: map[string]*pgx.Conn{}}
	for i, s := range statements {
		if r.conns[s.database] == nil {
			conn, err := pgx.Connect(ctx, server(s.database))
			if err != nil {
				return nil, err
			}
			r.conns[s.database] = conn
			if _, err := conn.Exec(ctx, fmt.Sprintf("SET ROLE %s; SET rotaloom.tenant_id = '%d'", localpg.Role, tenantID)); err != nil {
				return nil, err
			}
		}
		s.preparedName = fmt.Sprintf("s%d", i)
		if _, err := r.conns[s.database].Prepare(ctx, s.preparedName, s.sql); err != nil {
			return nil, fmt.Errorf("%s: %w", s.sql, err)
		}
	}
	return r, nil
}

// run runs the statements and returns the number of rows.
func (r *replay) run(ctx context.Context) (int64, error) {
	var rows int64
	for _, s := range r.statements {
		result := r.conns[s.database].PgConn().ExecPrepared(ctx, s.preparedName, s.values, s.formats, s.resultFormats).Read()
		if result.Err != nil {
			return 0, fmt.Errorf("%s: %w", s.sql, result.Err)
		}
		rows += result.CommandTag.RowsAffected()
	}
	return rows, nil
}

func (r *replay) close(ctx context.Context) {
	for _, conn := range r.conns {
		_ = conn.Close(context.WithoutCancel(ctx)) // It has only read.
	}
}
