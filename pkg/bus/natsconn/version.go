package natsconn

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// MinServerVersion is the oldest release of nats-server that has what consumers need:
// several subjects for one consumer. An older one takes them without a word, and
// delivers nothing.
const MinServerVersion = "2.10.0"

// checkServer says why the server of a connection will not do, or nil. It is nil without
// a connection too.
func checkServer(conn *nats.Conn) error {
	version := conn.ConnectedServerVersion()
	if version == "" || !older(version, MinServerVersion) {
		return nil
	}
	return fmt.Errorf("the NATS server %s is version %s, and Rotaloom needs %s or newer: install a newer nats-server",
		conn.ConnectedUrlRedacted(), version, MinServerVersion)
}

// older compares the numbers of two versions. Of a pre-release, the numbers count.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) (n [3]int) {
	release, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(release, ".", len(n)) {
		n[i], _ = strconv.Atoi(part) // What is no number is as old as can be.
	}
	return n
}

// Probe says why a server that is there will not do, before anything is begun that needs
// it. It returns nil when none is there.
func Probe(cfg Config) error {
	conn, err := Connect(cfg, "probe", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	conn.Close()
	return nil
}

// Watch returns an error when the connection comes to a server that will not do, and nil
// when the context ends. A connection is made in the background, and made again to
// whatever server is there then.
func Watch(ctx context.Context, conn *nats.Conn) error {
	status := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(status)
	for {
		if err := checkServer(conn); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-status:
			if !open {
				return nil
			}
		}
	}
}
