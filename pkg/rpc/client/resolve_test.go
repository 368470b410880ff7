package client_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

// A service whose processes are replaced again and again, each at another address, is found
// again within seconds.
func TestAServiceThatMovesIsFoundSoon(t *testing.T) {
	t.Parallel()
	first := "127.0.0.2"
	listener, err := net.Listen("tcp", first+":0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	names := startNames(t)
	names.point(first)
	stop := serve(t, net.JoinHostPort(first, port))
	conn, err := client.Dial(client.Config{Target: "dns://" + names.address + "/echo.example:" + port, Insecure: true})
	require.NoError(t, err)
	defer conn.Close()
	reached := func() bool {
		err := conn.Invoke(t.Context(), "/none/None", nil, nil)
		return status.Code(err) != codes.Unavailable && !strings.Contains(err.Error(), "name resolver")
	}
	require.Eventually(t, reached, 10*time.Second, 10*time.Millisecond)
	for _, next := range []string{"127.0.0.3", "127.0.0.4", "127.0.0.5"} {
		stop()
		names.point(next)
		stop = serve(t, net.JoinHostPort(next, port))
		require.Eventually(t, reached, 10*time.Second, 10*time.Millisecond, next)
	}
	stop()
}

// names is a server of names that knows one address for all of them.
type names struct {
	address string
	to      atomic.Value
}

func (n *names) point(address string) { n.to.Store([4]byte(net.ParseIP(address).To4())) }

func startNames(t *testing.T) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &names{address: conn.LocalAddr().String()}
	ended := make(chan struct{})
	t.Cleanup(func() { assert.NoError(t, conn.Close()); <-ended })
	go func() {
		defer close(ended)
		packet := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return // The connection is closed.
			}
			response, err := n.respond(packet[:size])
			if assert.NoError(t, err) {
				_, err = conn.WriteTo(response, from)
				assert.NoError(t, err)
			}
		}
	}()
	return n
}

func (n *names) respond(packet []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: n.to.Load().([4]byte)},
			})
		}
	}
	return m.Pack()
}
