// Package link connects a network namespace of the client with the namespace of the servers, over
// a link with a rate and a delay. It consists of two TUN devices and a relay between them, because
// not every kernel can delay packets. The kernel removes the devices and the namespace when the
// process ends, even by a crash.
package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ServerAddress is the address of the servers' end, from the range for benchmarks.
	ServerAddress = "198.18.0.1"
	clientAddress = "198.18.0.2"
	// deviceName is the name of both devices; each is in another namespace.
	deviceName = "rotaloom-bench"
)

// ErrUnavailable reports that this machine or user cannot create a link.
var ErrUnavailable = errors.New("no TUN devices and network namespaces")

// Shape holds the properties of a link, which are the same in both directions.
type Shape struct {
	// Rate is the number of bits per second.
	Rate int
	// Delay is how long a packet is under way after it was sent.
	Delay time.Duration
	// Queue is the longest time that a packet waits to be sent; others are lost.
	Queue time.Duration
}

// Link is an open link.
type Link struct {
	server, client *os.File
	dials          chan func()
	relays         sync.WaitGroup
}

// Open creates the namespace, the devices and the relay.
func Open(shape Shape) (*Link, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: they need root", ErrUnavailable)
	}
	server, err := openDevice(ServerAddress)
	if err != nil {
		return nil, err
	}
	l := &Link{server: server, dials: make(chan func())}
	opened := make(chan error)
	go l.serveNamespace(opened)
	if err := <-opened; err != nil {
		return nil, errors.Join(err, server.Close())
	}
	l.relay(l.server, l.client, shape)
	l.relay(l.client, l.server, shape)
	return l, nil
}

// serveNamespace opens the client's device in a new namespace, and runs dials there until the link
// is closed. The goroutine never unlocks its thread, so that the thread ends with it, and the
// namespace with the thread.
func (l *Link) serveNamespace(opened chan<- error) {
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_NEWNET)
	if err != nil {
		err = fmt.Errorf("%w: unshare: %w", ErrUnavailable, err)
	} else {
		l.client, err = openDevice(clientAddress)
	}
	opened <- err
	if err != nil {
		return
	}
	for dial := range l.dials {
		dial()
	}
}

// DialContext connects to a port of the servers' end from the namespace of the client, whatever
// the host of the address is. A socket belongs to the namespace of the thread that creates it.
func (l *Link) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	done := make(chan struct{})
	dial := func() {
		defer close(done)
		conn, err = new(net.Dialer).DialContext(ctx, "tcp4", net.JoinHostPort(ServerAddress, port))
	}
	select {
	case l.dials <- dial:
		<-done
		return conn, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close removes the link. Call it after the last dial.
func (l *Link) Close() error {
	close(l.dials)
	err := errors.Join(l.server.Close(), l.client.Close())
	l.relays.Wait()
	return err
}

// packet is a packet under way.
type packet struct {
	data    []byte
	arrives time.Time
}

// maxPackets bounds the packets under way in one direction, beside the queue's time.
const maxPackets = 1 << 13

// relay sends the packets of one device to the other until one of them is closed.
func (l *Link) relay(from io.Reader, to io.Writer, shape Shape) {
	underWay := make(chan packet, maxPackets)
	l.relays.Go(func() {
		defer close(underWay)
		sendPackets(underWay, from, shape)
	})
	l.relays.Go(func() {
		for p := range underWay {
			time.Sleep(time.Until(p.arrives)) // The delay that the link has.
			_, _ = to.Write(p.data)           // A packet that the device refuses is lost, as on any link.
		}
	})
}

// sendPackets puts the packets of a device under way, one after the other.
func sendPackets(underWay chan<- packet, from io.Reader, shape Shape) {
	var idle time.Time // when the link has sent all packets so far
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if n == 0 || buffer[0]>>4 != 4 {
			continue // IPv6 looks for routers.
		}
		now := time.Now()
		if idle.Before(now) {
			idle = now
		}
		if idle.Sub(now) > shape.Queue {
			continue
		}
		idle = idle.Add(time.Duration(n) * 8 * time.Second / time.Duration(shape.Rate))
		select {
		case underWay <- packet{data: append([]byte(nil), buffer[:n]...), arrives: idle.Add(shape.Delay)}:
		default: // The link is full.
		}
	}
}
