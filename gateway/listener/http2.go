package listener

import (
	"net/http"
	"time"
)

const (
	maxStreams = 128
	// pingAfter is the idle time after which the server pings an HTTP/2 client.
	pingAfter = 30 * time.Second
	// streamBuffer is the number of bytes of a body that an HTTP/2 client may send before the edge reads them,
	// and connectionBuffer the same for all bodies of a connection (net/http allows less than 4 MiB). Files that
	// wait for memory leave their bytes in these buffers: a connection has room for fourteen beside the file that
	// is read.
	streamBuffer     = 256 << 10
	connectionBuffer = 15 * streamBuffer
)

// NewHTTP2Config returns the limits of HTTP/2 connections. A client that reads nothing for the stall timeout is
// disconnected.
func NewHTTP2Config(stall time.Duration) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReceiveBufferPerConnection: connectionBuffer,
		MaxReceiveBufferPerStream:     streamBuffer,
		SendPingTimeout:               pingAfter,
		PingTimeout:                   stall,
		WriteByteTimeout:              stall,
	}
}
