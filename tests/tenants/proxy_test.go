package tenants

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// explicit matches the conditions that select the rows of a tenant in statements.
var explicit = regexp.MustCompile(`\b(\w+\.)?tenant_id = (\$\d+)`)

// proxy stands between the product and its database, and removes the condition on the tenant from
// every statement.
type proxy struct {
	address, socket string

	mu sync.Mutex
	// rewritten holds the statements that lost their condition, and statements holds all statements.
	rewritten, statements map[string]bool
}

// newProxy starts a proxy for a unix socket, which ends with the test.
func newProxy(t *testing.T, socket string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{address: l.Addr().String(), socket: socket, rewritten: map[string]bool{}, statements: map[string]bool{}}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.pass(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return p
}

// pass passes messages between a client and the database until one of them ends.
func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		return
	}
	var queries sync.WaitGroup
	queries.Go(func() {
		_, _ = io.Copy(client, server) // The copy ends with the connection.
		_ = client.Close()
	})
	_ = p.removeConditions(client, server) // This ends with the connection, too.
	_ = server.Close()
	queries.Wait()
}

// removeConditions passes the messages of a client. The first has no type.
func (p *proxy) removeConditions(client io.Reader, server io.Writer) error {
	for first := true; ; first = false {
		header := make([]byte, 5)
		if first {
			header = header[:4]
		}
		if _, err := io.ReadFull(client, header); err != nil {
			return err
		}
		length := header[len(header)-4:]
		body := make([]byte, binary.BigEndian.Uint32(length)-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if !first && header[0] == 'P' {
			body = p.parse(body)
			binary.BigEndian.PutUint32(length, uint32(len(body)+4))
		}
		if _, err := server.Write(append(header, body...)); err != nil {
			return err
		}
	}
}

// parse removes the conditions from a message that prepares a statement: its name, the statement,
// and the types of parameters. The statement must still use all parameters.
func (p *proxy) parse(body []byte) []byte {
	name, rest, _ := bytes.Cut(body, []byte{0})
	sql, types, _ := bytes.Cut(rest, []byte{0})
	without := explicit.ReplaceAll(sql, []byte("(${1}tenant_id = $2 OR true)"))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statements[string(sql)] = true
	if !bytes.Equal(sql, without) {
		p.rewritten[string(sql)] = true
	}
	return bytes.Join([][]byte{name, without, types}, []byte{0})
}

// listStatements returns the statements that the proxy received.
func (p *proxy) listStatements() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.statements))
}

// count returns how many statements lost their condition.
func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rewritten)
}
